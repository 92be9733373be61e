//! CUBIC as ns-3.37's `TcpCubic` computes it: an older version of Linux's, with these differences:
//!
//! 1. No Reno-friendly region (`TcpFriendliness` came later).
//! 2. Delay samples are the smoothed round-trip time of every ACK. Only the samples in the first 10
//!    ms of an epoch are discarded (`CubicDelta`).
//! 3. An ACK grows the window by at most one segment. `m_cWndCnt` carries over the remaining
//!    growth, without bound and across losses.
//! 4. Time is exact, and the curve is evaluated on each ACK. Its offset is truncated to whole
//!    segments.
//! 5. Neither idle periods nor an unused window stop the curve's time or the growth.
//! 6. A timeout resets the curve, not the count.

use super::super::{Ack, Window};
use super::Config;
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant};

/// `CubicDelta`.
const CUBIC_DELTA: Duration = Duration::from_millis(10);
/// `CntClamp`.
const COUNT_CLAMP: u64 = 20;
/// `Update`: the windows acknowledged per segment of growth while the curve is below the window.
const FLAT_COUNT: u64 = 100;
/// `Update`: the fastest growth.
const MIN_COUNT: u64 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Ns3 {
    constants: Config,
    /// `m_cWndCnt`.
    credit: u64,
    last_max: u64,
    origin: u64,
    /// In seconds.
    k: f64,
    delay_min: Option<Duration>,
    epoch_start: Option<Instant>,
}

impl Ns3 {
    pub(super) const fn new(constants: &Config) -> Self {
        Self { constants: *constants, credit: 0, last_max: 0, origin: 0, k: 0.0, delay_min: None, epoch_start: None }
    }

    /// `PktsAcked`.
    pub(super) fn sample(&mut self, ack: &Ack) {
        let is_fresh = self.epoch_start.is_some_and(|start| ack.now.since(start) < CUBIC_DELTA);
        if let Some(rtt) = ack.srtt.filter(|_| !is_fresh) {
            self.delay_min = Some(self.delay_min.map_or(rtt, |min| min.min(rtt)));
        }
    }

    /// `IncreaseWindow` after slow start.
    pub(super) fn grow(&mut self, window: &mut Window, now: Instant, acked: u64) {
        self.credit += acked;
        let count = self.update(window.cwnd / window.mss, now);
        if self.credit >= count {
            window.cwnd += window.mss;
            self.credit -= count;
        }
    }

    fn update(&mut self, cwnd: u64, now: Instant) -> u64 {
        let start = match self.epoch_start {
            Some(start) => start,
            None => self.begin_epoch(cwnd, now),
        };
        let time = (now.since(start) + self.delay_min.unwrap_or_default()).as_secs_f64();
        let offset = (time - self.k).abs();
        let delta = (self.constants.c * offset * offset * offset) as u64;
        let target = if time < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        let count = if target > cwnd { cwnd / (target - cwnd) } else { FLAT_COUNT * cwnd };
        let count = if self.last_max == 0 { count.min(COUNT_CLAMP) } else { count };
        count.max(MIN_COUNT)
    }

    fn begin_epoch(&mut self, cwnd: u64, now: Instant) -> Instant {
        self.epoch_start = Some(now);
        self.k = libm::cbrt(self.last_max.saturating_sub(cwnd) as f64 / self.constants.c);
        self.origin = self.last_max.max(cwnd);
        now
    }

    /// `GetSsThresh`.
    pub(super) fn reduce(&mut self, window: &Window) -> u64 {
        let cwnd = window.cwnd / window.mss;
        let converges = self.constants.fast_convergence && cwnd < self.last_max;
        self.last_max = if converges { (cwnd as f64 * (1.0 + self.constants.beta) / 2.0) as u64 } else { cwnd };
        self.epoch_start = None;
        ((cwnd as f64 * self.constants.beta) as u64).max(2) * window.mss
    }

    /// `CubicReset`.
    pub(super) fn on_state(&mut self, state: CongestionState) {
        if state == CongestionState::Loss {
            (self.last_max, self.origin, self.k, self.delay_min) = (0, 0, 0.0, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{MSS, ack};
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn window(segments: u64) -> Window {
        Window { cwnd: segments * MSS, ssthresh: segments * MSS, mss: MSS }
    }

    #[test]
    fn the_count_of_the_curve() {
        let mut ns3 = Ns3::new(&Config::PUBLISHED);
        assert_eq!(ns3.reduce(&window(100)), 70 * MSS);
        ns3.sample(&ack(at(1000), 1, Duration::from_millis(20)));
        // 100 − ⌊0.4 · 4.197³⌋ = 71: 70 acknowledged segments per segment of growth.
        assert_eq!(ns3.update(70, at(1000)), 70);
        // 3 s later the curve is at 100.
        assert_eq!(ns3.update(70, at(4000)), 70 / 30);
        assert_eq!(ns3.update(100, at(4000)), 100 * 100);
    }

    #[test]
    fn a_round_trip_is_smoothed_and_waits_ten_milliseconds() {
        let mut ns3 = Ns3 { epoch_start: Some(at(1000)), ..Ns3::new(&Config::PUBLISHED) };
        ns3.sample(&Ack { srtt: Some(Duration::from_millis(30)), ..ack(at(1009), 1, Duration::from_millis(20)) });
        assert_eq!(ns3.delay_min, None);
        ns3.sample(&Ack { srtt: Some(Duration::from_millis(30)), ..ack(at(1010), 1, Duration::from_millis(20)) });
        assert_eq!(ns3.delay_min, Some(Duration::from_millis(30)));
    }

    #[test]
    fn the_count_outlives_a_timeout() {
        let mut ns3 = Ns3 { credit: 7, last_max: 50, ..Ns3::new(&Config::PUBLISHED) };
        ns3.on_state(CongestionState::Loss);
        assert_eq!((ns3.credit, ns3.last_max), (7, 0));
    }
}
