//! A frame exchange in progress: the PPDU on the air, and the next steps.

use super::TxqId;
use crate::access::EdcafId;
use crate::originator::Mpdu;
use crate::phy::Mode;
use acklab_base::{Bytes, Instant};

/// A frame exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) edcaf: EdcafId,
    pub(super) txq: TxqId,
    pub(super) kind: FrameKind,
    pub(super) phase: Phase,
    /// The times at which the PPDU on the air begins and ends.
    pub(super) begins: Instant,
    pub(super) ends: Instant,
    pub(super) sender: usize,
    /// The addressed node. `None` for a broadcast.
    pub(super) receiver: Option<usize>,
    pub(super) mode: Mode,
    pub(super) octets: Bytes,
    pub(super) response: Response,
    /// The PPDU with data. It is sent after the RTS and CTS, if there are any.
    pub(super) data: Data,
    /// The number of the PPDU in the cell, which identifies it in overlaps.
    pub(super) number: u64,
    /// `true` if the PPDU overlapped with another PPDU that its receiver senses.
    pub(super) has_collided: bool,
    /// `true` if the PPDU overlapped with a PPDU that began before either preamble could be
    /// detected. Bystanders then neither receive it nor defer for EIFS.
    pub(super) is_undetected: bool,
    /// `true` if the PPDU overlapped with another PPDU that its sender senses and that does not end
    /// earlier.
    pub(super) is_outlasted: bool,
    pub(super) txop_ends: Option<Instant>,
    pub(super) arrived: Arrived,
}

impl Exchange {
    /// Returns the node that has begun the exchange.
    pub(super) fn initiator(&self) -> usize {
        match self.phase {
            Phase::Response => self.receiver.unwrap_or(super::ACCESS_POINT),
            _ => self.sender,
        }
    }
}

/// The response frame that a PPDU elicits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Response {
    None,
    Cts,
    Ack,
    BlockAck,
}

/// The received part of a PPDU with data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// MPDUs that have ended.
    pub(super) mpdus: usize,
    /// Octets up to the end of the last MPDU that has ended.
    pub(super) octets: Bytes,
    /// The time at which the next MPDU ends, if it is passed up before the PPDU ends.
    pub(super) next: Instant,
    /// `true` if the signal fields were received.
    pub(super) is_header_read: bool,
    /// `true` if at least one MPDU was received.
    pub(super) is_any_read: bool,
}

impl Default for Arrived {
    fn default() -> Self {
        Self { mpdus: 0, octets: Bytes::ZERO, next: Instant::FAR_FUTURE, is_header_read: false, is_any_read: false }
    }
}

/// The contents of a PPDU with data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) mode: Mode,
    pub(super) octets: Bytes,
    pub(super) response: Response,
    /// Octets of the packets in the PPDU.
    pub(super) bytes: Bytes,
    /// Octets of the pure TCP ACKs in the PPDU.
    pub(super) ack_octets: Bytes,
    /// The number of MPDUs with data.
    pub(super) frames: u32,
    /// The number of MPDUs that were never sent before.
    pub(super) first_tries: u32,
    /// `true` if RTS is sent before the PPDU.
    pub(super) needs_rts: bool,
    /// The bit MORE DATA: `true` if the sender has more data for the same peer (9.2.4.1.8).
    pub(super) has_more: bool,
    /// The bit SYNC of TCP/HACK: `true` if the sender sends new data although an earlier response
    /// frame is missing.
    pub(super) is_sync: bool,
}

impl Data {
    /// Returns a PPDU without data.
    pub(super) const fn none(mode: Mode, octets: Bytes, response: Response) -> Self {
        Self {
            mode,
            octets,
            response,
            bytes: Bytes::ZERO,
            ack_octets: Bytes::ZERO,
            frames: 0,
            first_tries: 0,
            needs_rts: false,
            has_more: false,
            is_sync: false,
        }
    }

    /// Adds an MPDU to the contents.
    pub(super) fn add<D>(&mut self, frame: &Mpdu<D>) {
        self.bytes += frame.bytes;
        self.ack_octets += Bytes(u64::from(frame.transport_ack_octets));
        self.frames += 1;
        self.first_tries += u32::from(frame.failures == 0);
    }
}

/// The frame that the initiator sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Beacon,
    CtsToSelf,
    Rts,
    Data,
    /// A Block ACK request.
    Request,
}

/// The current part of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The initiator transmits.
    Frame,
    /// SIFS before the response frame. Used only in cells with hidden nodes.
    BeforeResponse,
    /// The receiver transmits the response frame.
    Response,
    /// SIFS before the initiator's next frame. Used only in cells with hidden nodes.
    BeforeFrame,
}
