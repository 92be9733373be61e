//! Detects persistent congestion (RFC 9002, §7.6), in which mvfst's Copa sets its window to the
//! minimum.

use crate::cc::Lost;
use crate::cc::constants::Constant;
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The retransmission timeouts that set Copa's window to its minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutRule {
    /// Timeouts that establish persistent congestion (mvfst's `Copa::onPacketLoss`; RFC 9002,
    /// §7.6).
    PersistentCongestion,
    /// Every timeout, as with the loss window of RFC 5681, §3.1.
    Every,
    /// No timeout (genericCC's `MarkovianCC::onTimeout` does nothing).
    Never,
}

impl Constant for TimeoutRule {}

/// RFC 9002, §7.6.1: `kPersistentCongestionThreshold`.
const THRESHOLD: u64 = 3;

/// Searches for a period in which all packets sent were lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PersistentCongestion {
    rtt: Estimator,
    /// The sending time of the newest delivered transmission, or an upper bound of it.
    delivered: Instant,
    /// The first and the last sending time of the transmissions lost since then.
    span: Option<(Instant, Instant)>,
}

impl PersistentCongestion {
    /// Processes an ACK of `octets` bytes. `newest` is the sending time and round-trip time of the
    /// newest acknowledged transmission, or `None` if they are ambiguous.
    pub(super) fn on_ack(&mut self, now: Instant, newest: Option<(Instant, Duration)>, octets: u64) {
        if let Some((_, rtt)) = newest {
            self.rtt.sample(rtt);
        }
        if octets > 0 {
            self.delivered = self.delivered.max(newest.map_or(now, |(sent_at, _)| sent_at));
            self.span = self.span.filter(|(first, _)| *first > self.delivered);
        }
    }

    /// Returns `true` if this loss establishes persistent congestion (RFC 9002, §7.6.2). The
    /// condition is that two lost transmissions were sent further apart than three times SRTT +
    /// 4·RTTVAR (§7.6.1), and no transmission between them is acknowledged. RFC 9002 adds
    /// `max_ack_delay`, which TCP does not have.
    pub(super) fn on_lost(&mut self, lost: &Lost) -> bool {
        let Some(srtt) = self.rtt.srtt().filter(|_| lost.sent_at > self.delivered) else { return false };
        let (first, last) = self.span.unwrap_or((lost.sent_at, lost.sent_at));
        let (first, last) = (first.min(lost.sent_at), last.max(lost.sent_at));
        self.span = Some((first, last));
        let is_persistent = last.since(first) >= (srtt + self.rtt.rttvar() * 4) * THRESHOLD;
        if is_persistent {
            self.span = None;
        }
        is_persistent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Position;
    use crate::recovery::delivery_rate::Stamp;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn lost(sent_ms: u64) -> Lost {
        Lost {
            now: at(10_000),
            sent_at: at(sent_ms),
            bytes: 1000,
            start: Position(0),
            end: Position(1000),
            stamp: Stamp::default(),
            total_delivered: 0,
            total_lost: 0,
        }
    }

    /// After one sample of 100 ms at 1 s, SRTT + 4·RTTVAR = 300 ms.
    fn measured() -> PersistentCongestion {
        let mut congestion = PersistentCongestion::default();
        congestion.on_ack(at(1000), Some((at(900), Duration::from_millis(100))), 1000);
        congestion
    }

    #[test]
    fn losses_that_span_three_probe_timeouts() {
        let mut congestion = measured();
        assert!(!congestion.on_lost(&lost(1000)));
        assert!(!congestion.on_lost(&lost(1899)), "899 ms");
        assert!(congestion.on_lost(&lost(1900)), "900 ms");
        assert!(!congestion.on_lost(&lost(2000)), "a new span begins");
    }

    #[test]
    fn what_is_delivered_in_between_ends_the_span() {
        let mut congestion = measured();
        congestion.on_lost(&lost(1000));
        // The newest delivered transmission was sent at 1.5 s.
        congestion.on_ack(at(1600), Some((at(1500), Duration::from_millis(100))), 1000);
        assert!(!congestion.on_lost(&lost(2200)));
        assert!(!congestion.on_lost(&lost(1400)), "it left before that one");
    }

    #[test]
    fn without_a_sample_there_is_none() {
        let mut congestion = PersistentCongestion::default();
        assert!(!congestion.on_lost(&lost(1)) && !congestion.on_lost(&lost(9000)));
    }
}
