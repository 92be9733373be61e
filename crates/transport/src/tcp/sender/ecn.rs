//! The sender's reaction to echoed marks, and its CWR flag.

use super::super::config::TcpConfig;
use super::super::ecn::{self, FIRST_COUNT, OctetReport, Verdict, reflect};
use super::super::room_beside;
use super::super::rules::{AceAmbiguity, EctPackets, Rules, ZeroedAce};
use super::Sender;
use super::summary::AckSummary;
use crate::cc::Signal;
use acklab_base::{Ecn, Instant};
use acklab_wire::tcp::{AccurateEcn, FieldOrder, Flags, Segment};

/// The maximum number of marked packets that the ACE field expresses unambiguously (RFC 9768,
/// §3.2.2.5).
const MAX_CERTAIN: u64 = 7;

/// Linux's `PKTS_ACKED_WEIGHT`, `PKTS_ACKED_PREC` and `ACK_COMP_THRESH`. The moving average of
/// packets per ACK has a unit of 1/64 packet and a weight of 1/64. ACKs that cover more than four
/// packets on average are called thin.
const COVER_WEIGHT: u32 = 6;
const COVER_PRECISION: u32 = 6;
const THIN_COVER: u64 = 4 << COVER_PRECISION;

/// The sender's side of explicit congestion notification.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    agreed: ecn::EcnConfig,
    ect_packets: EctPackets,
    ambiguity: AceAmbiguity,
    /// The codepoint of new data, and the codepoint of other packets.
    codepoint: Ecn,
    codepoint_of_others: Ecn,
    /// The codepoint with which the SYN-ACK arrived.
    syn_ack: Ecn,
    /// `accurate`, at the accepting end: `true` if no segment has arrived since the SYN.
    awaits_ack_of_syn_ack: bool,
    /// `accurate`, at the opening end: `true` if this end tests for a zeroed ACE field, and no ACE
    /// field has arrived since the SYN-ACK.
    awaits_first_ace: bool,
    /// `true` if the peer's feedback is processed.
    heeds_feedback: bool,
    /// The offset up to which echoes have already caused a reaction. An echo has an effect only if
    /// its ACK exceeds this offset.
    settled_until: Option<u64>,
    /// `true` if the next segment with new data carries CWR.
    cwr_due: bool,
    /// r.cep of RFC 9768: the number of marked packets that have arrived.
    received: u64,
    /// s.cep: the number of marked packets that the receiver has reported.
    count: u64,
    /// s.e0b, s.e1b and s.ceb by codepoint, without their initial values: the bytes that the AccECN
    /// option has reported.
    octets: [u64; Ecn::ALL.len()],
    /// The bytes that are assumed to be marked because of the ACE count, and that no option has
    /// reported yet.
    ahead: u64,
    /// The moving average of packets per ACK, in 1/64 packet; zero before the first ACK.
    cover: u64,
    /// The option of outgoing segments. A sender that is not part of a connection has no option,
    /// because it receives no data.
    pub(super) report: OctetReport,
}

/// The contents of an ACK that are needed to interpret its echo of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acknowledged {
    /// The number of bytes that the ACK delivers.
    pub(super) octets: u64,
    /// The number of packets that the ACK delivers.
    pub(super) packets: u64,
    /// Payload of a full-sized segment, in bytes.
    pub(super) mss: u64,
    /// `true` if the timestamp of the ACK is newer than all earlier timestamps.
    pub(super) has_newer_timestamp: bool,
}

/// The marks that an ACK echoes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Echoed {
    /// The number of marked bytes among the delivered bytes, if the echo reports a number.
    pub(super) marked: u64,
    /// `true` if the ACK reports a mark.
    pub(super) is_congested: bool,
}

