//! The originator of a Block ACK agreement: the frames in its transmit window (10.25.6.4, 10.25.7).
//!
//! Without an agreement, the window contains only the frame that is being sent.

use crate::payload::Payload;
use acklab_base::{Bytes, Datagram, FlowKey, Instant};
use std::collections::VecDeque;

/// A frame with a sequence number.
#[derive(Clone, Debug)]
pub(crate) struct Mpdu<D> {
    /// The packets of the frame, until the peer has received them.
    pub(crate) packets: Payload<D>,
    /// Octets of the frame's packets.
    pub(crate) bytes: Bytes,
    /// Octets with header and FCS.
    pub(crate) octets: Bytes,
    /// The time at which the first packet of the frame was enqueued.
    pub(crate) arrived: Instant,
    /// The time at which the frame was first sent.
    pub(crate) first_sent: Option<Instant>,
    pub(crate) failures: u8,
    /// `true` if the peer has received the frame, whether or not the originator has received a
    /// confirmation.
    pub(crate) is_received: bool,
    /// `true` if the frame was acknowledged or discarded.
    pub(crate) is_settled: bool,
    pub(crate) is_given_up: bool,
    /// Octets of the frame's packets that acknowledge and carry no data.
    pub(crate) transport_ack_octets: u32,
    pub(crate) packet_count: u16,
}

/// The frames from the start of the transmit window, and those on the air.
#[derive(Clone, Debug)]
pub(crate) struct Originator<D> {
    /// The first sequence number of the window, unwrapped: WinStartO.
    pub(crate) start: u64,
    pub(crate) frames: VecDeque<Mpdu<D>>,
    /// The sequence numbers in the PPDU that is being sent.
    pub(crate) sent: Vec<u64>,
    /// `true` if a Block ACK is missing, or the recipient's window must be moved. A Block ACK
    /// request is then sent before anything else.
    pub(crate) must_request: bool,
    /// `true` if the recipient's window must be moved past a discarded frame.
    pub(crate) has_gap: bool,
    /// The number of consecutive Block ACK requests without a Block ACK.
    pub(crate) requests: u8,
    /// The PPDUs that elicited no response frame since the last response frame.
    pub(crate) missed_response: MissedResponse,
}

/// The PPDUs that elicited no response frame since the last response frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MissedResponse {
    /// There is no such PPDU.
    #[default]
    None,
    /// All such PPDUs were single frames with this sequence number.
    Single(u64),
    /// An aggregate, a Block ACK request, or different frames were sent.
    Several,
}

impl<D> Default for Originator<D> {
    fn default() -> Self {
        Self {
            start: 0,
            frames: VecDeque::new(),
            sent: Vec::new(),
            must_request: false,
            has_gap: false,
            requests: 0,
            missed_response: MissedResponse::None,
        }
    }
}

impl<D> Originator<D> {
    /// Returns the number of frames in the window, settled or not.
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the frame with this sequence number, if it lies in the window.
    pub(crate) fn frame(&mut self, sequence: u64) -> Option<&mut Mpdu<D>> {
        self.frames.get_mut(usize::try_from(sequence.checked_sub(self.start)?).ok()?)
    }

    /// Returns the frame at this place of the PPDU that is being sent.
    pub(crate) fn sent_frame(&self, place: usize) -> Option<&Mpdu<D>> {
        self.frames.get(usize::try_from(self.sent.get(place)?.checked_sub(self.start)?).ok()?)
    }

    /// Assigns the next sequence number to a frame, and returns it.
    pub(crate) fn append(&mut self, frame: Mpdu<D>) -> u64 {
        self.frames.push_back(frame);
        self.start + self.frames.len() as u64 - 1
    }

    /// Records that the PPDU in transmission had no response frame. With `is_single`, the PPDU is a
    /// single frame.
    pub(crate) fn miss_response(&mut self, is_single: bool) {
        self.missed_response = match (self.missed_response, self.sent.first()) {
            (MissedResponse::None, Some(sequence)) if is_single => MissedResponse::Single(*sequence),
            (MissedResponse::Single(before), Some(sequence)) if is_single && before == *sequence => {
                self.missed_response
            }
            _ => MissedResponse::Several,
        };
    }

    /// Returns `true` if there are unsettled frames besides those in transmission.
    pub(crate) fn has_other(&self) -> bool {
        let unsettled = self.frames.iter().filter(|frame| !frame.is_settled).count();
        unsettled > self.sent.len()
    }

    /// Moves the window past settled frames, and calls `leaves` for each frame. Returns the number
    /// of packets of these frames, and their octets.
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
    /// Returns `true` if a pure ACK of this flow is in the window.
    pub(crate) fn carries_ack_of(&self, flow: FlowKey) -> bool {
        let with_acks = self.frames.iter().filter(|frame| frame.transport_ack_octets > 0);
        with_acks.flat_map(|frame| frame.packets.as_slice()).any(|packet| packet.flow() == flow && packet.is_pure_ack())
    }
}
