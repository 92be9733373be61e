//! TCP Prague, the scalable congestion control of L4S
//! (draft-briscoe-iccrg-prague-congestion-control; RFC 9331, §4.3), with the arithmetic of the L4S
//! team's Linux module (`tcp_prague.c`, version 0.6).
//!
//! As in [DCTCP](super::dctcp), α is the moving average of the share of marked data, and the window
//! is reduced by α/2 once per round trip. Differences from DCTCP:
//!
//! 1. packets are sent as ECT(1), and the receiver reports congestion marks by Accurate ECN;
//! 2. unmarked data increase the window also in a round trip with marks;
//! 3. the window changes by at most one segment per ACK; the remaining change is carried over;
//! 4. some time after slow start, a flow with a round-trip time below 25 ms behaves like a flow
//!    with 25 ms: it grows more slowly, and updates α and reduces its window once per 25 ms
//!    (`RTT_CONTROL_RATE`);
//! 5. sending is paced at cwnd/SRTT, and at twice that rate while the window is below half of the
//!    threshold.
//!
//! After a timeout the window is one segment and the threshold is half of the flight (RFC 5681,
//! §3.1); the module's minimum is two segments. The detection of classic queues with ECN, which is
//! off by default, and the module's integer arithmetic are not modelled.

use super::constants::constants;
use super::{Ack, CongestionControl, Position, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant, Rate, mul_div};

constants! {
    /// The constants of Prague.
    Config {
        /// g: the weight of the newest round trip in α (`PRAGUE_SHIFT_G`: 1/16).
        #[schemars(range(min = 0.0001, max = 1.0))]
        gain: f64 = 1.0 / 16.0,
        /// The initial α (`prague_init`: 1).
        #[schemars(range(min = 0.0, max = 1.0))]
        initial_alpha: f64 = 1.0,
        /// The round-trip time that flows with a shorter round-trip time emulate
        /// (`prague_rtt_target`).
        rtt_target: Duration = Duration::from_millis(25),
        /// The number of round trips after slow start before such flows emulate the target
        /// (`prague_rtt_transition`).
        rtt_transition: u32 = 500,
    }
}

impl Settings for Config {
    type Controller = Prague;

    fn counts_marks(&self) -> bool {
        true
    }

    fn is_scalable(&self) -> bool {
        true
    }

    fn controller(&self, start: &Start) -> Prague {
        Prague::new(self, start)
    }
}

/// The minimum window, in segments (`MIN_CWND`).
const LEAST: u64 = 2;
/// Round trips above this are not scaled (`MAX_SCALED_RTT`).
const MAX_SCALED: Duration = Duration::from_millis(100);

/// The state of Prague.
#[derive(Clone, Copy, Debug)]
pub struct Prague {
    constants: Config,
    alpha: f64,
    /// The number of bytes delivered in this round trip, and the number of marked bytes among them.
    delivered: u64,
    marked: u64,
    /// The position whose acknowledgment ends the round trip.
    round_end: Position,
    /// The number of round trips since slow start.
    rounds: u32,
    alpha_at: Instant,
    reduced_at: Option<Instant>,
    /// `true` if a congestion mark has reduced the window, and the change of state has not been
    /// reported yet.
    is_reduced: bool,
    /// The pending change of the window in bytes; negative values shrink it (`cwnd_cnt`).
    carry: f64,
    has_seen_mark: bool,
    is_in_loss: bool,
    srtt: Option<Duration>,
    pacing: Option<Rate>,
}

impl Prague {
    pub(super) fn new(constants: &Config, _start: &Start) -> Self {
        Self {
            constants: *constants,
            alpha: constants.initial_alpha,
            delivered: 0,
            marked: 0,
            round_end: Position::default(),
            rounds: 0,
            alpha_at: Instant::ZERO,
            reduced_at: None,
            is_reduced: false,
            carry: 0.0,
            has_seen_mark: false,
            is_in_loss: false,
            srtt: None,
            pacing: None,
        }
    }

    /// Returns the average share of marked bytes.
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// `prague_is_rtt_indep`.
    const fn is_rtt_independent(&self, window: &Window) -> bool {
        !window.in_slow_start() && self.rounds >= self.constants.rtt_transition
    }

    /// Returns the growth per window of ACKs, in segments (`prague_rate_scaled_ai_ack_increase`).
    fn increase(&self) -> f64 {
        let Some(srtt) = self.srtt.filter(|srtt| *srtt <= MAX_SCALED && *srtt < self.constants.rtt_target) else {
            return 1.0;
        };
        if self.rounds < self.constants.rtt_transition {
            return 1.0;
        }
        (srtt.as_nanos() as f64 / self.constants.rtt_target.as_nanos() as f64).powi(2)
    }

