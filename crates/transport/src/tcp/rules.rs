//! Departures of stacks from the RFCs in loss recovery and ECN feedback, as data: one field per
//! rule, one value per reading of it, with its source.
//!
//! A state machine reads a rule and never the name of the stack that it imitates. A [`Dialect`]
//! selects a whole table. Differences that scenarios may combine are settings of their own in
//! [`TcpConfig`](super::TcpConfig).

use super::config::Dialect;
use crate::recovery::scoreboard::SackedRetransmission;

/// How loss recovery and AccECN are read. ns-3's functions are those of 3.37's
/// `tcp-socket-base.cc`, Linux's those of 6.18's `tcp_input.c` unless another file or version is
/// named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether a retransmission that SACK acknowledges is still in flight.
    pub sacked_retransmission: SackedRetransmission,
    /// What a partial ACK may send beyond the window.
    pub partial_ack: PartialAck,
    /// How often PRR counts the delivery of a partial ACK with SACK news.
    pub prr_delivery: PrrDelivery,
    /// What an ACK with SACK news does outside a recovery.
    pub disorder: Disorder,
    /// By how much the ACK that ends a recovery grows the window.
    pub exit_growth: ExitGrowth,
    /// Which ACK ends a congestion window reduction (CWR) without a loss.
    pub reduction_end: ReductionEnd,
    /// Which timeouts lower the slow-start threshold.
    pub timeout_threshold: TimeoutThreshold,
    /// What ends the count of duplicate ACKs.
    pub duplicate_count: DuplicateCount,
    /// What is sent regardless of the window if nothing lost waits for its retransmission.
    pub forced_retransmission: ForcedRetransmission,
    /// What ends the backoff of the retransmission timer.
    pub backoff_end: BackoffEnd,
    /// Whether SACKs alone restart the retransmission timer.
    pub sack_restart: SackRestart,
    /// What becomes of loss that remains when a recovery ends.
    pub remaining_loss: RemainingLoss,
    /// Which ACKs make RACK look for losses.
    pub rack_scan: RackScan,
    /// Which D-SACKs report a retransmission.
    pub dsack_match: DsackMatch,
    /// Which D-SACKs of a retransmission widen RACK's reordering window.
    pub dsack_widening: DsackWidening,
    /// Whether octets that D-SACK reports count as delivered.
    pub dsack_delivery: DsackDelivery,
    /// When a tail loss probe may follow another.
    pub repeated_probe: RepeatedProbe,
    /// When a receiver that reneges is noticed.
    pub reneging: Reneging,
    /// Whether a timeout is tested for being spurious.
    pub spurious_timeout: SpuriousTimeout,
    /// Which use of the window lets it grow, where it is validated.
    pub window_validation: WindowValidation,
    /// Which segments carry PSH.
    pub push: Push,
    /// Whether the degree of reordering is measured.
    pub reordering_degree: ReorderingDegree,
    /// What a partial ACK that an original elicited does while retransmissions are in flight.
    pub late_hole: LateHole,
    /// Whether what an old ACK reports counts for the window.
    pub old_ack: OldAck,
    /// What counts as delivered without SACK.
    pub plain_delivery: PlainDelivery,
    /// When a recovery without SACK ends.
    pub plain_exit: PlainExit,
    /// Whether duplicate ACKs at the recovery point show a loss.
    pub duplicates_at_exit: DuplicatesAtExit,
    /// Which segments update the peer's window.
    pub window_update: WindowUpdate,
    /// When the timer of an unanswered SYN begins to back off.
    pub syn_backoff: SynBackoff,
    /// Which packets of an AccECN connection are ECN-capable.
    pub ect_packets: EctPackets,
    /// What an ACE field stands for that may have gone round.
    pub ace_ambiguity: AceAmbiguity,
    /// Whether the end that opens an AccECN connection tests for a path that clears the ACE field.
    pub zeroed_ace: ZeroedAce,
    /// Which marks of an AccECN connection are acknowledged at once.
    pub mark_acks: MarkAcks,
    /// Which counters the AccECN option carries.
    pub option_fields: OptionFields,
    /// When the AccECN option is withheld.
    pub option_use: OptionUse,
    /// Whether full-sized segments leave room for the AccECN option.
    pub option_room: OptionRoom,
    /// Whether segments with data leave room for SACK blocks.
    pub sack_room: SackRoom,
    /// What a full-sized segment of the peer is.
    pub full_size: FullSize,
    /// How many challenge ACKs leave.
    pub challenge_limit: ChallengeLimit,
    /// What becomes of data beyond the receive window.
    pub beyond_window: BeyondWindow,
    /// Whether the ACK of a FIN reports what came twice.
    pub report_at_fin: ReportAtFin,
}

