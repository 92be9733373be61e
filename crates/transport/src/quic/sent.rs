//! What packets held that was sent, so that it can be sent again.

use super::control::Control;
use crate::streams::Piece;

/// What a packet held that must arrive, or be sent again under a new number.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Octets of a stream.
    pub(super) piece: Option<Piece>,
    /// Octets of more streams, or of the same.
    pub(super) more: Vec<Piece>,
    /// Octets of the handshake.
    pub(super) crypto: Option<Piece>,
    /// What it said besides.
    pub(super) controls: Vec<Control>,
    /// The largest number that an ACK frame in it reported.
    pub(super) reports: Option<u64>,
}

impl Content {
    pub(super) fn push(&mut self, piece: Piece) {
        if self.piece.is_none() {
            self.piece = Some(piece);
        } else {
            self.more.push(piece);
        }
    }

    /// The octets of streams.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.piece.iter().chain(&self.more)
    }
}

/// Counts of one sender; octets are of streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Packets with octets of streams.
    pub(super) packets: u64,
    /// Octets of those.
    pub(super) bytes: u64,
    /// Packets with octets that had left before.
    pub(super) retransmissions: u64,
    /// Datagrams with an ACK frame that arrived.
    pub(super) acks: u64,
    /// Octets of packets that were acknowledged, as congestion control counts them.
    pub(super) delivered: u64,
    /// Octets of streams that were acknowledged, each counted once.
    pub(super) acknowledged: u64,
    /// Packets declared lost.
    pub(super) lost: u64,
    /// Of those, packets that were acknowledged after all.
    pub(super) spurious: u64,
    /// First probe timeouts after an acknowledgment.
    pub(super) probes: u64,
    /// Probe timeouts after probe timeouts.
    pub(super) timeouts: u64,
    /// Packets that the peer reports as marked.
    pub(super) marked: u64,
    /// Reductions of the window in response to marks.
    pub(super) mark_reductions: u64,
    /// Times of persistent congestion.
    pub(super) persistent: u64,
    /// Times that the path no longer carried the size of datagrams in use.
    pub(super) black_holes: u64,
}
