//! Departures of TCP stacks from the RFCs in loss recovery and ECN feedback, as data. Each field is
//! one rule, and each value of a rule has its source.
//!
//! The state machines read rules and never branch on the name of a stack. A [`Dialect`] selects a
//! whole table of rules. Differences that scenarios may combine are separate settings in
//! [`TcpConfig`](super::TcpConfig).

use super::config::Dialect;
use crate::recovery::scoreboard::SackedRetransmission;

/// The rules of loss recovery and AccECN. Functions of ns-3 are in `tcp-socket-base.cc` of 3.37,
/// and functions of Linux in `tcp_input.c` of 6.18, unless a comment names another file or version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether a retransmission is still in flight once SACK acknowledges its segment.
    pub sacked_retransmission: SackedRetransmission,
    /// The data that a partial ACK may send beyond the window.
    pub partial_ack: PartialAck,
    /// How often PRR counts the delivery of a partial ACK with new SACK information.
    pub prr_delivery: PrrDelivery,
    /// The effect of an ACK with new SACK information outside a recovery.
    pub disorder: Disorder,
    /// The growth of the window by the ACK that ends a recovery.
    pub exit_growth: ExitGrowth,
    /// The ACK that ends a congestion window reduction (CWR) without a loss.
    pub reduction_end: ReductionEnd,
    /// The timeouts that lower the slow-start threshold.
    pub timeout_threshold: TimeoutThreshold,
    /// The event that resets the count of duplicate ACKs.
    pub duplicate_count: DuplicateCount,
    /// The data that are sent regardless of the window if no lost data wait for retransmission.
    pub forced_retransmission: ForcedRetransmission,
    /// The event that ends the backoff of the retransmission timer.
    pub backoff_end: BackoffEnd,
    /// Whether SACKs alone restart the retransmission timer.
    pub sack_restart: SackRestart,
    /// The treatment of losses that remain when a recovery ends.
    pub remaining_loss: RemainingLoss,
    /// The ACKs on which RACK looks for losses.
    pub rack_scan: RackScan,
    /// The D-SACKs that are taken as reports of a retransmission.
    pub dsack_match: DsackMatch,
    /// The D-SACKs that widen RACK's reordering window.
    pub dsack_widening: DsackWidening,
    /// Whether bytes that a D-SACK reports are counted as delivered.
    pub dsack_delivery: DsackDelivery,
    /// When a tail loss probe may follow another tail loss probe.
    pub repeated_probe: RepeatedProbe,
    /// When a reneging receiver is detected.
    pub reneging: Reneging,
    /// Whether a timeout is tested for being spurious.
    pub spurious_timeout: SpuriousTimeout,
    /// The use of the window that is required for its growth, if the window is validated.
    pub window_validation: WindowValidation,
    /// The segments that carry PSH.
    pub push: Push,
    /// Whether the degree of reordering is measured.
    pub reordering_degree: ReorderingDegree,
    /// The effect of a partial ACK elicited by an original transmission while retransmissions are
    /// in flight.
    pub late_hole: LateHole,
    /// Whether the SACK blocks of an old ACK affect the window.
    pub old_ack: OldAck,
    /// The data that are counted as delivered without SACK.
    pub plain_delivery: PlainDelivery,
    /// When a recovery without SACK ends.
    pub plain_exit: PlainExit,
    /// Whether duplicate ACKs at the recovery point indicate a loss.
    pub duplicates_at_exit: DuplicatesAtExit,
    /// The segments that update the peer's window.
    pub window_update: WindowUpdate,
    /// When the timer of an unanswered SYN begins to back off.
    pub syn_backoff: SynBackoff,
    /// The packets of an AccECN connection that are ECN-capable.
    pub ect_packets: EctPackets,
    /// The interpretation of an ACE field that may have wrapped.
    pub ace_ambiguity: AceAmbiguity,
    /// Whether the opening end of an AccECN connection tests for a path that clears the ACE field.
    pub zeroed_ace: ZeroedAce,
    /// The marks of an AccECN connection that are acknowledged immediately.
    pub mark_acks: MarkAcks,
    /// The counters that the AccECN option carries.
    pub option_fields: OptionFields,
    /// When the AccECN option is omitted.
    pub option_use: OptionUse,
    /// Whether full-sized segments leave room for the AccECN option.
    pub option_room: OptionRoom,
    /// Whether data segments leave room for SACK blocks.
    pub sack_room: SackRoom,
    /// The definition of a full-sized segment of the peer.
    pub full_size: FullSize,
    /// The limit of challenge ACKs.
    pub challenge_limit: ChallengeLimit,
    /// The treatment of data beyond the receive window.
    pub beyond_window: BeyondWindow,
    /// Whether the ACK of a FIN reports duplicate data.
    pub report_at_fin: ReportAtFin,
}

