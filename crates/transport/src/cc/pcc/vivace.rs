//! PCC Vivace: gradient ascent on the utility of the rate (NSDI '18). Sections are that paper's.
//!
//! Where the paper leaves open how, its authors' sender over UDT (PCC-Uspace, `pcc-gradient`: `pcc.h`) and WebRTC's
//! (`modules/congestion_controller/pcc/bitrate_controller.cc`) are followed; each place says which.

use super::{MIN_RATE, Pcc, Report, Verdict};
use crate::cc::constants::constants;
use crate::cc::{Settings, Start};
use acklab_base::random::Stream;

constants! {
    /// The constants of PCC Vivace. Its utility is u = x^t − b·x·max(0, d(RTT)/dT) − c·x·L, with x in megabits per second (§3.1, §5).
    Config {
        /// t: what the rate is worth (§3.1, §5).
        #[schemars(range(min = 0.01, max = 0.99))]
        exponent: f64 = 0.9,
        /// b: what growing latency costs (§3.1, §5).
        #[schemars(range(min = 0.0, max = 1_000_000.0))]
        latency_cost: f64 = 900.0,
        /// c: what loss costs (§3.1, §5).
        #[schemars(range(min = 0.0, max = 1_000_000.0))]
        loss_cost: f64 = 11.35,
        /// A smaller gradient of the RTT is noise, and so is a negative one (the authors' `PccVivaceUtilityCalculator` zeroes both).
        #[schemars(range(min = 0.0, max = 1000.0))]
        gradient_filter: f64 = 0.01,
        /// ε: a pair of intervals at r·(1 ± ε) gives the gradient (§4).
        #[schemars(range(min = 0.0001, max = 0.5))]
        epsilon: f64 = 0.05,
        /// θ0: megabits per second for a gradient of one (§4).
        #[schemars(range(min = 0.0001, max = 10_000.0))]
        conversion: f64 = 1.0,
        /// ω0 of ω = ω0 + k·δ, which bounds a change as a share of the rate (§4).
        #[schemars(range(min = 0.0001, max = 10.0))]
        boundary: f64 = 0.05,
        /// δ: by how much ω grows with each step in a row that it has cut (§4).
        #[schemars(range(min = 0.0001, max = 10.0))]
        boundary_step: f64 = 0.1,
        /// Up to so many steps one way the confidence amplifier is their number τ; beyond, it is 2τ less so many (§4).
        #[schemars(range(min = 1, max = 1000))]
        slow_confidence: u32 = 3,
        /// An interval lasts so many round trips (§4).
        #[schemars(range(min = 0.1, max = 100.0))]
        round_trips: f64 = 1.0,
        /// What a timeout leaves of the rate (`onTimeout` of `pcc.h`).
        #[schemars(range(min = 0.0, max = 1.0))]
        timeout_factor: f64 = 0.5,
    }
}

impl Settings for Config {
    type Controller = Pcc<Learner>;

