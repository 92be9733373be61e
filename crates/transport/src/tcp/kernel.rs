//! Versions of Linux with different receive buffers. All other rules of the preset `linux` are the
//! rules of 6.18. `tcp_wmem[2]` is 4 MiB in both versions.

use acklab_base::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of Linux whose receive buffer applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Kernel {
    /// Linux 6.12, a long-term release. Releases since 6.6 use the same rules.
    #[serde(rename = "v6.12")]
    V6_12,
    /// Linux 6.18, a long-term release.
    #[serde(rename = "v6.18")]
    V6_18,
}

impl Kernel {
    /// Returns `tcp_rmem[2]`: the maximum memory of a receive buffer (`tcp_init` in
    /// `net/ipv4/tcp.c`, on a machine with enough memory).
    #[must_use]
    pub const fn largest_receive_buffer(self) -> Bytes {
        match self {
            Self::V6_12 => Bytes(6 << 20),
            // This value applies since 6.16.
            Self::V6_18 => Bytes(32 << 20),
        }
    }
}
