//! The duration of `ProbeRTT`: the state in which BBR drains the queue to measure the round-trip
//! time of the path itself.

use super::rounds::Rounds;
use acklab_base::{Duration, Instant};

/// Times `ProbeRTT`. It lasts for its duration and at least a round trip, from when the data in
/// flight have fallen to the target.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct ProbeRttTimer {
    until: Option<Instant>,
    round_done: bool,
}

impl ProbeRttTimer {
    /// Processes an ACK in `ProbeRTT` of duration `time`, with `in_flight` bytes in flight
    /// afterwards. Returns `true` if `ProbeRTT` is over.
    pub(in crate::cc) fn on_ack(
        &mut self,
        time: Duration,
        now: Instant,
        in_flight: u64,
        target: u64,
        rounds: &mut Rounds,
        total_delivered: u64,
    ) -> bool {
        if self.until.is_none() {
            if in_flight <= target {
                (self.until, self.round_done) = (Some(now + time), false);
                rounds.begin(total_delivered);
            }
            return false;
        }
        self.round_done |= rounds.starts();
        self.round_done && self.has_passed(now)
    }

    /// Returns `true` if the duration has passed.
    pub(in crate::cc) fn has_passed(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::sample;
    use super::*;

    #[test]
    fn it_takes_its_time_and_a_round() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let (mut timer, mut rounds) = (ProbeRttTimer::default(), Rounds::default());
        rounds.update(None, 0);
        assert!(!timer.on_ack(Duration::from_millis(200), at(0), 5000, 4000, &mut rounds, 9000), "too much in flight");
        assert!(!timer.on_ack(Duration::from_millis(200), at(10), 4000, 4000, &mut rounds, 10_000), "it begins");
        assert!(
            !timer.on_ack(Duration::from_millis(200), at(220), 4000, 4000, &mut rounds, 10_000),
            "no round has passed"
        );
        rounds.update(Some(&sample(1000, 10_000)), 11_000);
        assert!(timer.on_ack(Duration::from_millis(200), at(221), 4000, 4000, &mut rounds, 11_000));
    }
}
