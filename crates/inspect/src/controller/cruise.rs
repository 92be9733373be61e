//! Cruise: the sender fills the bottleneck, its window oscillates, the queue stays short, and
//! nothing is lost.
//!
//! A constant window may be limited by a buffer. A window that only grows may belong to a
//! controller that has had no loss so far.

use super::rounds::{Kind, Round};
use super::{Family, Named, Path};
use crate::finding::Finding;

/// Rounds and nanoseconds without a loss. Chosen, because CUBIC grows by 0.4 t³ segments in t
/// seconds (RFC 9438, §4.2): 400 in ten seconds.
const MIN_RUN: (u32, u64) = (200, 10_000_000_000);
/// Oscillations of the window in this run, each by this share and this number of segments. Chosen.
const MIN_SWINGS: u32 = 20;
const SWING: (f64, u64) = (0.1, 3);
/// The share of the rate of the bottleneck that the sender uses.
const FILLED: f64 = 0.9;
/// The maximum queue, as a share of the minimum round trip, or in segments. With its default, Copa
/// keeps about five in the queue (Arun and Balakrishnan, NSDI 2018, §2).
const QUEUE: (f64, f64) = (0.25, 10.0);

/// A run of successive clean rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    rounds: u32,
    begin: u64,
    end: u64,
    acknowledged: u64,
    swings: u32,
    /// The window at the last turning point, and `true` if it rises.
    turn: u64,
    rises: Option<bool>,
    /// The sum of the means of round-trip times, their number, and the minimum.
    times: (f64, u32, u64),
}

/// The longest run of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Cruise {
    run: Run,
    longest: Run,
}

impl Run {
    fn add(&mut self, round: Round, mss: u64) {
        if self.rounds == 0 {
            (self.begin, self.turn) = (round.at, round.flight);
        } else {
            self.acknowledged += round.acknowledged;
        }
        self.rounds += 1;
        self.end = round.at;
        if let Some((mean, minimum)) = round.times {
            self.times = (self.times.0 + mean, self.times.1 + 1, minimum);
        }
        let swing = (self.turn as f64 * SWING.0).max((SWING.1 * mss) as f64);
        let moved = round.flight as f64 - self.turn as f64;
        if self.rises == Some(moved > 0.0) {
            self.turn = round.flight;
        } else if moved.abs() >= swing {
            self.swings += u32::from(self.rises.is_some());
            (self.turn, self.rises) = (round.flight, Some(moved > 0.0));
        }
    }
}

impl Cruise {
    pub(super) fn round(&mut self, round: Round, mss: u64) {
        if round.kind == Kind::Clean {
            self.run.add(round, mss);
            if self.run.rounds > self.longest.rounds {
                self.longest = self.run;
            }
        } else {
            self.run = Run::default();
        }
    }

    pub(super) fn name(&self, path: Path) -> Finding<Named> {
        let Run { rounds, begin, end, acknowledged, swings, times, .. } = self.longest;
        let nanos = end - begin;
        if rounds < MIN_RUN.0 || nanos < MIN_RUN.1 {
            return Finding::not_known(format!(
                "{rounds} rounds in {:.1} s without a loss, expected {} in {} s",
                nanos as f64 / 1e9,
                MIN_RUN.0,
                MIN_RUN.1 / 1_000_000_000
            ));
        }
        let used = path.rate.map(|rate| acknowledged as f64 / nanos as f64 * 1e9 / rate);
        if used.is_none_or(|used| used < FILLED) {
            let found = used.map_or_else(|| "an unknown share".to_owned(), |used| format!("{:.0} %", 100.0 * used));
            return Finding::not_known(format!("{found} of the bottleneck is used, expected {:.0} %", 100.0 * FILLED));
        }
        let (mean, minimum) = (times.0 / f64::from(times.1.max(1)), times.2 as f64);
        let packet = path.rate.map_or(0.0, |rate| path.mss as f64 / rate * 1e9);
        let longest = (QUEUE.0 * minimum).max(QUEUE.1 * packet);
        if mean - minimum > longest {
            return Finding::not_known(format!(
                "a queue of {:.1} ms, expected at most {:.1} ms",
                (mean - minimum) / 1e6,
                longest / 1e6
            ));
        }
        if swings < MIN_SWINGS {
            return Finding::not_known(format!("{swings} swings of the window, expected at least {MIN_SWINGS}"));
        }
        let named = Named { family: Family::DelayBased, ratio: None, episodes: swings as usize, agreement: 1.0 };
        let evidence = format!(
            "{swings} swings of the window in {rounds} rounds without a loss, over a queue of {:.1} ms",
            (mean - minimum) / 1e6
        );
        Finding::known(named, evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Returns a cruise of 50 ms rounds with these windows, at a bottleneck of 40 segments per
    /// round. The queue is this share of the minimum round trip.
    fn cruise(rounds: u64, window: impl Fn(u64) -> u64, queue: f64) -> Finding<Named> {
        let mut cruise = Cruise::default();
        for n in 0..rounds {
            let times = Some((50e6 * (1.0 + queue), 50_000_000));
            let (at, flight) = (n * 50_000_000, window(n) * MSS);
            cruise.round(Round { at, flight, acknowledged: 40 * MSS, times, kind: Kind::Clean, has_short: false }, MSS);
        }
        cruise.name(Path { rate: Some(800_000.0), mss: MSS, is_bursty: false })
    }

    #[test]
    fn a_window_that_swings_over_a_short_queue_is_that_of_a_controller_by_delay() {
        let swings = |n| if n % 8 < 4 { 40 } else { 46 };
        let named = cruise(400, swings, 0.1);
        assert_eq!(named.value().map(|named| named.family), Some(Family::DelayBased), "{named:?}");
        assert_eq!(cruise(400, swings, 0.6).reason(), Some("a queue of 30.0 ms, expected at most 12.5 ms"));
        assert_eq!(cruise(150, swings, 0.1).reason(), Some("150 rounds in 7.5 s without a loss, expected 200 in 10 s"));
    }

    /// A window that a buffer limits, and a window of a controller without a loss.
    #[test]
    fn a_window_that_does_not_move_or_only_grows_is_not_known() {
        assert_eq!(cruise(400, |_| 44, 0.1).reason(), Some("0 swings of the window, expected at least 20"));
        assert_eq!(cruise(400, |n| 40 + n / 10, 0.1).reason(), Some("0 swings of the window, expected at least 20"));
    }
}
