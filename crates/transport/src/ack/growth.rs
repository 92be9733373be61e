//! Detects the sender's slow start at the receiver.
//!
//! The receiver gets no signal of slow start. RFC 2760, §3.2.3.3, names two solutions: a bit from
//! the sender, or a heuristic that observes how the amount of arriving data changes. This module
//! implements the heuristic with BBR's criterion (draft-ietf-ccwg-bbr, §5.3.1.2). Slow start has
//! ended when the rate has not exceeded its maximum by 25 % for three round trips.
//!
//! A sender in slow start that already fills the path is indistinguishable from a sender after slow
//! start.

use acklab_base::{Duration, Instant, mul_div};

/// `BBR.StartupFullBwCnt`: the round trips without growth that end slow start.
const FLAT_ROUNDS: u32 = 3;

/// Compares the amounts of data that arrive in successive round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    /// The start of the round, and the number of bytes that had arrived by then.
    began: Option<(Instant, u64)>,
    /// The maximum rate so far, in bytes per second.
    best: u64,
    flat: u32,
}

impl Growth {
    /// Returns `true` if slow start has ended.
    pub(super) const fn is_over(&self) -> bool {
        self.flat >= FLAT_ROUNDS
    }

    /// Restarts the detection: the sender has reduced its window and may repeat slow start.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// Processes a segment. `arrived` is the total number of bytes that have arrived, including
    /// this segment. `rtt` is the round-trip time.
    pub(super) fn on_data(&mut self, now: Instant, arrived: u64, rtt: Option<Duration>) {
        let Some((began, before)) = self.began else {
            self.began = Some((now, arrived));
            return;
        };
        let (Some(rtt), elapsed) = (rtt, now.since(began)) else { return };
        if elapsed.is_zero() || elapsed < rtt {
            return;
        }
        let rate = mul_div(arrived - before, 1_000_000_000, elapsed.as_nanos());
        // `BBR.StartupFullBwThresh`: 1.25.
        if u128::from(rate) * 4 >= u128::from(self.best) * 5 {
            (self.best, self.flat) = (rate, 0);
        } else {
            self.flat += 1;
        }
        self.began = Some((now, arrived));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// Returns the number of the round trip in which the end of growth is detected. `windows`
    /// contains the number of segments sent at the start of each round trip.
    fn over_after(windows: &[u64]) -> Option<usize> {
        let (mut growth, mut arrived) = (Growth::default(), 0);
        for (round, window) in windows.iter().enumerate() {
            for _ in 0..*window {
                arrived += 1000;
                growth.on_data(Instant::ZERO + RTT * round as u64, arrived, Some(RTT));
            }
            if growth.is_over() {
                return Some(round);
            }
        }
        None
    }

    #[test]
    fn a_window_that_doubles_or_grows_by_half_goes_on() {
        assert_eq!(over_after(&[10, 20, 40, 80, 160, 320]), None);
        assert_eq!(over_after(&[10, 15, 22, 33, 49, 73, 109]), None);
    }

    #[test]
    fn three_round_trips_without_a_quarter_more_end_it() {
        // The data of a round are counted once the next one has begun.
        assert_eq!(over_after(&[10, 20, 40, 41, 42, 43, 44]), Some(6));
        assert_eq!(over_after(&[10, 20, 40, 41, 42, 60, 61, 62, 63]), None);
    }
}