/// The data that a partial ACK may send beyond the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAck {
    /// Nothing (RFC 6675, §5, step C: only while cwnd − pipe is at least one SMSS).
    WithinWindow,
    /// One segment, unless the head was already retransmitted (ns-3's `ProcessAck` calls
    /// `DoRetransmit`).
    SendsHead,
}

/// How often PRR counts the delivery of a partial ACK with new SACK information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrrDelivery {
    /// Once (RFC 9937, §6).
    Once,
    /// Twice (ns-3 calls `DoRecovery` in `DupAck` and then in `ProcessAck`).
    Twice,
}

/// The effect of an ACK with new SACK information outside a recovery, if the ACK advances snd.una.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disorder {
    /// The ACK increases the window (RFC 5681, §3.1) and restarts the timer (RFC 6298, §5.3), as
    /// any ACK of new data does.
    GrowsAndRestarts,
    /// The ACK does neither (ns-3's `ProcessAck` in `CA_DISORDER`).
    Holds,
}

/// The growth of the window by the ACK that ends a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitGrowth {
    /// After a fast recovery, no growth: the window is set to the threshold (RFC 5681, §3.2, step
    /// 6). After a timeout, growth by all data that the ACK acknowledges, because slow start
    /// continues (RFC 5681, §3.1).
    Deflates,
    /// Growth by all data that the ACK delivers, after a fast recovery or a timeout. The state is
    /// Open before the window grows (Linux's `tcp_cong_control`, which `tcp_ack` calls after
    /// `tcp_fastretrans_alert`).
    Grows,
    /// After a fast recovery, growth by all data that the ACK acknowledges. After a timeout, growth
    /// by the data beyond the recovery point (ns-3's `ProcessAck`).
    GrowsBeyondRecovery,
}

/// The ACK that ends a congestion window reduction (CWR) without a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionEnd {
    /// The ACK of all data that had been sent when the reduction began: a window of data (RFC 3168,
    /// §6.1.2). The ACK does not increase the window.
    Acknowledged,
    /// The first ACK of data sent later, so that the CWR flag has reached the receiver. The ACK is
    /// processed in the state Open (Linux's `tcp_fastretrans_alert`).
    BeyondAcknowledged,
}

/// The timeouts that lower the slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutThreshold {
    /// The first timeout for a window of losses. Repeated timeouts do not lower the threshold (RFC
    /// 5681, §3.1). Timeouts in a recovery that has lowered the threshold do not either (Linux's
    /// `tcp_enter_loss`).
    First,
    /// Each timeout (ns-3's `ReTxTimeout`).
    Each,
}

/// The event that resets the count of duplicate ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateCount {
    /// Any ACK that advances snd.una, even with new SACK information (RFC 6675, §5: a cumulative
    /// ACK resets `DupAcks`).
    EndsWithAnyAdvance,
    /// Only an ACK without new SACK information (ns-3's `ProcessAck`).
    EndsWithoutSackNews,
}

/// The data that are sent regardless of the window if no lost data wait for retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedRetransmission {
    /// No data, because all lost data have already been retransmitted. RFC 6675, §5, step 4.3,
    /// retransmits only data presumed lost.
    OnlyLost,
    /// New data if the application has any, otherwise the head once more (ns-3's `EnterRecovery`
    /// calls `DoRetransmit`).
    AtLeastHead,
}

/// The event that ends the backoff of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffEnd {
    /// A new round-trip sample (RFC 6298, §5, last paragraph; Linux's `tcp_ack_update_rtt`). An ACK
    /// of a retransmission yields no sample (Karn's algorithm).
    Measurement,
    /// Any ACK that restarts the timer (ns-3's `NewAck`).
    NewAck,
}

/// Whether SACKs alone restart the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackRestart {
    /// No: only an ACK that advances snd.una restarts the timer (RFC 6298, §5.3).
    Never,
    /// Yes, if the round-trip time of the SACKs exceeds the age of the head's last transmission.
    /// The timer then uses the resulting timeout (Linux's `tcp_clean_rtx_queue`). The SACKed data
    /// were sent before the head was retransmitted, so they do not imply that the head is lost.
    BeforeHead,
}

