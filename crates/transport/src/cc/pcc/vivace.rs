//! PCC Vivace: gradient ascent on the utility of the rate (NSDI '18). Sections are of that paper.
//!
//! Details that the paper omits follow the authors' senders over UDT (PCC-Uspace: `pcc-gradient`'s
//! `pcc.h`, `src/pcc`) or the sender of WebRTC (`modules/congestion_controller/pcc`:
//! `bitrate_controller.cc`, `pcc_network_controller.cc`). Each place names its source.

use super::{MIN_RATE, Pcc, Report, Verdict};
use crate::cc::constants::constants;
use crate::cc::{Settings, Start};
use acklab_base::random::Stream;

constants! {
    /// The constants of PCC Vivace. Its utility is u = x^t − b·x·d(RTT)/dT − c·x·L, with x in Mbps
    /// (§3.1, §5).
    Config {
        /// t: the exponent of the rate (§3.1, §5).
        #[schemars(range(min = 0.01, max = 0.99))]
        exponent: f64 = 0.9,
        /// b: the cost of growing latency (§3.1, §5).
        #[schemars(range(min = 0.0, max = 1_000_000.0))]
        latency_cost: f64 = 900.0,
        /// c: the cost of loss (§3.1, §5).
        #[schemars(range(min = 0.0, max = 1_000_000.0))]
        loss_cost: f64 = 11.35,
        /// A gradient of the RTT with an absolute value below this is treated as zero (WebRTC:
        /// `kRttGradientThreshold`; `kRTTFilter` of PCC-Uspace is 0.02).
        #[schemars(range(min = 0.0, max = 1000.0))]
        gradient_filter: f64 = 0.01,
        /// The minimum of the RTT gradient. PCC-Uspace sets negative gradients to zero
        /// (`PccVivaceUtilityCalculator`); the paper's formula has no such bound (§3.1); WebRTC's
        /// is −0.1 (`kDelayGradientNegativeBound`).
        #[schemars(range(min = -1000.0, max = 0.0))]
        gradient_floor: f64 = 0.0,
        /// ε: a pair of intervals at r·(1 ± ε) yields the gradient (§4).
        #[schemars(range(min = 0.0001, max = 0.5))]
        epsilon: f64 = 0.05,
        /// θ0: the change of the rate, in Mbps, per unit of gradient (§4).
        #[schemars(range(min = 0.0001, max = 10_000.0))]
        conversion: f64 = 1.0,
        /// ω0 of the change boundary ω = ω0 + k·δ, as a fraction of the rate (§4).
        #[schemars(range(min = 0.0001, max = 10.0))]
        boundary: f64 = 0.05,
        /// δ: the growth of ω with each consecutive step that ω has limited (§4).
        #[schemars(range(min = 0.0001, max = 10.0))]
        boundary_step: f64 = 0.1,
        /// The minimum of k after a step that ω has not limited. Such a step sets k to the smallest
        /// value that permits it (§4: 0); WebRTC's `ApplyDynamicBoundary` keeps at least 1.
        #[schemars(range(max = 1000))]
        uncut_steps: u32 = 0,
        /// The number of consecutive steps in one direction, τ, up to which the confidence
        /// amplifier is τ. Beyond it, the amplifier is 2τ minus this number (§4).
        #[schemars(range(min = 1, max = 1000))]
        slow_confidence: u32 = 3,
        /// The initial rate in Mbps; 0 for two segments per round trip (NSDI '18, §4). PCC-Kernel
        /// begins at 4.19 (`pcc_init`), PCC-Uspace at 5.24 (`kStartingRate`).
        #[schemars(range(min = 0.0, max = 1_000_000.0))]
        initial_rate: f64 = 0.0,
        /// The minimum number of packets in an interval. The paper gives no number; PCC-Uspace and
        /// WebRTC use 20 (`kMinimumPacketsPerInterval`, `kMinPacketsNumberPerInterval`).
        #[schemars(range(min = 1, max = 100_000))]
        min_packets: u32 = 20,
        /// The duration of an interval in round trips (§4).
        #[schemars(range(min = 0.1, max = 100.0))]
        round_trips: f64 = 1.0,
        /// The factor of the rate after a timeout (`onTimeout` of `pcc.h`).
        #[schemars(range(min = 0.0, max = 1.0))]
        timeout_factor: f64 = 0.5,
    }
}

impl Settings for Config {
    type Controller = Pcc<Vivace>;

    fn controller(&self, start: &Start) -> Pcc<Vivace> {
        Pcc::new(self, start)
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The rate doubles until the utility falls, one interval at a time (`monitor_in_start_phase_`
    /// of `pcc.h`).
    Starting {
        /// The rate and the utility of the last interval.
        last: Option<(f64, f64)>,
        has_begun: bool,
    },
    /// A pair of intervals, and then the undisturbed rate until their results are known
    /// (`RECORDING` of `pcc.h`).
    Probing {
        /// `true` if the first of the pair is at the higher rate. The order is random, as in
        /// WebRTC.
        is_up_first: bool,
        begun: u32,
        first: Option<f64>,
    },
}

/// The consecutive steps, which determine the confidence amplifier and the change boundary.
#[derive(Clone, Copy, Debug, Default)]
struct Ascent {
    is_up: bool,
    /// τ: consecutive steps in this direction.
    steps: u32,
    /// k: consecutive steps that the boundary has limited.
    cut: f64,
}

impl Ascent {
    /// Returns the change of `rate` for a gradient of the utility.
    fn step(&mut self, constants: &Config, gradient: f64, rate: f64) -> f64 {
        let &Config { conversion, boundary, boundary_step, uncut_steps, slow_confidence, .. } = constants;
        let is_up = gradient > 0.0;
        if gradient == 0.0 {
            // Without a direction, the next step is the first step in its direction (WebRTC's
            // `ComputeStepSize`).
            self.steps = 0;
            return 0.0;
        }
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
        // The smallest k that permits the change.
        self.cut = ((change.abs() / rate - boundary) / boundary_step).ceil().max(f64::from(uncut_steps));
        change
    }
}

/// The state of Vivace.
#[derive(Clone, Copy, Debug)]
pub struct Vivace {
    constants: Config,
    /// The rate in Mbps.
    rate: f64,
    phase: Phase,
    ascent: Ascent,
}

impl Vivace {
    fn probe(&mut self) {
        self.phase = Phase::Probing { is_up_first: false, begun: 0, first: None };
    }
}

impl super::Learner for Vivace {
    type Constants = Config;

    fn initial_rate(constants: &Config) -> f64 {
        constants.initial_rate
    }

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

    fn min_packets(&self) -> u32 {
        self.constants.min_packets
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
    let is_noise = report.rtt_gradient.abs() < constants.gradient_filter;
    let gradient = if is_noise { 0.0 } else { report.rtt_gradient.max(constants.gradient_floor) };
    let rate = report.sending_rate;
    libm::pow(rate, constants.exponent) - rate * (constants.latency_cost * gradient + constants.loss_cost * report.loss)
}

#[cfg(test)]
mod tests;
