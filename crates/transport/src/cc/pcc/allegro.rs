//! PCC Allegro: randomised controlled trials (NSDI '15). Section numbers refer to this paper.

use super::{MIN_RATE, Pcc, Report, Verdict};
use crate::cc::constants::constants;
use crate::cc::{Settings, Start};
use acklab_base::random::Stream;

constants! {
    /// The constants of PCC Allegro.
    Config {
        /// The loss rate at which the utility collapses: 0.05 in u(x) = T·Sigmoid(L − 0.05) − x·L
        /// with Sigmoid(y) = 1 / (1 + e^(αy)) (§2.2).
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_threshold: f64 = 0.05,
        /// α: the steepness of that sigmoid; at least max(2.2·(n − 1), 100) for n senders (§2.2).
        #[schemars(range(min = 0.0, max = 10_000.0))]
        alpha: f64 = 100.0,
        /// ε_min: the first trials use the rates r·(1 ± ε_min). The rate is also adjusted in steps
        /// of this size (§3.2).
        #[schemars(range(min = 0.0001, max = 0.5))]
        epsilon_min: f64 = 0.01,
        /// ε_max: the maximum distance of a trial from the rate (§3.2).
        #[schemars(range(min = 0.0001, max = 0.5))]
        epsilon_max: f64 = 0.05,
        /// The initial rate in Mbps; 0 for two segments per round trip (NSDI '15, §3.2). PCC-Kernel
        /// begins at 4.19 (`pcc_init`), PCC-Uspace at 5.24 (`kStartingRate`).
        #[schemars(range(min = 0.0, max = 1_000_000.0))]
        initial_rate: f64 = 0.0,
        /// The minimum number of packets in an interval (§3.1: 10). `kMinimumPacketsPerInterval` of
        /// PCC-Uspace is 20. `pcc_interval_min_segs` of PCC-Kernel is 40, of which it ignores 5 at
        /// each end.
        #[schemars(range(min = 1, max = 100_000))]
        min_packets: u32 = 10,
        /// The minimum of the random duration of an interval, in round trips (§3.1).
        #[schemars(range(min = 0.1, max = 100.0))]
        min_round_trips: f64 = 1.7,
        /// The maximum of the random duration of an interval, in round trips (§3.1).
        #[schemars(range(min = 0.1, max = 100.0))]
        max_round_trips: f64 = 2.2,
    }
}

impl Settings for Config {
    type Controller = Pcc<Allegro>;

    fn controller(&self, start: &Start) -> Pcc<Allegro> {
        Pcc::new(self, start)
    }
}

/// §3.2: two pairs of trials.
const TRIALS: usize = 4;

/// The maximum number of unfinished intervals in the Starting phase. An interval lasts for at least
/// 1.7 round trips, so that its result arrives during the next interval (§3.1). If the queue that
/// the interval builds delays the result, the sender waits at its current rate. Otherwise the rate
/// would double many times before the first overload is detected.
const MAX_UNDER_WAY: u32 = 2;

/// The states of §3.2, figure 3.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Starting: the rate doubles in each interval until the utility falls.
    Starting {
        /// The rate and the utility of the last finished interval.
        last: Option<(f64, f64)>,
        /// The number of intervals that have begun and have no result.
        under_way: u32,
    },
    /// Decision making: four trials, and then the undisturbed rate until their results are known.
    Deciding {
        /// `true` for trials at the higher rate.
        is_up: [bool; TRIALS],
        begun: usize,
        utilities: [f64; TRIALS],
        known: usize,
    },
    /// Rate adjusting: the rate changes in the better direction in increasing steps until the
    /// utility falls.
    Adjusting {
        /// 1 to increase or −1 to decrease the rate.
        direction: f64,
        /// n: the number of the step.
        step: u32,
        /// The rate and the utility before the step.
        last: (f64, f64),
        has_begun: bool,
    },
}

/// The state of Allegro.
#[derive(Clone, Copy, Debug)]
pub struct Allegro {
    constants: Config,
    /// The rate in Mbps.
    rate: f64,
    epsilon: f64,
    phase: Phase,
}

impl Allegro {
    fn decide(&mut self) {
        // The order is drawn when the trials begin.
        self.phase = Phase::Deciding { is_up: [false; TRIALS], begun: 0, utilities: [0.0; TRIALS], known: 0 };
    }

