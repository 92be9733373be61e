//! A packet under construction.

use super::sender::Content;
use super::space;
use crate::ack::Reason;
use acklab_wire::quic::{Frame, Frames};

/// Tracks properties of a packet while frames are appended, so that each is computed once.
pub(super) struct Draft {
    pub(super) id: space::Id,
    pub(super) number: u64,
    pub(super) content: Content,
    /// The reason of its ACK, if it contains one.
    pub(super) reason: Option<Reason>,
    pub(super) octets_of_streams: u64,
    pub(super) repeats: bool,
    /// Bytes of the packet so far, assuming a Length field in each stream frame.
    pub(super) octets: u64,
    /// Bytes left for frames.
    pub(super) room: u64,
    pub(super) is_ack_eliciting: bool,
    /// `true` if the packet counts as in flight: it elicits an ACK, or is padded (RFC 9002, §2).
    pub(super) is_in_flight: bool,
}

impl Draft {
    /// Begins a packet of a space, for which a datagram has `room`.
    #[inline]
    pub(super) fn new(id: space::Id, room: u64) -> Self {
        Self {
            id,
            number: 0,
            content: Content::default(),
            reason: None,
            octets_of_streams: 0,
            repeats: false,
            octets: 0,
            room,
            is_ack_eliciting: false,
            is_in_flight: false,
        }
    }

    /// Appends a frame to the packet.
    #[inline]
    pub(super) fn push(&mut self, frames: &mut Frames, frame: Frame) {
        let octets = frame.wire_len();
        self.push_measured(frames, frame, octets);
    }

    /// Appends a frame of `octets` bytes.
    #[inline]
    pub(super) fn push_measured(&mut self, frames: &mut Frames, frame: Frame, octets: u64) {
        self.octets += octets;
        self.room = self.room.saturating_sub(octets);
        self.is_ack_eliciting |= frame.is_ack_eliciting();
        self.is_in_flight |= frame.is_ack_eliciting() || matches!(frame, Frame::Padding(_));
        frames.push(frame);
    }

    /// Returns `true` if the packet acknowledges and carries no data.
    #[inline]
    pub(super) const fn is_pure_ack(&self) -> bool {
        self.reason.is_some() && self.octets_of_streams == 0
    }
}
