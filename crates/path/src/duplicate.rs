//! Packets that arrive twice, as where a link layer repeats what had arrived because its own acknowledgment was lost.

use acklab_base::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Some packets arrive twice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Share of the packets not lost that arrive twice, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
}

/// The model at work.
#[derive(Clone, Debug)]
pub(crate) struct Duplicate {
    probability: f64,
    stream: Stream,
}

impl Duplicate {
    pub(crate) fn new(config: Config, stream: Stream) -> Self {
        Self { probability: config.probability, stream }
    }

    /// Does the next packet arrive twice?
    pub(crate) fn strikes(&mut self) -> bool {
        self.stream.chance(self.probability)
    }
}
