//! Classifies a jump in the times of a file: a step of its clock, a pause, or packets with stray
//! times.
//!
//! Packets from the jump on are held until one of these classifies it:
//!
//! * The timestamps of the ends, which continue. If those of both ends fall behind the file by the
//!   same time, the clock has stepped ahead. If those of one end advance as much as the file, time
//!   has passed, because a host that sleeps stops only its own clock.
//! * The continuation of the connection. A sender retransmits unacknowledged data within its
//!   retransmission timeout, which is a second, or three without many samples (RFC 6298, §2; RFC
//!   1122, §4.2.3.1). If two ACKs for data from before the jump follow it without a retransmission,
//!   less time than that has passed. The same holds if the sender continues within a write, and the
//!   receive window was open.
//! * Sequence numbers. If a packet is beyond the numbers that its end has sent, but its time is
//!   long before them, the clock has stepped back.
//! * The times. Packets that return to times from before the jump were out of order. Times that
//!   continue after the jump show a step.

use super::timeline::WINDOW;

/// The shortest jump ahead in nanoseconds that a continuation can classify. By then, four timeouts
/// have passed, each twice as long as the previous one (RFC 6298, §5.5), of which the first takes 1
/// s.
const MIN_GOING_ON: i128 = 15_000_000_000;
/// The number of packets of an end that classify a jump. A single one may respond to a
/// retransmission that was not captured.
const GOING_ON: usize = 2;
/// The share of a jump ahead, and the nanoseconds (some ticks), by which the sizes according to two
/// ends may differ.
const AGREE: (f64, f64) = (0.1, 20e6);
/// The maximum number of packets held after a jump ahead, and after a jump back. Chosen.
const MAX_PACKETS: (usize, usize) = (16, 64);

/// The time since the last packet of an end, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Passed {
    /// The time by the clock of the capture. Negative if it has stepped back.
    pub(super) captured: f64,
    /// The bounds of the time by the clock of the end.
    pub(super) bounds: (f64, f64),
    /// `true` if its tick is measured.
    pub(super) is_measured: bool,
}

/// The evidence of a packet on a jump. Ends are those of its connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum JumpEvidence {
    /// No evidence.
    Silent,
    /// No evidence, because its connection has no timestamps.
    Clockless,
    /// It opens another connection on the same ports. Later packets of this connection are no
    /// evidence.
    Another,
    /// Its end contradicts the clock of the capture, which has stepped by this number of
    /// nanoseconds, if that is known.
    Stepped(usize, Option<f64>),
    /// Its end agrees with the clock of the capture.
    Passed,
    /// This end continues as if no time had passed. It acknowledges data from before the jump up to
    /// this place, or continues its write from there.
    GoesOn(usize, u64),
    /// Data from before the jump are retransmitted.
    Repeated,
}

impl JumpEvidence {
    /// Returns the evidence of the clock of an `end` on a `jump` in nanoseconds.
    pub(super) fn of(passed: Passed, jump: i128, end: usize) -> Self {
        let middle = passed.captured - jump as f64 / 2.0;
        let (is_less, is_more) = (passed.bounds.1 < middle, passed.bounds.0 > middle);
        let step = passed.captured - f64::midpoint(passed.bounds.0, passed.bounds.1);
        let stepped = Self::Stepped(end, passed.is_measured.then_some(step));
        match jump > 0 {
            true if is_less => stepped,
            true if is_more => Self::Passed,
            false if is_more => stepped,
            false if is_less => Self::Passed,
            _ => Self::Silent,
        }
    }
}

/// The kind of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JumpKind {
    /// A step of the clock.
    Step,
    /// A pause.
    Pause,
    /// A pause or a step: the evidence is insufficient.
    Unknown,
    /// Packets with times of another clock.
    Stray,
}

/// A packet: its position in the file, its time, and its contents.
pub(super) type HeldPacket<P> = (u64, u64, P);

/// A jump that is not classified yet.
#[derive(Clone, Debug)]
pub(super) struct PendingJump<P> {
    /// From the last time before the jump to the first after it, in nanoseconds.
    pub(super) jump: i128,
    pub(super) held: Vec<HeldPacket<P>>,
    /// Times of the held packets, relative to the last time before the jump.
    times: Vec<i128>,
    /// Ends that contradict the clock: the place of their connection, the end, and the size of the
    /// step.
    stepped: Vec<(u32, usize, Option<f64>)>,
    goes_on: Vec<(u32, usize, u64)>,
    /// Places of connections that others have replaced.
    replaced: Vec<u32>,
    /// `true` if the last packet contradicts the clock.
    is_stepped: bool,
    has_passed: bool,
    is_clockless: bool,
    is_repeated: bool,
}

impl<P> PendingJump<P> {
    pub(super) const fn new(jump: i128) -> Self {
        Self {
            jump,
            held: Vec::new(),
            times: Vec::new(),
            stepped: Vec::new(),
            goes_on: Vec::new(),
            replaced: Vec::new(),
            is_stepped: false,
            has_passed: false,
            is_clockless: false,
            is_repeated: false,
        }
    }

