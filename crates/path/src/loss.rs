//! Packet loss. A packet is lost after its service, so it has used capacity.

use acklab_base::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossConfig {
    /// Each packet is lost independently.
    Independent {
        /// Probability of loss, 0 to 1.
        #[schemars(range(min = 0.0, max = 1.0))]
        probability: f64,
    },
    /// A chain with two states, good and bad, which may change before each packet (Gilbert 1960,
    /// Elliott 1963).
    GilbertElliott {
        /// Transition probability from good to bad.
        #[schemars(range(min = 0.0, max = 1.0))]
        good_to_bad: f64,
        /// Transition probability from bad to good.
        #[schemars(range(min = 0.0, max = 1.0))]
        bad_to_good: f64,
        /// Probability of loss in the good state.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        good_loss: f64,
        /// Probability of loss in the bad state.
        #[serde(default = "always")]
        #[schemars(range(min = 0.0, max = 1.0))]
        bad_loss: f64,
    },
    /// The packets with these numbers are lost, counted from 1 in the order in which they are sent.
    List {
        /// The numbers of the lost packets.
        #[schemars(inner(range(min = 1)))]
        packets: Vec<u64>,
    },
}

fn always() -> f64 {
    1.0
}

impl LossConfig {
    /// Returns the names and values of the model's probabilities.
    #[must_use]
    pub fn probabilities(&self) -> Vec<(&'static str, f64)> {
        match *self {
            Self::Independent { probability } => vec![("probability", probability)],
            Self::GilbertElliott { good_to_bad, bad_to_good, good_loss, bad_loss } => vec![
                ("good_to_bad", good_to_bad),
                ("bad_to_good", bad_to_good),
                ("good_loss", good_loss),
                ("bad_loss", bad_loss),
            ],
            Self::List { .. } => Vec::new(),
        }
    }
}

/// The model with its state and random stream.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    config: LossConfig,
    stream: Stream,
    in_bad_state: bool,
    seen: u64,
}

impl Loss {
    pub(crate) fn new(mut config: LossConfig, stream: Stream) -> Self {
        if let LossConfig::List { packets } = &mut config {
            packets.sort_unstable();
        }
        Self { config, stream, in_bad_state: false, seen: 0 }
    }

    /// Returns `true` if the next packet is lost.
    pub(crate) fn loses_next(&mut self) -> bool {
        self.seen += 1;
        match &self.config {
            LossConfig::Independent { probability } => self.stream.chance(*probability),
            LossConfig::GilbertElliott { good_to_bad, bad_to_good, good_loss, bad_loss } => {
                let change = if self.in_bad_state { *bad_to_good } else { *good_to_bad };
                self.in_bad_state ^= self.stream.chance(change);
                self.stream.chance(if self.in_bad_state { *bad_loss } else { *good_loss })
            }
            LossConfig::List { packets } => packets.binary_search(&self.seen).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;

    fn lost(config: LossConfig, packets: u64) -> Vec<u64> {
        let mut loss = Loss::new(config, Seed(3).stream("loss"));
        (1..=packets).filter(|_| loss.loses_next()).collect()
    }

    #[test]
    fn a_list_drops_exactly_those() {
        assert_eq!(lost(LossConfig::List { packets: vec![9, 2, 3] }, 20), [2, 3, 9]);
    }

    #[test]
    fn independent_loss_has_its_probability() {
        let share = lost(LossConfig::Independent { probability: 0.02 }, 200_000).len() as f64 / 200_000.0;
        assert!((share - 0.02).abs() < 0.001, "{share}");
    }

    /// With transition probabilities p and r, the stationary share of the bad state is p/(p+r), and
    /// a run of losses has a mean length of 1/r packets.
    #[test]
    fn gilbert_elliott_has_the_stationary_share_and_run_length() {
        let config = LossConfig::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.25, good_loss: 0.0, bad_loss: 1.0 };
        let lost = lost(config, 400_000);
        let share = lost.len() as f64 / 400_000.0;
        let runs = 1 + lost.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        assert!((share - 0.01 / 0.26).abs() < 0.002, "{share}");
        assert!((lost.len() as f64 / runs as f64 - 4.0).abs() < 0.15);
    }
}
