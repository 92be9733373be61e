//! Performance enhancing proxies.

use super::NAME;
use acklab_transport::tcp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A performance enhancing proxy that splits TCP connections (RFC 3135, §2.4). A TCP flow whose
/// path contains the proxy's node is carried by two connections, one on each side. Other transports
/// pass through unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pep {
    /// The node at which the proxy runs.
    #[schemars(regex(pattern = NAME), example = &"gateway")]
    pub node: String,
    /// When the proxy answers a SYN.
    #[serde(default)]
    pub handshake: Handshake,
    /// The TCP settings of the proxy on each side. On a side that is not listed, the proxy uses the
    /// settings of the flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side: Vec<Side>,
}

/// When a proxy answers the SYN of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// Immediately, while the proxy opens the connection on the other side. Data that arrive before
    /// that connection is open are queued in the receive buffer.
    #[default]
    Spoofed,
    /// When the connection on the other side is open.
    EndToEnd,
}

/// The proxy's end of the connections over one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// The name of the link or the Wi-Fi cell.
    #[schemars(regex(pattern = NAME), example = &"satellite")]
    pub link: String,
    /// The settings of TCP. Its buffers limit the data that the proxy stores. Unread data are in
    /// the receive buffer of one side; read data are in the send buffer of the other side.
    pub transport: tcp::Settings,
}

impl Pep {
    /// Returns the settings on the side of `link`. Returns `None` if the proxy uses the settings of
    /// the flow there.
    pub(crate) fn settings(&self, link: &str) -> Option<&tcp::Settings> {
        self.side.iter().find(|side| side.link == link).map(|side| &side.transport)
    }

    /// Returns the same proxy with all settings written out.
    pub(super) fn in_full(&self) -> Self {
        let side = |side: &Side| Side { link: side.link.clone(), transport: side.transport.in_full() };
        Self { side: self.side.iter().map(side).collect(), ..self.clone() }
    }
}
