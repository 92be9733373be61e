//! CUBIC as Linux's `tcp_cubic.c` computes it. It differs from RFC 9438 in these points:
//!
//! 1. Whole segments: the curve is converted to `cnt`, the number of acknowledged segments per
//!    segment of growth, at least 2. So the growth per round trip is the window divided by a whole
//!    number (`bictcp_update`).
//! 2. Time is in jiffies. The curve is evaluated at most once per jiffy, and at most once per 1/32
//!    s while the window is unchanged.
//! 3. The curve is evaluated one *minimum* round-trip time ahead, not one smoothed round-trip time.
//! 4. Before the first loss, and after a timeout, the window grows by at least one segment per 20
//!    acknowledged segments.
//! 5. The Reno-friendly window keeps its α after it has reached the window before the loss, and
//!    grows by whole segments.
//! 6. β is 717/1024 and multiplies the window.
//! 7. Only an idle period shifts the epoch, by the idle time (`cubictcp_cwnd_event`).
//! 8. An undo restores the window but not the curve.

use super::super::{Ack, Sent, Window};
use super::Config;
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant};

/// `CONFIG_HZ`: jiffies per second (its default in `kernel/Kconfig.hz`).
const HZ: u64 = 250;
/// `BICTCP_HZ`: the unit of the curve's time is 2⁻¹⁰ s.
const BICTCP_HZ: u32 = 10;
/// `BICTCP_BETA_SCALE`.
const BETA_SCALE: u64 = 1024;
/// `bictcp_update`: the maximum of acknowledged segments per segment of growth before the first
/// loss.
const UNKNOWN_COUNT: u64 = 20;
/// `bictcp_update`: the windows acknowledged per segment of growth while the curve is below the
/// window.
const FLAT_COUNT: u64 = 100;
/// `bictcp_update`: the fastest growth, half the window per round trip.
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
    /// `snd_cwnd_cnt`: acknowledged segments that have not yet increased the window.
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

    /// Follows `cubictcp_acked`: discards the samples of the first second after a recovery, when
    /// the queue has not drained yet.
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

    /// Follows `tcp_cong_avoid_ai`: credit from a period of slower growth adds one segment, not
    /// several at a time.
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
        // The kernel's cubic_root is within 0.2 % of this exact root.
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

    /// Follows `cubictcp_state`: a timeout resets the state. `tcp_init_cwnd_reduction` and
    /// `tcp_enter_loss` clear the credit.
    pub(super) fn on_state(&mut self, state: CongestionState) {
        if state == CongestionState::Loss {
            *self = Self { last_sent: self.last_sent, ..Self::with(self.parameters) };
        }
        if state.reduces() {
            self.credit = 0;
        }
    }

    #[inline]
    pub(super) fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight <= sent.bytes {
            self.shift_epoch(sent.now);
        }
        self.last_sent = Some(sent.now);
    }

    /// `cubictcp_cwnd_event`, `CA_EVENT_TX_START`: nothing was in flight.
    #[inline(never)]
    fn shift_epoch(&mut self, now: Instant) {
        if let (Some(start), Some(last)) = (&mut self.epoch_start, self.last_sent) {
            let now = jiffies(now);
            *start = (*start + (now - jiffies(last))).min(now);
        }
    }
}

#[cfg(test)]
mod tests;
