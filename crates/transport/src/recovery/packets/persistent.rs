//! Persistent congestion (RFC 9002, §7.6): all packets sent over a long time were lost, so the
//! window is no longer valid for the path.

use super::{GRANULARITY, Packets, State};
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// kPersistentCongestionThreshold (§7.6.1).
const THRESHOLD: u64 = 3;

/// Returns the minimum duration of persistent congestion (§7.6.1). Without a round-trip
/// measurement, there is no persistent congestion (§7.6.2).
#[must_use]
pub fn duration(rtt: &Estimator, max_ack_delay: Duration) -> Option<Duration> {
    let srtt = rtt.srtt()?;
    Some((srtt + (rtt.rttvar() * 4).max(GRANULARITY) + max_ack_delay).saturating_mul(THRESHOLD))
}

impl<T> Packets<T> {
    /// Returns the maximum time between the transmissions of two lost ack-eliciting packets between
    /// which no packet was acknowledged (§7.6.2).
    ///
    /// Only periods that include a loss with the number `since` or above are considered, because
    /// earlier ones were judged when they occurred. Only packets that were sent after
    /// `measured_at`, the first round-trip measurement, are considered.
    /// [Forgotten](Self::forget_lost) losses are ignored. An owner forgets losses after its
    /// reaction, so that it does not react twice.
    #[must_use]
    pub fn longest_loss(&self, measured_at: Instant, since: u64) -> Duration {
        let (mut above, mut newest, mut longest) = (None, None, Duration::ZERO);
        for number in self.lost.iter().rev().copied() {
            if above.is_none_or(|above| self.has_acknowledged_in(number + 1..above)) {
                if number < since {
                    break;
                }
                newest = None;
            }
            above = Some(number);
            if let State::Lost { at, is_ack_eliciting: true, .. } = self.states[(number - self.first) as usize]
                && at > measured_at
            {
                longest = longest.max(newest.get_or_insert(at).since(at));
            }
        }
        longest
    }

    /// Returns `true` if a number of `range` was acknowledged. No number of `range` is outstanding
    /// or lost, so the others were skipped.
    fn has_acknowledged_in(&self, range: Range<u64>) -> bool {
        !range.is_empty() && self.skipped_in(&range).len() as u64 != range.end - range.start
    }
}
