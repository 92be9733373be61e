//! Data Center TCP (RFC 8257): reduces the window in proportion to the fraction of marked bytes.
//!
//! α is the fraction of bytes with a congestion mark (CE), averaged over windows of data. If a mark
//! arrives in a window of data, the congestion window is multiplied by 1 − α/2. Growth and the
//! reaction to loss are those of Reno (§3.4, §3.5).
//!
//! Linux's `tcp_dctcp.c` differs in these points:
//!
//! 1. An observation window ends with the ACK of snd.nxt at its start, not beyond it
//!    (`dctcp_update_alpha`).
//! 2. A loss during the reduction for a mark halves the current window, not the window before the
//!    mark (`dctcp_react_to_loss`).
//! 3. α has ten bits, and windows are whole segments. This model uses neither.

use super::constants::constants;
use super::newreno::{self, NewReno};
use super::{Ack, CongestionControl, Dialect, Position, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use acklab_base::Instant;

constants! {
    /// The constants of DCTCP.
    Config {
        /// g: the weight of the newest observation window in α (RFC 8257, §4.2; Linux's
        /// `dctcp_shift_g`: 1/16).
        #[schemars(range(min = 0.0001, max = 1.0))]
        gain: f64 = 1.0 / 16.0,
        /// The initial α: with 1, the first mark reduces the window like a loss (Linux's
        /// `dctcp_alpha_on_init`).
        #[schemars(range(min = 0.0, max = 1.0))]
        initial_alpha: f64 = 1.0,
    }
}

impl Settings for Config {
    type Controller = Dctcp;

    fn counts_marks(&self) -> bool {
        true
    }

    fn controller(&self, start: &Start) -> Dctcp {
        Dctcp::new(self, start)
    }
}

/// The state of DCTCP (RFC 8257, §3.3).
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    gain: f64,
    dialect: Dialect,
    reno: NewReno,
    /// DCTCP.Alpha.
    alpha: f64,
    /// DCTCP.BytesAcked: the bytes delivered in this observation window.
    acked: u64,
    /// DCTCP.BytesMarked: the number of marked bytes in this observation window.
    marked: u64,
    /// DCTCP.WindowEnd.
    window_end: Position,
    /// The window before a reduction for a mark, while that reduction lasts.
    before_mark: Option<u64>,
}