/// What a partial ACK may send beyond the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAck {
    /// Nothing (RFC 6675, §5, step C: only while cwnd − pipe is at least one SMSS).
    WithinWindow,
    /// One segment, unless the head was retransmitted already (ns-3's `ProcessAck` calls
    /// `DoRetransmit`).
    SendsHead,
}

/// How often PRR counts the delivery of a partial ACK with SACK news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrrDelivery {
    /// Once (RFC 9937, §6).
    Once,
    /// Twice (ns-3 calls `DoRecovery` in `DupAck` and then in `ProcessAck`).
    Twice,
}

/// What an ACK with SACK news does outside a recovery, if it advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disorder {
    /// It grows the window (RFC 5681, §3.1) and restarts the timer (RFC 6298, §5.3), as any ACK of
    /// new data.
    GrowsAndRestarts,
    /// Neither (ns-3's `ProcessAck` in `CA_DISORDER`).
    Holds,
}

/// By how much the ACK that ends a recovery grows the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitGrowth {
    /// Not after a fast recovery: the window is the threshold (RFC 5681, §3.2, step 6). After a
    /// timeout by all that it acknowledges: slow start goes on (RFC 5681, §3.1).
    Deflates,
    /// By all that it delivers, after either: the state is Open before the window grows (Linux's
    /// `tcp_cong_control`, which `tcp_ack` calls after `tcp_fastretrans_alert`).
    Grows,
    /// After a fast recovery by all that it acknowledges, after a timeout by what lies beyond the
    /// recovery point (ns-3's `ProcessAck`).
    GrowsBeyondRecovery,
}

/// Which ACK ends a congestion window reduction (CWR) without a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionEnd {
    /// The one for everything that had been sent when the reduction began: a window of data (RFC
    /// 3168, §6.1.2). It does not grow the window.
    Acknowledged,
    /// The first one for something sent later, so that the CWR flag has reached the receiver. It is
    /// then processed as in the state Open (Linux's `tcp_fastretrans_alert`).
    BeyondAcknowledged,
}

/// Which timeouts lower the slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutThreshold {
    /// The first for a window of losses: not a repeated one (RFC 5681, §3.1), nor one in a recovery
    /// that has lowered it (Linux's `tcp_enter_loss`).
    First,
    /// Each (ns-3's `ReTxTimeout`).
    Each,
}

/// What ends the count of duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateCount {
    /// Any ACK that advances, also if it brings SACK news (RFC 6675, §5: a cumulative ACK resets
    /// `DupAcks`).
    EndsWithAnyAdvance,
    /// Only one without SACK news (ns-3's `ProcessAck`).
    EndsWithoutSackNews,
}

/// What is sent regardless of the window if nothing lost waits for its retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedRetransmission {
    /// Nothing: everything lost has been retransmitted already (RFC 6675, §5, step 4.3, retransmits
    /// what is presumed lost).
    OnlyLost,
    /// New data if there is some, else the head once more (ns-3's `EnterRecovery` calls
    /// `DoRetransmit`).
    AtLeastHead,
}

