//! Performance enhancing proxies.

use super::NAME;
use acklab_transport::tcp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A performance enhancing proxy that splits TCP connections (RFC 3135, §2.4). Each TCP flow that
/// crosses its node is carried by two connections, one on each side. Other transports pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pep {
    /// The node at which it stands.
    #[schemars(regex(pattern = NAME), example = &"gateway")]
    pub node: String,
    /// When it answers a SYN.
    #[serde(default)]
    pub handshake: Handshake,
    /// Its own settings by side. On a side that is not listed it has the settings of the flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side: Vec<Side>,
}

/// When a proxy answers the SYN of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// At once, while it opens the connection on the other side. Data that arrive early wait in the
    /// receive buffer.
    #[default]
    Spoofed,
    /// When the connection on the other side is open.
    EndToEnd,
}

/// The proxy's end of the connections over one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// The link or the Wi-Fi cell.
    #[schemars(regex(pattern = NAME), example = &"satellite")]
    pub link: String,
    /// The settings of TCP. Its buffers bound the data that the proxy stores: unread data wait in
    /// the receive buffer of one side, the rest in the send buffer of the other.
    pub transport: tcp::Settings,
}

impl Pep {
    /// Returns the settings on the side of `link`. Returns `None` if they are those of the flow.
    pub(crate) fn settings(&self, link: &str) -> Option<&tcp::Settings> {
        self.side.iter().find(|side| side.link == link).map(|side| &side.transport)
    }

    /// Returns the same proxy with all settings written out.
    pub(super) fn in_full(&self) -> Self {
        let side = |side: &Side| Side { link: side.link.clone(), transport: side.transport.in_full() };
        Self { side: self.side.iter().map(side).collect(), ..self.clone() }
    }
}
