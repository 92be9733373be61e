//! What packets held that was sent, so that it can be sent again.

use crate::quic::data::Control;
use crate::streams::Piece;

/// What a packet held that must arrive, or be sent again under a new number.
#[derive(Debug, Default)]
pub(in crate::quic) struct Content {
    /// Octets of a stream.
    pub(in crate::quic) piece: Option<Piece>,
    /// Octets of more streams, or of the same.
    pub(in crate::quic) more: Vec<Piece>,
    /// Octets of the handshake.
    pub(in crate::quic) crypto: Option<Piece>,
    /// What it said besides.
    pub(in crate::quic) controls: Vec<Control>,
    /// The largest number that an ACK frame in it reported.
    pub(in crate::quic) reports: Option<u64>,
}

impl Content {
    pub(in crate::quic) fn push(&mut self, piece: Piece) {
        if self.piece.is_none() {
            self.piece = Some(piece);
        } else {
            self.more.push(piece);
        }
    }

    /// The octets of streams.
    pub(in crate::quic) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.piece.iter().chain(&self.more)
    }
}

/// Counts of one sender; octets are of streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::quic) struct Counters {
    /// Packets with octets of streams.
    pub(in crate::quic) packets: u64,
    /// Octets of those.
    pub(in crate::quic) bytes: u64,
    /// Packets with octets that had left before.
    pub(in crate::quic) retransmissions: u64,
    /// Datagrams with an ACK frame that arrived.
    pub(in crate::quic) acks: u64,
    /// Octets of streams that were acknowledged, each counted once.
    pub(in crate::quic) acknowledged: u64,
    /// Packets declared lost.
    pub(in crate::quic) lost: u64,
    /// Of those, packets that were acknowledged after all.
    pub(in crate::quic) spurious: u64,
    /// Packets that the peer reports as marked.
    pub(in crate::quic) marked: u64,
    /// Times of persistent congestion.
    pub(in crate::quic) persistent: u64,
}
