//! Commands that run on the nodes of an emulated network.

use super::NAME;
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command that runs on a node. Only `acklab emulate` runs commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// The name of the command in tables, and of the file with its output. The default is
    /// `application_<k>`, where k numbers all applications from 1.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = NAME), example = &"client")]
    pub name: String,
    /// The node on which the command runs.
    #[schemars(regex(pattern = NAME), example = &"src_0")]
    pub node: String,
    /// The command for the shell. `{name}` is replaced by the IPv4 address of the node `name`, and
    /// `{name.ipv6}` by its IPv6 address.
    #[schemars(example = "iperf3 -c {dst_0}")]
    pub command: String,
    /// When the command starts.
    #[serde(default)]
    #[schemars(example = "1s")]
    pub start: Duration,
    /// When the command is requested to end (SIGTERM). Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "10s")]
    pub stop: Option<Duration>,
    /// The working directory of the command. Default: the working directory of acklab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Variables that are added to the command's environment, as `NAME=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
}
