//! The configuration of a reading application.

use acklab_base::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of an application that reads. Unread data fill the receive buffer and so reduce the window that is advertised to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reading {
    /// Reads all data on arrival.
    AtOnce {},
    /// Reads up to `read` octets at a time, at even intervals, so that it reads at no more than `rate`.
    Constant {
        /// The maximum rate of reading.
        rate: Rate,
        /// The maximum size of one read.
        #[serde(default = "one_read")]
        read: Bytes,
    },
}

/// The size of a read of iperf3's receiver over TCP (`DEFAULT_TCP_BLKSIZE`).
const fn one_read() -> Bytes {
    Bytes(128 << 10)
}

impl Default for Reading {
    fn default() -> Self {
        Self::AtOnce {}
    }
}

impl Reading {
    /// Returns `true` for the default, [`Self::AtOnce`].
    #[must_use]
    pub const fn is_at_once(&self) -> bool {
        matches!(self, Self::AtOnce {})
    }
}
