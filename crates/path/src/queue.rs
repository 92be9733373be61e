//! Who waits for the server, and who is turned away.
//!
//! The packet in service does not wait: a limit of 20 packets lets 20 wait behind it.

mod ack_filter;
mod fifo;

pub(crate) use ack_filter::{AckFilter, Outcome};
pub(crate) use fifo::{Fifo, Waiting};

use acklab_base::Bytes;
use acklab_base::units::Limit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Config {
    /// First in, first out; what does not fit is dropped at the tail.
    Fifo {
        /// What it may hold; without a limit, everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
    },
    /// A FIFO in which the newest pure ACK of a flow overwrites the older one in place.
    AckFilter {
        /// What it may hold; without a limit, everything.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// Which ACKs are never overwritten.
        #[serde(default)]
        keeps: Keeps,
    },
}

/// Which ACKs an ACK filter never overwrites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// Those that say something which the newer one may not: duplicates, those with SACK blocks, those whose ECN flags differ.
    #[default]
    News,
    /// Duplicates: those with the number of the newer one, or of the one before them (Kim et al., VTC 2006, Figure 1).
    Duplicates,
    /// None: the newest takes the place of whatever ACK of its flow waits.
    Nothing,
}

impl Default for Config {
    fn default() -> Self {
        Self::Fifo { limit: None }
    }
}

/// Is there room for one more of `size` beside `packets` that hold `bytes`?
fn has_room(limit: Option<Limit>, packets: usize, bytes: Bytes, size: Bytes) -> bool {
    match limit {
        None => true,
        Some(Limit::Packets(most)) => (packets as u64) < most,
        Some(Limit::Bytes(most)) => bytes + size <= most,
    }
}
