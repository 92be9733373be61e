//! How an application reads.

use acklab_base::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of an application that reads. What it leaves unread takes room in the receive buffer, and so shuts the peer's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reading {
    /// Reads whatever can be read, at once.
    AtOnce {},
    /// Reads so much at a time, at even intervals, so that it reads at `rate` at most.
    Constant {
        /// The most that it reads in a second.
        rate: Rate,
        /// The most that it reads at a time.
        #[serde(default = "one_read")]
        read: Bytes,
    },
}

/// The buffer of iperf3's receiver over TCP (`DEFAULT_TCP_BLKSIZE`).
const fn one_read() -> Bytes {
    Bytes(128 << 10)
}

impl Default for Reading {
    fn default() -> Self {
        Self::AtOnce {}
    }
}

impl Reading {
    /// Is it the default, at once?
    #[must_use]
    pub const fn is_at_once(&self) -> bool {
        matches!(self, Self::AtOnce {})
    }
}
