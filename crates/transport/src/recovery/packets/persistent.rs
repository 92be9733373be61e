//! Persistent congestion (RFC 9002, §7.6): everything sent over a long time was lost, so the window is no longer valid for the path.

use super::{GRANULARITY, Packets, State};
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Instant};

/// kPersistentCongestionThreshold (§7.6.1).
const THRESHOLD: u64 = 3;

/// The duration for which everything must be lost (§7.6.1), if there was a measurement: without one there is no persistent congestion
/// (§7.6.2).
#[must_use]
pub fn duration(rtt: &Estimator, max_ack_delay: Duration) -> Option<Duration> {
    let srtt = rtt.srtt()?;
    Some((srtt + (rtt.rttvar() * 4).max(GRANULARITY) + max_ack_delay).saturating_mul(THRESHOLD))
}

impl<T> Packets<T> {
    /// The longest time between the departures of two lost packets that had to be acknowledged, between which nothing was acknowledged
    /// (§7.6.2). Only what left after `measured_at` counts, when the round-trip time was first measured. What was
    /// [forgotten](Self::forget_lost) no longer counts, so an owner that has reacted forgets, and does not react twice.
    #[must_use]
    pub fn longest_loss(&self, measured_at: Instant) -> Duration {
        let (mut began, mut longest) = (None, Duration::ZERO);
        for state in self.states.iter().take((self.settled - self.first) as usize) {
            match state {
                State::Acknowledged => began = None,
                State::Lost { at, is_ack_eliciting: true, .. } if *at > measured_at => {
                    longest = longest.max(at.since(*began.get_or_insert(*at)));
                }
                _ => {}
            }
        }
        longest
    }
}
