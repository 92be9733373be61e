//! CUBIC: after a loss, the window follows a cubic function of time that is flat at the window
//! before the loss.
//!
//! All stacks use the same function. They differ in how they derive the window from it; [`Dialect`]
//! selects the stack.

mod linux;
mod ns3;
mod rfc;

use super::constants::constants;
use super::slow_start::Phase;
use super::{Ack, Acked, CongestionControl, Dialect, Position, Sent, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use acklab_base::Instant;
use linux::Linux;
use ns3::Ns3;
use rfc::Rfc;

constants! {
    /// The constants of CUBIC. Linux's version takes β in 1024ths and C in 1024ths of ten.
    Config {
        /// β: the multiplicative decrease of the window after a loss (RFC 9438, §4.6; Linux's
        /// `beta`, 717/1024; ns-3's `Beta`).
        #[schemars(range(min = 0.1, max = 0.99))]
        beta: f64 = 0.7,
        /// C: the aggressiveness of the curve, in segments per second cubed (RFC 9438, §5.1;
        /// Linux's `bic_scale`, 41; ns-3's `C`).
        #[schemars(range(min = 0.01, max = 10.0))]
        c: f64 = 0.4,
        /// Fast convergence: a loss below the last maximum reduces the next maximum further (RFC
        /// 9438, §4.7; `fast_convergence`).
        fast_convergence: bool = true,
        /// In the dialect `reference`: the maximum target of a round trip, as a multiple of the
        /// window (RFC 9438, §4.2).
        #[schemars(range(min = 1.0, max = 10.0))]
        max_target: f64 = 1.5,
    }
}

impl Settings for Config {
    type Controller = Cubic;

    fn controller(&self, start: &Start) -> Cubic {
        Cubic::new(self, start)
    }
}

/// The state of CUBIC.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    slow_start: Phase,
    variant: Variant,
    /// The end of the data sent so far.
    sent_to: Position,
}

/// A stack's way to compute the window from the curve.
#[derive(Clone, Copy, Debug)]
enum Variant {
    Rfc(Rfc),
    Linux(Linux),
    Ns3(Ns3),
}

