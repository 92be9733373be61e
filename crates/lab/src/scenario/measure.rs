//! The measurements of a run: the window, series and captures.

use acklab_base::Duration;
use acklab_measure::Series;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The window of measurement, and the series to record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// The start of the window of measurement.
    #[schemars(example = "5s")]
    pub from: Duration,
    /// The end of the window of measurement. Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "15s")]
    pub until: Option<Duration>,
    /// The bin of the throughput series. Default: for each flow twice the propagation round trip,
    /// as CCperf samples, or 100 ms if that is zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "100ms")]
    pub bin: Option<Duration>,
    /// The series to record. Other series cost nothing.
    pub series: Vec<Series>,
}

/// A capture of packets, written as pcapng.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The point of capture: a node, for the packets that its endpoints send and receive; a link
    /// direction, `<link>_forward` or `<link>_reverse`, for the packets that enter it, or with the
    /// suffix `.out` for those that leave it; or a Wi-Fi cell, for the frames on its air.
    #[schemars(example = "btl_forward.out")]
    pub point: String,
    /// The file, in the folder of the run.
    #[schemars(example = "src_0.pcapng")]
    pub file: String,
}
