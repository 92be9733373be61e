//! The ACK gate of CCperf: a link that releases packets in bursts.

use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// At most `quota` packets pass at each multiple of `interval`. Further packets wait for the next
/// slot; unused quota is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateConfig {
    /// Time between slots, above zero.
    #[schemars(example = "5ms")]
    pub interval: Duration,
    /// Packets that may pass in one slot, at least one.
    #[schemars(range(min = 1))]
    #[schemars(example = 10)]
    pub quota: u32,
}

/// An ACK gate: the last slot used, and the number of packets that passed in this slot.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    config: GateConfig,
    slot: Instant,
    used: u32,
}

impl Gate {
    pub(crate) fn new(config: GateConfig) -> Self {
        Self { config, slot: Instant::ZERO, used: 0 }
    }

    /// Returns the slot in which a packet that reaches the gate at `ready` passes.
    pub(crate) fn slot_for(&self, ready: Instant) -> Instant {
        let slot = if ready <= self.slot { self.slot } else { ready.next_multiple_of(self.config.interval) };
        if slot == self.slot && self.used >= self.config.quota { slot + self.config.interval } else { slot }
    }

    /// Counts a packet that passes in `slot`.
    pub(crate) fn pass(&mut self, slot: Instant) {
        self.used = if slot == self.slot { self.used + 1 } else { 1 };
        self.slot = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(arrivals_ms: &[u64]) -> Vec<u64> {
        let mut gate = Gate::new(GateConfig { interval: Duration::from_millis(5), quota: 2 });
        arrivals_ms
            .iter()
            .map(|ms| {
                let slot = gate.slot_for(Instant::ZERO + Duration::from_millis(*ms));
                gate.pass(slot);
                slot.as_nanos() / 1_000_000
            })
            .collect()
    }

    #[test]
    fn a_slot_passes_its_quota_and_the_rest_waits() {
        assert_eq!(slots(&[1, 2, 3, 4, 4]), [5, 5, 10, 10, 15]);
    }

    #[test]
    fn unused_quota_is_lost() {
        assert_eq!(slots(&[1, 11, 11, 11]), [5, 15, 15, 20]);
    }

    #[test]
    fn a_packet_that_arrives_at_a_slot_passes_in_it() {
        assert_eq!(slots(&[0, 0, 0, 5]), [0, 0, 5, 5]);
    }
}
