//! Packet duplication. A cause is a link layer that retransmits a frame whose acknowledgment was
//! lost.

use acklab_base::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The configuration of packet duplication.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuplicateConfig {
    /// The share of duplicated packets, 0 to 1, among packets that are not lost.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
}

/// The model with its random stream.
#[derive(Clone, Debug)]
pub(crate) struct Duplicate {
    probability: f64,
    stream: Stream,
}

impl Duplicate {
    pub(crate) fn new(config: DuplicateConfig, stream: Stream) -> Self {
        Self { probability: config.probability, stream }
    }

    /// Returns `true` if the next packet arrives twice.
    pub(crate) fn duplicates_next(&mut self) -> bool {
        self.stream.chance(self.probability)
    }
}