    /// Holds a packet with its evidence and the place of its connection. It arrives `after`
    /// nanoseconds after the last time before the jump.
    pub(super) fn hold(&mut self, packet: HeldPacket<P>, after: i128, (slot, shows): (u32, JumpEvidence)) {
        self.held.push(packet);
        self.times.push(after);
        if shows == JumpEvidence::Another {
            self.replaced.push(slot);
        }
        let shows = if self.replaced.contains(&slot) { JumpEvidence::Silent } else { shows };
        self.is_stepped = matches!(shows, JumpEvidence::Stepped(..));
        match shows {
            JumpEvidence::Silent | JumpEvidence::Another => {}
            JumpEvidence::Clockless => self.is_clockless = true,
            JumpEvidence::Stepped(end, size) => {
                if self.stepped.iter().all(|&(other, its, _)| (other, its) != (slot, end)) {
                    self.stepped.push((slot, end, size));
                }
            }
            JumpEvidence::Passed => self.has_passed = true,
            JumpEvidence::GoesOn(end, place) => {
                let is_new = |&(other, its, up_to): &(u32, usize, u64)| (other, its) != (slot, end) || up_to < place;
                if self.goes_on.iter().all(is_new) {
                    self.goes_on.push((slot, end, place));
                }
            }
            JumpEvidence::Repeated => self.is_repeated = true,
        }
    }

    /// Returns the size of the step by the first timestamp that shows it.
    pub(super) fn size(&self) -> Option<f64> {
        self.stepped.iter().find_map(|end| end.2)
    }

    /// Returns `true` if both ends of a connection contradict the clock by the same time.
    fn is_shown_by_both(&self) -> bool {
        let near = (AGREE.0 * self.jump as f64).max(AGREE.1);
        self.stepped.iter().any(|(slot, end, size)| {
            let agrees = |other: &(u32, usize, Option<f64>)| {
                let distance = size.zip(other.2).map(|(one, other)| (one - other).abs());
                (other.0, other.1) == (*slot, 1 - *end) && distance.is_some_and(|distance| distance <= near)
            };
            self.stepped.iter().any(agrees)
        })
    }

    /// Returns the kind of the jump, once it is known. `is_over` means that no packet follows.
    pub(super) fn kind(&self, is_over: bool) -> Option<JumpKind> {
        if self.jump > 0 { self.ahead(is_over) } else { self.back(is_over) }
    }

    fn ahead(&self, is_over: bool) -> Option<JumpKind> {
        let count = self.times.len();
        let last = *self.times.last()?;
        let is_shown = !self.stepped.is_empty();
        let times =
            |end: &(u32, usize, u64)| self.goes_on.iter().filter(|other| (other.0, other.1) == (end.0, end.1)).count();
        let goes_on = !self.is_repeated && self.goes_on.iter().any(|end| times(end) >= GOING_ON);
        // The last packet shows a further jump.
        let is_apart = count > 1 && (last - self.times[count - 2]).abs() >= i128::from(WINDOW);
        let returns = 2 * last < self.jump;
        if returns && (last >= -i128::from(WINDOW) || is_shown) {
            Some(JumpKind::Stray)
        } else if self.has_passed {
            Some(JumpKind::Pause)
        } else if self.is_shown_by_both() || goes_on && self.jump >= MIN_GOING_ON {
            Some(JumpKind::Step)
        } else if count >= MAX_PACKETS.0 || is_apart || is_over || self.is_clockless && self.jump < MIN_GOING_ON {
            Some(JumpKind::Unknown)
        } else {
            None
        }
    }

