//! PPDUs as captures and air timelines show them.

use crate::phy::Mode;
use acklab_base::{Bytes, Duration, Instant};

/// One PPDU, after it has ended.
#[derive(Clone, Debug)]
pub struct Ppdu<D> {
    /// When its preamble began.
    pub at: Instant,
    /// Its duration without signal extension.
    pub duration: Duration,
    /// The node that sent it; 0 is the access point.
    pub from: usize,
    /// The addressed node; `None` for a broadcast.
    pub to: Option<usize>,
    /// Its mode.
    pub mode: Mode,
    /// The octets of its PSDU.
    pub octets: Bytes,
    /// Its duration field: the time after its end for which it reserves the medium.
    pub reserved: Duration,
    /// Its frame or frames.
    pub frame: Frame<D>,
    /// Compressed ACKs appended to a response frame, included in the octets of the PSDU.
    pub appended: Vec<u8>,
    /// Whether it was received.
    pub outcome: Outcome,
    /// Its level at the addressed node, if the channel model has one.
    pub signal: Option<Signal>,
}

/// Power levels at a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    /// The power of the signal at the receiver in dBm.
    pub power_dbm: f64,
    /// The noise over the width of the channel in dBm, including the noise figure.
    pub noise_dbm: f64,
}

/// The frame or frames of a PPDU.
#[derive(Clone, Debug)]
pub enum Frame<D> {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// A beacon.
    Beacon {
        /// The beacon interval.
        interval: Duration,
    },
    /// Acknowledgement of a frame.
    Ack,
    /// Acknowledgement of a window of frames.
    BlockAck {
        /// Sequence number of the first, 12 bits.
        start: u16,
        /// The frames received, the first in the lowest bit of the first word. It has as many words
        /// as the frame: 1, 4, 8 or 16.
        bitmap: Vec<u64>,
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
    /// Returns its name in tables.
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
    /// Traffic identifier; `None` without QoS.
    pub tid: Option<u8>,
    /// `true` for a retransmission.
    pub is_retry: bool,
    /// `true` if the sender has more data for the same peer.
    pub has_more: bool,
    /// SYNC of TCP/HACK: the sender has moved on although an earlier response frame is missing.
    pub is_sync: bool,
    /// Octets with header and FCS.
    pub octets: Bytes,
    /// The packets in it.
    pub packets: Vec<D>,
    /// `true` if its packets are in an A-MSDU.
    pub is_a_msdu: bool,
    /// `true` if the peer has received it.
    pub is_received: bool,
}

/// Whether a PPDU was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its receiver has decoded it, or some of its frames.
    Received,
    /// It was lost, and another PPDU overlapped with it at the receiver.
    Collided,
    /// It was lost for another reason.
    Lost,
}

impl Outcome {
    /// Returns its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Collided => "collided",
            Self::Lost => "lost",
        }
    }
}
