//! Whether a jump in the times of a file is a step of its clock, a pause, or packets with strange
//! times.
//!
//! Packets from the jump on are held back until something decides:
//!
//! * The timestamps of the ends, which run on. If those of both ends fall behind the file by the
//!   same time, the clock has stepped ahead. If those of one end advance as much as the file, time
//!   has passed: a host that sleeps stops its own clock only.
//! * What goes on. A sender retransmits what is not acknowledged within its retransmission timeout,
//!   which is a second or three without many samples (RFC 6298, §2; RFC 1122, §4.2.3.1). If two
//!   ACKs for data from before the jump follow it, and no retransmission, no longer time has
//!   passed. Nor has it if the sender goes on in the midst of a write, and the receive window was
//!   open.
//! * Numbers. If a packet goes beyond those that its end has sent, but is long before them by its
//!   time, the clock has stepped back.
//! * The times themselves. What returns to those from before the jump was out of order. Times that
//!   go on from there are a step.

use super::timeline::WINDOW;
use super::witness::Passed;

/// The shortest jump ahead in nanoseconds that what goes on can decide: by then, four timeouts have
/// passed, each twice as long as the one before (RFC 6298, §5.5), of which the first takes 1 s.
const MIN_GOING_ON: i128 = 15_000_000_000;
/// Packets of an end that decide. One may answer a retransmission that was not captured.
const GOING_ON: usize = 2;
/// By this share of a jump ahead two ends may differ on its size, and by so many nanoseconds, some
/// ticks.
const AGREE: (f64, f64) = (0.1, 20e6);
/// Packets that are held back after a jump ahead, and after one back. Chosen.
const MAX_PACKETS: (usize, usize) = (16, 64);

/// What a packet shows of a jump. Ends are those of its connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Testimony {
    /// Nothing.
    Silent,
    /// Nothing, as its connection has no timestamps.
    Clockless,
    /// It opens another connection on the ports of one before, of which later packets show nothing.
    Another,
    /// Its end contradicts the clock of the capture, which has stepped by so many nanoseconds, if
    /// that can be told.
    Stepped(usize, Option<f64>),
    /// Its end agrees with the clock of the capture.
    Passed,
    /// This end goes on as if no time had passed: it acknowledges data from before the jump, up to
    /// a place, or sends from there what it had begun to send.
    GoesOn(usize, u64),
    /// Data from before the jump are retransmitted.
    Repeated,
}

impl Testimony {
    /// What the clock of an `end` shows of a `jump` in nanoseconds.
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

/// What a jump is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A step of the clock.
    Step,
    /// A pause.
    Pause,
    /// A pause or a step: nothing shows which.
    Unknown,
    /// Packets with times of another clock.
    Stray,
}

/// A packet: its place in the file, its time, and itself.
pub(super) type Held<P> = (u64, u64, P);

/// A jump that is not judged yet.
#[derive(Clone, Debug)]
pub(super) struct Trial<P> {
    /// From the newest time before to the first after, in nanoseconds.
    pub(super) jump: i128,
    pub(super) held: Vec<Held<P>>,
    /// Times of the held packets after the newest before.
    times: Vec<i128>,
    /// Ends that contradict the clock, by the place of their connection, and by how much it has
    /// stepped.
    stepped: Vec<(u32, usize, Option<f64>)>,
    goes_on: Vec<(u32, usize, u64)>,
    /// Places of connections that others have replaced.
    replaced: Vec<u32>,
    /// Whether the last packet contradicts the clock.
    is_stepped: bool,
    has_passed: bool,
    is_clockless: bool,
    is_repeated: bool,
}

impl<P> Trial<P> {
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

