//! A packet under construction.

use super::sender::Content;
use super::space;
use crate::ack::Reason;
use acklab_wire::quic::{Frame, Frames};

/// A packet's frames are appended one by one. The draft tracks the properties of the packet, so
/// that no property is computed twice.
pub(super) struct Draft {
    pub(super) id: space::Id,
    pub(super) number: u64,
    pub(super) content: Content,
    /// The reason for the packet's ACK frame, if it has an ACK frame.
    pub(super) reason: Option<Reason>,
    pub(super) octets_of_streams: u64,
    pub(super) repeats: bool,
    /// Size of the packet so far, in bytes, with a Length field in each stream frame.
    pub(super) octets: u64,
    /// Bytes left for frames.
    pub(super) room: u64,
    pub(super) is_ack_eliciting: bool,
    /// `true` if the packet is in flight once sent: it elicits an ACK, or is padded (RFC 9002, §2).
    pub(super) is_in_flight: bool,
}

impl Draft {
    /// Starts a packet of a space, with `room` bytes in the datagram.
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

    /// Returns `true` if the packet has an ACK frame and carries no data.
    #[inline]
    pub(super) const fn is_pure_ack(&self) -> bool {
        self.reason.is_some() && self.octets_of_streams == 0
    }
}
