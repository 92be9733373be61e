//! The same request for the whole connection.

use super::Request;
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fields of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fixed {
    /// The peer acknowledges when more than this number of packets are unacknowledged.
    pub ack_eliciting_threshold: u32,
    /// The peer acknowledges a packet at the latest after this time.
    pub max_ack_delay: Duration,
    /// The distance in packets at which a gap is reported immediately; 0 disables such reports.
    pub reordering_threshold: u32,
}

impl Default for Fixed {
    /// Every tenth packet within 25 ms, as in the experiment of Custura, Jones and Fairhurst (IETF
    /// 106, PANRG).
    fn default() -> Self {
        Self { ack_eliciting_threshold: 9, max_ack_delay: Duration::from_millis(25), reordering_threshold: 1 }
    }
}

impl Fixed {
    pub(super) const fn request(self) -> Request {
        Request {
            threshold: self.ack_eliciting_threshold as u64,
            max_ack_delay: self.max_ack_delay,
            reordering: self.reordering_threshold as u64,
        }
    }
}
