//! Contents of sent packets, kept for retransmission.

use crate::quic::data::Control;
use crate::streams::Piece;
use std::num::NonZeroU64;

/// The content of a packet that must arrive. Lost content is retransmitted in a packet with a new
/// number. The type is small, because thousands of packets may be outstanding.
#[derive(Debug, Default)]
pub(in crate::quic) struct Content {
    /// Bytes of a stream.
    piece: Option<Piece>,
    /// The largest number that an ACK frame in the packet reports, plus one.
    reported: Option<NonZeroU64>,
    /// Content that few packets have.
    rare: Option<Box<Rare>>,
}

/// Content that few packets have.
#[derive(Debug, Default)]
struct Rare {
    /// More stream data, of the same stream or of other streams.
    pieces: Vec<Piece>,
    /// Handshake bytes.
    crypto: Option<Piece>,
    /// Control frames.
    controls: Vec<Control>,
}

impl Content {
    /// Adds bytes of a stream.
    #[inline]
    pub(in crate::quic) fn push(&mut self, piece: Piece) {
        if self.piece.is_none() {
            self.piece = Some(piece);
        } else {
            self.rare.get_or_insert_default().pieces.push(piece);
        }
    }

    /// Adds the record of an ACK frame that reports numbers up to `largest`.
    #[inline]
    pub(in crate::quic) fn set_reported(&mut self, largest: u64) {
        self.reported = NonZeroU64::new(largest + 1);
    }

    /// Returns the largest number that an ACK frame in the packet reports.
    #[inline]
    pub(in crate::quic) fn reported(&self) -> Option<u64> {
        self.reported.map(|end| end.get() - 1)
    }

    /// Sets the handshake bytes.
    pub(in crate::quic) fn set_crypto(&mut self, piece: Piece) {
        self.rare.get_or_insert_default().crypto = Some(piece);
    }

    /// Adds a control frame.
    pub(in crate::quic) fn push_control(&mut self, control: Control) {
        self.rare.get_or_insert_default().controls.push(control);
    }

    /// Returns the stream data.
    #[inline]
    pub(in crate::quic) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.piece.iter().chain(self.rare.as_ref().map_or(&[][..], |rare| &rare.pieces))
    }

    /// Returns the handshake bytes.
    #[inline]
    pub(in crate::quic) fn crypto(&self) -> Option<&Piece> {
        self.rare.as_ref()?.crypto.as_ref()
    }

    /// Returns the control frames.
    #[inline]
    pub(in crate::quic) fn controls(&self) -> &[Control] {
        self.rare.as_ref().map_or(&[], |rare| &rare.controls)
    }
}

const _: () = assert!(size_of::<Content>() <= 32);

/// Counts of one sender. Bytes are bytes of stream data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::quic) struct Counters {
    /// Packets with stream data.
    pub(in crate::quic) packets: u64,
    /// Bytes of stream data.
    pub(in crate::quic) bytes: u64,
    /// Packets with retransmitted stream data.
    pub(in crate::quic) retransmissions: u64,
    /// Datagrams with an ACK frame that arrived.
    pub(in crate::quic) acks: u64,
    /// Packets declared lost.
    pub(in crate::quic) lost: u64,
    /// Packets declared lost that were acknowledged later.
    pub(in crate::quic) spurious: u64,
    /// Packets that the peer has reported with a CE mark.
    pub(in crate::quic) marked: u64,
    /// Occurrences of persistent congestion.
    pub(in crate::quic) persistent: u64,
}