    fn controller(&self, start: &Start) -> Pcc<Learner> {
        Pcc::new(self, start)
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The rate doubles until the utility falls. One interval at a time (`monitor_in_start_phase_` of `pcc.h`).
    Starting {
        /// The rate and the utility of the last interval.
        last: Option<(f64, f64)>,
        has_begun: bool,
    },
    /// A pair of intervals, and then the rate itself until their results are known (`RECORDING` of `pcc.h`).
    Probing {
        /// Is the first of the pair the one at the higher rate? Drawn, as WebRTC's sender does.
        is_up_first: bool,
        begun: u32,
        first: Option<f64>,
    },
}

/// The steps taken so far: how sure the direction is, and how far one may go.
#[derive(Clone, Copy, Debug, Default)]
struct Ascent {
    is_up: bool,
    /// τ: steps in this direction, one after the other.
    steps: u32,
    /// k: steps that the boundary has cut, one after the other.
    cut: f64,
}

impl Ascent {
    /// The change of `rate` for a gradient of the utility.
    fn step(&mut self, constants: &Config, gradient: f64, rate: f64) -> f64 {
        let &Config { conversion, boundary, boundary_step, slow_confidence, .. } = constants;
        let is_up = gradient > 0.0;
        if is_up == self.is_up {
            self.steps += 1;
        } else {
            *self = Self { is_up, steps: 1, cut: 0.0 };
        }
        let amplifier = if self.steps <= slow_confidence { self.steps } else { 2 * self.steps - slow_confidence };
        let change = f64::from(amplifier) * conversion * gradient;
        let bound = (boundary + self.cut * boundary_step) * rate;
        if change.abs() > bound {
            self.cut += 1.0;
            return bound.copysign(change);
        }
        // The least k that would have let it pass.
        self.cut = ((change.abs() / rate - boundary) / boundary_step).ceil().max(0.0);
        change
    }
}

/// The state of Vivace.
#[derive(Clone, Copy, Debug)]
pub struct Learner {
    constants: Config,
    /// Megabits per second.
    rate: f64,
    phase: Phase,
    ascent: Ascent,
}

impl Learner {
    fn probe(&mut self) {
        self.phase = Phase::Probing { is_up_first: false, begun: 0, first: None };
    }
}

impl super::Learner for Learner {
    type Constants = Config;

    fn new(constants: Config, rate: f64) -> Self {
        Self { constants, rate, phase: Phase::Starting { last: None, has_begun: false }, ascent: Ascent::default() }
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn next(&mut self, random: &mut Stream) -> Option<f64> {
        match &mut self.phase {
            Phase::Starting { has_begun, .. } => (!std::mem::replace(has_begun, true)).then_some(self.rate),
            Phase::Probing { is_up_first, begun, .. } => {
                *begun += 1;
                match begun {
                    1 => *is_up_first = random.chance(0.5),
                    2 => {}
                    _ => return None,
                }
                let is_up = *is_up_first == (*begun == 1);
                Some(self.rate * (1.0 + if is_up { self.constants.epsilon } else { -self.constants.epsilon }))
            }
        }
    }

    fn round_trips(&self, _random: &mut Stream) -> f64 {
        self.constants.round_trips
    }

    fn learn(&mut self, report: &Report) -> Verdict {
        let utility = utility(&self.constants, report);
        match &mut self.phase {
            Phase::Starting { last, has_begun } => {
                if let Some((rate, before)) = *last
                    && utility <= before
                {
                    self.rate = rate;
                    self.probe();
                } else {
                    (*last, *has_begun) = (Some((report.rate, utility)), false);
                    self.rate = report.rate * 2.0;
                }
                Verdict::Restart
            }
            Phase::Probing { is_up_first, first, .. } => {
                let Some(before) = *first else {
                    *first = Some(utility);
                    return Verdict::Continue;
                };
                let rise = if *is_up_first { before - utility } else { utility - before };
                let gradient = rise / (2.0 * self.constants.epsilon * self.rate);
                let change = self.ascent.step(&self.constants, gradient, self.rate);
                self.rate = (self.rate + change).max(MIN_RATE);
                self.probe();
                Verdict::Restart
            }
        }
    }

    fn repeat(&mut self, _report: &Report) {
        match &mut self.phase {
            Phase::Starting { has_begun, .. } => *has_begun = false,
            Phase::Probing { .. } => self.probe(),
        }
    }

    fn on_timeout(&mut self) {
        self.rate = (self.rate * self.constants.timeout_factor).max(MIN_RATE);
        self.ascent = Ascent::default();
        self.probe();
    }
}

fn utility(constants: &Config, report: &Report) -> f64 {
    let gradient = if report.rtt_gradient < constants.gradient_filter { 0.0 } else { report.rtt_gradient };
    let rate = report.sending_rate;
    libm::pow(rate, constants.exponent) - rate * (constants.latency_cost * gradient + constants.loss_cost * report.loss)
}

#[cfg(test)]
mod tests {
    use super::super::Learner as _;
    use super::*;
    use acklab_base::random::Seed;