/// What ends the backoff of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffEnd {
    /// A new round-trip time (RFC 6298, §5, last paragraph; Linux's `tcp_ack_update_rtt`). An ACK
    /// of a retransmission gives none (Karn).
    Measurement,
    /// Any ACK that restarts the timer (ns-3's `NewAck`).
    NewAck,
}

/// Whether SACKs alone restart the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackRestart {
    /// Only an ACK that advances does (RFC 6298, §5.3).
    Never,
    /// One whose round-trip time exceeds the age of the head's last transmission restarts it, with
    /// the resulting timeout (Linux's `tcp_clean_rtx_queue`). Data that left before the head was
    /// retransmitted are no evidence that the head is lost.
    BeforeHead,
}

/// What becomes of loss that remains when a recovery ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemainingLoss {
    /// The next ACK begins a recovery (RFC 6675, §5: on receipt of a duplicate ACK).
    NextAck,
    /// The ACK that ends one recovery begins the next (Linux's `tcp_fastretrans_alert`, which goes
    /// on to process the state Open).
    SameAck,
}

/// Which ACKs make RACK look for losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackScan {
    /// Every ACK (RFC 8985, §6.2).
    EveryAck,
    /// Those that deliver something, and the ACK after an undo (`rack.advanced` in Linux's
    /// `tcp_rack_mark_lost`).
    Advanced,
}

/// Which D-SACKs report a retransmission. The others report copies that the network made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsackMatch {
    /// Those of segments that were retransmitted, once for each retransmission (RFC 3708, §3).
    Retransmitted,
    /// Of outstanding segments, those that were retransmitted. Below snd.una each one, since Linux
    /// no longer holds the segment (`tcp_sacktag_one`, `tcp_check_dsack`).
    BelowUna,
}

/// Which D-SACKs of a retransmission widen RACK's reordering window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsackWidening {
    /// All (RFC 8985, §6.2, step 4).
    Every,
    /// Those after reordering was seen, unless they report a tail loss probe (Linux's
    /// `tcp_dsack_seen`).
    AfterReordering,
}

/// Whether octets that D-SACK reports count as delivered, for PRR and for growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsackDelivery {
    /// They do not (RFC 9937, §6: DeliveredData is newly acknowledged data).
    Ignored,
    /// They do: a spurious retransmission has left the network (Linux's `tcp_dsack_seen`).
    Counted,
}

/// When a tail loss probe may follow another, once that is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatedProbe {
    /// After a measurement of the round-trip time (RFC 8985, §7.3).
    AfterMeasurement,
    /// At once (Linux's `tcp_send_loss_probe` in `tcp_output.c` tests only `tlp_high_seq`).
    AtOnce,
}

/// When a receiver that reneges (RFC 2018, §8) is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reneging {
    /// When the retransmission timer expires.
    AtTimeout,
    /// Suspected on an ACK that advances to a SACKed segment: the timer then expires after half of
    /// SRTT, at least 10 ms, unless another ACK comes (Linux's `tcp_check_sack_reneging`).
    Suspected,
}

/// Whether a timeout is tested for being spurious, beyond what timestamps and D-SACK show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpuriousTimeout {
    /// It is not (RFC 6298 knows no such test).
    Untested,
    /// F-RTO with SACK (RFC 5682, §3.1; Linux's `tcp_process_loss`): the first ACK that advances is
    /// answered with new data instead of retransmissions. If an ACK then delivers something that
    /// was sent only once before the timeout, the timeout was spurious.
    ForwardRecovery,
}

/// Which use of the window lets it grow, where it is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowValidation {
    /// The flight before the ACK: it fills the window, or would without the delay of pacing (RFC
    /// 9002, §7.8, the only RFC that covers pacing). In slow start it fills half of it (RFC 7661,
    /// §4.3).
    PresentFlight,
    /// The fullest since all was acknowledged that was outstanding at a full window (Linux's
    /// `tcp_cwnd_validate` and `tcp_is_cwnd_limited`). A window that is not used for a
    /// retransmission timeout shrinks (`tcp_cwnd_application_limited`).
    LastWindow,
}

