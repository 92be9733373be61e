//! The sender's reaction to echoed marks, and its CWR.

use super::super::ecn::{self, FIRST_COUNT, reflect};
use super::Sender;
use super::summary::AckSummary;
use crate::cc::Signal;
use acklab_base::{Ecn, Instant};
use acklab_wire::tcp::{AccurateEcn, Flags, Segment};

/// The largest count of marked packets that the ACE field expresses unambiguously (RFC 9768, §3.2.2.5).
const MOST_CERTAIN: u64 = 7;

/// The sender's side of explicit congestion notification.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    agreed: ecn::Config,
    codepoint: Ecn,
    /// How the SYN-ACK arrived.
    syn_ack: Ecn,
    /// An echo counts once an acknowledgment passes this offset: earlier marks have been reacted to.
    settled_until: Option<u64>,
    /// The next new data carries CWR.
    cwr_due: bool,
    /// s.cep of RFC 9768: marked packets that the receiver has reported.
    count: u64,
    /// s.ceb: marked octets that the option has reported.
    octets: u64,
    /// Of the octets taken for marked, those that only the ACE count has reported so far.
    ahead: u64,
}

/// What an ACK echoes of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Echoed {
    /// Marked octets among those that it delivers, if the echo counts them.
    pub(super) marked: u64,
    /// Something was marked.
    pub(super) is_congested: bool,
}

impl Marks {
    pub(super) const fn new() -> Self {
        Self {
            agreed: ecn::Config::Off,
            codepoint: Ecn::NotEct,
            syn_ack: Ecn::NotEct,
            settled_until: None,
            cwr_due: false,
            count: FIRST_COUNT,
            octets: 0,
            ahead: 0,
        }
    }

    /// The SYN-ACK has come, after `offered` had stood in a SYN that was not ECN-capable.
    pub(super) fn conclude(&mut self, offered: ecn::Config, syn_ack: &Segment) {
        self.agreed = offered.conclude(syn_ack.flags);
        self.syn_ack = syn_ack.ecn;
        self.codepoint = match self.agreed {
            ecn::Config::Off => Ecn::NotEct,
            // RFC 9768, §3.2.2.3: the SYN cannot have arrived otherwise than it left; something on the path changes codepoints.
            ecn::Config::Accurate if syn_ack.flags.ace() != reflect(Ecn::NotEct).ace() => Ecn::NotEct,
            // RFC 3168, §5: ECT(0) where one codepoint is used.
            ecn::Config::Classic | ecn::Config::Dctcp | ecn::Config::Accurate => Ecn::Ect0,
        };
    }

    /// The peer's SYN has arrived, and the SYN-ACK accepts this.
    pub(super) const fn accept(&mut self, agreed: ecn::Config) {
        self.agreed = agreed;
        // RFC 3168, §5: ECT(0) where one codepoint is used.
        self.codepoint = if matches!(agreed, ecn::Config::Off) { Ecn::NotEct } else { Ecn::Ect0 };
    }

    /// The SYN-ACK has come once more.
    pub(super) fn repeat(&mut self, syn_ack: &Segment) {
        self.syn_ack = syn_ack.ecn;
    }

    /// The flags of the ACK of a SYN-ACK (RFC 9768, §3.2.2.1).
    pub(super) fn first_flags(&self) -> Flags {
        if self.agreed == ecn::Config::Accurate { reflect(self.syn_ack) } else { Flags::NONE }
    }

    /// The flags of any other segment: its own count of marked packets. None come, for ACKs are not ECN-capable
    /// (RFC 3168, §6.1.4), but that the SYN-ACK was marked counts (RFC 9768, Table 3).
    pub(super) fn flags(&self) -> Flags {
        match self.agreed {
            ecn::Config::Accurate => Flags::from_ace((FIRST_COUNT + u64::from(self.syn_ack == Ecn::Ce)) as u8),
            _ => Flags::NONE,
        }
    }

    /// What new data is sent with (RFC 3168, §6.1.2 and §6.1.5: not what is sent again).
    pub(super) const fn codepoint(&self) -> Ecn {
        self.codepoint
    }