/// The treatment of losses that remain when a recovery ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemainingLoss {
    /// The next duplicate ACK starts a recovery (RFC 6675, §5).
    NextAck,
    /// The ACK that ends one recovery starts the next recovery (Linux's `tcp_fastretrans_alert`,
    /// which continues with the state Open).
    SameAck,
}

/// The ACKs on which RACK looks for losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RackScan {
    /// Every ACK (RFC 8985, §6.2).
    EveryAck,
    /// ACKs that deliver data, and the ACK after an undo (`rack.advanced` in Linux's
    /// `tcp_rack_mark_lost`).
    Advanced,
}

/// The D-SACKs that are taken as reports of a retransmission. Other D-SACKs report copies made by
/// the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsackMatch {
    /// D-SACKs of retransmitted segments, once per retransmission (RFC 3708, §3).
    Retransmitted,
    /// Above snd.una, D-SACKs of retransmitted segments. Below snd.una, every D-SACK, because Linux
    /// has already freed the segment (`tcp_sacktag_one`, `tcp_check_dsack`).
    BelowUna,
}

/// The D-SACKs of a retransmission that widen RACK's reordering window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsackWidening {
    /// All D-SACKs (RFC 8985, §6.2, step 4).
    Every,
    /// D-SACKs after reordering was detected, unless they report a tail loss probe (Linux's
    /// `tcp_dsack_seen`).
    AfterReordering,
}

/// Whether bytes that a D-SACK reports are counted as delivered, for PRR and for window growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsackDelivery {
    /// No (RFC 9937, §6: DeliveredData is newly acknowledged data).
    Ignored,
    /// Yes: a spurious retransmission is no longer in the network (Linux's `tcp_dsack_seen`).
    Counted,
}

/// When a tail loss probe may follow an acknowledged tail loss probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatedProbe {
    /// After a measurement of the round-trip time (RFC 8985, §7.3).
    AfterMeasurement,
    /// Immediately (Linux's `tcp_send_loss_probe` in `tcp_output.c` tests only `tlp_high_seq`).
    AtOnce,
}

/// When a reneging receiver (RFC 2018, §8) is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reneging {
    /// When the retransmission timer expires.
    AtTimeout,
    /// On an ACK that advances to a SACKed segment. The timer then expires after half of SRTT, at
    /// least 10 ms, unless another ACK arrives (Linux's `tcp_check_sack_reneging`).
    Suspected,
}

/// Whether a timeout is tested for being spurious, in addition to timestamps and D-SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpuriousTimeout {
    /// No (RFC 6298 has no such test).
    Untested,
    /// Yes, by F-RTO with SACK (RFC 5682, §3.1; Linux's `tcp_process_loss`). The first ACK that
    /// advances snd.una triggers new data instead of retransmissions. If the next ACK delivers data
    /// that were sent only once, before the timeout, the timeout was spurious.
    ForwardRecovery,
}

/// The use of the window that is required for its growth, if the window is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowValidation {
    /// The data in flight before the ACK filled the window, or would have without the delay of
    /// pacing (RFC 9002, §7.8, the only RFC that covers pacing). In slow start, half of the window
    /// suffices (RFC 7661, §4.3).
    PresentFlight,
    /// The maximum data in flight since the last full window was acknowledged (Linux's
    /// `tcp_cwnd_validate` and `tcp_is_cwnd_limited`). A window that is unused for a retransmission
    /// timeout is reduced (`tcp_cwnd_application_limited`).
    LastWindow,
}

/// The segments that carry PSH (RFC 9293, §3.9.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// The last segment, when no more data are queued. This is the minimum that the RFC requires
    /// (MUST-61).
    LastQueued,
    /// The segment that ends a write. Within a write, also one segment per half of the largest
    /// window that the peer has offered (Linux's `tcp_push` and `forced_push` in `tcp.c`).
    EachWrite,
}

/// Whether the degree of reordering is measured or fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderingDegree {
    /// Fixed: `DupThresh` is three (RFC 6675, §2; RFC 5681, §3.2).
    Fixed,
    /// Measured: the maximum displacement in the connection. Without SACK, this number of duplicate
    /// ACKs implies a loss, limited to one less than the outstanding segments
    /// (`tcp_newreno_mark_lost` in Linux's `tcp_recovery.c`). Above three, the SACKed data increase
    /// the window (`tcp_may_raise_cwnd`; `tcp_check_sack_reordering`, `tcp_check_reno_reordering`).
    Measured,
}

