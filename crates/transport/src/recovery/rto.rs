//! The retransmission timer (RFC 6298).

use super::alarm::Alarm;
use super::rtt::{Deviation, Estimator};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RtoConfig {
    /// The timeout before the first measurement (RFC 6298, §2.1).
    pub initial: Duration,
    /// Lower bound (§2.4).
    pub min: Duration,
    /// The part of the timeout to which the lower bound applies.
    pub floor: Floor,
    /// Upper bound (§2.5).
    pub max: Duration,
    /// Clock granularity G (§2.3).
    pub granularity: Duration,
    /// The events that restart the timer in a recovery.
    pub restart: Restart,
}

/// The quantity that the minimum RTO bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Floor {
    /// The whole timeout (RFC 6298, §2.4).
    Timeout,
    /// Four times the deviation. The timeout is then at least SRTT plus the minimum, and the
    /// deviation is [Linux's](Deviation::Linux).
    Deviation,
}

impl RtoConfig {
    /// Returns the update of the deviation: Linux's if the floor bounds the deviation.
    #[must_use]
    pub const fn deviation(&self) -> Deviation {
        match self.floor {
            Floor::Timeout => Deviation::Rfc,
            Floor::Deviation => Deviation::Linux { min: self.min },
        }
    }
}

/// The events that restart the timer during a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// Every ACK of new data (RFC 6298, §5.3).
    EveryAck,
    /// Every ACK of new data, and the retransmission of the oldest segment (Linux's
    /// `tcp_xmit_retransmit_queue`).
    EveryAckAndHeadRetransmission,
    /// Only the first partial ACK (RFC 6582, §3.2, step 3: "impatient").
    FirstPartialAck,
}

/// The timer.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    config: RtoConfig,
    alarm: Alarm,
    /// The number of doublings of the timeout (§5.5).
    backoff: u32,
    /// The number of expiries since the last ACK that advanced snd.una (Linux's
    /// `icsk_retransmits`).
    expiries: u32,
}

impl Timer {
    /// Creates a timer that does not run.
    #[must_use]
    pub const fn new(config: RtoConfig) -> Self {
        Self { config, alarm: Alarm::NEVER, backoff: 0, expiries: 0 }
    }

    /// Returns the timeout without backoff.
    #[must_use]
    pub fn base(&self, rtt: &Estimator) -> Duration {
        let RtoConfig { initial, min, floor, max, granularity, .. } = self.config;
        let Some(srtt) = rtt.srtt() else { return initial };
        let deviation = rtt.deviation().max(granularity);
        let timeout = match floor {
            Floor::Timeout => (srtt + deviation).max(min),
            Floor::Deviation => srtt + deviation.max(min),
        };
        timeout.min(max)
    }

    /// Returns the current timeout, doubled for each consecutive expiry (§5.5).
    #[must_use]
    pub fn timeout(&self, rtt: &Estimator) -> Duration {
        let base = self.base(rtt);
        let doubled = if self.backoff == 0 { base } else { base.saturating_mul(1 << self.backoff.min(32)) };
        doubled.min(self.config.max)
    }

    /// Starts the timer, unless it runs, because a segment was sent (§5.1).
    #[inline]
    pub fn start(&mut self, now: Instant, rtt: &Estimator) {
        if !self.alarm.is_set() {
            self.rearm(now, rtt);
        }
    }

    /// Restarts the timer, because new data were acknowledged (§5.3).
    pub fn restart(&mut self, now: Instant, rtt: &Estimator) {
        self.expiries = 0;
        self.rearm(now, rtt);
    }

    /// Ends the backoff after a new measurement (§5, last paragraph).
    #[inline]
    pub const fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Restarts the timer with its backoff, because the oldest segment was retransmitted.
    pub fn rearm(&mut self, now: Instant, rtt: &Estimator) {
        self.alarm.set(Some(now + self.timeout(rtt)));
    }

    /// Stops the timer, because nothing is outstanding (§5.2).
    pub const fn stop(&mut self) {
        (self.alarm, self.expiries) = (Alarm::NEVER, 0);
    }

    /// Stops the timer and ends the backoff after it ran for a SYN or a zero-window probe.
    pub const fn reset(&mut self) {
        self.stop();
        self.end_backoff();
    }

    /// Sets the timer to expire after `delay`.
    pub fn set(&mut self, now: Instant, delay: Duration) {
        self.alarm.set(Some(now + delay));
    }

    /// Returns the number of expiries since the last restart if the timer has expired. The timer
    /// then backs off and stops until the next [`start`](Self::start).
    pub fn expire(&mut self, now: Instant) -> Option<u32> {
        if !self.alarm.expire(now) {
            return None;
        }
        self.backoff += 1;
        self.expiries += 1;
        Some(self.expiries)
    }

    /// Returns `true` if the timer has expired since it was last restarted or stopped.
    #[must_use]
    pub const fn has_expired(&self) -> bool {
        self.expiries > 0
    }

    /// Returns the number of times that the timeout has been doubled (§5.5).
    #[must_use]
    pub const fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Returns when the timer expires.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.alarm.at()
    }

    /// Returns the alarm.
    #[must_use]
    pub const fn alarm(&self) -> Alarm {
        self.alarm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(floor: Floor) -> RtoConfig {
        RtoConfig {
            initial: Duration::from_secs(1),
            min: Duration::from_millis(200),
            floor,
            max: Duration::from_secs(60),
            granularity: Duration::from_millis(1),
            restart: Restart::EveryAck,
        }
    }

    fn steady(rtt_ms: u64) -> Estimator {
        let (mut estimator, rtt) = (Estimator::default(), Duration::from_millis(rtt_ms));
        (0..100).for_each(|_| estimator.sample(rtt));
        estimator
    }

    #[test]
    fn the_floor_bounds_the_whole_or_the_deviation() {
        let rtt = steady(30);
        assert_eq!(Timer::new(config(Floor::Timeout)).base(&rtt), Duration::from_millis(200));
        assert_eq!(Timer::new(config(Floor::Deviation)).base(&rtt), Duration::from_millis(230));
        assert_eq!(Timer::new(config(Floor::Timeout)).base(&Estimator::default()), Duration::from_secs(1));
    }

    #[test]
    fn it_backs_off_and_recovers() {
        let (mut timer, rtt) = (Timer::new(config(Floor::Timeout)), steady(30));
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        timer.start(at(0), &rtt);
        assert_eq!(timer.expire(at(199)), None);
        assert_eq!(timer.expire(at(200)), Some(1));
        timer.start(at(200), &rtt);
        assert_eq!(timer.deadline(), Some(at(600)));
        assert_eq!(timer.expire(at(600)), Some(2));
        timer.restart(at(700), &rtt);
        assert_eq!(timer.deadline(), Some(at(1500)), "an ACK without a measurement keeps the backoff");
        timer.end_backoff();
        timer.restart(at(700), &rtt);
        assert_eq!(timer.deadline(), Some(at(900)));
        assert_eq!(timer.expire(at(900)), Some(1));
    }

    #[test]
    fn backoff_stops_at_the_upper_bound() {
        let (mut timer, rtt) = (Timer::new(config(Floor::Timeout)), steady(30));
        let mut now = Instant::ZERO;
        for _ in 0..80 {
            timer.start(now, &rtt);
            now = timer.deadline().unwrap();
            assert!(timer.expire(now).is_some());
        }
        assert_eq!(timer.timeout(&rtt), Duration::from_secs(60));
    }
}