    /// CWR on the first new data after a reduction of the window (RFC 3168, §6.1.2).
    pub(super) fn take_reduced(&mut self) -> Flags {
        if std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::NONE }
    }

    /// An ACK has arrived that delivers `octets` in `packets`.
    pub(super) fn on_ack(&mut self, ack: &Segment, delivered: u64, packets: u64) -> Echoed {
        let has_ece = ack.flags.contains(Flags::ECE);
        match self.agreed {
            ecn::Config::Off => Echoed::default(),
            ecn::Config::Classic => Echoed { marked: 0, is_congested: has_ece },
            ecn::Config::Dctcp => Echoed { marked: if has_ece { delivered } else { 0 }, is_congested: has_ece },
            // RFC 9768, §3.2.2.2: an ACK that delivers nothing may be older than the last one.
            ecn::Config::Accurate if delivered == 0 => Echoed::default(),
            ecn::Config::Accurate => {
                let marks = self.marks_reported(ack.flags.ace(), packets);
                self.count += marks;
                let counted = (delivered * marks / packets.max(1)).min(delivered);
                match ack.options.accurate_ecn.as_ref().and_then(AccurateEcn::marked) {
                    Some(counter) => self.octets_reported(counter, delivered),
                    None => {
                        self.ahead += counted;
                        Echoed { marked: counted, is_congested: marks > 0 }
                    }
                }
            }
        }
    }

    /// RFC 9768, §3.2.3.1: the option is exact where the count is ambiguous, but it may repeat what the count has reported.
    fn octets_reported(&mut self, counter: u32, delivered: u64) -> Echoed {
        let reported = u64::from(counter).wrapping_sub(self.octets) % AccurateEcn::MODULUS;
        self.octets += reported;
        let marked = reported.saturating_sub(self.ahead).min(delivered);
        self.ahead = self.ahead.saturating_sub(reported);
        Echoed { marked, is_congested: marked > 0 }
    }

    /// RFC 9768, §3.2.2.5.2: where the field may have gone round, as often as the packets allow (Linux's `__tcp_accecn_process`).
    fn marks_reported(&self, ace: u8, packets: u64) -> u64 {
        let least = u64::from(ace).wrapping_sub(self.count) % 8;
        if packets <= MOST_CERTAIN { least } else { packets - (packets - least) % 8 }
    }

    /// The window has been reduced, for whatever reason, while everything below `nxt` had been sent.
    pub(super) fn on_reduction(&mut self, nxt: u64) {
        self.settled_until = Some(nxt);
        self.cwr_due = matches!(self.agreed, ecn::Config::Classic | ecn::Config::Dctcp);
    }

    /// Returns `true` if the marks that an echo reports have been reacted to, with everything below `una` acknowledged.
    fn is_settled(&self, una: u64) -> bool {
        self.settled_until.is_some_and(|until| una <= until)
    }
}

impl Sender {
    /// The window is reduced for an echoed mark, once for each window of data (RFC 3168, §6.1.2). Returns the octets by which it may
    /// grow, of `growth`.
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
    use acklab_wire::tcp::{FieldOrder, Options, SeqNumber};

    fn accurate() -> Marks {
        Marks { agreed: ecn::Config::Accurate, codepoint: Ecn::Ect0, ..Marks::new() }
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

    /// The marks that ACKs report, each for a number of packets of 1000 octets and of marks among them.
    fn reported(acks: &[(u64, u64)]) -> Vec<u64> {
        let (mut marks, mut count) = (accurate(), FIRST_COUNT);
        acks.iter()
            .map(|(packets, marked)| {
                count += marked;
                marks.on_ack(&counting(count), packets * 1000, *packets).marked / 1000
            })
            .collect()
    }

    #[test]
    fn up_to_seven_packets_an_ack_are_counted_exactly() {
        assert_eq!(reported(&[(2, 1), (7, 7), (1, 0), (7, 6), (2, 2)]), [1, 7, 0, 6, 2]);
    }

    /// Eight marks look like none, and one like nine: the safest likely case is the larger.
    #[test]
    fn thinner_acks_count_the_safest_likely_case() {
        assert_eq!(reported(&[(8, 8)]), [8]);
        assert_eq!(reported(&[(8, 0)]), [8], "none of eight cannot be distinguished from all");
        assert_eq!(reported(&[(16, 2)]), [10]);
        assert_eq!(reported(&[(16, 10)]), [10]);
        assert_eq!(reported(&[(15, 8), (7, 3)]), [8, 3], "nor does it stay wrong");
        assert_eq!(reported(&[(15, 7)]), [15], "seven of fifteen look like all");
    }

    #[test]
    fn the_option_tells_octets_however_thin_acks_are() {
        let mut marks = accurate();
        let mut reported = |count: u64, octets: Option<u64>, packets| {
            let option = octets.map(|octets| AccurateEcn::new(FieldOrder::Ect0First, &[1, octets]));
            marks.on_ack(&ack(counting(count).flags, option), packets * 1000, packets).marked
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
        assert_eq!(marks.on_ack(&counting(7), 0, 0), Echoed::default());
        assert_eq!(marks.on_ack(&counting(7), 2000, 2), Echoed { marked: 2000, is_congested: true });
    }

    #[test]
    fn a_classic_echo_tells_that_but_not_how_much() {
        let reported = |agreed| Marks { agreed, ..Marks::new() }.on_ack(&ack(Flags::ECE, None), 2000, 2);
        assert_eq!(reported(ecn::Config::Classic), Echoed { marked: 0, is_congested: true });
        assert_eq!(reported(ecn::Config::Dctcp), Echoed { marked: 2000, is_congested: true });
        assert_eq!(reported(ecn::Config::Off), Echoed::default());
    }
}
