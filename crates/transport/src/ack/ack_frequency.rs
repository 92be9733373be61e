//! QUIC's rules with the fields of the peer's `ACK_FREQUENCY` frame
//! (draft-ietf-quic-ack-frequency). [`Frequency`] implements the rules.

use super::quic::{Frequency, MAX_ACK_DELAY};
use super::{Settings, Timer};
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a scenario: the fields of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AckFrequency {
    /// Acknowledge when more than this number of segments are unacknowledged.
    pub ack_eliciting_threshold: u32,
    /// The maximum delay of an ACK.
    pub requested_max_ack_delay: Duration,
    /// Report a gap immediately once an arrived segment is this number of segments above it; 0
    /// disables this.
    pub reordering_threshold: u32,
    /// The length of the start of the connection, in segments. During it, at least every second
    /// segment is acknowledged.
    pub after: u32,
    /// If `true`, a segment that arrives a round-trip time or more after the last ACK is
    /// acknowledged immediately (draft-ietf-quic-ack-frequency, §6.1).
    pub after_round_trip: bool,
}

impl Default for AckFrequency {
    /// Returns the field values that are equivalent to RFC 9000, §13.2.
    fn default() -> Self {
        Self {
            ack_eliciting_threshold: 1,
            requested_max_ack_delay: MAX_ACK_DELAY,
            reordering_threshold: 1,
            after: 0,
            after_round_trip: false,
        }
    }
}

impl Settings for AckFrequency {
    type Policy = Frequency;

    fn policy(self) -> Frequency {
        Frequency {
            threshold: self.ack_eliciting_threshold,
            max_ack_delay: self.requested_max_ack_delay,
            reordering: self.reordering_threshold,
            after: self.after,
            rtt_divisor: None,
            after_round_trip: self.after_round_trip,
            last: None,
        }
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer::new("requested_max_ack_delay", self.requested_max_ack_delay)]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(self.requested_max_ack_delay)
    }
}
