//! TCP/HACK as it stands in a scenario.

use acklab_base::Duration;
use acklab_wire::rohc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP's ACKs travel inside the acknowledgements of the link (Salameh et al., ATC '14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// When ACKs wait for an answer to carry them.
    pub variant: Variant,
    /// The longest that an ACK waits: the timer of `timer`. Of `more-data` it guards against a promise that the peer could not keep,
    /// which the paper leaves to TCP's timeout; its default is what Linux's sender waits at least beyond a round trip (`TCP_RTO_MIN`).
    pub hold_limit: Duration,
    /// Does TCP's checksum go with each ACK?
    pub checksum: Checksum,
    /// From an ACK's arrival at the driver until the NIC has its descriptor. Whatever it is, an ACK comes too late for the answer to
    /// the PPDU that has elicited it.
    pub delay: Duration,
    /// An answer carries no more than fits into AIFS, which protects it from all who have heard its PPDU; the other ACKs go on the
    /// next.
    pub split: bool,
}

impl Default for Config {
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

/// When ACKs wait for an answer to carry them (§3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// From a PPDU with the bit MORE DATA until one without it.
    #[default]
    MoreData,
    /// Never: those that still wait for the medium when a PPDU comes go on its answer.
    Opportunistic,
    /// Always, for at most `hold_limit`.
    Timer,
}

/// Does TCP's checksum go with each ACK?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Checksum {
    /// The other end computes it: the paper's 4.36 octets an ACK leave no room for it.
    #[default]
    Elided,
    /// Two octets, as in RFC 6846.
    Carried,
}

impl Config {
    /// How ACKs are compressed.
    #[must_use]
    pub const fn compression(&self) -> rohc::Config {
        let checksum = match self.checksum {
            Checksum::Elided => rohc::Checksum::Elided,
            Checksum::Carried => rohc::Checksum::Carried,
        };
        rohc::Config { checksum, ..rohc::Config::hack() }
    }
}
