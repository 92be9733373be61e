//! Acknowledges every segment immediately, as ns-2's `TCPSink` does and as CCperf configures ns-3.

use super::{AckPolicy, Arrival, Decision, Held, Ledger, Reason, Settings};
use acklab_base::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a scenario: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerPacket {}

impl Settings for PerPacket {
    type Policy = Self;

    fn policy(self) -> Self {
        self
    }
}

impl AckPolicy for PerPacket {
    fn decide(&mut self, _now: Instant, _arrival: &Arrival, _ledger: &Ledger, _held: Held<'_>) -> Decision {
        Decision::Now(Reason::EverySegment)
    }
}
