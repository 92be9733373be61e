//! CUBIC as Linux's `tcp_cubic.c` computes it, which differs from RFC 9438 in these points:
//!
//! 1. Whole segments: the curve becomes `cnt`, so many acknowledged segments for one of growth, from 2 up. Growth a round trip is
//!    therefore a whole part of the window (`bictcp_update`).
//! 2. Time in jiffies; the curve is looked at once a jiffy, and not for a 32nd of a second while the window stands still.
//! 3. The curve is read one *shortest* round-trip time ahead, not one smoothed.
//! 4. Before the first loss, and after a timeout, a segment for each 20 acknowledged at least.
//! 5. The Reno-friendly window keeps its α after it has reached the window before the loss, and grows whole segments.
//! 6. β is 717/1024, taken of the window.
//! 7. An epoch is shifted by idleness alone, from the last transmission on (`cubictcp_cwnd_event`).
//! 8. A reduction that is taken back does not bring back the curve.

use super::super::{Ack, Sent, Window};
use super::Config;
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant};

/// `CONFIG_HZ`: jiffies a second (its default in `kernel/Kconfig.hz`).
const HZ: u64 = 250;
/// `BICTCP_HZ`: the curve's time is in 2⁻¹⁰ s.
const BICTCP_HZ: u32 = 10;
/// `BICTCP_BETA_SCALE`.
const BETA_SCALE: u64 = 1024;
/// `bictcp_update`: acknowledged segments for one of growth while no loss is known.
const UNKNOWN_COUNT: u64 = 20;
/// `bictcp_update`: how many windows must be acknowledged for a segment of growth where the curve is below the window.
const FLAT_COUNT: u64 = 100;
/// `bictcp_update`: the fastest growth, half the window a round trip.
const MIN_COUNT: u64 = 2;

/// The module's parameters.
#[derive(Clone, Copy, Debug)]
struct Parameters {
    /// `beta`, in 1024ths: 717.
    beta: u64,
    /// `cube_rtt_scale`: `bic_scale` (41) · 10, C in 2⁻¹⁰ segments.
    cube_rtt_scale: u64,
    /// `beta_scale`: 8/3 · (1 + β)/(1 − β), in eighths, 1/α of RFC 9438, eq. 4.
    friendly_scale: u64,
    /// `fast_convergence`.
    fast_convergence: bool,
}

