//! The frames of one packet.

use super::Frame;
use crate::sequence::Sequence;

/// Frames in their order. A stream frame has a Length field unless it is the last.
pub type Frames = Sequence<Frame>;

impl Frames {
    /// Octets that they take, those of streams included.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        self.iter().map(Frame::wire_len).sum::<u64>() - self.spared()
    }

    /// Octets of the Length field that the last one does without.
    #[must_use]
    #[inline]
    pub fn spared(&self) -> u64 {
        if let Some(Frame::Stream(stream)) = self.last() { Frame::length_field(stream) } else { 0 }
    }

    /// Octets of streams among them.
    #[must_use]
    #[inline]
    pub fn payload(&self) -> u32 {
        let octets = |frame: &Frame| if let Frame::Stream(stream) = frame { u32::from(stream.length) } else { 0 };
        self.iter().map(octets).sum()
    }

    /// Must a packet with them be acknowledged?
    #[must_use]
    #[inline]
    pub fn is_ack_eliciting(&self) -> bool {
        self.iter().any(Frame::is_ack_eliciting)
    }
}