/// Which segments carry PSH (RFC 9293, §3.9.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// The last one, when no more data is queued: the least that the RFC requires (MUST-61).
    LastQueued,
    /// The one that ends a write, and within a write one for each half of the largest window that
    /// the peer has offered (Linux's `tcp_push` and `forced_push` in `tcp.c`).
    EachWrite,
}

/// Whether the degree of reordering is measured, or always `DupThresh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderingDegree {
    /// `DupThresh` is three (RFC 6675, §2; RFC 5681, §3.2).
    Fixed,
    /// It is the farthest displacement seen. Without SACK this many duplicate ACKs show a loss,
    /// fewer than there are segments outstanding (`tcp_newreno_mark_lost` in Linux's
    /// `tcp_recovery.c`), and above three the window grows with what SACK reports
    /// (`tcp_may_raise_cwnd`; `tcp_check_sack_reordering`, `tcp_check_reno_reordering`).
    Measured,
}

/// What a partial ACK that an original elicited, as its echoed timestamp shows, does while
/// retransmissions are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateHole {
    /// The recovery goes on (RFC 6675, §5).
    Repairs,
    /// Nothing more is marked lost or retransmitted until the next ACK, and new data may leave
    /// (Linux's `tcp_try_undo_partial`).
    HoldsBack,
}

/// Whether what an ACK from below snd.una reports by SACK counts for the window. Its blocks always
/// enter the scoreboard (RFC 6675, §5: any ACK with SACK information does).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldAck {
    /// It does: PRR runs on it (RFC 9937, §6: DeliveredData is what an ACK newly reports).
    Counts,
    /// The window stays, and what has left the network makes room in it (Linux's `tcp_ack`,
    /// `old_ack`, does not come to `tcp_cong_control`).
    Spared,
}

/// What counts as delivered without SACK, where the rate of delivery is estimated and the window
/// grows. PRR counts by RFC 9937, §6, in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainDelivery {
    /// Each octet once: what is acknowledged, and a segment for each duplicate ACK, as far as the
    /// sum exceeds what has been counted (draft-ietf-ccwg-bbr, §4.1.1.1: C.delivered is the amount
    /// of data delivered).
    Once,
    /// Each duplicate ACK a segment, and each acknowledged segment for which the present count of
    /// duplicates does not stand. Duplicates that are forgotten count twice (`tp->delivered` in
    /// Linux's `tcp_add_reno_sack`, `tcp_remove_reno_sacks` and `tcp_reset_reno_sack`).
    EachDuplicate,
}

/// When a recovery without SACK ends, fast or after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainExit {
    /// With the ACK of everything that had been sent when it began (RFC 6582, §3.2, step 3).
    Acknowledged,
    /// With the first ACK of something sent later (Linux's `tcp_is_non_sack_preventing_reopen`).
    BeyondAcknowledged,
}

/// Whether duplicate ACKs at the recovery point of the last recovery show a loss. Its own
/// retransmissions may have elicited them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicatesAtExit {
    /// Not without SACK: the ACK must cover more than `recover` (RFC 6582, §3.2, step 2).
    Ignored,
    /// They do (ns-3's `DupAck`: `m_highRxAckMark >= m_recover`).
    Counted,
}

/// Which segments update the peer's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowUpdate {
    /// Those that are not older than the last one that did, by their sequence and acknowledgment
    /// numbers (RFC 9293, §3.10.7.4). So a window may shrink.
    Newer,
    /// Those with a later acknowledgment or sequence number, and of others those that widen the
    /// window or shut it (Linux's `tcp_may_update_window`).
    NewerWiderOrShut,
    /// The same, but none that shuts it (ns-3's `UpdateWindowSize`).
    NewerOrWider,
}

