//! What packets held that was sent, so that it can be sent again.

use crate::quic::data::Control;
use crate::streams::Piece;
use std::num::NonZeroU64;

/// What a packet held that must arrive, or be sent again under a new number. Thousands of packets
/// may be outstanding, so it is small.
#[derive(Debug, Default)]
pub(in crate::quic) struct Content {
    /// Octets of a stream.
    piece: Option<Piece>,
    /// One more than the largest number that an ACK frame in it reported.
    reported: Option<NonZeroU64>,
    /// What few packets hold.
    rare: Option<Box<Rare>>,
}

/// What few packets hold.
#[derive(Debug, Default)]
struct Rare {
    /// Octets of more streams, or of the same.
    pieces: Vec<Piece>,
    /// Octets of the handshake.
    crypto: Option<Piece>,
    /// Control frames.
    controls: Vec<Control>,
}

impl Content {
    /// Octets of a stream.
    #[inline]
    pub(in crate::quic) fn push(&mut self, piece: Piece) {
        if self.piece.is_none() {
            self.piece = Some(piece);
        } else {
            self.rare.get_or_insert_default().pieces.push(piece);
        }
    }

    /// An ACK frame, which reports numbers up to `largest`.
    #[inline]
    pub(in crate::quic) fn set_reported(&mut self, largest: u64) {
        self.reported = NonZeroU64::new(largest + 1);
    }

    /// The largest number that an ACK frame in it reported.
    #[inline]
    pub(in crate::quic) fn reported(&self) -> Option<u64> {
        self.reported.map(|end| end.get() - 1)
    }

    /// Octets of the handshake.
    pub(in crate::quic) fn set_crypto(&mut self, piece: Piece) {
        self.rare.get_or_insert_default().crypto = Some(piece);
    }

    /// A control frame.
    pub(in crate::quic) fn push_control(&mut self, control: Control) {
        self.rare.get_or_insert_default().controls.push(control);
    }

    /// The octets of streams.
    #[inline]
    pub(in crate::quic) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.piece.iter().chain(self.rare.as_ref().map_or(&[][..], |rare| &rare.pieces))
    }

    /// Octets of the handshake.
    #[inline]
    pub(in crate::quic) fn crypto(&self) -> Option<&Piece> {
        self.rare.as_ref()?.crypto.as_ref()
    }

    /// The control frames.
    #[inline]
    pub(in crate::quic) fn controls(&self) -> &[Control] {
        self.rare.as_ref().map_or(&[], |rare| &rare.controls)
    }
}

const _: () = assert!(size_of::<Content>() <= 32);

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
    /// Packets declared lost.
    pub(in crate::quic) lost: u64,
    /// Of those, packets that were acknowledged after all.
    pub(in crate::quic) spurious: u64,
    /// Packets that the peer reports as marked.
    pub(in crate::quic) marked: u64,
    /// Times of persistent congestion.
    pub(in crate::quic) persistent: u64,
}
