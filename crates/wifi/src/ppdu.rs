//! What was on the air, for captures and timelines.

use crate::phy::Mode;
use acklab_base::{Bytes, Duration, Instant};

/// One PPDU, after it has ended.
#[derive(Clone, Debug)]
pub struct Ppdu<D> {
    /// When its preamble began.
    pub at: Instant,
    /// How long it took, without signal extension.
    pub duration: Duration,
    /// The node that sent it; 0 is the access point.
    pub from: usize,
    /// The node that it was for; none for all.
    pub to: Option<usize>,
    /// How it was sent.
    pub mode: Mode,
    /// Octets of its PSDU.
    pub octets: Bytes,
    /// For how long the medium is reserved behind it: the duration field.
    pub reserved: Duration,
    /// What it carried.
    pub frame: Frame<D>,
    /// Octets of compressed ACKs behind an answer, counted in those of the PSDU.
    pub appended: Vec<u8>,
    /// How it ended.
    pub fate: Fate,
}

/// What a PPDU carries.
#[derive(Clone, Debug)]
pub enum Frame<D> {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// A beacon.
    Beacon {
        /// Time from one to the next.
        interval: Duration,
    },
    /// Acknowledgement of a frame.
    Ack,
    /// Acknowledgement of a window of frames.
    BlockAck {
        /// Sequence number of the first, 12 bits.
        start: u16,
        /// Which have arrived, the first in the lowest bit.
        bitmap: [u64; 4],
        /// Frames of the window.
        window: u16,
        /// Traffic identifier.
        tid: u8,
    },
    /// Request for a Block ACK.
    BlockAckRequest {
        /// Sequence number of the first, 12 bits.
        start: u16,
        /// Traffic identifier.
        tid: u8,
    },
    /// One frame with data, or an aggregate of several.
    Data(Vec<Mpdu<D>>),
}

impl<D> Frame<D> {
    /// What tables call it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Rts => "rts",
            Self::Cts => "cts",
            Self::Beacon { .. } => "beacon",
            Self::Ack => "ack",
            Self::BlockAck { .. } => "block_ack",
            Self::BlockAckRequest { .. } => "block_ack_request",
            Self::Data(_) => "data",
        }
    }
}

/// A frame with data.
#[derive(Clone, Debug)]
pub struct Mpdu<D> {
    /// Sequence number, 12 bits.
    pub sequence: u16,
    /// Traffic identifier; none without QoS.
    pub tid: Option<u8>,
    /// It was sent before.
    pub is_retry: bool,
    /// The sender has more for the same peer.
    pub has_more: bool,
    /// The sender has moved on without an answer to what it sent before: SYNC of TCP/HACK.
    pub is_sync: bool,
    /// Octets with header and FCS.
    pub octets: Bytes,
    /// The packets in it.
    pub packets: Vec<D>,
    /// Is it several packets in an A-MSDU?
    pub is_a_msdu: bool,
    /// The peer could read it.
    pub is_received: bool,
}

/// How a PPDU ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its receiver has read it, or some of its frames.
    Received,
    /// Another overlapped with it where it was to be received.
    Collided,
    /// Its receiver could not read it.
    Lost,
}

impl Fate {
    /// What tables call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Collided => "collided",
            Self::Lost => "lost",
        }
    }
}
