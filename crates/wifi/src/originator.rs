//! The sending side of a Block ACK agreement: which frames wait for their acknowledgement (10.25.6.4, 10.25.7).
//!
//! Without an agreement it holds one frame, the one that is being sent.

use crate::payload::Payload;
use acklab_base::{Bytes, Datagram, FlowKey, Instant};
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
    pub(crate) is_given_up: bool,
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
    /// The peer's window is still to be moved past a frame that was given up.
    pub(crate) has_gap: bool,
    /// Requests in a row that no answer came for.
    pub(crate) requests: u8,
    /// What was sent last and not answered.
    pub(crate) missed: Missed,
}

/// To what no answer came, since one did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Missed {
    /// To nothing.
    #[default]
    Nothing,
    /// To a frame with this sequence number, sent by itself.
    Alone(u64),
    /// To an aggregate, or to a request.
    Several,
}

impl<D> Default for Originator<D> {
    fn default() -> Self {
        Self {
            start: 0,
            frames: VecDeque::new(),
            sent: Vec::new(),
            must_ask: false,
            has_gap: false,
            requests: 0,
            missed: Missed::Nothing,
        }
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

    /// No answer came to what was being sent. `is_alone`: it is a frame by itself.
    pub(crate) fn misses(&mut self, is_alone: bool) {
        self.missed = match (self.missed, self.sent.first()) {
            (Missed::Nothing, Some(sequence)) if is_alone => Missed::Alone(*sequence),
            (Missed::Alone(before), Some(sequence)) if is_alone && before == *sequence => self.missed,
            _ => Missed::Several,
        };
    }

    /// Has something been sent, or does something wait, beside what is being sent?
    pub(crate) fn has_other(&self) -> bool {
        let unsettled = self.frames.iter().filter(|frame| !frame.is_settled).count();
        unsettled > self.sent.len()
    }

    /// Moves the window past all that is settled, and shows what leaves it. Returns how many packets that are, and their octets.
    pub(crate) fn advance(&mut self, mut leaves: impl FnMut(&Mpdu<D>)) -> (u64, Bytes) {
        let (mut packets, mut bytes) = (0, Bytes::ZERO);
        while let Some(frame) = self.frames.pop_front_if(|frame| frame.is_settled) {
            packets += u64::from(frame.packet_count);
            bytes += frame.bytes;
            self.start += 1;
            leaves(&frame);
        }
        (packets, bytes)
    }
}

impl<D: Datagram> Originator<D> {
    /// Is a pure ACK of this flow in the window?
    pub(crate) fn carries_ack_of(&self, flow: FlowKey) -> bool {
        let with_acks = self.frames.iter().filter(|frame| frame.pure_ack_octets > 0);
        with_acks.flat_map(|frame| frame.packets.as_slice()).any(|packet| packet.flow() == flow && packet.is_pure_ack())
    }
}
