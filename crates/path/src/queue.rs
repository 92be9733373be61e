//! Who waits for the server, and who is turned away.
//!
//! The packet in service does not wait: a limit of 20 packets lets 20 wait behind it.

mod ack_filter;
mod fifo;

pub(crate) use ack_filter::{AckFilter, Outcome};
pub(crate) use fifo::Fifo;

use crate::counters::QueueLength;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Config {
    /// First in, first out; what does not fit is dropped at the tail.
    Fifo {
        /// What it may hold; without a limit, everything.
        limit: Option<Limit>,
    },
    /// A FIFO in which the newest pure ACK of a flow overwrites the older one in place.
    AckFilter {
        /// What it may hold; without a limit, everything.
        limit: Option<Limit>,
    },
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

/// The length of a queue as it changes, with every change kept for those who ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) length: QueueLength,
    pub(crate) changes: Option<Vec<(Instant, u64)>>,
}

impl Gauge {
    fn set(&mut self, at: Instant, length: usize) {
        self.length.change(at, length as u64);
        if let Some(changes) = &mut self.changes {
            changes.push((at, length as u64));
        }
    }
}