    /// Decides after the trials whether to change the rate, and in which direction.
    fn judge(&mut self, is_up: [bool; TRIALS], utilities: [f64; TRIALS]) {
        let is_up_better = |pair: usize| {
            let (first, second) = (utilities[2 * pair], utilities[2 * pair + 1]);
            if is_up[2 * pair] { first > second } else { second > first }
        };
        if is_up_better(0) != is_up_better(1) {
            self.epsilon = (self.epsilon + self.constants.epsilon_min).min(self.constants.epsilon_max);
            return self.decide();
        }
        let direction = if is_up_better(0) { 1.0 } else { -1.0 };
        let better = (0..TRIALS).filter(|trial| is_up[*trial] == is_up_better(0)).map(|trial| utilities[trial]);
        let last = (self.rate * (1.0 + direction * self.epsilon), better.sum::<f64>() / 2.0);
        self.epsilon = self.constants.epsilon_min;
        self.adjust(direction, 1, last);
    }

    /// r_n = r_(n−1)·(1 + n·ε_min·dir).
    fn adjust(&mut self, direction: f64, step: u32, last: (f64, f64)) {
        self.rate = (last.0 * (1.0 + f64::from(step) * self.constants.epsilon_min * direction)).max(MIN_RATE);
        self.phase = Phase::Adjusting { direction, step, last, has_begun: false };
    }
}

impl super::Learner for Allegro {
    type Constants = Config;

    fn initial_rate(constants: &Config) -> f64 {
        constants.initial_rate
    }

    fn new(constants: Config, rate: f64) -> Self {
        Self { constants, rate, epsilon: constants.epsilon_min, phase: Phase::Starting { last: None, under_way: 0 } }
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn next(&mut self, random: &mut Stream) -> Option<f64> {
        match &mut self.phase {
            Phase::Starting { under_way: MAX_UNDER_WAY, .. } => None,
            Phase::Starting { last, under_way } => {
                if *under_way > 0 || last.is_some() {
                    self.rate *= 2.0;
                }
                *under_way += 1;
                Some(self.rate)
            }
            Phase::Deciding { is_up, begun, .. } => {
                if *begun == TRIALS {
                    return None;
                }
                if *begun % 2 == 0 {
                    let first = random.chance(0.5);
                    (is_up[*begun], is_up[*begun + 1]) = (first, !first);
                }
                let epsilon = if is_up[*begun] { self.epsilon } else { -self.epsilon };
                *begun += 1;
                Some(self.rate * (1.0 + epsilon))
            }
            Phase::Adjusting { has_begun, .. } => (!std::mem::replace(has_begun, true)).then_some(self.rate),
        }
    }

    fn min_packets(&self) -> u32 {
        self.constants.min_packets
    }

    fn round_trips(&self, random: &mut Stream) -> f64 {
        let (least, most) = (self.constants.min_round_trips, self.constants.max_round_trips);
        least + (most - least) * random.unit()
    }

    fn learn(&mut self, report: &Report) -> Verdict {
        let utility = utility(&self.constants, report);
        match &mut self.phase {
            Phase::Starting { last, under_way } => match *last {
                Some((rate, before)) if utility <= before => {
                    self.rate = rate;
                    self.decide();
                    Verdict::Restart
                }
                _ => {
                    *last = Some((report.rate, utility));
                    *under_way -= 1;
                    Verdict::Continue
                }
            },
            Phase::Deciding { is_up, utilities, known, .. } => {
                utilities[*known] = utility;
                *known += 1;
                if *known < TRIALS {
                    return Verdict::Continue;
                }
                let (is_up, utilities) = (*is_up, *utilities);
                self.judge(is_up, utilities);
                Verdict::Restart
            }
            Phase::Adjusting { direction, step, last, .. } => {
                if utility < last.1 {
                    self.rate = last.0;
                    self.decide();
                } else {
                    let (direction, step) = (*direction, *step + 1);
                    self.adjust(direction, step, (report.rate, utility));
                }
                Verdict::Restart
            }
        }
    }

    fn repeat(&mut self, report: &Report) {
        match &mut self.phase {
            // The next interval doubles the rate if an earlier one has finished.
            Phase::Starting { last, under_way } => {
                *under_way = 0;
                self.rate = if last.is_some() { report.rate / 2.0 } else { report.rate };
            }
            Phase::Deciding { .. } => self.decide(),
            Phase::Adjusting { has_begun, .. } => *has_begun = false,
        }
    }

    /// Returns to decision making at the same rate, as the kernel module does (`pcc_set_state`).
    fn on_timeout(&mut self) {
        if let Phase::Starting { last: Some((rate, _)), .. } | Phase::Adjusting { last: (rate, _), .. } = self.phase {
            self.rate = rate;
        }
        self.decide();
    }
}

/// Returns the utility of §2.2. The throughput T is the sending rate minus losses.
fn utility(constants: &Config, report: &Report) -> f64 {
    let sigmoid = 1.0 / (1.0 + libm::exp(constants.alpha * (report.loss - constants.loss_threshold)));
    report.sending_rate * ((1.0 - report.loss) * sigmoid - report.loss)
}

#[cfg(test)]
mod tests;