    /// Holds back a packet that comes `after` the newest time before the jump, with what it shows,
    /// and the place of its connection.
    pub(super) fn hold(&mut self, packet: Held<P>, after: i128, (slot, shows): (u32, Testimony)) {
        self.held.push(packet);
        self.times.push(after);
        if shows == Testimony::Another {
            self.replaced.push(slot);
        }
        let shows = if self.replaced.contains(&slot) { Testimony::Silent } else { shows };
        self.is_stepped = matches!(shows, Testimony::Stepped(..));
        match shows {
            Testimony::Silent | Testimony::Another => {}
            Testimony::Clockless => self.is_clockless = true,
            Testimony::Stepped(end, size) => {
                if self.stepped.iter().all(|&(other, its, _)| (other, its) != (slot, end)) {
                    self.stepped.push((slot, end, size));
                }
            }
            Testimony::Passed => self.has_passed = true,
            Testimony::GoesOn(end, place) => {
                let is_new = |&(other, its, up_to): &(u32, usize, u64)| (other, its) != (slot, end) || up_to < place;
                if self.goes_on.iter().all(is_new) {
                    self.goes_on.push((slot, end, place));
                }
            }
            Testimony::Repeated => self.is_repeated = true,
        }
    }

    /// By how much the clock has stepped by the first timestamp that shows it.
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

    /// The verdict, if there is one yet. `is_over`: no packet follows.
    pub(super) fn verdict(&self, is_over: bool) -> Option<Verdict> {
        if self.jump > 0 { self.ahead(is_over) } else { self.back(is_over) }
    }

    fn ahead(&self, is_over: bool) -> Option<Verdict> {
        let count = self.times.len();
        let last = *self.times.last()?;
        let is_shown = !self.stepped.is_empty();
        let times =
            |end: &(u32, usize, u64)| self.goes_on.iter().filter(|other| (other.0, other.1) == (end.0, end.1)).count();
        let goes_on = !self.is_repeated && self.goes_on.iter().any(|end| times(end) >= GOING_ON);
        // A further jump.
        let is_apart = count > 1 && (last - self.times[count - 2]).abs() >= i128::from(WINDOW);
        let returns = 2 * last < self.jump;
        if returns && (last >= -i128::from(WINDOW) || is_shown) {
            Some(Verdict::Stray)
        } else if self.has_passed {
            Some(Verdict::Pause)
        } else if self.is_shown_by_both() || goes_on && self.jump >= MIN_GOING_ON {
            Some(Verdict::Step)
        } else if count >= MAX_PACKETS.0 || is_apart || is_over || self.is_clockless && self.jump < MIN_GOING_ON {
            Some(Verdict::Unknown)
        } else {
            None
        }
    }