/// The marks that the receiver has reported with AccECN (RFC 9768, §3.2), counted from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedMarks {
    /// Marked packets (s.cep).
    pub packets: u64,
    /// Bytes that arrived marked (s.ceb).
    pub ce: u64,
    /// Bytes that arrived as ECT(0) (s.e0b).
    pub ect0: u64,
    /// Bytes that arrived as ECT(1) (s.e1b).
    pub ect1: u64,
}

impl Marks {
    pub(super) const fn new(rules: &Rules) -> Self {
        Self {
            agreed: ecn::EcnConfig::Off,
            ect_packets: rules.ect_packets,
            ambiguity: rules.ace_ambiguity,
            codepoint: Ecn::NotEct,
            codepoint_of_others: Ecn::NotEct,
            syn_ack: Ecn::NotEct,
            awaits_ack_of_syn_ack: false,
            awaits_first_ace: false,
            heeds_feedback: true,
            settled_until: None,
            cwr_due: false,
            received: FIRST_COUNT,
            count: FIRST_COUNT,
            octets: [0; Ecn::ALL.len()],
            ahead: 0,
            cover: 0,
            report: OctetReport::new(rules, false),
        }
    }

    /// Sets the mode on which both ends have agreed.
    fn agree(&mut self, agreed: ecn::EcnConfig, config: &TcpConfig, rules: &Rules) {
        let is_accurate = agreed == ecn::EcnConfig::Accurate;
        self.agreed = agreed;
        self.report = OctetReport::new(rules, is_accurate && config.ecn_option);
        // RFC 3168, §5: ECT(0) if one codepoint is used; RFC 9331, §4.1: ECT(1) for L4S.
        let capable = if config.congestion.is_scalable() { Ecn::Ect1 } else { Ecn::Ect0 };
        self.codepoint = if agreed == ecn::EcnConfig::Off { Ecn::NotEct } else { capable };
        let others_are_capable = is_accurate && self.ect_packets == EctPackets::All;
        self.codepoint_of_others = if others_are_capable { capable } else { Ecn::NotEct };
    }

    /// Stops sending ECN-capable packets.
    const fn withhold_ect(&mut self) {
        (self.codepoint, self.codepoint_of_others) = (Ecn::NotEct, Ecn::NotEct);
    }

    /// Processes the SYN-ACK. By `config`, the SYN had offered ECN, and the SYN was not
    /// ECN-capable.
    pub(super) fn conclude(&mut self, config: &TcpConfig, rules: &Rules, syn_ack: &Segment) {
        self.agree(config.ecn.conclude(syn_ack.flags), config, rules);
        self.syn_ack = syn_ack.ecn;
        if self.agreed == ecn::EcnConfig::Accurate {
            self.received += u64::from(syn_ack.ecn == Ecn::Ce);
            self.report.watch(syn_ack);
            self.awaits_first_ace = rules.zeroed_ace == ZeroedAce::Tested;
            if !Verdict::of_syn_ack(syn_ack).may_send_ect {
                self.withhold_ect();
            }
        }
    }

    /// Processes the peer's `syn`. The SYN-ACK accepts the offer of the SYN as far as `config`
    /// permits.
    pub(super) fn accept(&mut self, config: &TcpConfig, rules: &Rules, syn: &Segment) {
        self.agree(config.ecn.accept(syn.flags), config, rules);
        self.awaits_ack_of_syn_ack = self.agreed == ecn::EcnConfig::Accurate;
    }

    /// Records `packet`, a repeated SYN or SYN-ACK, at the accepting end. If either packet is
    /// without ECN, this end sends no ECN-capable packets (RFC 9768, §3.1.5).
    pub(super) fn note_handshake(&mut self, packet: &Segment) {
        if self.awaits_ack_of_syn_ack && packet.flags.ace() == 0 {
            self.withhold_ect();
        }
    }

    /// Processes a repeated SYN-ACK.
    pub(super) fn repeat(&mut self, syn_ack: &Segment) {
        self.syn_ack = syn_ack.ecn;
    }

