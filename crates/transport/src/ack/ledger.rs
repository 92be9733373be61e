//! The facts of what a receiver owes.

use acklab_base::Instant;

/// What one segment meant to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It continued the stream, and no gap is known.
    InOrder,
    /// It lies beyond a gap.
    OutOfOrder,
    /// It continued the stream while data beyond a gap was waiting; `closed` if no gap is left.
    FillsGap {
        /// Is all waiting data in order now?
        closed: bool,
    },
    /// All of it had arrived before.
    Duplicate,
}

/// What has arrived and is not yet acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ledger {
    /// Segments that continued the stream since the last ACK.
    pub segments: u32,
    /// Octets that continued the stream since the last ACK.
    pub bytes: u64,
    /// Arrival of the first of these.
    pub since: Option<Instant>,
    /// Arrival of the newest data of all, acknowledged or not.
    pub newest: Instant,
    /// Payload of the largest segment so far.
    pub full_size: u64,
}

impl Ledger {
    /// A segment with data has arrived that continued the stream by `advanced` octets.
    pub fn enter(&mut self, now: Instant, payload: u64, advanced: u64) {
        self.newest = now;
        self.full_size = self.full_size.max(payload);
        if advanced > 0 {
            self.segments += 1;
            self.bytes += advanced;
            self.since.get_or_insert(now);
        }
    }

    /// An ACK has gone out: nothing is owed.
    pub fn settle(&mut self) {
        (self.segments, self.bytes, self.since) = (0, 0, None);
    }
}