    /// `prague_update_cwnd`.
    fn update_window(&mut self, window: &mut Window, ack: &Ack) {
        self.has_seen_mark |= ack.marked > 0;
        let mut unmarked = ack.delivered.saturating_sub(ack.marked);
        if unmarked > 0 && !self.is_in_loss && ack.window_limited {
            if window.in_slow_start() {
                let grown = unmarked.min(window.ssthresh - window.cwnd);
                window.cwnd += grown;
                unmarked -= grown;
            }
            self.carry += unmarked as f64 * self.increase() * window.mss as f64 / window.cwnd.max(1) as f64;
        }
        let segment = window.mss as f64;
        if self.carry <= -segment {
            self.carry += segment;
            window.cwnd -= window.mss.min(window.cwnd);
            if window.cwnd < LEAST * window.mss {
                (window.cwnd, self.carry) = (LEAST * window.mss, 0.0);
            }
            window.ssthresh = window.cwnd;
        } else if self.carry >= segment {
            self.carry -= segment;
            window.cwnd += window.mss;
        }
    }

    /// `prague_update_alpha`, `prague_new_round`.
    fn update_alpha(&mut self, window: &Window, ack: &Ack) {
        let has_target_passed = ack.now.since(self.alpha_at) >= self.constants.rtt_target;
        if ack.acked_to < self.round_end || self.is_rtt_independent(window) && !has_target_passed {
            return;
        }
        // Before the first mark, it is unknown whether a queue on the path marks.
        if self.has_seen_mark && self.delivered > 0 {
            let share = self.marked as f64 / self.delivered as f64;
            self.alpha = (self.alpha * (1.0 - self.constants.gain) + self.constants.gain * share).min(1.0);
            self.alpha_at = ack.now;
        }
        (self.delivered, self.marked, self.round_end) = (0, 0, ack.sent_to);
        self.rounds = self.rounds.saturating_add(u32::from(!window.in_slow_start()));
    }

    /// `prague_update_pacing_rate`.
    fn update_pacing(&mut self, window: &Window, ack: &Ack) {
        let Some(srtt) = ack.srtt.filter(|srtt| !srtt.is_zero()) else { return };
        let octets = window.cwnd.max(ack.in_flight) * if window.cwnd < window.ssthresh / 2 { 2 } else { 1 };
        self.pacing = Rate::from_bits_per_second(mul_div(octets, 8_000_000_000, srtt.as_nanos()));
    }

    /// `prague_enter_cwr`.
    fn reduce(&mut self, now: Instant, window: &Window) {
        let is_early = self.reduced_at.is_some_and(|at| now.since(at) < self.constants.rtt_target);
        if self.is_rtt_independent(window) && is_early {
            return;
        }
        self.reduced_at = Some(now);
        self.carry -= self.alpha * window.cwnd as f64 / 2.0;
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.srtt = ack.srtt;
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        self.update_window(window, ack);
        self.update_alpha(window, ack);
        self.update_pacing(window, ack);
    }

    /// Slow start is over. The controller reduces the window itself, and the threshold with it.
    fn ssthresh(&mut self, now: Instant, window: &Window, flight: u64, signal: Signal) -> u64 {
        match signal {
            Signal::Mark => {
                self.reduce(now, window);
                self.is_reduced = true;
                window.ssthresh.min(window.cwnd)
            }
            Signal::Loss => window.ssthresh.min(window.cwnd),
            // RFC 5681, §3.1, eq. 4.
            Signal::Timeout => (flight / 2).max(LEAST * window.mss),
        }
    }