    fn report(rate: f64, loss: f64, rtt_gradient: f64) -> Report {
        Report { rate, sending_rate: rate, loss, rtt_gradient, tells_nothing: false }
    }

    /// A link of so many megabits per second with a deep buffer.
    fn link(capacity: f64, rate: f64) -> Report {
        report(rate, 0.0, (rate / capacity - 1.0).max(0.0))
    }

    #[test]
    fn utility_pays_for_rate_and_charges_for_latency_and_loss() {
        assert!((utility(&Config::PUBLISHED, &report(10.0, 0.0, 0.0)) - 7.943_282_347).abs() < 1e-6);
        assert!(
            (utility(&Config::PUBLISHED, &report(10.0, 0.0, 0.009))
                - utility(&Config::PUBLISHED, &report(10.0, 0.0, -0.5)))
            .abs()
                < 1e-9,
            "both are noise"
        );
        assert!((utility(&Config::PUBLISHED, &report(10.0, 0.02, 0.0)) - (7.943_282_347 - 2.27)).abs() < 1e-6);
        assert!((utility(&Config::PUBLISHED, &report(10.0, 0.0, 0.02)) - (7.943_282_347 - 180.0)).abs() < 1e-6);
    }

    #[test]
    fn starting_waits_for_each_result_and_goes_back_when_the_utility_falls() {
        let (mut learner, mut random) = (Learner::new(Config::PUBLISHED, 2.0), Seed(1).stream("pcc"));
        for expected in [2.0, 4.0, 8.0, 16.0] {
            let rate = learner.next(&mut random).unwrap();
            assert!((rate - expected).abs() < 1e-9 && learner.next(&mut random).is_none());
            learner.learn(&link(10.0, rate));
        }
        assert!((learner.rate() - 8.0).abs() < 1e-9 && matches!(learner.phase, Phase::Probing { .. }));
    }

    #[test]
    fn a_pair_around_the_rate_gives_the_gradient() {
        let (mut learner, mut random) = (Learner::new(Config::PUBLISHED, 8.0), Seed(1).stream("pcc"));
        learner.probe();
        let pair = [(); 2].map(|()| learner.next(&mut random).unwrap());
        assert!(learner.next(&mut random).is_none());
        assert!((pair[0] + pair[1] - 16.0).abs() < 1e-9 && (pair[0] - pair[1]).abs() - 0.8 < 1e-9);
        let verdicts = pair.map(|rate| learner.learn(&link(100.0, rate)));
        assert_eq!(verdicts, [Verdict::Continue, Verdict::Restart]);
        // d(x^0.9)/dx = 0.9·8^−0.1 = 0.73, but 5 % of 8 is the bound.
        assert!((learner.rate() - 8.4).abs() < 1e-9, "{}", learner.rate());
    }

    #[test]
    fn confidence_and_boundary_grow_with_steps_one_way() {
        let mut ascent = Ascent { is_up: true, ..Ascent::default() };
        let steps: Vec<f64> = (0..6).map(|_| ascent.step(&Config::PUBLISHED, 0.1, 100.0)).collect();
        for (step, expected) in steps.iter().zip([0.1, 0.2, 0.3, 0.5, 0.7, 0.9]) {
            assert!((step - expected).abs() < 1e-9, "{steps:?}");
        }
        let turned: Vec<f64> = (0..3).map(|_| ascent.step(&Config::PUBLISHED, -1000.0, 100.0)).collect();
        for (step, expected) in turned.iter().zip([-5.0, -15.0, -25.0]) {
            assert!((step - expected).abs() < 1e-9, "{turned:?}");
        }
        ascent.step(&Config::PUBLISHED, -2.0, 100.0);
        assert!((ascent.cut - 1.0).abs() < 1e-9, "10 % would have passed with k = 1");
    }

    #[test]
    fn a_timeout_halves_the_rate() {
        let mut learner = Learner::new(Config::PUBLISHED, 8.0);
        learner.on_timeout();
        assert!((learner.rate() - 4.0).abs() < 1e-9);
    }
}