impl Dctcp {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        Self {
            gain: constants.gain,
            dialect: start.dialect,
            reno: NewReno::new(&newreno::Config::PUBLISHED, start),
            alpha: constants.initial_alpha,
            acked: 0,
            marked: 0,
            window_end: Position::default(),
            before_mark: None,
        }
    }

    /// Returns DCTCP.Alpha: the average share of marked bytes.
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    fn observe(&mut self, ack: &Ack) {
        self.acked += ack.delivered;
        self.marked += ack.marked;
        let has_ended = match self.dialect {
            // §3.3, step 4: not while SEG.ACK is less than or equal to WindowEnd.
            Dialect::Reference | Dialect::Ns3 => ack.acked_to > self.window_end,
            // dctcp_update_alpha: !before(snd_una, next_seq).
            Dialect::Linux => ack.acked_to >= self.window_end,
        };
        if !has_ended || self.acked == 0 {
            return;
        }
        let share = self.marked as f64 / self.acked as f64;
        self.alpha = self.alpha * (1.0 - self.gain) + self.gain * share;
        (self.acked, self.marked, self.window_end) = (0, 0, ack.sent_to);
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.observe(ack);
        self.reno.on_ack(window, ack);
    }

    fn ssthresh(&mut self, now: Instant, window: &Window, flight: u64, signal: Signal) -> u64 {
        if signal != Signal::Mark {
            return self.reno.ssthresh(now, window, flight, signal);
        }
        self.before_mark = Some(window.cwnd);
        let reduced = window.cwnd as f64 * (1.0 - self.alpha / 2.0);
        (reduced as u64).max(2 * window.mss)
    }

    /// Processes a change of state. If a loss occurs during the reduction for a mark, the window is
    /// reduced as by the loss alone (§3.5: once per window of data across all loss signals). In
    /// Linux, the loss halves the already reduced window.
    fn on_state(&mut self, now: Instant, window: &mut Window, state: CongestionState) {
        self.reno.on_state(now, window, state);
        match state {
            CongestionState::Recovery => {
                if let Some(before) = self.before_mark.take() {
                    let halves = if self.dialect == Dialect::Linux { window.cwnd } else { before };
                    let halved = self.reno.ssthresh(now, window, halves, Signal::Loss);
                    window.ssthresh = window.ssthresh.min(halved);
                }
            }
            CongestionState::Reduced => {}
            CongestionState::Open | CongestionState::Disorder | CongestionState::Loss => self.before_mark = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Growth;
    use super::super::testing::{MSS, ack, start};
    use super::*;
    use acklab_base::Duration;

    fn dctcp() -> Dctcp {
        Dctcp::new(&Config::PUBLISHED, &start(Growth::PerSegment))
    }

    /// Feeds a window of ten segments, of which `marked` are marked, acknowledged one by one.
    fn round(controller: &mut Dctcp, window: &mut Window, una: &mut u64, marked: u64) {
        for segment in 0..10 {
            *una += MSS;
            let marked = if segment < marked { MSS } else { 0 };
            let one = ack(Instant::ZERO, 1, Duration::from_millis(1));
            controller.on_ack(
                window,
                &Ack { acked_to: Position(*una), sent_to: Position(*una + 9 * MSS), marked, may_grow: false, ..one },
            );
        }
    }

    #[test]
    fn alpha_follows_the_share_of_marks() {
        let (mut controller, mut una) = (dctcp(), 0);
        let mut window = Window { cwnd: 10 * MSS, ssthresh: 10 * MSS, mss: MSS };
        for _ in 0..200 {
            round(&mut controller, &mut window, &mut una, 3);
        }
        assert!((controller.alpha() - 0.3).abs() < 0.01, "{}", controller.alpha());
    }

    #[test]
    fn one_window_moves_alpha_by_a_sixteenth() {
        let (mut controller, mut una) = (dctcp(), 0);
        let mut window = Window { cwnd: 10 * MSS, ssthresh: 10 * MSS, mss: MSS };
        // The first ACK ends the observation window from before the first transmission.
        round(&mut controller, &mut window, &mut una, 0);
        assert!((controller.alpha() - 15.0 / 16.0).abs() < 1e-12);
    }

    #[test]
    fn the_reduction_is_half_of_alpha() {
        let window = Window { cwnd: 100 * MSS, ssthresh: u64::MAX, mss: MSS };
        let reduced = |alpha, signal| Dctcp { alpha, ..dctcp() }.ssthresh(Instant::ZERO, &window, 80 * MSS, signal);
        assert_eq!(reduced(1.0, Signal::Mark), 50 * MSS);
        assert_eq!(reduced(0.25, Signal::Mark), 87_500);
        assert_eq!(reduced(0.0, Signal::Mark), 100 * MSS);
        assert_eq!(reduced(0.25, Signal::Loss), 40 * MSS, "a loss is Reno's");
    }

    #[test]
    fn a_loss_in_the_window_of_a_mark_halves_what_was_before_or_what_is() {
        for (dialect, threshold) in [(Dialect::Reference, 50), (Dialect::Linux, 45)] {
            let mut controller = Dctcp { alpha: 0.25, dialect, ..dctcp() };
            let mut window = Window { cwnd: 100 * MSS, ssthresh: u64::MAX, mss: MSS };
            window.ssthresh = controller.ssthresh(Instant::ZERO, &window, 100 * MSS, Signal::Mark);
            controller.on_state(Instant::ZERO, &mut window, CongestionState::Reduced);
            window.cwnd = 90 * MSS;
            controller.on_state(Instant::ZERO, &mut window, CongestionState::Recovery);
            assert_eq!(window.ssthresh, threshold * MSS, "{dialect:?}");
        }
    }

    #[test]
    fn an_observation_window_ends_with_its_last_octet_in_linux_and_beyond_it_in_the_rfc() {
        for (dialect, ends) in [(Dialect::Reference, false), (Dialect::Linux, true)] {
            let mut controller = Dctcp { dialect, window_end: Position(10 * MSS), ..dctcp() };
            let mut window = Window { cwnd: 10 * MSS, ssthresh: 10 * MSS, mss: MSS };
            let last = ack(Instant::ZERO, 1, Duration::from_millis(1));
            controller.on_ack(&mut window, &Ack { acked_to: Position(10 * MSS), may_grow: false, ..last });
            assert_eq!(controller.alpha() < 1.0, ends, "{dialect:?}");
        }
    }
}
