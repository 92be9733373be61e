//! The measurements of a run: the measurement window, series and captures.

use acklab_base::Duration;
use acklab_measure::Series;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The measurement window, and the series to record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// The start of the measurement window.
    #[schemars(example = "5s")]
    pub from: Duration,
    /// The end of the measurement window. Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "15s")]
    pub until: Option<Duration>,
    /// The bin of the throughput series. The default is, for each flow, twice the propagation
    /// round-trip time, as CCperf samples. If that time is zero, it is 100 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "100ms")]
    pub bin: Option<Duration>,
    /// The series to record. Other series are not computed.
    pub series: Vec<Series>,
}

/// A capture of packets, written as pcapng.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The point of capture. A node: the packets that its endpoints send and receive. A link
    /// direction, `<link>_forward` or `<link>_reverse`: the packets that enter it, or with the
    /// suffix `.out` the packets that leave it. A Wi-Fi cell: the frames on its air.
    #[schemars(example = "btl_forward.out")]
    pub point: String,
    /// The name of the file, in the folder of the run.
    #[schemars(example = "src_0.pcapng")]
    pub file: String,
}