    /// Returns the flags of the ACK of a SYN-ACK (RFC 9768, §3.2.2.1).
    pub(super) fn first_flags(&self) -> Flags {
        if self.agreed == ecn::EcnConfig::Accurate { reflect(self.syn_ack) } else { Flags::NONE }
    }

    /// Returns the flags of any other segment: the number of marked packets that have arrived.
    pub(super) fn flags(&self) -> Flags {
        match self.agreed {
            ecn::EcnConfig::Accurate => Flags::from_ace((self.received % 8) as u8),
            _ => Flags::NONE,
        }
    }

    /// Returns the codepoint of new data.
    pub(super) const fn codepoint(&self) -> Ecn {
        self.codepoint
    }

    /// Returns the codepoint of retransmissions and of packets without data (RFC 3168, §6.1.4 to
    /// §6.1.6: not ECN-capable).
    pub(super) const fn codepoint_of_others(&self) -> Ecn {
        self.codepoint_of_others
    }

    /// Returns CWR for the first new data after a reduction of the window (RFC 3168, §6.1.2).
    pub(super) fn take_reduced(&mut self) -> Flags {
        if std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::NONE }
    }

    /// Returns `true` if [`on_ack`](Self::on_ack) would have no effect.
    #[inline]
    pub(super) fn has_no_effect(&self, ack: &Segment) -> bool {
        match self.agreed {
            ecn::EcnConfig::Off => true,
            ecn::EcnConfig::Classic | ecn::EcnConfig::Dctcp => !ack.flags.contains(Flags::ECE),
            ecn::EcnConfig::Accurate => false,
        }
    }

    /// Processes an ACK.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Segment, acknowledged: Acknowledged) -> Echoed {
        let has_ece = ack.flags.contains(Flags::ECE);
        match self.agreed {
            ecn::EcnConfig::Off => Echoed::default(),
            ecn::EcnConfig::Classic => Echoed { marked: 0, is_congested: has_ece },
            ecn::EcnConfig::Dctcp => {
                Echoed { marked: if has_ece { acknowledged.octets } else { 0 }, is_congested: has_ece }
            }
            ecn::EcnConfig::Accurate => self.on_accurate_ack(ack, acknowledged),
        }
    }

    #[inline(never)]
    fn on_accurate_ack(&mut self, ack: &Segment, acknowledged: Acknowledged) -> Echoed {
        let Acknowledged { octets: delivered, packets, has_newer_timestamp, .. } = acknowledged;
        self.received += u64::from(ack.ecn == Ecn::Ce);
        self.report.watch(ack);
        if std::mem::take(&mut self.awaits_ack_of_syn_ack) {
            self.judge_handshake(ack);
            return Echoed::default();
        }
        if std::mem::take(&mut self.awaits_first_ace) && ack.flags.ace() == 0 {
            self.heeds_feedback = false;
            self.withhold_ect();
        }
        // RFC 9768, §3.2.2.2 and appendix A.1: an ACK that delivers no data may be older than the
        // last ACK, unless its timestamp is newer.
        if !self.heeds_feedback || (delivered == 0 && !has_newer_timestamp) {
            return Echoed::default();
        }
        if packets > 0 {
            self.average_cover(packets);
        }
        let reported = ack.options.accurate_ecn.and_then(|option| self.read_option(&option));
        let marks = self.marks_reported(ack.flags.ace(), acknowledged, reported);
        self.count += marks;
        let marked = match reported {
            // RFC 9768, §3.2.3.1: if the count is ambiguous, the option is exact. The option may
            // repeat marks that the count has already reported.
            Some(reported) => {
                let marked = reported.saturating_sub(self.ahead).min(delivered);
                self.ahead = self.ahead.saturating_sub(reported);
                marked
            }
            None => {
                let counted = (delivered * marks / packets.max(1)).min(delivered);
                self.ahead += counted;
                counted
            }
        };
        Echoed { marked, is_congested: marks > 0 || marked > 0 }
    }

    /// Derives the state of the path from the first segment after the SYN-ACK (RFC 9768, Table 4).
    fn judge_handshake(&mut self, ack: &Segment) {
        let verdict = Verdict::of_ack_of_syn_ack(ack);
        self.heeds_feedback = verdict.heeds_feedback;
        self.count += u64::from(verdict.is_marked);
        if !verdict.may_send_ect {
            self.withhold_ect();
        }
    }

    /// Updates the moving average of packets per ACK (Linux's `pkts_acked_ewma`).
    fn average_cover(&mut self, packets: u64) {
        let newest = packets << COVER_PRECISION;
        let weighted = (self.cover << COVER_WEIGHT) - self.cover + newest;
        self.cover = if self.cover == 0 { newest } else { weighted >> COVER_WEIGHT };
    }

    /// Processes the counters of an option. Returns the bytes that the option newly reports as
    /// marked, or `None` without that counter.
    fn read_option(&mut self, option: &AccurateEcn) -> Option<u64> {
        let order = match option.order() {
            FieldOrder::Ect0First => [Ecn::Ect0, Ecn::Ce, Ecn::Ect1],
            FieldOrder::Ect1First => [Ecn::Ect1, Ecn::Ce, Ecn::Ect0],
        };
        let mut marked = None;
        for (codepoint, field) in order.into_iter().zip(option.fields()) {
            let first = u64::from(codepoint != Ecn::Ce);
            let counter = &mut self.octets[codepoint as usize];
            let newly = u64::from(*field).wrapping_sub(first).wrapping_sub(*counter) % AccurateEcn::MODULUS;
            *counter += newly;
            if codepoint == Ecn::Ce {
                marked = Some(newly);
            }
        }
        marked
    }

    /// Returns the number of newly marked packets that the ACE field reports. If the field may have
    /// wrapped, the maximum number of wraps is assumed that the number of packets permits (RFC
    /// 9768, §3.2.2.5.2). The marked bytes in `reported` may contradict this assumption (appendix
    /// A.2.2; Linux's `__tcp_accecn_process`).
    fn marks_reported(&self, ace: u8, acknowledged: Acknowledged, reported: Option<u64>) -> u64 {
        let Acknowledged { octets, packets, mss, .. } = acknowledged;
        let least = u64::from(ace).wrapping_sub(self.count) % 8;
        if packets <= MAX_CERTAIN {
            return least;
        }
        let most = packets - (packets - least) % 8;
        let is_thin = self.ambiguity == AceAmbiguity::TrustedIfThin && self.cover > THIN_COVER;
        match reported {
            None if is_thin => least,
            None => most,
            Some(0) => least,
            // If the field may have wrapped more than once, the fraction of marked bytes determines
            // the number of wraps.
            Some(marked) if packets >= 16 && marked < octets => {
                most.min(least + (marked * packets).div_ceil(octets) / 8 * 8)
            }
            Some(_) if packets >= 16 => most,
            Some(marked) if marked > least * mss => most,
            // SAFETY_FACTOR of the appendix: the payload of marked packets is at least half of the
            // full size.
            Some(marked) if marked < most * mss / 2 => least,
            Some(_) => most,
        }
    }

    /// Records a reduction of the window for any reason. `nxt` is the end of the data that were
    /// sent.
    pub(super) fn on_reduction(&mut self, nxt: u64) {
        self.settled_until = Some(nxt);
        self.cwr_due = matches!(self.agreed, ecn::EcnConfig::Classic | ecn::EcnConfig::Dctcp);
    }

    /// Returns `true` if the marks of an echo have already caused a reaction. The ACK acknowledges
    /// all data below `una`.
    fn is_settled(&self, una: u64) -> bool {
        self.settled_until.is_some_and(|until| una <= until)
    }
}

