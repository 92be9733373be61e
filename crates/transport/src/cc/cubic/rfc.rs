//! CUBIC of RFC 9438, in fractions of segments.

use super::super::{Ack, Growth, Window};
use super::Config;
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(super) struct Rfc {
    constants: Config,
    /// `α_cubic` (§4.3): the additive increase that gives an AIMD window with decrease β the
    /// average of Reno.
    alpha: f64,
    curve: Curve,
    /// The curve before the last reduction, restored by an undo (§4.9).
    before: Option<Curve>,
    /// The start of the period in which the window does not limit sending.
    limited_since: Option<Instant>,
    /// The growth of less than a byte.
    fraction: f64,
    growth: Growth,
}

/// The variables of §4.1.2, in segments and seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    /// `W_max`: the flat point of the curve. `None` before the first loss and after a timeout, when
    /// congestion avoidance begins at the flat point (§4.8, §4.10).
    w_max: Option<f64>,
    k: f64,
    /// `cwnd_prior`: the window when the threshold was last set, or zero.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Instant,
    /// `W_est`: the window of an AIMD flow with the same losses (§4.3).
    w_est: f64,
}

impl Rfc {
    pub(super) fn new(constants: &Config, growth: Growth) -> Self {
        let alpha = 3.0 * (1.0 - constants.beta) / (1.0 + constants.beta);
        Self {
            constants: *constants,
            alpha,
            curve: Curve::default(),
            before: None,
            limited_since: None,
            fraction: 0.0,
            growth,
        }
    }

    /// §5.8: the curve does not advance while the window does not limit sending.
    pub(super) fn note_limit(&mut self, ack: &Ack) {
        if ack.acked.bytes == 0 {
            return;
        }
        if !ack.may_grow {
            self.limited_since.get_or_insert(ack.now);
        } else if let Some(since) = self.limited_since.take()
            && let Some(epoch) = &mut self.curve.epoch
        {
            epoch.start += ack.now.since(since);
        }
    }

    pub(super) fn grow(&mut self, window: &mut Window, ack: &Ack, bytes: u64) {
        let mss = window.mss as f64;
        let (cwnd, acked) = (window.cwnd as f64 / mss, bytes as f64 / mss);
        let epoch = self.curve.epoch.unwrap_or_else(|| self.curve.begin(ack.now, cwnd, self.constants.c));
        let w_max = self.curve.w_max.unwrap_or(cwnd);
        let since = ack.now.since(epoch.start);
        let at = |time: Duration| {
            let offset = time.as_secs_f64() - self.curve.k;
            self.constants.c * offset * offset * offset + w_max
        };
        // §4.3: once W_est has reached cwnd_prior, it grows as in Reno.
        let alpha = if epoch.w_est >= self.curve.cwnd_prior { 1.0 } else { self.alpha };
        let w_est = epoch.w_est + alpha * acked / cwnd;
        self.curve.epoch = Some(Epoch { w_est, ..epoch });
        let grown = if at(since) < w_est {
            (w_est - cwnd).max(0.0)
        } else {
            // §4.2, §4.4, §4.5.
            let target = at(since + ack.srtt.unwrap_or_default()).clamp(cwnd, self.constants.max_target * cwnd);
            // In the RFC's literal rule, each ACK counts once. If bytes are counted, an ACK for
            // several segments counts as several.
            (target - cwnd) / cwnd * if self.growth == Growth::PerAck { 1.0 } else { acked }
        };
        self.fraction += grown * mss;
        let octets = self.fraction as u64;
        self.fraction -= octets as f64;
        window.cwnd += octets;
    }

    /// §4.6 and §4.7.
    pub(super) fn reduce(&mut self, window: &Window, flight: u64) -> u64 {
        let cwnd = window.cwnd as f64 / window.mss as f64;
        self.before = Some(self.curve);
        let converges = self.constants.fast_convergence && self.curve.w_max.is_some_and(|w_max| cwnd < w_max);
        self.curve = Curve {
            w_max: Some(if converges { cwnd * (1.0 + self.constants.beta) / 2.0 } else { cwnd }),
            k: 0.0,
            cwnd_prior: cwnd,
            epoch: None,
        };
        self.fraction = 0.0;
        ((flight as f64 * self.constants.beta) as u64).max(2 * window.mss)
    }

    /// §4.8: after a timeout, congestion avoidance begins at the flat point.
    pub(super) fn on_state(&mut self, state: CongestionState) {
        if state.reduces() {
            (self.curve.epoch, self.limited_since) = (None, None);
        }
        if state == CongestionState::Loss {
            self.curve.w_max = None;
        }
    }

    /// §4.9.2: the reduction was spurious. The curve is restored unless the window has outgrown its
    /// value before the reduction.
    pub(super) fn restore(&mut self, window: &Window) {
        let has_outgrown = window.cwnd as f64 / window.mss as f64 > self.curve.cwnd_prior;
        if let Some(before) = self.before.take().filter(|_| !has_outgrown) {
            self.curve = before;
        }
    }
}

