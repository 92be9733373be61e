//! The receiver's echo of marks.

use super::super::ecn::{self, FIRST_COUNT, OctetReport, Verdict};
use super::super::rules::{EctPackets, MarkAcks, Rules};
use crate::ack::Reason;
use acklab_base::Ecn;
use acklab_wire::tcp::{AccurateEcn, Flags, Segment};

/// RFC 9768, §3.2.2.5.1: the number of marks after which unacknowledged data are acknowledged.
const MARKS_PER_ACK: u32 = 2;

/// The same limit in Linux: `TCP_ACCECN_ACE_MAX_DELTA`.
const LINUX_MARKS_PER_ACK: u32 = 6;

/// The number of expiries of the SYN-ACK's timer after which the SYN-ACK is sent without ECN (RFC
/// 9768, §3.2.3.2.2).
const ACCURATE_SYN_ACK_TIMEOUTS: u32 = 2;

/// The ECN echo of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    agreed: ecn::EcnConfig,
    mark_acks: MarkAcks,
    /// The codepoint of ACKs without data.
    codepoint: Ecn,
    /// `classic`: `true` from a mark until the sender sends CWR. `dctcp`: DCTCP.CE.
    is_marked: bool,
    /// `accurate`, at the accepting end: `true` if no segment has arrived since the SYN.
    awaits_ack_of_syn_ack: bool,
    /// `accurate`: the codepoint with which the newest packet arrived.
    newest: Ecn,
    /// `accurate`: `true` if a control packet has changed the codepoint since the last ACK.
    has_changed: bool,
    /// r.cep of RFC 9768: the number of marked packets that have arrived.
    count: u64,
    /// The number of marked packets since the last ACK.
    since_ack: u32,
    /// The bytes of payload that have arrived, by codepoint.
    pub(super) report: OctetReport,
}

/// The consequences of a segment for the ECN echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    /// The reason for an immediate acknowledgment of the segment, if any.
    pub(super) due: Option<Reason>,
    /// `true` if the segment is the first marked segment since the sender last sent CWR.
    pub(super) first_mark: bool,
    /// `true` if the segment reports that the sender has reduced its window.
    pub(super) reduced: bool,
}

impl Echo {
    /// Creates the echo of a connection in the mode `agreed`. `has_option` is `true` if this end
    /// sends the AccECN option.
    pub(super) const fn new(agreed: ecn::EcnConfig, has_option: bool, rules: &Rules) -> Self {
        let is_accurate = matches!(agreed, ecn::EcnConfig::Accurate);
        let acks_are_capable = is_accurate && matches!(rules.ect_packets, EctPackets::All);
        Self {
            agreed,
            mark_acks: rules.mark_acks,
            codepoint: if acks_are_capable { Ecn::Ect0 } else { Ecn::NotEct },
            is_marked: false,
            awaits_ack_of_syn_ack: false,
            newest: Ecn::NotEct,
            has_changed: false,
            count: FIRST_COUNT,
            since_ack: 0,
            report: OctetReport::new(rules, is_accurate && has_option),
        }
    }

    /// Returns the mode on which both ends have agreed.
    pub(super) const fn agreed(&self) -> ecn::EcnConfig {
        self.agreed
    }

    fn is_accurate(&self) -> bool {
        self.agreed == ecn::EcnConfig::Accurate
    }

    /// Returns the codepoint of ACKs without data.
    #[inline]
    pub(super) const fn codepoint(&self) -> Ecn {
        self.codepoint
    }

    /// Processes the peer's first `syn`.
    pub(super) fn take_syn(&mut self, syn: &Segment) {
        (self.awaits_ack_of_syn_ack, self.newest) = (self.is_accurate(), syn.ecn);
    }

    /// Processes the peer's repeated SYN. A server that has received a SYN without ECN sends no
    /// ECN-capable packets (RFC 9768, §3.1.5).
    pub(super) fn take_repeated_syn(&mut self, syn: &Segment) {
        if self.is_accurate() && syn.flags.ace() == 0 {
            self.codepoint = Ecn::NotEct;
        }
    }

    /// Returns the flags of the SYN-ACK to a SYN that arrived with the codepoint `syn`. The timer
    /// of earlier SYN-ACKs has expired `timeouts` times. A server that sends a SYN-ACK without ECN
    /// sends no ECN-capable packets (RFC 9768, §3.1.5).
    pub(super) fn answer(&mut self, syn: Ecn, timeouts: u32) -> Flags {
        if self.is_accurate() && timeouts >= ACCURATE_SYN_ACK_TIMEOUTS {
            self.codepoint = Ecn::NotEct;
            return Flags::NONE;
        }
        self.agreed.answer(syn)
    }