/// The effect of a partial ACK that an original transmission elicited, while retransmissions are in
/// flight. The echoed timestamp identifies the transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateHole {
    /// The recovery continues (RFC 6675, §5).
    Repairs,
    /// No data are marked lost or retransmitted until the next ACK, and new data may be sent
    /// (Linux's `tcp_try_undo_partial`).
    HoldsBack,
}

/// Whether the SACK blocks of an ACK below snd.una affect the window. The scoreboard always
/// processes the blocks (RFC 6675, §5: any ACK with SACK information).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldAck {
    /// Yes: PRR processes the blocks (RFC 9937, §6: DeliveredData is the data that an ACK newly
    /// reports).
    Counts,
    /// No: the window does not change. The SACKed data leave the pipe, so new data may be sent (in
    /// Linux's `tcp_ack`, the path `old_ack` does not call `tcp_cong_control`).
    Spared,
}

/// The data that are counted as delivered without SACK, for the delivery rate and for window
/// growth. PRR always counts by RFC 9937, §6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainDelivery {
    /// Each byte once. The acknowledged data, plus a segment per duplicate ACK, if this sum exceeds
    /// the previous count (draft-ietf-ccwg-bbr, §4.1.1.1: C.delivered is the amount of data
    /// delivered).
    Once,
    /// A segment per duplicate ACK, plus each acknowledged segment that no counted duplicate
    /// represents. If the count of duplicates was reset, their segments are counted twice
    /// (`tp->delivered` in Linux's `tcp_add_reno_sack`, `tcp_remove_reno_sacks` and
    /// `tcp_reset_reno_sack`).
    EachDuplicate,
}

/// When a recovery without SACK ends, after a fast retransmit or a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainExit {
    /// With the ACK of all data sent when the recovery began (RFC 6582, §3.2, step 3).
    Acknowledged,
    /// With the first ACK of data sent after the recovery began (Linux's
    /// `tcp_is_non_sack_preventing_reopen`).
    BeyondAcknowledged,
}

/// Whether duplicate ACKs at the recovery point of the last recovery imply a loss. Retransmissions
/// of that recovery may have elicited them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicatesAtExit {
    /// No, without SACK: the ACK must cover more than `recover` (RFC 6582, §3.2, step 2).
    Ignored,
    /// Yes (ns-3's `DupAck`: `m_highRxAckMark >= m_recover`).
    Counted,
}

/// The segments that update the peer's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowUpdate {
    /// Segments that are not older than the last update, by their sequence and acknowledgment
    /// numbers (RFC 9293, §3.10.7.4). A window may therefore shrink.
    Newer,
    /// Segments with a later acknowledgment or sequence number, and segments that widen or close
    /// the window (Linux's `tcp_may_update_window`).
    NewerWiderOrShut,
    /// Segments with a later acknowledgment or sequence number, and segments that widen the window
    /// (ns-3's `UpdateWindowSize`).
    NewerOrWider,
}

/// When the timer of an unanswered SYN begins to back off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynBackoff {
    /// At the first expiry (RFC 6298, §5.5).
    FirstExpiry,
    /// At the fifth expiry (Linux's `tcp_retransmit_timer` with `tcp_syn_linear_timeouts` = 4,
    /// since 6.5).
    FifthExpiry,
}

/// The packets of an AccECN connection that are ECN-capable after the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EctPackets {
    /// New data (RFC 3168, §6.1.4 to §6.1.6).
    NewData,
    /// All packets, including pure ACKs, retransmissions and probes (Linux's `tcp_ecn_send`).
    All,
}

/// Whether the opening end of an AccECN connection tests the first ACE field after the SYN-ACK. The
/// accepting end always tests the ACK of its SYN-ACK (RFC 9768, §3.2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroedAce {
    /// Yes. A zero implies that the path clears the field. Then no packet is ECN-capable, and
    /// feedback is ignored (RFC 9768, §3.2.2.4).
    Tested,
    /// No. §3.2.2.4 permits this (Linux).
    NotTested,
}