impl Curve {
    /// Starts an epoch (§4.2, eq. 2). A window above the flat point becomes the flat point.
    fn begin(&mut self, now: Instant, cwnd: f64, c: f64) -> Epoch {
        let w_max = self.w_max.map_or(cwnd, |w_max| w_max.max(cwnd));
        self.k = libm::cbrt((w_max - cwnd) / c);
        self.w_max = Some(w_max);
        Epoch { start: now, w_est: cwnd }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{MSS, ack};
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn window(segments: u64) -> Window {
        Window { cwnd: segments * MSS, ssthresh: segments * MSS, mss: MSS }
    }

    /// Returns a flow in congestion avoidance since `at(0)`, with 70 segments after a loss at 100.
    fn after_loss() -> (Rfc, Window) {
        let (mut rfc, mut window) = (Rfc::new(&Config::PUBLISHED, Growth::ByteCounting), window(100));
        window.ssthresh = rfc.reduce(&window, window.cwnd);
        window.cwnd = window.ssthresh;
        rfc.grow(&mut window, &ack(at(0), 1, RTT), MSS);
        (rfc, window)
    }

    #[test]
    fn the_curve_after_a_loss() {
        let (mut rfc, mut window) = after_loss();
        assert!((rfc.curve.k - 4.217_163_326_508_746).abs() < 1e-12, "∛(30 / 0.4)");
        assert_eq!(window.cwnd, 70_007, "at first Reno is faster: 70 + 0.529 / 70");
        // W(0.1 s + RTT) = 0.4 · (−4.017)³ + 100 = 74.07; the window closes 1/70 of the distance to
        // it.
        rfc.grow(&mut window, &ack(at(100), 1, RTT), MSS);
        assert_eq!(window.cwnd, 70_065);
    }

    #[test]
    fn a_round_trip_aims_at_half_more_at_most() {
        let (mut rfc, _) = after_loss();
        let mut small = window(10);
        rfc.grow(&mut small, &ack(at(20_000), 1, RTT), MSS);
        assert_eq!(small.cwnd, 10_500);
    }

    #[test]
    fn where_reno_is_faster_the_window_is_renos() {
        let (mut rfc, mut window) = (Rfc::new(&Config::PUBLISHED, Growth::ByteCounting), window(10));
        window.ssthresh = rfc.reduce(&window, window.cwnd);
        window.cwnd = window.ssthresh;
        let rtt = Duration::from_millis(10);
        for round in 0..4 {
            rfc.grow(&mut window, &ack(at(round * 10), 7, rtt), 7 * MSS);
        }
        // The window is 7 + 4 · 0.529, a little less because it grows; the curve is at 7.4 then.
        assert!((8_900..9_120).contains(&window.cwnd), "{}", window.cwnd);
        let w_est = rfc.curve.epoch.unwrap().w_est;
        rfc.curve.epoch.as_mut().unwrap().w_est = 10.0;
        rfc.grow(&mut window, &ack(at(40), 1, rtt), MSS);
        assert!(w_est < 10.0);
        assert!(window.cwnd >= 10_100, "beyond the window before the loss, α = 1: {}", window.cwnd);
    }

    #[test]
    fn a_loss_below_the_last_one_gives_way() {
        let (mut rfc, _) = after_loss();
        assert_eq!(rfc.reduce(&window(80), 80 * MSS), 56 * MSS);
        assert_eq!(rfc.curve.w_max, Some(68.0), "80 · 0.85");
        rfc.reduce(&window(90), 90 * MSS);
        assert_eq!(rfc.curve.w_max, Some(90.0));
    }

    #[test]
    fn a_reduction_for_nothing_restores_the_curve() {
        let (mut rfc, window) = after_loss();
        let (k, epoch) = (rfc.curve.k, rfc.curve.epoch.unwrap());
        rfc.reduce(&window, window.cwnd);
        rfc.on_state(CongestionState::Recovery);
        assert!(rfc.curve.epoch.is_none());
        let mut late = rfc;
        late.restore(&self::window(101));
        assert_eq!(late.curve.epoch.map(|epoch| epoch.start), None, "too late to matter");
        rfc.restore(&window);
        assert_eq!((rfc.curve.k, rfc.curve.w_max), (k, Some(100.0)));
        assert_eq!(rfc.curve.epoch.unwrap().start, epoch.start, "time goes on as if nothing had been");
    }

    #[test]
    fn after_a_timeout_the_curve_is_flat_where_it_begins() {
        let (mut rfc, _) = after_loss();
        rfc.reduce(&window(100), 100 * MSS);
        rfc.on_state(CongestionState::Loss);
        let mut small = window(20);
        rfc.grow(&mut small, &ack(at(1000), 1, RTT), MSS);
        assert_eq!((rfc.curve.k, rfc.curve.w_max), (0.0, Some(20.0)));
    }

    #[test]
    fn time_of_the_application_does_not_count() {
        let (mut rfc, _) = after_loss();
        rfc.note_limit(&Ack { may_grow: false, ..ack(at(500), 1, RTT) });
        rfc.note_limit(&Ack { may_grow: false, ..ack(at(700), 1, RTT) });
        rfc.note_limit(&ack(at(1500), 1, RTT));
        assert_eq!(rfc.curve.epoch.unwrap().start, at(1000));
    }

    #[test]
    fn the_smallest_threshold_is_two_segments() {
        assert_eq!(Rfc::new(&Config::PUBLISHED, Growth::ByteCounting).reduce(&window(2), MSS), 2 * MSS);
    }
}