impl Cubic {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        let slow_start = Phase::new(start);
        let (slow_start, variant) = match start.dialect {
            Dialect::Reference => (slow_start, Variant::Rfc(Rfc::new(constants, start.growth))),
            Dialect::Linux => (slow_start, Variant::Linux(Linux::new(constants))),
            Dialect::Ns3 => (slow_start.past_the_threshold(), Variant::Ns3(Ns3::new(constants))),
        };
        Self { slow_start, variant, sent_to: Position::default() }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        match &mut self.variant {
            Variant::Rfc(curve) => curve.note_limit(ack),
            Variant::Linux(curve) => curve.sample(ack),
            Variant::Ns3(curve) => curve.sample(ack),
        }
        let remaining = self.slow_start.on_ack(window, ack);
        if remaining == Acked::default() || window.in_slow_start() {
            return;
        }
        match &mut self.variant {
            Variant::Rfc(curve) => curve.grow(window, ack, remaining.bytes),
            Variant::Linux(curve) => curve.grow(window, ack.now, remaining.segments),
            Variant::Ns3(curve) => curve.grow(window, ack.now, remaining.segments),
        }
    }

    fn ssthresh(&mut self, _now: Instant, window: &Window, flight: u64, _signal: Signal) -> u64 {
        match &mut self.variant {
            Variant::Rfc(curve) => curve.reduce(window, flight),
            Variant::Linux(curve) => curve.reduce(window),
            Variant::Ns3(curve) => curve.reduce(window),
        }
    }

    fn on_state(&mut self, now: Instant, _window: &mut Window, state: CongestionState) {
        match &mut self.variant {
            Variant::Rfc(curve) => curve.on_state(state),
            Variant::Linux(curve) => curve.on_state(state),
            Variant::Ns3(curve) => curve.on_state(state),
        }
        if state == CongestionState::Loss {
            self.slow_start.on_timeout(now, self.sent_to);
        }
    }

    fn on_undo(&mut self, _now: Instant, window: &mut Window) {
        match &mut self.variant {
            Variant::Rfc(curve) => curve.restore(window),
            // tcp_undo_cwnd_reduction restores only the window; TcpCubic has no undo.
            Variant::Linux(_) | Variant::Ns3(_) => {}
        }
    }

    #[inline]
    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        self.sent_to = self.sent_to.max(sent.end);
        match &mut self.variant {
            Variant::Linux(curve) => curve.on_sent(sent),
            Variant::Rfc(_) | Variant::Ns3(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MSS, ack, start};
    use super::super::{Growth, SlowStart};
    use super::*;
    use acklab_base::Duration;

    /// Returns the window, in segments, `seconds` after a loss at 1000 segments on a path of 100
    /// ms, with an ACK per `per_ack` segments.
    fn after_loss(dialect: Dialect, per_ack: u64, seconds: u64) -> f64 {
        grown_after_loss(dialect, Growth::PerSegment, per_ack, seconds)
    }

    fn grown_after_loss(dialect: Dialect, growth: Growth, per_ack: u64, seconds: u64) -> f64 {
        let start = Start { dialect, slow_start: SlowStart::Classic {}, ..start(growth) };
        let mut window = Window { cwnd: 1000 * MSS, ssthresh: u64::MAX, mss: MSS };
        let mut cubic = Cubic::new(&Config::PUBLISHED, &start);
        let begin = Instant::ZERO + Duration::from_secs(1);
        window.ssthresh = cubic.ssthresh(begin, &window, 1000 * MSS, Signal::Loss);
        cubic.on_state(begin, &mut window, CongestionState::Recovery);
        window.cwnd = window.ssthresh;
        cubic.on_state(begin, &mut window, CongestionState::Open);
        let (mut now, rtt) = (begin, Duration::from_millis(100));
        while now.since(begin) < Duration::from_secs(seconds) {
            let acks = (window.cwnd / MSS / per_ack).max(1);
            for _ in 0..acks {
                now += rtt / acks;
                cubic.on_ack(&mut window, &ack(now, per_ack, rtt));
            }
        }
        window.cwnd as f64 / MSS as f64
    }

    const DIALECTS: [Dialect; 3] = [Dialect::Reference, Dialect::Linux, Dialect::Ns3];

    #[test]
    fn a_loss_takes_three_tenths() {
        for dialect in DIALECTS {
            assert!((after_loss(dialect, 1, 0) - 700.0).abs() <= 0.5, "{dialect:?}");
        }
    }

    /// RFC 9438, eqs. 1 and 2: K = ∛(300 / 0.4) = 9.086 s.
    #[test]
    fn the_window_follows_the_curve() {
        for dialect in DIALECTS {
            for (seconds, wanted) in [(4, 947.4), (9, 1000.0), (14, 1047.5)] {
                let found = after_loss(dialect, 1, seconds);
                assert!((found - wanted).abs() <= 0.01 * wanted, "{dialect:?} at {seconds} s: {found}");
            }
        }
    }

    #[test]
    fn time_drives_the_window_so_thin_acks_cost_little() {
        for dialect in [Dialect::Reference, Dialect::Linux] {
            for seconds in [4, 9, 14] {
                let (every, tenth) = (after_loss(dialect, 1, seconds), after_loss(dialect, 10, seconds));
                assert!((every - tenth).abs() <= 0.01 * every, "{dialect:?} at {seconds} s: {every} and {tenth}");
            }
        }
    }

    /// RFC 9438, §4.4, to the letter: the window grows by (target − cwnd)/cwnd for each ACK.
    #[test]
    fn an_ack_that_counts_once_falls_behind_the_curve() {
        let thinned = |growth| grown_after_loss(Dialect::Reference, growth, 10, 4);
        assert!(thinned(Growth::ByteCounting) > 940.0);
        let behind = thinned(Growth::PerAck);
        assert!((800.0..930.0).contains(&behind), "a round trip goes a tenth of the way: {behind}");
    }

    /// ns-3's `IncreaseWindow` grows by at most one segment per ACK, and carries over the unused
    /// growth without bound.
    #[test]
    fn ns3_cannot_grow_by_more_than_a_segment_an_ack() {
        let mut ns3 = Ns3::new(&Config::PUBLISHED);
        let mut window = Window { cwnd: 10 * MSS, ssthresh: 10 * MSS, mss: MSS };
        let at = Instant::ZERO + Duration::from_secs(1);
        ns3.sample(&ack(at, 100, Duration::from_millis(100)));
        ns3.grow(&mut window, at, 1000);
        assert_eq!(window.cwnd, 11 * MSS);
    }
}