/// The interpretation of an ACE field that may have wrapped, on an ACK of more than seven packets
/// without an AccECN option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AceAmbiguity {
    /// The maximum number of marks that is consistent with the field and the number of packets (RFC
    /// 9768, §3.2.2.5.2: the safest likely case).
    SafestLikely,
    /// The maximum, or the minimum if ACKs have covered more than four packets on average. With
    /// such an average, an ACK of many packets does not imply that ACKs were lost
    /// (`pkts_acked_ewma` in Linux's `__tcp_accecn_process`, since 7.0).
    TrustedIfThin,
}

/// The marks of an AccECN connection that are acknowledged immediately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAcks {
    /// The first mark after an unmarked packet, and every second mark (RFC 9768, §3.2.2.5.1).
    FirstAndEverySecond,
    /// Every change of the codepoint, including changes between ECT(0) and ECT(1) and changes from
    /// CE, and every sixth mark (Linux's `tcp_ecn_received_counters` and
    /// `TCP_ACCECN_ACE_MAX_DELTA`).
    EachChange,
}

/// The counters that the AccECN option carries if all of them fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionFields {
    /// CE and the counters that have changed during the connection. ECT(0) is first if it has
    /// changed (RFC 9768, §3.2.3.3: recommended scheme).
    Changed,
    /// All three counters, ECT(1) first. If no counter has changed, an empty option may use the
    /// padding (Linux's `tcp_options_fit_accecn` and `tcp_options_write`).
    All,
}

/// When the AccECN option is omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionUse {
    /// Never (RFC 9768, §3.2.3.2.3: an absent option implies nothing about the other direction).
    Always,
    /// Until the peer's option has arrived. Also after the second spurious retransmission of data
    /// whose ACK carried the option (`saw_accecn_opt` in Linux's `tcp_established_options`,
    /// `TCP_ACCECN_OPT_FAIL_SEND` in `tcp_rcv_spurious_retrans`).
    AsPathAllows,
}

/// Whether full-sized segments have less payload, so that the AccECN option fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionRoom {
    /// No: they omit the option (RFC 9768, §3.2.3.2.1: the option may be omitted if it does not
    /// fit).
    Leftover,
    /// Yes (Linux's `tcp_current_mss`).
    Reserved,
}

/// Whether data segments have less payload, so that SACK blocks fit, if this end has blocks to
/// report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackRoom {
    /// No. While data are missing, ACKs are sent without data, because only an ACK without data is
    /// a duplicate ACK (RFC 5681, §2).
    Leftover,
    /// Yes: new segments carry the ACK with its blocks (Linux's `tcp_current_mss`,
    /// `tcp_established_options`). Retransmissions have the original payload here, whereas the
    /// kernel splits them.
    Made,
}

/// The definition of a full-sized segment of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullSize {
    /// The longest segment so far.
    Longest,
    /// The length of the last two segments, if their lengths including options were equal. SACK
    /// blocks shorten the payload of a segment, but such a segment does not end a write (Linux's
    /// `tcp_measure_rcv_mss`).
    LastTwo,
}

/// The limit of challenge ACKs (RFC 5961).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeLimit {
    /// Ten in five seconds (RFC 5961, §7: the example of the RFC).
    TenInFiveSeconds,
    /// One in half a second (`tcp_invalid_ratelimit`). ACKs that answer segments without data from
    /// outside the window are included (`tcp_oow_rate_limited`). A single connection does not reach
    /// the host's `tcp_challenge_ack_limit`.
    OneInHalfASecond,
}

/// The treatment of data beyond the receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondWindow {
    /// Such data are discarded (RFC 9293, §3.10.7.4, first: only data within the window are
    /// processed).
    CutOff,
    /// The whole segment is accepted if it starts within the window and the application has read
    /// all earlier data. Otherwise, the segment is dropped and an ACK is sent (Linux's
    /// `tcp_sequence` and `tcp_data_queue`, since 6.17).
    TakenWhole,
}

/// Whether the ACK of a FIN reports duplicate data in the FIN's segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportAtFin {
    /// Yes (RFC 2883, §4: each duplicate is reported).
    Reported,
    /// No (Linux's `tcp_fin` calls `tcp_sack_reset`).
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

    /// The rules of Linux 6.18. The comments of the rules list the differences from the RFCs.
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

    /// The rules of ns-3.37. Each departure from the RFCs changes results of ns-3.
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
    /// Returns the rules of this dialect.
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

    /// A rule that has the same value in all tables would be superfluous.
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
