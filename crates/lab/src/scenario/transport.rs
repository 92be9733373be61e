//! The transport of a flow. Each transport defines its own settings.

use super::ends::Ends;
use acklab_transport::custom::Name;
use acklab_transport::{quic, tack, tcp, udp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A transport protocol and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "kebab-case")]
#[schemars(extend("x-acklab-shorthand" = "flat"))]
pub enum Transport {
    /// TCP (RFC 9293).
    Tcp(Box<tcp::Settings>),
    /// UDP (RFC 768): a datagram for each write of the application, without acknowledgement. Supports the `traffic` models `constant`,
    /// `poisson` and `video`, and none of TCP's settings.
    Udp(udp::Settings),
    /// TACK (Li et al., SIGCOMM 2020) as a transport of its own over UDP: few acknowledgments, and a receiver that detects losses,
    /// times round trips and measures rates.
    Tack(Box<tack::Settings>),
    /// QUIC (RFC 9000, RFC 9002) with the ACK frequency extension. Nothing is encrypted; the octets that encryption adds are counted.
    Quic(Box<Ends<quic::Settings>>),
    /// QUIC (RFC 9000) of quinn-proto, with TLS 1.3: its packets are encrypted, and captures hold the keys.
    Quinn(Box<acklab_quic::Settings>),
    /// A transport of the user, which must be added to the run. All keys except its name are its own settings.
    Custom(Custom),
}

/// A transport that is not built in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Custom {
    /// Its name in the run.
    #[schemars(length(max = 32), example = &"stop-and-wait")]
    pub name: Name,
    /// Its settings.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

impl Transport {
    /// The name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Tcp(_) => "TCP",
            Self::Udp(_) => "UDP",
            Self::Tack(_) => "TACK",
            Self::Quic(_) => "QUIC",
            Self::Quinn(_) => "QUIC (quinn)",
            Self::Custom(custom) => &custom.name,
        }
    }

    /// The same transport with all settings written out.
    pub(super) fn in_full(&self) -> Self {
        match self {
            Self::Tcp(settings) => Self::Tcp(Box::new(settings.in_full())),
            Self::Quic(settings) => Self::Quic(Box::new(settings.map(quic::Settings::in_full))),
            Self::Udp(_) | Self::Tack(_) | Self::Quinn(_) | Self::Custom(_) => self.clone(),
        }
    }
}
