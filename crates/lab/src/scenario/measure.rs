//! What is written down of a run.

use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The window in which means are taken, and the series that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// Means and counts begin here.
    #[schemars(example = "5s")]
    pub from: Duration,
    /// And end here. Default: the run's end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "15s")]
    pub until: Option<Duration>,
    /// The bin of the throughput series. Default: for each flow twice its propagation round trip, as CCperf samples, or 100 ms where
    /// that is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "100ms")]
    pub bin: Option<Duration>,
    /// Series to keep. Those that are not asked for cost nothing.
    pub series: Vec<Series>,
}

/// A time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Series {
    /// Window, flight and smoothed round-trip time on each ACK that reaches a sender.
    OperatingPoint,
    /// Throughput in each bin.
    Throughput,
    /// Each change of the length of each queue.
    Queue,
    /// Each packet that is sent, sent again, received or acknowledged.
    Packets,
    /// Each PPDU on the air of each Wi-Fi cell.
    Air,
    /// What endpoints tell of themselves: recoveries, timeouts and the like.
    Events,
    /// Each decision of each ACK policy: when to acknowledge, and why.
    Decisions,
}

/// A capture of packets, written as pcapng.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Where: a node (what its endpoints send and receive), or a direction of a link, `<link>_forward` or `<link>_reverse`:
    /// its packets as they enter, or with `.out` at the end as they leave; or a Wi-Fi cell: the frames on its air.
    #[schemars(example = "btl_forward.out")]
    pub point: String,
    /// The file, in the folder of the run.
    #[schemars(example = "src_0.pcapng")]
    pub file: String,
}
