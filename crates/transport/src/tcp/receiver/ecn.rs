//! What the receiver echoes of marks.

use super::super::ecn::{self, FIRST_COUNT};
use crate::ack::Reason;
use acklab_base::Ecn;
use acklab_wire::tcp::{AccurateEcn, FieldOrder, Flags, Segment};

/// RFC 9768, §3.2.2.5.1: an ACK is sent at the latest after this many marks while data is unacknowledged.
const MARKS_PER_ACK: u32 = 2;

/// The echo of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    agreed: ecn::Config,
    /// `classic`: a mark waits for the sender's CWR. `dctcp`: DCTCP.CE. `accurate`: the packet before was marked.
    is_marked: bool,
    /// r.cep of RFC 9768: marked packets that have arrived.
    count: u64,
    /// Of these, those since the last ACK.
    since_ack: u32,
    /// r.e0b, r.e1b and r.ceb of RFC 9768, by codepoint: octets of payload that have arrived with it.
    octets: [u64; Ecn::ALL.len()],
}

/// What a segment means for the echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    /// It must be acknowledged at once, for this reason.
    pub(super) due: Option<Reason>,
    /// It is the first one marked since the sender last reported CWR.
    pub(super) first_mark: bool,
    /// It says that the sender has reduced its window.
    pub(super) reduced: bool,
}

impl Echo {
    pub(super) const fn new(agreed: ecn::Config) -> Self {
        let mut octets = [0; Ecn::ALL.len()];
        // RFC 9768, §3.2.1: so that a counter that something on the path sets to zero is noticed.
        octets[Ecn::Ect0 as usize] = 1;
        octets[Ecn::Ect1 as usize] = 1;
        Self { agreed, is_marked: false, count: FIRST_COUNT, since_ack: 0, octets }
    }

    /// The flags of the SYN-ACK to a SYN that arrived with the codepoint `syn`.
    pub(super) fn answer(&self, syn: Ecn) -> Flags {
        self.agreed.answer(syn)
    }

    /// The SYN-ACK arrived with this codepoint: that it was marked counts (RFC 9768, Table 3).
    pub(super) fn take_syn_ack(&mut self, codepoint: Ecn) {
        self.count += u64::from(codepoint == Ecn::Ce);
    }

    /// Returns `true` if what is unacknowledged must be acknowledged before this segment counts. RFC 8257, §3.2: so that an ACK never covers both marked and
    /// unmarked data (the second of the two ACKs that it allows; Linux's `dctcp_ece_ack_update`).
    pub(super) fn splits(&self, codepoint: Ecn) -> bool {
        self.agreed == ecn::Config::Dctcp && (codepoint == Ecn::Ce) != self.is_marked
    }

    /// A segment with data or a FIN has arrived. `is_in_window`: part of it could be new.
    pub(super) fn take(&mut self, segment: &Segment, is_in_window: bool) -> Notice {
        let is_ce = segment.ecn == Ecn::Ce;
        let was_marked = self.is_marked;
        let mut notice = Notice { due: None, first_mark: false, reduced: false };
        match self.agreed {
            // RFC 3168, §6.1.5: the field of a segment outside the window is ignored.
            ecn::Config::Classic | ecn::Config::Dctcp if !is_in_window => {}
            ecn::Config::Classic => {
                notice.reduced = segment.flags.contains(Flags::CWR);
                notice.first_mark = is_ce && (!was_marked || notice.reduced);
                self.is_marked = is_ce || (was_marked && !notice.reduced);
            }
            ecn::Config::Dctcp => {
                self.is_marked = is_ce;
                notice.due = (is_ce != was_marked).then_some(Reason::MarkChange);
            }
            ecn::Config::Accurate => {
                self.is_marked = is_ce;
                self.octets[segment.ecn as usize] += u64::from(segment.payload);
                self.count += u64::from(is_ce);
                self.since_ack += u32::from(is_ce);
                notice.due = match self.since_ack {
                    _ if is_ce && !was_marked => Some(Reason::MarkChange),
                    MARKS_PER_ACK.. => Some(Reason::MarkCount),
                    _ => None,
                };
            }
            ecn::Config::Off => {}
        }
        notice
    }

    /// The option of the SYN-ACK: all counters, so that the sender sees that it gets through (RFC 9768, §3.2.3.2.1).
    pub(super) fn first_option(&self) -> Option<AccurateEcn> {
        let [_, ect1, ect0, ce] = self.octets;
        (self.agreed == ecn::Config::Accurate).then(|| AccurateEcn::new(FieldOrder::Ect0First, &[ect0, ce, ect1]))
    }

    /// Returns `true` if its ACKs carry an option.
    pub(super) fn has_option(&self) -> bool {
        self.agreed == ecn::Config::Accurate
    }