    fn back(&self, is_over: bool) -> Option<Verdict> {
        let (first, last) = (*self.times.first()?, *self.times.last()?);
        let count = self.times.len();
        let returns = last >= -i128::from(WINDOW);
        let held_last = if returns { self.times[count.saturating_sub(2)] } else { last };
        let goes_on = 2 * (held_last - first) > self.jump.abs();
        // The time of a single packet may be wrong.
        let is_shown = count > 1 && (self.is_stepped || !returns && !self.stepped.is_empty());
        if self.has_passed {
            Some(Verdict::Stray)
        } else if is_shown || goes_on {
            Some(Verdict::Step)
        } else if returns {
            Some(Verdict::Stray)
        } else if count >= MAX_PACKETS.1 || is_over && (count > 1 || self.is_stepped) {
            Some(Verdict::Step)
        } else {
            is_over.then_some(Verdict::Stray)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i128 = 1_000_000_000;
    const SILENT: Testimony = Testimony::Silent;
    const CLIENT: Testimony = Testimony::Stepped(0, Some(3_599e9));
    const SERVER: Testimony = Testimony::Stepped(1, Some(3_600e9));

    fn verdict(jump: i128, packets: &[(i128, Testimony)]) -> Option<Verdict> {
        let mut trial = Trial::new(jump);
        packets.iter().for_each(|(after, shows)| trial.hold((0, 0, ()), *after, (7, *shows)));
        trial.verdict(false)
    }

    #[test]
    fn both_ends_show_a_step_ahead() {
        assert_eq!(verdict(3600 * S, &[(3600 * S, SERVER)]), None);
        assert_eq!(verdict(3600 * S, &[(3600 * S, SERVER), (3600 * S + 1, CLIENT)]), Some(Verdict::Step));
        let differs = Testimony::Stepped(0, Some(2_000e9));
        assert_eq!(verdict(3600 * S, &[(3600 * S, SERVER), (3600 * S + 1, differs)]), None);
        // A client that slept: the clock of the server went on.
        assert_eq!(verdict(3600 * S, &[(3600 * S, CLIENT), (3600 * S + 1, Testimony::Passed)]), Some(Verdict::Pause));
    }

    #[test]
    fn acks_without_a_retransmission_show_a_step_ahead() {
        let answers = [1, 2].map(|place| (3600 * S, Testimony::GoesOn(0, place)));
        assert_eq!(verdict(3600 * S, &answers[..1]), None);
        assert_eq!(verdict(3600 * S, &answers), Some(Verdict::Step));
        assert_eq!(verdict(14 * S, &answers), None, "a sender may have timed out and was not captured");
        let repeated = [(3600 * S, Testimony::Repeated), answers[0], answers[1]];
        assert_eq!(verdict(3600 * S, &repeated), None);
    }

    /// Numbers of a connection on the same ports may look as if the one before went on.
    #[test]
    fn another_connection_on_the_same_ports_shows_nothing() {
        let packets = [Testimony::Another, Testimony::GoesOn(0, 1), Testimony::GoesOn(0, 2)];
        assert_eq!(verdict(60 * S, &packets.map(|shows| (60 * S, shows))), None);
    }

    #[test]
    fn a_gap_that_nothing_explains_is_unknown() {
        assert_eq!(verdict(10 * S, &[(10 * S, SILENT), (11 * S, SILENT)]), Some(Verdict::Unknown));
        assert_eq!(verdict(S, &[(S, Testimony::Clockless)]), Some(Verdict::Unknown));
    }

    #[test]
    fn what_returns_was_out_of_order() {
        assert_eq!(verdict(-S, &[(-S, SILENT), (-S + 20, SILENT)]), None);
        assert_eq!(verdict(-S, &[(-S, SILENT), (-S + 20, SILENT), (1000, SILENT)]), Some(Verdict::Stray));
        assert_eq!(verdict(1000 * S, &[(1000 * S, SILENT), (1000, SILENT)]), Some(Verdict::Stray));
        assert_eq!(verdict(1000 * S, &[(1000 * S, CLIENT), (2 * S, SILENT)]), Some(Verdict::Stray));
    }

    /// A clock that is set back by 2 s, while a packet is captured each second.
    #[test]
    fn times_that_go_on_from_there_are_a_step_back() {
        let packets = [(-S, SILENT), (0, SILENT)];
        assert_eq!(verdict(-S, &packets[..1]), None);
        assert_eq!(verdict(-3 * S / 2, &[(-3 * S / 2, SILENT), (-S / 2, SILENT)]), Some(Verdict::Step));
        assert_eq!(verdict(-2 * S, &vec![(-2 * S, SILENT); 64]), Some(Verdict::Step));
        assert_eq!(verdict(-2 * S, &[(-2 * S, SERVER), (-2 * S + 1, SILENT)]), Some(Verdict::Step));
        assert_eq!(verdict(-S, &[(-S, SERVER), (0, SERVER)]), Some(Verdict::Step));
        assert_eq!(verdict(-S, &[(-S, SERVER), (20, Testimony::Passed)]), Some(Verdict::Stray), "one wrong time");
    }

    #[test]
    fn a_clock_shows_the_side_that_it_is_nearer_to() {
        let of = |captured: i128, bounds, jump| {
            Testimony::of(Passed { captured: captured as f64, bounds, is_measured: true }, jump, 0)
        };
        assert_eq!(of(3600 * S, (18e6, 22e6), 3600 * S), Testimony::Stepped(0, Some(3_599_980e6)));
        assert_eq!(of(3600 * S, (3590e9, 3610e9), 3600 * S), Testimony::Passed);
        assert_eq!(of(3600 * S, (1e6, 3610e9), 3600 * S), SILENT);
        assert_eq!(of(-2 * S, (18e6, 22e6), -2 * S), Testimony::Stepped(0, Some(-2_020e6)));
        assert_eq!(of(-2 * S, (-2.1e9, -1.9e9), -2 * S), Testimony::Passed, "a packet that is late in the file");
    }
}
