//! The frames of one packet.

use super::Frame;
use crate::sequence::Sequence;

/// Frames in their order. A stream frame has a Length field unless it is the last.
pub type Frames = Sequence<Frame>;

impl Frames {
    /// Returns the number of octets of the frames, including stream data.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        self.iter().map(Frame::wire_len).sum::<u64>() - self.spared()
    }

    /// Returns the number of octets of the Length field that the last frame omits.
    #[must_use]
    #[inline]
    pub fn spared(&self) -> u64 {
        if let Some(Frame::Stream(stream)) = self.last() { Frame::length_field(stream) } else { 0 }
    }

    /// Returns the number of octets of stream data in the frames.
    #[must_use]
    #[inline]
    pub fn payload(&self) -> u32 {
        let octets = |frame: &Frame| if let Frame::Stream(stream) = frame { u32::from(stream.length) } else { 0 };
        self.iter().map(octets).sum()
    }

    /// Returns `true` if a packet with these frames must be acknowledged.
    #[must_use]
    #[inline]
    pub fn is_ack_eliciting(&self) -> bool {
        self.iter().any(Frame::is_ack_eliciting)
    }
}