    /// The option of any other ACK: those counters that move (RFC 9768, §3.2.3.3, continual repetition).
    pub(super) fn option(&self) -> Option<AccurateEcn> {
        let [_, ect1, ect0, ce] = self.octets;
        (self.agreed == ecn::Config::Accurate).then(|| match (ect0 > 1, ect1 > 1) {
            (true, true) => AccurateEcn::new(FieldOrder::Ect0First, &[ect0, ce, ect1]),
            (false, true) => AccurateEcn::new(FieldOrder::Ect1First, &[ect1, ce]),
            _ => AccurateEcn::new(FieldOrder::Ect0First, &[ect0, ce]),
        })
    }

    /// The flags of an ACK that leaves now.
    pub(super) fn flags(&mut self) -> Flags {
        self.since_ack = 0;
        match self.agreed {
            ecn::Config::Accurate => Flags::from_ace((self.count % 8) as u8),
            ecn::Config::Classic | ecn::Config::Dctcp if self.is_marked => Flags::ECE,
            _ => Flags::NONE,
        }
    }

    /// The flags of a segment that leaves now with data and has these: with `accurate`, the count stands in place of the sender's own.
    pub(super) fn flags_beside(&mut self, flags: Flags) -> Flags {
        let field = Flags::AE | Flags::CWR | Flags::ECE;
        let kept = if self.agreed == ecn::Config::Accurate { flags.bits() & !field.bits() } else { flags.bits() };
        Flags::from_bits(kept) | self.flags()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_wire::tcp::{Options, SeqNumber};

    fn segment(codepoint: Ecn, flags: Flags) -> Segment {
        Segment {
            ecn: codepoint,
            seq: SeqNumber(1),
            ack: SeqNumber(1),
            flags: Flags::ACK | flags,
            window: 0,
            options: Options::default(),
            payload: 1000,
        }
    }

    /// The echo after each of these arrivals: its flags, and the reason for an immediate ACK.
    fn echoes(agreed: ecn::Config, arrivals: &[(Ecn, Flags)]) -> Vec<(Flags, Option<Reason>)> {
        let mut echo = Echo::new(agreed);
        arrivals
            .iter()
            .map(|(codepoint, flags)| {
                let notice = echo.take(&segment(*codepoint, *flags), true);
                (echo.flags(), notice.due)
            })
            .collect()
    }

    #[test]
    fn a_classic_echo_lasts_until_the_sender_answers() {
        let plain = (Ecn::Ect0, Flags::NONE);
        let arrivals = [plain, (Ecn::Ce, Flags::NONE), plain, (Ecn::Ect0, Flags::CWR), plain, (Ecn::Ce, Flags::CWR)];
        let flags: Vec<Flags> = echoes(ecn::Config::Classic, &arrivals).iter().map(|(flags, _)| *flags).collect();
        assert_eq!(flags, [Flags::NONE, Flags::ECE, Flags::ECE, Flags::NONE, Flags::NONE, Flags::ECE]);
    }

    #[test]
    fn dctcp_echoes_what_was_marked_and_tells_each_change() {
        let arrivals = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect0].map(|codepoint| (codepoint, Flags::NONE));
        let change = Some(Reason::MarkChange);
        let expected =
            [(Flags::NONE, None), (Flags::ECE, change), (Flags::ECE, None), (Flags::NONE, change), (Flags::NONE, None)];
        assert_eq!(echoes(ecn::Config::Dctcp, &arrivals), expected);
    }

    #[test]
    fn accurate_counts_from_five_and_around() {
        let mut echo = Echo::new(ecn::Config::Accurate);
        let mut counts = Vec::new();
        for _ in 0..5 {
            let _ = echo.take(&segment(Ecn::Ce, Flags::NONE), true);
            counts.push(echo.flags().ace());
        }
        assert_eq!(counts, [6, 7, 0, 1, 2]);
    }

    #[test]
    fn accurate_tells_the_first_mark_and_every_second() {
        let mut echo = Echo::new(ecn::Config::Accurate);
        let reasons: Vec<Option<Reason>> = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ce]
            .iter()
            .map(|codepoint| {
                let due = echo.take(&segment(*codepoint, Flags::NONE), true).due;
                if due.is_some() {
                    let _ = echo.flags();
                }
                due
            })
            .collect();
        let (change, count) = (Some(Reason::MarkChange), Some(Reason::MarkCount));
        assert_eq!(reasons, [None, change, None, count, None, change], "no ACK for a change back");
    }

    #[test]
    fn the_field_of_old_segments_is_ignored_but_counted() {
        for agreed in [ecn::Config::Classic, ecn::Config::Dctcp] {
            let mut echo = Echo::new(agreed);
            let _ = echo.take(&segment(Ecn::Ce, Flags::NONE), false);
            assert_eq!(echo.flags(), Flags::NONE);
        }
        let mut echo = Echo::new(ecn::Config::Accurate);
        let _ = echo.take(&segment(Ecn::Ce, Flags::NONE), false);
        assert_eq!(echo.flags().ace(), 6);
    }
}
