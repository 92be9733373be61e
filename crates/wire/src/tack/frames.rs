//! The frames of one packet.

use super::Frame;

/// Frames in their order. Most packets have one, which takes no memory of its own.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Frames {
    first: Option<Frame>,
    rest: Vec<Frame>,
}

impl Clone for Frames {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), rest: self.rest.clone() }
    }

    /// Uses the memory of `self` again.
    fn clone_from(&mut self, source: &Self) {
        self.first.clone_from(&source.first);
        self.rest.clone_from(&source.rest);
    }
}

impl Frames {
    /// Append a frame.
    #[inline]
    pub fn push(&mut self, frame: Frame) {
        if self.first.is_none() {
            self.first = Some(frame);
        } else {
            self.rest.push(frame);
        }
    }

    /// The frames in their order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &Frame> {
        self.first.iter().chain(&self.rest)
    }

    /// Is there none?
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Octets that they take, those of streams included.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        self.iter().map(Frame::wire_len).sum()
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

impl FromIterator<Frame> for Frames {
    fn from_iter<I: IntoIterator<Item = Frame>>(frames: I) -> Self {
        let mut frames = frames.into_iter();
        Self { first: frames.next(), rest: frames.collect() }
    }
}