impl Sender {
    /// Returns the marks that the receiver has reported with AccECN.
    #[must_use]
    pub const fn reported_marks(&self) -> ReportedMarks {
        let marks = &self.marks;
        ReportedMarks {
            packets: marks.count - FIRST_COUNT,
            ce: marks.octets[Ecn::Ce as usize],
            ect0: marks.octets[Ecn::Ect0 as usize],
            ect1: marks.octets[Ecn::Ect1 as usize],
        }
    }

    /// Stops sending the AccECN option.
    pub(in crate::tcp) const fn block_option(&mut self) {
        self.marks.report.block();
    }

    /// Adds the AccECN option to `segment` if the option fits.
    #[inline(never)]
    pub(super) fn add_option(&mut self, segment: &mut Segment) {
        let room = room_beside(segment, self.congestion.control.window.mss);
        self.marks.report.fit(&mut segment.options, room, None);
    }

    /// Reduces the window for an echoed mark, once per window of data (RFC 3168, §6.1.2). Returns
    /// the part of `growth` by which the window may still grow.
    #[inline]
    pub(super) fn react_to_marks(&mut self, now: Instant, summary: &AckSummary, growth: u64) -> u64 {
        let is_reducing = self.congestion.state.reduces();
        if !summary.echoed.is_congested || is_reducing || self.marks.is_settled(self.board.una()) {
            return growth;
        }
        self.enter_reduced(now, summary, Signal::Mark);
        self.counters.mark_reductions += 1;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_wire::tcp::{Options, SeqNumber};

    fn accurate() -> Marks {
        Marks { agreed: ecn::EcnConfig::Accurate, codepoint: Ecn::Ect0, ..Marks::new(&Rules::RFC) }
    }

    /// Returns the acknowledgment of this number of packets of 1000 bytes.
    const fn of_packets(packets: u64) -> Acknowledged {
        Acknowledged { octets: packets * 1000, packets, mss: 1000, has_newer_timestamp: false }
    }

    fn ack(flags: Flags, accurate_ecn: Option<AccurateEcn>) -> Segment {
        Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber(1),
            ack: SeqNumber(1),
            flags,
            window: 0,
            options: Options { accurate_ecn, ..Options::default() },
            payload: 0,
        }
    }

