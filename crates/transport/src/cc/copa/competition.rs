//! Copa beside flows that fill buffers (§2.2): when to compete with them, and with which δ.

use super::extreme::Extreme;
use acklab_base::{Duration, Instant};

/// 1/δ in the default mode (§2, δ = 0.5), and the least in the competitive mode (§2.2: "at most 0.5").
const DEFAULT_INVERSE_DELTA: f64 = 2.0;
/// §2.2: the queue is nearly empty if the queueing delay is below this share of RTTmax − RTTmin.
const NEARLY_EMPTY: f64 = 0.1;
/// §2.2: RTTmax is that of the last four round trips.
const RTT_MAX_WINDOW: u64 = 4;
/// §2.2: Copa alone empties the queue once every five round trips.
const EMPTY_WINDOW: u64 = 5;

/// What decides δ.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    inverse_delta: f64,
    is_competitive: bool,
    rtt_max: Extreme,
    /// When the queue was last nearly empty.
    empty_at: Instant,
    /// When 1/δ was last moved by a round trip without loss, or by the beginning of competition.
    raised_at: Instant,
    /// When a loss last lowered 1/δ.
    lowered_at: Option<Instant>,
    srtt: Duration,
}

impl Competition {
    pub(super) const fn new() -> Self {
        Self {
            inverse_delta: DEFAULT_INVERSE_DELTA,
            is_competitive: false,
            rtt_max: Extreme::greatest(),
            empty_at: Instant::ZERO,
            raised_at: Instant::ZERO,
            lowered_at: None,
            srtt: Duration::ZERO,
        }
    }

    /// 1/δ: packets that the flow keeps in the queue.
    pub(super) const fn inverse_delta(&self) -> f64 {
        self.inverse_delta
    }

    /// The connection is open; its queue counts as empty.
    pub(super) const fn begin(&mut self, now: Instant) {
        self.empty_at = now;
    }

    /// A round trip was measured, with the queueing delay and the shortest round trip that it leaves.
    pub(super) fn on_rtt(
        &mut self,
        now: Instant,
        rtt: Duration,
        srtt: Duration,
        queueing: Duration,
        rtt_min: Duration,
    ) {
        self.srtt = srtt;
        let rtt_max = self.rtt_max.update(now, rtt, srtt * RTT_MAX_WINDOW);
        let swing = rtt_max.saturating_sub(rtt_min).as_nanos() as f64;
        // A queue that is empty is nearly empty, also if nothing swings.
        if queueing.is_zero() || (queueing.as_nanos() as f64) < NEARLY_EMPTY * swing {
            self.empty_at = now;
        }
        let competes = now.since(self.empty_at) > srtt * EMPTY_WINDOW;
        if competes != self.is_competitive {
            (self.is_competitive, self.inverse_delta, self.raised_at) = (competes, DEFAULT_INVERSE_DELTA, now);
        }
        if competes && now.since(self.raised_at) >= srtt {
            // One packet a round trip, unless it had a loss.
            if self.lowered_at.is_none_or(|at| now.since(at) >= srtt) {
                self.inverse_delta += 1.0;
            }
            self.raised_at = now;
        }
    }

    /// Something was lost: half of 1/δ, once a round trip.
    pub(super) fn on_loss(&mut self, now: Instant) {
        if self.is_competitive && self.lowered_at.is_none_or(|at| now.since(at) >= self.srtt) {
            self.inverse_delta = (self.inverse_delta / 2.0).max(DEFAULT_INVERSE_DELTA);
            self.lowered_at = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Feeds a round trip every 10 ms of a path of 100 ms, with so much queueing, and returns 1/δ.
    fn feed(competition: &mut Competition, from_ms: u64, until_ms: u64, queueing: impl Fn(u64) -> u64) -> f64 {
        for at in (from_ms..until_ms).step_by(10) {
            let (now, queueing) = (Instant::ZERO + MS(at), MS(queueing(at)));
            competition.on_rtt(now, MS(100) + queueing, MS(100), queueing, MS(100));
        }
        competition.inverse_delta()
    }

    #[test]
    fn a_queue_that_empties_every_five_round_trips_is_ones_own() {
        let mut competition = Competition::new();
        let own = feed(&mut competition, 0, 5000, |at| if at % 500 == 0 { 1 } else { 20 });
        assert!((own - 2.0).abs() < 1e-9 && !competition.is_competitive);
    }

    #[test]
    fn a_queue_that_never_empties_is_competed_for() {
        let mut competition = Competition::new();
        let after_ten = feed(&mut competition, 0, 1520, |_| 50);
        assert!((after_ten - 12.0).abs() < 1e-9, "ten round trips after the fifth: {after_ten}");
        let now = Instant::ZERO + MS(1520);
        competition.on_loss(now);
        competition.on_loss(now + MS(50));
        assert!((competition.inverse_delta() - 6.0).abs() < 1e-9, "once a round trip");
        let emptied = feed(&mut competition, 1600, 1610, |_| 0);
        assert!((emptied - 2.0).abs() < 1e-9 && !competition.is_competitive);
    }
}