/// When the timer of an unanswered SYN begins to back off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynBackoff {
    /// At the first expiry (RFC 6298, §5.5).
    FirstExpiry,
    /// At the fifth (Linux's `tcp_retransmit_timer` with `tcp_syn_linear_timeouts` = 4, since 6.5).
    FifthExpiry,
}

/// Which packets of an AccECN connection are ECN-capable, after the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EctPackets {
    /// New data (RFC 3168, §6.1.4 to §6.1.6).
    NewData,
    /// All: pure ACKs, retransmissions and probes as well (Linux's `tcp_ecn_send`).
    All,
}

/// Whether the end that opens an AccECN connection tests the first ACE field that comes after the
/// SYN-ACK. The end that is opened tests the ACK of its SYN-ACK in any case (RFC 9768, §3.2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroedAce {
    /// Zero there shows that the path clears it: no packet is ECN-capable any more, and feedback
    /// does not count (RFC 9768, §3.2.2.4).
    Tested,
    /// It is not tested, as §3.2.2.4 allows (Linux).
    NotTested,
}

/// What an ACE field stands for that may have gone round, on an ACK for more than seven packets
/// without an AccECN option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AceAmbiguity {
    /// The most marks that the packets allow (RFC 9768, §3.2.2.5.2: the safest likely case).
    SafestLikely,
    /// The same, unless ACKs have covered more than four packets on average: then the fewest,
    /// because thin ACKs are the rule and not lost ones (`pkts_acked_ewma` in Linux's
    /// `__tcp_accecn_process`, since 7.0).
    TrustedIfThin,
}

/// Which marks of an AccECN connection are acknowledged at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAcks {
    /// The first after a packet without a mark, and every second one (RFC 9768, §3.2.2.5.1).
    FirstAndEverySecond,
    /// Every change of the codepoint, also from one ECT to the other and back from CE, and the
    /// sixth mark (Linux's `tcp_ecn_received_counters` and `TCP_ACCECN_ACE_MAX_DELTA`).
    EachChange,
}

/// Which counters the AccECN option carries, if there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionFields {
    /// CE and those that have changed during the connection, ECT(0) first if that is among them
    /// (RFC 9768, §3.2.3.3: recommended scheme).
    Changed,
    /// All three, ECT(1) first. Where none has changed, an empty option may fill the padding
    /// (Linux's `tcp_options_fit_accecn` and `tcp_options_write`).
    All,
}

/// When the AccECN option is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionUse {
    /// Never (RFC 9768, §3.2.3.2.3: an absent option is no evidence about the other direction).
    Always,
    /// Until the peer's has come, and after the second spurious retransmission of data whose ACK
    /// carried it (`saw_accecn_opt` in Linux's `tcp_established_options`,
    /// `TCP_ACCECN_OPT_FAIL_SEND` in `tcp_rcv_spurious_retrans`).
    AsPathAllows,
}

/// Whether full-sized segments leave room for the AccECN option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionRoom {
    /// They do not and go without it (RFC 9768, §3.2.3.2.1: it may be omitted if there is no room).
    Leftover,
    /// They do (Linux's `tcp_current_mss`).
    Reserved,
}

/// Whether segments with data leave room for SACK blocks, if this end has some to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackRoom {
    /// They do not, so that an ACK leaves by itself while data is missing: only one without data
    /// counts as a duplicate (RFC 5681, §2).
    Leftover,
    /// New ones do, and carry the ACK (Linux's `tcp_current_mss`, `tcp_established_options`).
    /// Retransmissions stay as they are, where the kernel splits them.
    Made,
}

/// What a full-sized segment of the peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullSize {
    /// The longest one that has come.
    Longest,
    /// The length of the last two, if they were equally long with their options, too: SACK blocks
    /// shorten a segment and do not end what the peer has written (Linux's `tcp_measure_rcv_mss`).
    LastTwo,
}