    fn counting(count: u64) -> Segment {
        ack(Flags::from_ace((count % 8) as u8), None)
    }

    /// Returns the number of marks that each ACK reports. An ACK has a number of packets of 1000
    /// bytes, and a number of marks.
    fn reported(mut marks: Marks, acks: &[(u64, u64)]) -> Vec<u64> {
        let mut count = FIRST_COUNT;
        acks.iter()
            .map(|(packets, marked)| {
                count += marked;
                marks.on_ack(&counting(count), of_packets(*packets)).marked / 1000
            })
            .collect()
    }

    #[test]
    fn up_to_seven_packets_an_ack_are_counted_exactly() {
        assert_eq!(reported(accurate(), &[(2, 1), (7, 7), (1, 0), (7, 6), (2, 2)]), [1, 7, 0, 6, 2]);
    }

    /// With three bits, eight marks equal zero marks, and one mark equals nine. The safest likely
    /// case is the larger number.
    #[test]
    fn thinner_acks_count_the_safest_likely_case() {
        assert_eq!(reported(accurate(), &[(8, 8)]), [8]);
        assert_eq!(reported(accurate(), &[(8, 0)]), [8], "none of eight cannot be distinguished from all");
        assert_eq!(reported(accurate(), &[(16, 2)]), [10]);
        assert_eq!(reported(accurate(), &[(16, 10)]), [10]);
        assert_eq!(reported(accurate(), &[(15, 8), (7, 3)]), [8, 3], "nor does it stay wrong");
        assert_eq!(reported(accurate(), &[(15, 7)]), [15], "seven of fifteen look like all");
    }

