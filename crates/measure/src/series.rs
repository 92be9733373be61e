//! The time series that can be recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Series {
    /// Congestion window, data in flight and smoothed RTT at each ACK that arrives at a sender.
    OperatingPoint,
    /// Throughput in each bin.
    Throughput,
    /// Each change of the length of each queue.
    Queue,
    /// Each packet that is sent, retransmitted, received or acknowledged.
    Packets,
    /// Each PPDU on the air of each Wi-Fi cell.
    Air,
    /// Events inside endpoints: recoveries, timeouts and the like.
    Events,
    /// Each decision of each ACK policy: when to acknowledge, and why.
    Decisions,
}

impl Series {
    /// All series, in the order of their tables.
    pub const ALL: [Self; 7] =
        [Self::OperatingPoint, Self::Throughput, Self::Queue, Self::Packets, Self::Air, Self::Events, Self::Decisions];
}
