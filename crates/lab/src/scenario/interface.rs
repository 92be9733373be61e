//! The interfaces of this host that a path connects.

use super::NAME;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An interface of this host at a node. Only `acklab inline` uses interfaces: packets that arrive
/// at one of the two leave through the other, by the path between their nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// The node at which it is.
    #[schemars(regex(pattern = NAME), example = &"server")]
    pub node: String,
    /// The name of the interface, as `ip link` shows it.
    #[schemars(length(max = 15), example = &"eth0")]
    pub device: String,
}
