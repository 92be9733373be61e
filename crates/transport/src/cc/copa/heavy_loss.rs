//! The reduction after heavy loss: `ReduceOnLoss` of genericCC's `estimators.cc`. The paper and
//! mvfst have no such reduction.

use super::Config;
use acklab_base::{Duration, Instant};

/// Counts packets over at least two round trips and more than twenty packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeavyLoss {
    began: Instant,
    lost: f64,
    total: f64,
}

impl Default for HeavyLoss {
    fn default() -> Self {
        Self { began: Instant::ZERO, lost: 0.0, total: 0.0 }
    }
}

impl HeavyLoss {
    pub(super) fn on_lost(&mut self, packets: f64) {
        self.lost += packets;
        self.total += packets;
    }

    /// Counts `packets` as delivered. Returns `true` if the window must be reduced.
    pub(super) fn on_delivered(&mut self, constants: &Config, now: Instant, packets: f64, rtt: Duration) -> bool {
        self.total += packets;
        if now <= self.began + rtt * u64::from(constants.heavy_loss_round_trips)
            || self.total <= f64::from(constants.heavy_loss_packets)
        {
            return false;
        }
        let share = self.lost / self.total;
        *self = Self { began: now, lost: 0.0, total: 0.0 };
        share > constants.heavy_loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// Returns `true` if a loss of `lost` of `total` packets in 201 ms reduces the window.
    fn reduces(lost: u64, total: u64) -> bool {
        let mut loss = HeavyLoss { began: Instant::ZERO + RTT, ..HeavyLoss::default() };
        loss.on_lost(lost as f64);
        let early = loss.on_delivered(&Config::PUBLISHED, Instant::ZERO + RTT * 3, (total - lost - 1) as f64, RTT);
        assert!(!early, "two round trips have not passed");
        loss.on_delivered(&Config::PUBLISHED, Instant::ZERO + RTT * 3 + Duration::from_millis(1), 1.0, RTT)
    }

    #[test]
    fn more_than_three_tenths_of_more_than_twenty_packets_in_two_round_trips() {
        assert!(reduces(7, 21));
        assert!(!reduces(6, 21), "29 %");
        assert!(!reduces(15, 20), "twenty packets are too few");
        assert!(!reduces(30, 100), "exactly 30 %");
    }

    #[test]
    fn a_period_begins_with_the_end_of_the_last() {
        let mut loss = HeavyLoss::default();
        let mut period = |ms, lost, delivered| {
            loss.on_lost(lost);
            loss.on_delivered(&Config::PUBLISHED, Instant::ZERO + Duration::from_millis(ms), delivered, RTT)
        };
        assert!(period(201, 20.0, 20.0));
        assert!(!period(300, 20.0, 20.0), "a round trip later");
        assert!(period(402, 0.0, 1.0));
        assert!(!period(700, 0.0, 30.0));
    }
}
