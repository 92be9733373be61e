//! The interfaces of this host that a path connects.

use super::NAME;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An interface of this host at a node. Only `acklab inline` uses interfaces. Packets that arrive
/// at one interface pass the path between the two nodes and leave through the other interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// The node at which the interface is attached.
    #[schemars(regex(pattern = NAME), example = &"server")]
    pub node: String,
    /// The name of the interface, as `ip link` shows it.
    #[schemars(length(max = 15), example = &"eth0")]
    pub device: String,
}