/// How many challenge ACKs (RFC 5961) leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeLimit {
    /// Ten in five seconds (RFC 5961, §7: the example that it gives).
    TenInFiveSeconds,
    /// One in half a second (`tcp_invalid_ratelimit`), the ACKs included that answer segments
    /// without data from beyond the window (`tcp_oow_rate_limited`; the host's
    /// `tcp_challenge_ack_limit` is not reached by one connection).
    OneInHalfASecond,
}

/// What becomes of data beyond the receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondWindow {
    /// It is cut off (RFC 9293, §3.10.7.4, first: only what the window contains is processed).
    CutOff,
    /// The segment is taken whole if it begins within the window and the application has read all
    /// that arrived before, and else answered and dropped (Linux's `tcp_sequence` and
    /// `tcp_data_queue`, since 6.17).
    TakenWhole,
}

/// Whether the ACK of a FIN reports what the segment with it repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportAtFin {
    /// It does (RFC 2883, §4: each duplicate is reported).
    Reported,
    /// It does not (Linux's `tcp_fin` calls `tcp_sack_reset`).
    Forgotten,
}

impl Rules {
    /// The rules of the RFCs.
    pub const RFC: Self = Self {
        sacked_retransmission: SackedRetransmission::LeavesFlight,
        partial_ack: PartialAck::WithinWindow,
        prr_delivery: PrrDelivery::Once,
        disorder: Disorder::GrowsAndRestarts,
        exit_growth: ExitGrowth::Deflates,
        reduction_end: ReductionEnd::Acknowledged,
        timeout_threshold: TimeoutThreshold::First,
        duplicate_count: DuplicateCount::EndsWithAnyAdvance,
        forced_retransmission: ForcedRetransmission::OnlyLost,
        backoff_end: BackoffEnd::Measurement,
        sack_restart: SackRestart::Never,
        remaining_loss: RemainingLoss::NextAck,
        rack_scan: RackScan::EveryAck,
        dsack_match: DsackMatch::Retransmitted,
        dsack_widening: DsackWidening::Every,
        dsack_delivery: DsackDelivery::Ignored,
        repeated_probe: RepeatedProbe::AfterMeasurement,
        reneging: Reneging::AtTimeout,
        spurious_timeout: SpuriousTimeout::Untested,
        window_validation: WindowValidation::PresentFlight,
        push: Push::LastQueued,
        reordering_degree: ReorderingDegree::Fixed,
        late_hole: LateHole::Repairs,
        old_ack: OldAck::Counts,
        plain_delivery: PlainDelivery::Once,
        plain_exit: PlainExit::Acknowledged,
        duplicates_at_exit: DuplicatesAtExit::Ignored,
        window_update: WindowUpdate::Newer,
        syn_backoff: SynBackoff::FirstExpiry,
        zeroed_ace: ZeroedAce::Tested,
        ect_packets: EctPackets::NewData,
        ace_ambiguity: AceAmbiguity::SafestLikely,
        mark_acks: MarkAcks::FirstAndEverySecond,
        option_fields: OptionFields::Changed,
        option_use: OptionUse::Always,
        option_room: OptionRoom::Leftover,
        sack_room: SackRoom::Leftover,
        full_size: FullSize::Longest,
        challenge_limit: ChallengeLimit::TenInFiveSeconds,
        beyond_window: BeyondWindow::CutOff,
        report_at_fin: ReportAtFin::Reported,
    };