    /// Processes the `syn_ack`, and counts its mark (RFC 9768, Table 3).
    pub(super) fn take_syn_ack(&mut self, syn_ack: &Segment) {
        self.count += u64::from(syn_ack.ecn == Ecn::Ce);
        self.report.watch(syn_ack);
        if self.is_accurate() && !Verdict::of_syn_ack(syn_ack).may_send_ect {
            self.codepoint = Ecn::NotEct;
        }
    }

    /// Returns `true` if unacknowledged data must be acknowledged before this segment is processed.
    /// An ACK then never covers both marked and unmarked data. RFC 8257, §3.2, permits two methods,
    /// and this is the second (Linux's `dctcp_ece_ack_update`).
    pub(super) fn splits(&self, codepoint: Ecn) -> bool {
        self.agreed == ecn::EcnConfig::Dctcp && (codepoint == Ecn::Ce) != self.is_marked
    }

    /// Returns `true` if [`take`](Self::take) would have no effect for a segment in the window that
    /// is not marked.
    #[inline]
    pub(super) fn has_nothing_to_note(&self, segment: &Segment) -> bool {
        segment.ecn != Ecn::Ce
            && match self.agreed {
                ecn::EcnConfig::Off => true,
                ecn::EcnConfig::Classic => !segment.flags.contains(Flags::CWR),
                ecn::EcnConfig::Dctcp => !self.is_marked,
                ecn::EcnConfig::Accurate => false,
            }
    }

    /// Processes a segment with data or a FIN. `is_in_window` is `true` if part of the segment may
    /// be new.
    pub(super) fn take(&mut self, segment: &Segment, is_in_window: bool) -> Notice {
        let is_ce = segment.ecn == Ecn::Ce;
        let was_marked = self.is_marked;
        let mut notice = Notice { due: None, first_mark: false, reduced: false };
        match self.agreed {
            // RFC 3168, §6.1.5: the field of a segment outside the window is ignored.
            ecn::EcnConfig::Classic | ecn::EcnConfig::Dctcp if !is_in_window => {}
            ecn::EcnConfig::Classic => {
                notice.reduced = segment.flags.contains(Flags::CWR);
                notice.first_mark = is_ce && (!was_marked || notice.reduced);
                self.is_marked = is_ce || (was_marked && !notice.reduced);
            }
            ecn::EcnConfig::Dctcp => {
                self.is_marked = is_ce;
                notice.due = (is_ce != was_marked).then_some(Reason::MarkChange);
            }
            ecn::EcnConfig::Accurate => notice.due = self.take_accurate(segment),
            ecn::EcnConfig::Off => {}
        }
        notice
    }

    /// Processes a segment without data. It elicits no ACK, because ACKs are not acknowledged.
    #[inline]
    pub(super) fn take_control(&mut self, segment: &Segment) {
        if self.is_accurate() {
            self.has_changed = self.count_packet(segment);
        }
    }

    #[inline(never)]
    fn take_accurate(&mut self, segment: &Segment) -> Option<Reason> {
        let changes = self.count_packet(segment);
        self.report.count(segment.ecn, segment.payload);
        let most = match self.mark_acks {
            MarkAcks::FirstAndEverySecond => MARKS_PER_ACK,
            MarkAcks::EachChange => LINUX_MARKS_PER_ACK,
        };
        if changes {
            Some(Reason::MarkChange)
        } else {
            (segment.ecn == Ecn::Ce && self.since_ack >= most).then_some(Reason::MarkCount)
        }
    }

    /// Counts a packet with or without data (RFC 9768, §3.2). Returns `true` if a change of the
    /// codepoint requires an ACK of data.
    #[inline(never)]
    fn count_packet(&mut self, segment: &Segment) -> bool {
        self.report.watch(segment);
        if std::mem::take(&mut self.awaits_ack_of_syn_ack) && !Verdict::of_ack_of_syn_ack(segment).may_send_ect {
            self.codepoint = Ecn::NotEct;
        }
        let is_ce = segment.ecn == Ecn::Ce;
        self.count += u64::from(is_ce);
        self.since_ack += u32::from(is_ce);
        let before = std::mem::replace(&mut self.newest, segment.ecn);
        match self.mark_acks {
            MarkAcks::FirstAndEverySecond => is_ce && before != Ecn::Ce,
            // Linux keeps ICSK_ACK_NOW set until an ACK is sent.
            MarkAcks::EachChange => self.has_changed || before != segment.ecn,
        }
    }

