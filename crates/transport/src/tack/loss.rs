//! Receiver-based loss detection on PKT.SEQ (Li et al., SIGCOMM 2020, §5.1).
//!
//! Packets are sent in the order of their numbers. If a number is missing when a later number
//! arrives, its packet is late or lost. After the settling time, a quarter of RTTmin by default,
//! the packet is declared lost and an IACK reports the loss. §7 describes an "allowance for
//! settling time", after RFC 4653 and RACK. A packet that arrives after the settling time widens
//! the settling time. Each widening lasts for sixteen losses, as in RACK (RFC 8985, §6.2, step 4).
//!
//! Only an ack-eliciting packet triggers loss detection. Numbers missing before another packet,
//! such as a TACK, belong to packets of that kind or to the tail of a flight. The probe timeout of
//! the sender covers the tail.

use crate::ack::Ranges;
use acklab_base::{Duration, Instant};
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum number of steps by which the settling time, TACK's reordering window, grows. RFC 8985
/// limits its window to the smoothed round-trip time.
const MAX_STEPS: u32 = 4;
/// The number of losses after which the settling time is no longer widened (RFC 8985, §6.2, step 4:
/// `RACK.reo_wnd_persist`).
const PERSISTENCE: u32 = 16;

/// Missing numbers that are not yet declared lost.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// The end of the gap. Every missing number below the end belongs to this gap or to an earlier
    /// gap.
    end: u64,
    due: Instant,
}

#[derive(Debug)]
pub(super) struct LossDetector {
    /// The settling time, relative to RTTmin.
    share: f64,
    is_adaptive: bool,
    /// `true` if IACKs report losses, `false` if only TACKs report losses.
    sends_iacks: bool,
    /// The settling time in multiples of the share.
    steps: u32,
    /// Number of losses until the settling time is reset.
    persists: u32,
    waiting: VecDeque<Gap>,
    /// The number below which gaps are recorded.
    seen: u64,
    /// The number below which all missing packets are declared lost.
    declared: u64,
    /// Losses not yet reported by an IACK.
    unreported: VecDeque<Range<u64>>,
    counters: Counters,
}

/// Counts of one receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Packets declared lost.
    pub(super) lost: u64,
    /// Packets declared lost that arrived later.
    pub(super) late: u64,
}

impl LossDetector {
    pub(super) fn new(share: f64, is_adaptive: bool, sends_iacks: bool) -> Self {
        Self {
            share,
            is_adaptive,
            sends_iacks,
            steps: 1,
            persists: 0,
            waiting: VecDeque::new(),
            seen: 0,
            declared: 0,
            unreported: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    pub(super) const fn counters(&self) -> &Counters {
        &self.counters
    }

    fn settling_time(&self, rtt_min: Option<Duration>) -> Duration {
        let share = self.share * f64::from(self.steps);
        rtt_min.map_or(Duration::ZERO, |rtt| Duration::from_secs_f64(rtt.as_secs_f64() * share))
    }

    /// Handles the first arrival of an ack-eliciting packet. `numbers` already contains its
    /// `number`.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, number: u64, numbers: &Ranges, rtt_min: Option<Duration>) {
        if number < self.declared {
            self.on_late();
        }
        if number >= self.seen {
            if number > self.seen && numbers.held(true).first_missing_from(self.seen) < number {
                self.open_gap(now, number, numbers, rtt_min);
            }
            self.seen = number + 1;
        }
    }

    #[inline(never)]
    fn open_gap(&mut self, now: Instant, number: u64, numbers: &Ranges, rtt_min: Option<Duration>) {
        let last = self.waiting.back().map_or(now, |gap| gap.due);
        let due = (now + self.settling_time(rtt_min)).max(last);
        self.waiting.push_back(Gap { end: number, due });
        self.wake(now, numbers);
    }

    fn on_late(&mut self) {
        self.counters.late += 1;
        if self.is_adaptive {
            self.steps = (self.steps + 1).min(MAX_STEPS);
            self.persists = PERSISTENCE;
        }
    }

    /// Returns when the first gap is declared lost.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.waiting.front().map(|gap| gap.due)
    }

    /// Handles the expiry of the timer.
    pub(super) fn wake(&mut self, now: Instant, numbers: &Ranges) {
        while let Some(gap) = self.waiting.pop_front_if(|gap| gap.due <= now) {
            for range in missing(numbers, self.declared..gap.end) {
                self.counters.lost += range.end - range.start;
                if self.sends_iacks {
                    self.unreported.push_back(range);
                }
                self.persists = self.persists.saturating_sub(1);
            }
            if self.persists == 0 {
                self.steps = 1;
            }
            self.declared = self.declared.max(gap.end);
        }
    }

    /// Returns the oldest loss that no IACK has reported, and marks it as reported.
    pub(super) fn take_unreported(&mut self) -> Option<Range<u64>> {
        self.unreported.pop_front()
    }

