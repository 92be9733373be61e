//! PPDUs as captures and air timelines show them.

use crate::phy::Mode;
use acklab_base::{Bytes, Duration, Instant};

/// One PPDU, after it has ended.
#[derive(Clone, Debug)]
pub struct Ppdu<D> {
    /// The time at which the preamble began.
    pub at: Instant,
    /// The duration of the PPDU without signal extension.
    pub duration: Duration,
    /// The node that sent it; 0 is the access point.
    pub from: usize,
    /// The addressed node; `None` for a broadcast.
    pub to: Option<usize>,
    /// The mode of the PPDU.
    pub mode: Mode,
    /// The number of octets of the PSDU.
    pub octets: Bytes,
    /// The duration field: the time after the end of the PPDU for which the PPDU reserves the
    /// medium.
    pub reserved: Duration,
    /// The frame or frames in the PPDU.
    pub frame: Frame<D>,
    /// Compressed ACKs appended to a response frame, included in the octets of the PSDU.
    pub appended: Vec<u8>,
    /// The outcome of the transmission: received or lost.
    pub outcome: Outcome,
    /// The signal level at the addressed node, if the channel model has levels.
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
    /// Acknowledgment of a frame.
    Ack,
    /// Acknowledgment of a window of frames.
    BlockAck {
        /// Sequence number of the first frame of the window, 12 bits.
        start: u16,
        /// The frames received. The first frame is the lowest bit of the first word. There are as
        /// many words as in the Block ACK: 1, 4, 8 or 16.
        bitmap: Vec<u64>,
        /// Traffic identifier.
        tid: u8,
    },
    /// Request for a Block ACK.
    BlockAckRequest {
        /// Sequence number of the first frame of the window, 12 bits.
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
    /// SYNC of TCP/HACK: `true` if the sender sends new data although an earlier response frame is
    /// missing.
    pub is_sync: bool,
    /// Octets with header and FCS.
    pub octets: Bytes,
    /// The packets in the frame.
    pub packets: Vec<D>,
    /// `true` if its packets are in an A-MSDU.
    pub is_a_msdu: bool,
    /// `true` if the peer has received the frame.
    pub is_received: bool,
}

/// The outcome of the transmission of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has decoded the PPDU, or some of its frames.
    Received,
    /// The PPDU was lost, and another PPDU overlapped with it at the receiver.
    Collided,
    /// The PPDU was lost for another reason.
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