    fn back(&self, is_over: bool) -> Option<JumpKind> {
        let (first, last) = (*self.times.first()?, *self.times.last()?);
        let count = self.times.len();
        let returns = last >= -i128::from(WINDOW);
        let held_last = if returns { self.times[count.saturating_sub(2)] } else { last };
        let goes_on = 2 * (held_last - first) > self.jump.abs();
        // The time of a single packet may be wrong.
        let is_shown = count > 1 && (self.is_stepped || !returns && !self.stepped.is_empty());
        if self.has_passed {
            Some(JumpKind::Stray)
        } else if is_shown || goes_on {
            Some(JumpKind::Step)
        } else if returns {
            Some(JumpKind::Stray)
        } else if count >= MAX_PACKETS.1 || is_over && (count > 1 || self.is_stepped) {
            Some(JumpKind::Step)
        } else {
            is_over.then_some(JumpKind::Stray)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i128 = 1_000_000_000;
    const SILENT: JumpEvidence = JumpEvidence::Silent;
    const CLIENT: JumpEvidence = JumpEvidence::Stepped(0, Some(3_599e9));
    const SERVER: JumpEvidence = JumpEvidence::Stepped(1, Some(3_600e9));

    fn kind(jump: i128, packets: &[(i128, JumpEvidence)]) -> Option<JumpKind> {
        let mut pending = PendingJump::new(jump);
        packets.iter().for_each(|(after, shows)| pending.hold((0, 0, ()), *after, (7, *shows)));
        pending.kind(false)
    }

    #[test]
    fn both_ends_show_a_step_ahead() {
        assert_eq!(kind(3600 * S, &[(3600 * S, SERVER)]), None);
        assert_eq!(kind(3600 * S, &[(3600 * S, SERVER), (3600 * S + 1, CLIENT)]), Some(JumpKind::Step));
        let differs = JumpEvidence::Stepped(0, Some(2_000e9));
        assert_eq!(kind(3600 * S, &[(3600 * S, SERVER), (3600 * S + 1, differs)]), None);
        // A client that slept: the clock of the server continued.
        assert_eq!(kind(3600 * S, &[(3600 * S, CLIENT), (3600 * S + 1, JumpEvidence::Passed)]), Some(JumpKind::Pause));
    }

    #[test]
    fn acks_without_a_retransmission_show_a_step_ahead() {
        let answers = [1, 2].map(|place| (3600 * S, JumpEvidence::GoesOn(0, place)));
        assert_eq!(kind(3600 * S, &answers[..1]), None);
        assert_eq!(kind(3600 * S, &answers), Some(JumpKind::Step));
        assert_eq!(kind(14 * S, &answers), None, "a sender may have timed out and was not captured");
        let repeated = [(3600 * S, JumpEvidence::Repeated), answers[0], answers[1]];
        assert_eq!(kind(3600 * S, &repeated), None);
    }

    /// Numbers of another connection on the same ports may seem to continue the earlier one.
    #[test]
    fn another_connection_on_the_same_ports_shows_nothing() {
        let packets = [JumpEvidence::Another, JumpEvidence::GoesOn(0, 1), JumpEvidence::GoesOn(0, 2)];
        assert_eq!(kind(60 * S, &packets.map(|shows| (60 * S, shows))), None);
    }

    #[test]
    fn a_gap_that_nothing_explains_is_unknown() {
        assert_eq!(kind(10 * S, &[(10 * S, SILENT), (11 * S, SILENT)]), Some(JumpKind::Unknown));
        assert_eq!(kind(S, &[(S, JumpEvidence::Clockless)]), Some(JumpKind::Unknown));
    }

    #[test]
    fn what_returns_was_out_of_order() {
        assert_eq!(kind(-S, &[(-S, SILENT), (-S + 20, SILENT)]), None);
        assert_eq!(kind(-S, &[(-S, SILENT), (-S + 20, SILENT), (1000, SILENT)]), Some(JumpKind::Stray));
        assert_eq!(kind(1000 * S, &[(1000 * S, SILENT), (1000, SILENT)]), Some(JumpKind::Stray));
        assert_eq!(kind(1000 * S, &[(1000 * S, CLIENT), (2 * S, SILENT)]), Some(JumpKind::Stray));
    }

    /// A clock that is set back by 2 s, while a packet is captured every second.
    #[test]
    fn times_that_go_on_from_there_are_a_step_back() {
        let packets = [(-S, SILENT), (0, SILENT)];
        assert_eq!(kind(-S, &packets[..1]), None);
        assert_eq!(kind(-3 * S / 2, &[(-3 * S / 2, SILENT), (-S / 2, SILENT)]), Some(JumpKind::Step));
        assert_eq!(kind(-2 * S, &vec![(-2 * S, SILENT); 64]), Some(JumpKind::Step));
        assert_eq!(kind(-2 * S, &[(-2 * S, SERVER), (-2 * S + 1, SILENT)]), Some(JumpKind::Step));
        assert_eq!(kind(-S, &[(-S, SERVER), (0, SERVER)]), Some(JumpKind::Step));
        assert_eq!(kind(-S, &[(-S, SERVER), (20, JumpEvidence::Passed)]), Some(JumpKind::Stray), "one wrong time");
    }

    #[test]
    fn a_clock_shows_the_side_that_it_is_nearer_to() {
        let of = |captured: i128, bounds, jump| {
            JumpEvidence::of(Passed { captured: captured as f64, bounds, is_measured: true }, jump, 0)
        };
        assert_eq!(of(3600 * S, (18e6, 22e6), 3600 * S), JumpEvidence::Stepped(0, Some(3_599_980e6)));
        assert_eq!(of(3600 * S, (3590e9, 3610e9), 3600 * S), JumpEvidence::Passed);
        assert_eq!(of(3600 * S, (1e6, 3610e9), 3600 * S), SILENT);
        assert_eq!(of(-2 * S, (18e6, 22e6), -2 * S), JumpEvidence::Stepped(0, Some(-2_020e6)));
        assert_eq!(of(-2 * S, (-2.1e9, -1.9e9), -2 * S), JumpEvidence::Passed, "a packet that is late in the file");
    }
}