impl Parameters {
    fn new(constants: &Config) -> Self {
        let beta = libm::round(constants.beta * BETA_SCALE as f64) as u64;
        let bic_scale = libm::round(constants.c * 102.4) as u64;
        Self {
            beta,
            cube_rtt_scale: bic_scale.max(1) * 10,
            friendly_scale: 8 * (BETA_SCALE + beta) / 3 / (BETA_SCALE - beta),
            fast_convergence: constants.fast_convergence,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Linux {
    parameters: Parameters,
    /// `cnt`.
    count: u64,
    last_max: u64,
    last_cwnd: u64,
    last_time: u64,
    origin: u64,
    k: u64,
    delay_min: Option<Duration>,
    /// In jiffies.
    epoch_start: Option<u64>,
    ack_count: u64,
    /// `tcp_cwnd`: the Reno-friendly window.
    friendly_cwnd: u64,
    /// `snd_cwnd_cnt`: acknowledged segments not yet turned into growth.
    credit: u64,
    last_sent: Option<Instant>,
}

const fn jiffies(now: Instant) -> u64 {
    now.as_nanos() / (1_000_000_000 / HZ)
}

impl Linux {
    pub(super) fn new(constants: &Config) -> Self {
        Self::with(Parameters::new(constants))
    }

    const fn with(parameters: Parameters) -> Self {
        Self {
            parameters,
            count: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            k: 0,
            delay_min: None,
            epoch_start: None,
            ack_count: 0,
            friendly_cwnd: 0,
            credit: 0,
            last_sent: None,
        }
    }

    /// `cubictcp_acked`: right after a recovery, for a second, delays are those of a queue that has not yet drained.
    pub(super) fn sample(&mut self, ack: &Ack) {
        let is_fresh = self.epoch_start.is_some_and(|start| jiffies(ack.now) - start < HZ);
        if let Some(rtt) = ack.newest_rtt.filter(|_| !is_fresh) {
            self.delay_min = Some(self.delay_min.map_or(rtt, |min| min.min(rtt)));
        }
    }

    /// `cubictcp_cong_avoid` after slow start.
    pub(super) fn grow(&mut self, window: &mut Window, now: Instant, acked: u64) {
        self.update(window.cwnd / window.mss, jiffies(now), acked);
        window.cwnd += self.additive_increase(acked) * window.mss;
    }

    /// `tcp_cong_avoid_ai`: credit from a time of slower growth is worth one segment, not many at once.
    fn additive_increase(&mut self, acked: u64) -> u64 {
        let mut grown = 0;
        if self.credit >= self.count {
            (self.credit, grown) = (0, 1);
        }
        self.credit += acked;
        grown += self.credit / self.count;
        self.credit %= self.count;
        grown
    }

    /// `bictcp_update`.
    fn update(&mut self, cwnd: u64, now: u64, acked: u64) {
        self.ack_count += acked;
        if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
            return;
        }
        if self.epoch_start.is_none() || now != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            let start = match self.epoch_start {
                Some(start) => start,
                None => self.begin_epoch(cwnd, now, acked),
            };
            self.follow_curve(cwnd, now - start);
        }
        self.keep_up_with_reno(cwnd);
        self.count = self.count.max(MIN_COUNT);
    }

    fn begin_epoch(&mut self, cwnd: u64, now: u64, acked: u64) -> u64 {
        (self.epoch_start, self.ack_count, self.friendly_cwnd) = (Some(now), acked, cwnd);
        // cubic_root is within 0.2 % of the root; this is the root.
        let distance = ((1_u64 << 40) / self.parameters.cube_rtt_scale) * self.last_max.saturating_sub(cwnd);
        self.k = libm::cbrt(distance as f64) as u64;
        self.origin = self.last_max.max(cwnd);
        now
    }

    fn follow_curve(&mut self, cwnd: u64, since: u64) {
        let ahead = self.delay_min.map_or(0, |delay| delay.as_nanos().div_ceil(1_000_000_000 / HZ));
        let time = ((since + ahead) << BICTCP_HZ) / HZ;
        let offset = u128::from(time.abs_diff(self.k));
        let delta =
            ((u128::from(self.parameters.cube_rtt_scale) * offset * offset * offset) >> (10 + 3 * BICTCP_HZ)) as u64;
        let target = if time < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        self.count = if target > cwnd { cwnd / (target - cwnd) } else { FLAT_COUNT * cwnd };
        if self.last_max == 0 {
            self.count = self.count.min(UNKNOWN_COUNT);
        }
    }

    /// `tcp_friendliness`.
    fn keep_up_with_reno(&mut self, cwnd: u64) {
        let per_segment = (cwnd * self.parameters.friendly_scale) >> 3;
        while self.ack_count > per_segment {
            self.ack_count -= per_segment;
            self.friendly_cwnd += 1;
        }
        if self.friendly_cwnd > cwnd {
            self.count = self.count.min(cwnd / (self.friendly_cwnd - cwnd));
        }
    }

    /// `cubictcp_recalc_ssthresh`.
    pub(super) fn reduce(&mut self, window: &Window) -> u64 {
        let cwnd = window.cwnd / window.mss;
        let Parameters { beta, fast_convergence, .. } = self.parameters;
        self.epoch_start = None;
        let converges = fast_convergence && cwnd < self.last_max;
        self.last_max = if converges { cwnd * (BETA_SCALE + beta) / (2 * BETA_SCALE) } else { cwnd };
        (cwnd * beta / BETA_SCALE).max(2) * window.mss
    }

    /// `cubictcp_state`: a timeout forgets everything. `tcp_init_cwnd_reduction` and `tcp_enter_loss` forget the credit.
    pub(super) fn on_state(&mut self, state: CongestionState) {
        if state == CongestionState::Loss {
            *self = Self { last_sent: self.last_sent, ..Self::with(self.parameters) };
        }
        if state.reduces() {
            self.credit = 0;
        }
    }

    /// `cubictcp_cwnd_event`, `CA_EVENT_TX_START`: nothing was in flight.
    pub(super) fn on_sent(&mut self, sent: &Sent) {
        if let (Some(start), Some(last)) = (&mut self.epoch_start, self.last_sent)
            && sent.in_flight <= sent.bytes
        {
            let now = jiffies(sent.now);
            *start = (*start + (now - jiffies(last))).min(now);
        }
        self.last_sent = Some(sent.now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{MSS, ack};
    use super::*;
    use crate::cc::Position;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn window(segments: u64) -> Window {
        Window { cwnd: segments * MSS, ssthresh: segments * MSS, mss: MSS }
    }

    /// After a loss at `segments`, on a path of 20 ms, as congestion avoidance begins at 2 s.
    fn after_loss(segments: u64) -> (Linux, Window) {
        let (mut linux, mut window) = (Linux::new(&Config::PUBLISHED), window(segments));
        linux.sample(&ack(at(1000), 1, Duration::from_millis(20)));
        window.ssthresh = linux.reduce(&window);
        window.cwnd = window.ssthresh;
        linux.grow(&mut window, at(2000), 1);
        (linux, window)
    }

    #[test]
    fn constants_of_the_module() {
        let Parameters { beta, cube_rtt_scale, friendly_scale, .. } = Parameters::new(&Config::PUBLISHED);
        assert_eq!((beta, cube_rtt_scale, friendly_scale), (717, 410, 15));
        assert_eq!(window(43).cwnd, 43 * MSS);
        assert_eq!(Linux::new(&Config::PUBLISHED).reduce(&window(43)), 30 * MSS, "43 · 717 / 1024 = 30.1");
    }

    #[test]
    fn the_count_of_the_curve() {
        let (linux, _) = after_loss(100);
        assert_eq!((linux.origin, linux.last_max), (100, 100));
        // ∛((100 − 70) · 2⁴⁰ / 410) / 1024 = 4.2 s.
        assert_eq!(linux.k, 4316, "4.215 s: the factor is truncated");
        // 5 jiffies ahead, the curve is at 100 − 29 = 71: 70 acknowledged segments for one.
        assert_eq!(linux.count, 70);
    }

    #[test]
    fn the_curve_is_looked_at_once_a_jiffy() {
        let (mut linux, window) = after_loss(100);
        let count = linux.count;
        linux.update(window.cwnd / MSS + 1, jiffies(at(2001)), 1);
        assert_eq!(linux.count, count, "the same jiffy");
        linux.update(window.cwnd / MSS + 1, jiffies(at(3000)), 1);
        assert_ne!(linux.count, count);
        let later = linux.count;
        linux.update(window.cwnd / MSS + 1, jiffies(at(3024)), 1);
        assert_eq!(linux.count, later, "the window has not moved for less than a 32nd of a second");
    }

    #[test]
    fn reno_sets_the_pace_of_small_windows() {
        let (mut linux, mut window) = after_loss(10);
        for millis in (2020..2400).step_by(20) {
            let acked = window.cwnd / MSS;
            linux.grow(&mut window, at(millis), acked);
        }
        // 19 round trips at α = 8/15, from 7 segments: Reno would be at 17.
        assert!((15..=17).contains(&(window.cwnd / MSS)), "{}", window.cwnd);
    }

    #[test]
    fn credit_of_slow_growth_is_worth_one_segment() {
        let mut linux = Linux { count: 100, ..Linux::new(&Config::PUBLISHED) };
        assert_eq!(linux.additive_increase(90), 0);
        linux.count = 10;
        assert_eq!(linux.additive_increase(25), 3, "1 for the 90, 2 for the 25");
        assert_eq!(linux.credit, 5);
    }

    #[test]
    fn before_a_loss_a_twentieth_a_round_trip() {
        let mut linux = Linux::new(&Config::PUBLISHED);
        let mut window = window(100);
        linux.grow(&mut window, at(1000), 1);
        assert_eq!(linux.count, 20);
    }

    #[test]
    fn delays_of_the_first_second_after_a_recovery_are_not_taken() {
        let (mut linux, _) = after_loss(100);
        linux.sample(&ack(at(2900), 1, Duration::from_millis(5)));
        assert_eq!(linux.delay_min, Some(Duration::from_millis(20)));
        linux.sample(&ack(at(3000), 1, Duration::from_millis(5)));
        assert_eq!(linux.delay_min, Some(Duration::from_millis(5)));
    }

    #[test]
    fn idleness_shifts_the_epoch() {
        let (mut linux, _) = after_loss(100);
        let sent = |now, in_flight| Sent {
            now,
            bytes: MSS,
            in_flight,
            end: Position(0),
            is_retransmission: false,
            is_app_limited: false,
        };
        linux.on_sent(&sent(at(2100), 5 * MSS));
        linux.on_sent(&sent(at(2500), MSS));
        assert_eq!(linux.epoch_start, Some(jiffies(at(2400))));
    }

    #[test]
    fn a_timeout_forgets_the_curve() {
        let (mut linux, _) = after_loss(100);
        linux.on_state(CongestionState::Loss);
        assert_eq!((linux.last_max, linux.k, linux.delay_min, linux.epoch_start), (0, 0, None, None));
    }
}
