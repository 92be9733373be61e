//! The sending side of a Block ACK agreement: which frames wait for their acknowledgement (10.25.6.4, 10.25.7).
//!
//! Without an agreement it holds one frame, the one that is being sent.

use crate::payload::Payload;
use acklab_base::{Bytes, Instant};
use std::collections::VecDeque;

/// A frame that has a sequence number.
#[derive(Clone, Debug)]
pub(crate) struct Mpdu<D> {
    /// What it carries, until the peer has it.
    pub(crate) packets: Payload<D>,
    /// Octets of its packets.
    pub(crate) bytes: Bytes,
    /// Octets with header and FCS.
    pub(crate) octets: Bytes,
    /// When its first packet joined the queue.
    pub(crate) arrived: Instant,
    pub(crate) failures: u8,
    /// The peer has it, whether it is known here or not.
    pub(crate) is_received: bool,
    /// It was acknowledged, or given up.
    pub(crate) is_settled: bool,
    /// Octets of pure TCP ACKs in it.
    pub(crate) pure_ack_octets: u32,
    pub(crate) packet_count: u16,
}

/// Frames from the window's start, and those of them that are on the air.
#[derive(Clone, Debug)]
pub(crate) struct Originator<D> {
    /// The sequence number of the first, unwrapped.
    pub(crate) start: u64,
    pub(crate) frames: VecDeque<Mpdu<D>>,
    /// The sequence numbers in the PPDU that is being sent.
    pub(crate) sent: Vec<u64>,
    /// A Block ACK is missing, or the peer's window must be moved: ask before anything else is sent.
    pub(crate) must_ask: bool,
}

impl<D> Default for Originator<D> {
    fn default() -> Self {
        Self { start: 0, frames: VecDeque::new(), sent: Vec::new(), must_ask: false }
    }
}

impl<D> Originator<D> {
    /// Frames that lie between the window's start and its end, settled or not.
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The frame with this sequence number, if it lies in the window.
    pub(crate) fn frame(&mut self, sequence: u64) -> Option<&mut Mpdu<D>> {
        self.frames.get_mut(usize::try_from(sequence.checked_sub(self.start)?).ok()?)
    }

    /// The frame at this place in the PPDU that is being sent.
    pub(crate) fn sent_frame(&self, place: usize) -> Option<&Mpdu<D>> {
        self.frames.get(usize::try_from(self.sent.get(place)?.checked_sub(self.start)?).ok()?)
    }

    /// Give the next sequence number to a frame.
    pub(crate) fn append(&mut self, frame: Mpdu<D>) -> u64 {
        self.frames.push_back(frame);
        self.start + self.frames.len() as u64 - 1
    }

    /// Moves the window past all that is settled. Returns how many packets left it, and their octets.
    pub(crate) fn advance(&mut self) -> (u64, Bytes) {
        let (mut packets, mut bytes) = (0, Bytes::ZERO);
        while let Some(frame) = self.frames.front().filter(|frame| frame.is_settled) {
            packets += u64::from(frame.packet_count);
            bytes += frame.bytes;
            self.start += 1;
            self.frames.pop_front();
        }
        (packets, bytes)
    }
}