    fn on_state(&mut self, now: Instant, window: &mut Window, state: CongestionState) {
        match state {
            // A loss repaired by a probe has the same effect as a mark (`TCP_CA_CWR`).
            CongestionState::Reduced => {
                if !std::mem::take(&mut self.is_reduced) {
                    self.reduce(now, window);
                }
            }
            // `prague_enter_loss`.
            CongestionState::Recovery => {
                self.carry -= (window.cwnd as f64 + self.carry) / 2.0;
                self.is_in_loss = true;
            }
            CongestionState::Loss => (window.cwnd, self.carry, self.is_in_loss) = (window.mss, 0.0, false),
            CongestionState::Open => (self.is_in_loss, self.is_reduced) = (false, false),
            CongestionState::Disorder => {}
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }

    fn governs_window(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Growth;
    use super::super::testing::{MSS, ack, start};
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn prague() -> Prague {
        Prague::new(&Config::PUBLISHED, &start(Growth::PerSegment))
    }

    /// Processes an ACK of `segments`, of which `marked` are marked, with a round trip of `rtt` ms.
    fn arrives(
        prague: &mut Prague,
        window: &mut Window,
        una: &mut u64,
        (segments, marked): (u64, u64),
        at: u64,
        rtt: u64,
    ) {
        *una += segments * MSS;
        let one = ack(Instant::ZERO + MS * at, segments, MS * rtt);
        let sent_to = Position(*una + window.cwnd);
        let (marked, window_limited) = (marked * MSS, true);
        prague.on_ack(window, &Ack { acked_to: Position(*una), sent_to, marked, window_limited, ..one });
    }

    fn steady(cwnd: u64) -> Window {
        Window { cwnd: cwnd * MSS, ssthresh: cwnd * MSS, mss: MSS }
    }

    #[test]
    fn it_grows_by_a_segment_in_a_round_trip_and_by_what_is_unmarked() {
        let grown = |marked| {
            let (mut prague, mut window, mut una) = (prague(), steady(100), 0);
            for at in 0..10 {
                (0..10).for_each(|_| arrives(&mut prague, &mut window, &mut una, (10, marked), 100 * at, 100));
            }
            window.cwnd / MSS - 100
        };
        assert_eq!(grown(0), 9, "a segment for each window, which grows");
        assert_eq!(grown(5), 4, "half of it is marked");
        assert_eq!(grown(10), 0);
    }

    #[test]
    fn a_mark_reduces_by_half_of_alpha_a_segment_an_ack() {
        let (mut prague, mut window, mut una) = (Prague { alpha: 0.1, ..prague() }, steady(100), 0);
        window.ssthresh = prague.ssthresh(Instant::ZERO, &window, 90 * MSS, Signal::Mark);
        prague.on_state(Instant::ZERO, &mut window, CongestionState::Reduced);
        assert_eq!(window.cwnd, 100 * MSS, "not at once");
        let falls: Vec<_> = (0..8)
            .map(|at| {
                arrives(&mut prague, &mut window, &mut una, (1, 1), at, 100);
                window.cwnd / MSS
            })
            .collect();
        assert_eq!(falls, [99, 98, 97, 96, 95, 95, 95, 95]);
        assert_eq!(window.ssthresh, window.cwnd);
    }

    #[test]
    fn alpha_is_the_share_of_marks_and_waits_for_the_first() {
        let (mut prague, mut window, mut una) = (prague(), steady(10), 0);
        for at in 0..50 {
            arrives(&mut prague, &mut window, &mut una, (10, 0), at, 1);
        }
        assert!((prague.alpha() - 1.0).abs() < 1e-12, "nothing shows yet that a queue marks");
        for at in 50..400 {
            (0..10).for_each(|segment| arrives(&mut prague, &mut window, &mut una, (1, u64::from(segment < 3)), at, 1));
        }
        assert!((prague.alpha() - 0.3).abs() < 0.05, "{}", prague.alpha());
    }

    #[test]
    fn a_short_round_trip_behaves_as_one_of_25_ms_after_500() {
        let mut prague = Prague { rounds: 499, srtt: Some(MS * 5), ..prague() };
        assert!((prague.increase() - 1.0).abs() < 1e-12);
        prague.rounds = 500;
        assert!((prague.increase() - 0.04).abs() < 1e-12, "(5/25)²");
        let mut window = steady(100);
        prague.on_state(Instant::ZERO + MS * 100, &mut window, CongestionState::Reduced);
        let carry = prague.carry;
        prague.on_state(Instant::ZERO + MS * 110, &mut window, CongestionState::Reduced);
        assert!((prague.carry - carry).abs() < 1e-12, "25 ms have not passed");
        prague.on_state(Instant::ZERO + MS * 125, &mut window, CongestionState::Reduced);
        assert!(prague.carry < carry);
        prague.srtt = Some(MS * 30);
        assert!((prague.increase() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_loss_halves_and_a_timeout_begins_anew() {
        let (mut prague, mut window, mut una) = (prague(), steady(20), 0);
        prague.on_state(Instant::ZERO, &mut window, CongestionState::Recovery);
        (0..30).for_each(|at| arrives(&mut prague, &mut window, &mut una, (1, 0), at, 100));
        assert_eq!(window.cwnd, 10 * MSS);
        assert_eq!(prague.ssthresh(Instant::ZERO, &window, 10 * MSS, Signal::Timeout), 5 * MSS);
        prague.on_state(Instant::ZERO, &mut window, CongestionState::Loss);
        assert_eq!(window.cwnd, MSS);
    }
}