    /// Returns `true` if an IACK is due for a loss.
    #[inline]
    pub(super) fn has_unreported(&self) -> bool {
        !self.unreported.is_empty()
    }

    /// Removes numbers below `number`, for which the sender no longer waits.
    pub(super) fn forget_below(&mut self, number: u64) {
        self.declared = self.declared.max(number);
        self.seen = self.seen.max(number);
        while self.waiting.pop_front_if(|gap| gap.end <= number).is_some() {}
        while self.unreported.pop_front_if(|range| range.end <= number).is_some() {}
    }

    /// Returns the losses from the number `from` on, lowest first.
    pub(super) fn lost<'a>(&self, numbers: &'a Ranges, from: u64) -> impl Iterator<Item = Range<u64>> + use<'a> {
        let below = numbers.beyond().partition_point(|held| held.start <= from);
        let start = below.checked_sub(1).map_or(0, |last| numbers.beyond()[last].end);
        missing(numbers, start..self.declared).skip_while(move |range| range.end <= from)
    }
}

/// Returns the parts of `range` that have not arrived.
fn missing(numbers: &Ranges, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let first = numbers.beyond().partition_point(|held| held.start <= range.start);
    let mut held = numbers.beyond()[first..].iter();
    let mut start = numbers.held(true).first_missing_from(range.start);
    std::iter::from_fn(move || {
        if start >= range.end {
            return None;
        }
        let next = held.next();
        let gap = start..next.map_or(range.end, |next| next.start.min(range.end));
        start = next.map_or(range.end, |next| next.end);
        Some(gap)
    })
    .filter(|gap| !gap.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    struct Receiver {
        numbers: Ranges,
        detector: LossDetector,
    }

    impl Receiver {
        fn new() -> Self {
            Self { numbers: Ranges::default(), detector: LossDetector::new(0.25, true, true) }
        }

        /// In this test, RTTmin is 40 ms and the settling time is 10 ms.
        fn arrives(&mut self, ms: u64, number: u64) {
            let _ = self.numbers.insert(number..number + 1);
            self.detector.on_arrival(at(ms), number, &self.numbers, Some(MS * 40));
        }

        fn reported(&mut self, ms: u64) -> Vec<Range<u64>> {
            self.detector.wake(at(ms), &self.numbers);
            std::iter::from_fn(|| self.detector.take_unreported()).collect()
        }
    }

    #[test]
    fn a_gap_is_a_loss_after_the_settling_time() {
        let mut receiver = Receiver::new();
        for (ms, number) in [(0, 0), (1, 3), (2, 4), (3, 7)] {
            receiver.arrives(ms, number);
        }
        assert_eq!((receiver.reported(10), receiver.detector.deadline()), (vec![], Some(at(11))));
        receiver.arrives(10, 2);
        assert_eq!(receiver.reported(11), [1..2]);
        assert_eq!(receiver.detector.lost(&receiver.numbers, 0).collect::<Vec<_>>(), [1..2], "the other is not due");
        assert_eq!((receiver.reported(13), receiver.reported(99)), (vec![5..7], vec![]), "each is reported once");
        assert_eq!(receiver.detector.counters(), &Counters { lost: 3, late: 0 });
    }

    #[test]
    fn one_that_arrives_late_widens_the_settling_time() {
        let mut receiver = Receiver::new();
        receiver.arrives(0, 1);
        assert_eq!(receiver.reported(10), [0..1]);
        receiver.arrives(11, 0);
        receiver.arrives(12, 3);
        assert_eq!((receiver.detector.deadline(), receiver.detector.counters().late), (Some(at(32)), 1));
        for loss in 2..18 {
            assert_eq!(receiver.reported(100 * loss).len(), 1);
            receiver.arrives(100 * loss, 2 * loss + 1);
        }
        assert_eq!(receiver.detector.deadline(), Some(at(1710)), "sixteen losses later, it is what it was");
    }

    #[test]
    fn what_is_forgotten_is_not_reported() {
        let mut receiver = Receiver::new();
        receiver.arrives(0, 2);
        receiver.arrives(0, 5);
        receiver.numbers.abandon_below(4);
        receiver.detector.forget_below(4);
        assert_eq!(receiver.reported(10), [4..5]);
    }

    proptest! {
        #[test]
        fn what_is_missing_is_what_has_not_arrived(
            held in proptest::collection::vec(0u64..60, 0..60),
            (start, end) in (0u64..60, 0u64..70),
        ) {
            let mut numbers = Ranges::default();
            held.iter().for_each(|number| _ = numbers.insert(*number..number + 1));
            let found: Vec<u64> = missing(&numbers, start..end).flatten().collect();
            let expected: Vec<u64> = (start..end).filter(|number| !held.contains(number)).collect();
            prop_assert_eq!(found, expected);
            let detector = LossDetector { declared: end, ..LossDetector::new(0.25, true, true) };
            let all = missing(&numbers, 0..end);
            prop_assert!(detector.lost(&numbers, start).eq(all.filter(|range| range.end > start)));
        }
    }
}
