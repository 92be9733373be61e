//! The settings of TCP/HACK in a scenario.

use acklab_base::Duration;
use acklab_wire::rohc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP ACKs inside the acknowledgments of the link (Salameh et al., ATC '14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HackConfig {
    /// When ACKs are held for a response frame.
    pub variant: Variant,
    /// The maximum time for which an ACK is held: the timer of `timer`. With `more-data` it ends
    /// the wait if the peer announces more data and sends none; the paper leaves that case to TCP's
    /// timeout. Default: the minimum that Linux's retransmission timer adds to a round trip
    /// (`TCP_RTO_MIN`).
    pub hold_limit: Duration,
    /// Whether TCP's checksum is sent with each ACK.
    pub checksum: Checksum,
    /// The time from an ACK's arrival at the driver until the NIC has its descriptor. Even with
    /// zero, an ACK is too late for the response to the PPDU that elicited it.
    pub delay: Duration,
    /// Limits the ACKs of a response frame to those that fit into AIFS, during which all nodes that
    /// received the PPDU defer. The next response carries the other ACKs.
    pub split: bool,
}

impl Default for HackConfig {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            hold_limit: Duration::from_millis(200),
            checksum: Checksum::default(),
            delay: Duration::ZERO,
            split: false,
        }
    }
}

/// When ACKs are held for a response frame (§3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// From a PPDU with the bit MORE DATA until one without it.
    #[default]
    MoreData,
    /// Never: ACKs that still wait for the medium when a PPDU arrives are appended to its response.
    Opportunistic,
    /// Always, for at most `hold_limit`.
    Timer,
}

/// Whether TCP's checksum is sent with each ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Checksum {
    /// The receiver computes it: the paper's 4.36 octets per ACK leave no room for it.
    #[default]
    Elided,
    /// Two octets, as in RFC 6846.
    Carried,
}

impl HackConfig {
    /// Returns the configuration of the compression, with first numbers of this width.
    #[must_use]
    pub const fn compression(&self, numbers: rohc::Numbers) -> rohc::RohcConfig {
        let checksum = match self.checksum {
            Checksum::Elided => rohc::Checksum::Elided,
            Checksum::Carried => rohc::Checksum::Carried,
        };
        rohc::RohcConfig { checksum, numbers, ..rohc::RohcConfig::hack() }
    }
}