    #[test]
    fn the_option_tells_octets_however_thin_acks_are() {
        let mut marks = accurate();
        let mut reported = |count: u64, octets: Option<u64>, packets| {
            let option = octets.map(|octets| AccurateEcn::new(FieldOrder::Ect0First, &[1, octets]));
            marks.on_ack(&ack(counting(count).flags, option), of_packets(packets)).marked
        };
        assert_eq!(reported(FIRST_COUNT, Some(0), 16), 0, "none of sixteen");
        assert_eq!(reported(FIRST_COUNT + 16, Some(16_000), 16), 16_000, "all of them");
        assert_eq!(reported(FIRST_COUNT + 18, None, 4), 2000, "no room for the option: the count reports");
        assert_eq!(reported(FIRST_COUNT + 19, Some(19_000), 4), 1000, "what it reported is not reported again");
        let around = AccurateEcn::MODULUS + 500;
        assert_eq!(reported(FIRST_COUNT + 19, Some(around), 60_000), around - 19_000);
    }

    #[test]
    fn what_brings_nothing_tells_nothing() {
        let mut marks = accurate();
        assert_eq!(marks.on_ack(&counting(7), of_packets(0)), Echoed::default());
        assert_eq!(marks.on_ack(&counting(7), of_packets(2)), Echoed { marked: 2000, is_congested: true });
        let newer = Acknowledged { has_newer_timestamp: true, ..of_packets(0) };
        assert_eq!(marks.on_ack(&counting(8), newer), Echoed { marked: 0, is_congested: true });
    }

    /// Linux trusts the field once ACKs have been thin on average. The first ACK covers ten
    /// packets. A further ACK of one packet does not change the result.
    #[test]
    fn linux_trusts_the_count_if_acks_are_thin_throughout() {
        let linux = Marks { agreed: ecn::EcnConfig::Accurate, ..Marks::new(&Rules::LINUX) };
        assert_eq!(reported(linux, &[(10, 0), (10, 1)]), [0, 1]);
        assert_eq!(reported(linux, &[(1, 0), (9, 0)]), [0, 8]);
    }

    /// RFC 9768, appendix A.2.2.
    #[test]
    fn octets_resolve_what_the_count_leaves_open() {
        let counted = |packets, count: u64, octets| {
            let mut marks = accurate();
            let option = AccurateEcn::new(FieldOrder::Ect1First, &[1, octets, 1]);
            let _ = marks.on_ack(&ack(counting(count).flags, Some(option)), of_packets(packets));
            marks.count - FIRST_COUNT
        };
        assert_eq!(counted(10, FIRST_COUNT, 0), 0);
        assert_eq!(counted(10, FIRST_COUNT + 1, 1000), 1);
        assert_eq!(counted(10, FIRST_COUNT + 9, 9000), 9);
        assert_eq!(counted(40, FIRST_COUNT + 18, 18_000), 18, "twice round of at most four times");
        assert_eq!(counted(40, FIRST_COUNT + 40, 40_000), 40);
    }

    #[test]
    fn the_option_is_read_in_either_order() {
        let mut marks = accurate();
        let _ = marks.read_option(&AccurateEcn::new(FieldOrder::Ect0First, &[501, 7, 31]));
        assert_eq!(marks.read_option(&AccurateEcn::new(FieldOrder::Ect1First, &[41, 9, 601])), Some(2));
        assert_eq!(marks.octets, [0, 40, 600, 9]);
    }

    #[test]
    fn a_classic_echo_tells_that_but_not_how_much() {
        let reported =
            |agreed| Marks { agreed, ..Marks::new(&Rules::RFC) }.on_ack(&ack(Flags::ECE, None), of_packets(2));
        assert_eq!(reported(ecn::EcnConfig::Classic), Echoed { marked: 0, is_congested: true });
        assert_eq!(reported(ecn::EcnConfig::Dctcp), Echoed { marked: 2000, is_congested: true });
        assert_eq!(reported(ecn::EcnConfig::Off), Echoed::default());
    }
}