    /// Linux 6.18's, where they are not those of the RFCs.
    pub const LINUX: Self = Self {
        exit_growth: ExitGrowth::Grows,
        reduction_end: ReductionEnd::BeyondAcknowledged,
        sack_restart: SackRestart::BeforeHead,
        remaining_loss: RemainingLoss::SameAck,
        rack_scan: RackScan::Advanced,
        dsack_match: DsackMatch::BelowUna,
        dsack_widening: DsackWidening::AfterReordering,
        dsack_delivery: DsackDelivery::Counted,
        repeated_probe: RepeatedProbe::AtOnce,
        reneging: Reneging::Suspected,
        spurious_timeout: SpuriousTimeout::ForwardRecovery,
        window_validation: WindowValidation::LastWindow,
        push: Push::EachWrite,
        reordering_degree: ReorderingDegree::Measured,
        late_hole: LateHole::HoldsBack,
        old_ack: OldAck::Spared,
        plain_delivery: PlainDelivery::EachDuplicate,
        plain_exit: PlainExit::BeyondAcknowledged,
        window_update: WindowUpdate::NewerWiderOrShut,
        syn_backoff: SynBackoff::FifthExpiry,
        zeroed_ace: ZeroedAce::NotTested,
        ect_packets: EctPackets::All,
        ace_ambiguity: AceAmbiguity::TrustedIfThin,
        mark_acks: MarkAcks::EachChange,
        option_fields: OptionFields::All,
        option_use: OptionUse::AsPathAllows,
        option_room: OptionRoom::Reserved,
        sack_room: SackRoom::Made,
        full_size: FullSize::LastTwo,
        challenge_limit: ChallengeLimit::OneInHalfASecond,
        beyond_window: BeyondWindow::TakenWhole,
        report_at_fin: ReportAtFin::Forgotten,
        ..Self::RFC
    };

    /// ns-3.37's rules. Each of them changes its results.
    pub const NS3: Self = Self {
        sacked_retransmission: SackedRetransmission::StaysInFlight,
        partial_ack: PartialAck::SendsHead,
        prr_delivery: PrrDelivery::Twice,
        disorder: Disorder::Holds,
        exit_growth: ExitGrowth::GrowsBeyondRecovery,
        timeout_threshold: TimeoutThreshold::Each,
        duplicate_count: DuplicateCount::EndsWithoutSackNews,
        forced_retransmission: ForcedRetransmission::AtLeastHead,
        backoff_end: BackoffEnd::NewAck,
        duplicates_at_exit: DuplicatesAtExit::Counted,
        window_update: WindowUpdate::NewerOrWider,
        ..Self::RFC
    };
}

impl Dialect {
    /// Its rules.
    #[must_use]
    pub const fn rules(self) -> Rules {
        match self {
            Self::Rfc => Rules::RFC,
            Self::Linux => Rules::LINUX,
            Self::Ns3 => Rules::NS3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule on which all tables agree is no rule.
    #[test]
    fn each_rule_is_read_differently_by_some_table() {
        let (rfc, linux, ns3) = (Dialect::Rfc.rules(), Dialect::Linux.rules(), Dialect::Ns3.rules());
        macro_rules! differs {
            ($($rule:ident),+) => {
                let Rules { $($rule: _),+ } = rfc;
                $(assert!(rfc.$rule != linux.$rule || rfc.$rule != ns3.$rule, stringify!($rule));)+
            };
        }
        differs!(
            sacked_retransmission,
            partial_ack,
            prr_delivery,
            disorder,
            exit_growth,
            reduction_end,
            timeout_threshold,
            duplicate_count,
            forced_retransmission,
            backoff_end,
            sack_restart,
            remaining_loss,
            rack_scan,
            dsack_match,
            dsack_widening,
            dsack_delivery,
            repeated_probe,
            reneging,
            spurious_timeout,
            window_validation,
            push,
            reordering_degree,
            late_hole,
            old_ack,
            plain_delivery,
            plain_exit,
            duplicates_at_exit,
            window_update,
            syn_backoff,
            ect_packets,
            ace_ambiguity,
            zeroed_ace,
            mark_acks,
            option_fields,
            option_use,
            option_room,
            sack_room,
            full_size,
            challenge_limit,
            beyond_window,
            report_at_fin
        );
    }
}
