//! The settings of TCP/HACK in a scenario.

use acklab_base::Duration;
use acklab_wire::rohc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP ACKs inside the acknowledgments of the link (Salameh et al., ATC '14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HackConfig {
    /// The rule that determines when ACKs are held for a response frame.
    pub variant: Variant,
    /// The maximum time for which an ACK is held, with `timer` and with `more-data`. With
    /// `more-data`, it ends the wait if the peer announces more data but sends none. In the paper,
    /// only TCP's timeout ends this wait. Default: the minimum that Linux's retransmission timer
    /// adds to a round trip (`TCP_RTO_MIN`).
    pub hold_limit: Duration,
    /// Whether TCP's checksum is sent with each ACK.
    pub checksum: Checksum,
    /// The time from an ACK's arrival at the driver until the NIC has the descriptor of the ACK.
    /// Even with zero, an ACK is too late for the response to the PPDU that elicited it.
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

/// The rule that determines when ACKs are held for a response frame (§3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// ACKs are held from a PPDU with the bit MORE DATA until a PPDU without this bit.
    #[default]
    MoreData,
    /// ACKs are never held. ACKs that still wait for the medium when a PPDU arrives are appended to
    /// its response.
    Opportunistic,
    /// ACKs are always held, for at most `hold_limit`.
    Timer,
}

/// Whether TCP's checksum is sent with each ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Checksum {
    /// The checksum is not sent; the receiver computes it. The paper's 4.36 octets per ACK cannot
    /// include a checksum.
    #[default]
    Elided,
    /// The checksum is sent in two octets, as in RFC 6846.
    Carried,
}

impl HackConfig {
    /// Returns the configuration of the compression. `numbers` is the width of the first MSN of a
    /// response frame.
    #[must_use]
    pub const fn compression(&self, numbers: rohc::Numbers) -> rohc::RohcConfig {
        let checksum = match self.checksum {
            Checksum::Elided => rohc::Checksum::Elided,
            Checksum::Carried => rohc::Checksum::Carried,
        };
        rohc::RohcConfig { checksum, numbers, ..rohc::RohcConfig::hack() }
    }
}