    /// Returns the option of the SYN-ACK, or `None` for a repeated SYN-ACK (RFC 9768, §3.2.3.2.2).
    pub(super) fn option_of_syn_ack(&self, is_repeated: bool) -> Option<AccurateEcn> {
        self.report.of_syn_ack().filter(|_| !is_repeated)
    }

    /// Returns the flags of an ACK that is sent now.
    pub(super) fn flags(&mut self) -> Flags {
        (self.since_ack, self.has_changed) = (0, false);
        if self.is_accurate() {
            Flags::from_ace((self.count % 8) as u8)
        } else if self.is_marked {
            Flags::ECE
        } else {
            Flags::NONE
        }
    }

    /// Returns the ECN flags of a data segment that is sent now with `flags`. With `accurate`, the
    /// count of marks replaces the ECN flags in `flags`.
    pub(super) fn flags_beside(&mut self, flags: Flags) -> Flags {
        let field = Flags::AE | Flags::CWR | Flags::ECE;
        let kept = if self.is_accurate() { flags.bits() & !field.bits() } else { flags.bits() };
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

    /// Returns the echo after each of these arrivals: the flags, and the reason for an immediate
    /// ACK.
    fn echoes(agreed: ecn::EcnConfig, arrivals: &[(Ecn, Flags)]) -> Vec<(Flags, Option<Reason>)> {
        let mut echo = Echo::new(agreed, true, &Rules::RFC);
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
        let flags: Vec<Flags> = echoes(ecn::EcnConfig::Classic, &arrivals).iter().map(|(flags, _)| *flags).collect();
        assert_eq!(flags, [Flags::NONE, Flags::ECE, Flags::ECE, Flags::NONE, Flags::NONE, Flags::ECE]);
    }

    #[test]
    fn dctcp_echoes_what_was_marked_and_tells_each_change() {
        let arrivals = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect0].map(|codepoint| (codepoint, Flags::NONE));
        let change = Some(Reason::MarkChange);
        let expected =
            [(Flags::NONE, None), (Flags::ECE, change), (Flags::ECE, None), (Flags::NONE, change), (Flags::NONE, None)];
        assert_eq!(echoes(ecn::EcnConfig::Dctcp, &arrivals), expected);
    }

    #[test]
    fn accurate_counts_from_five_and_around() {
        let mut echo = Echo::new(ecn::EcnConfig::Accurate, true, &Rules::RFC);
        let mut counts = Vec::new();
        for _ in 0..5 {
            let _ = echo.take(&segment(Ecn::Ce, Flags::NONE), true);
            counts.push(echo.flags().ace());
        }
        assert_eq!(counts, [6, 7, 0, 1, 2]);
    }

    #[test]
    fn accurate_tells_the_first_mark_and_every_second() {
        let mut echo = Echo::new(ecn::EcnConfig::Accurate, true, &Rules::RFC);
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

    /// A control packet requires no ACK. The next data segment is acknowledged immediately.
    #[test]
    fn linux_tells_every_change_and_the_sixth_mark() {
        let mut echo = Echo::new(ecn::EcnConfig::Accurate, true, &Rules::LINUX);
        echo.take_control(&segment(Ecn::Ect0, Flags::NONE));
        let mut reasons = |arrivals: &[Ecn]| -> Vec<Option<Reason>> {
            let due = arrivals.iter().map(|codepoint| echo.take(&segment(*codepoint, Flags::NONE), true).due);
            let reasons: Vec<_> = due.collect();
            let _ = echo.flags();
            reasons
        };
        let change = Some(Reason::MarkChange);
        assert_eq!(reasons(&[Ecn::Ect0]), [change]);
        assert_eq!(reasons(&[Ecn::Ect0, Ecn::Ect1]), [None, change]);
        assert_eq!(reasons(&[Ecn::Ce]), [change]);
        assert_eq!(reasons(&[Ecn::Ce; 6]), [None, None, None, None, None, Some(Reason::MarkCount)]);
        assert_eq!(reasons(&[Ecn::Ect0]), [change], "back, too");
    }

    #[test]
    fn the_field_of_old_segments_is_ignored_but_counted() {
        for agreed in [ecn::EcnConfig::Classic, ecn::EcnConfig::Dctcp] {
            let mut echo = Echo::new(agreed, true, &Rules::RFC);
            let _ = echo.take(&segment(Ecn::Ce, Flags::NONE), false);
            assert_eq!(echo.flags(), Flags::NONE);
        }
        let mut echo = Echo::new(ecn::EcnConfig::Accurate, true, &Rules::RFC);
        let _ = echo.take(&segment(Ecn::Ce, Flags::NONE), false);
        assert_eq!(echo.flags().ace(), 6);
    }
}
