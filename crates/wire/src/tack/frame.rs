//! The frames of a packet.

use super::{ConnectionId, Parameters, PktSeq, Timestamp};
use crate::varint::short as varint;
use std::ops::Range;

/// Types of frames. The type is the first octet of a frame.
pub(super) mod kind {
    pub(crate) const PADDING: u8 = 0x00;
    pub(crate) const PING: u8 = 0x01;
    pub(crate) const STREAM: u8 = 0x02;
    pub(crate) const STREAM_END: u8 = 0x03;
    pub(crate) const TACK: u8 = 0x04;
    pub(crate) const LOSS: u8 = 0x05;
    pub(crate) const WINDOW: u8 = 0x06;
    pub(crate) const BLOCKED: u8 = 0x07;
    pub(crate) const SYNC: u8 = 0x08;
    pub(crate) const FORGET: u8 = 0x09;
    pub(crate) const RESET: u8 = 0x0a;
    pub(crate) const CLOSE: u8 = 0x0b;
    pub(crate) const OPEN: u8 = 0x0c;
    pub(crate) const ACCEPT: u8 = 0x0d;
    pub(crate) const ECN_COUNTS: u8 = 0x0e;
    pub(crate) const STREAMS: u8 = 0x0f;
    pub(crate) const CRYPTO: u8 = 0x10;
    pub(crate) const TOKEN: u8 = 0x11;
    pub(crate) const CHALLENGE: u8 = 0x12;
    pub(crate) const RESPONSE: u8 = 0x13;
    pub(crate) const STOP: u8 = 0x14;
    pub(crate) const LARGEST: u8 = STOP;
}

/// A frame. The transport decides which frames it retransmits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Octets of padding, at least one.
    Padding(u16),
    /// Requests an immediate TACK.
    Ping,
    /// Octets of a stream.
    Stream(Stream),
    /// A TACK: the packets that have arrived, and measurements of their arrival.
    Tack(Box<Tack>),
    /// A loss-event-driven IACK.
    Loss(Loss),
    /// The numbers of arrived packets by ECN field, sent with a TACK.
    EcnCounts(EcnCounts),
    /// The flow control limit of a stream. In a separate packet, it is a window-driven IACK.
    Window {
        /// The stream.
        stream: u32,
        /// The offset up to which data may be sent.
        limit: u64,
    },
    /// Requests a larger window for a stream: the window is used up, and more data wait to be sent.
    Blocked {
        /// The stream.
        stream: u32,
    },
    /// An RTTmin-driven IACK: measurements of the data sender, which both endpoints use.
    Sync(Sync),
    /// The sender has completed loss detection for all numbers below `below`. The receiver no
    /// longer expects missing packets with these numbers.
    Forget {
        /// The lowest number that is still outstanding.
        below: PktSeq,
    },
    /// Ends a stream early.
    Reset {
        /// The stream.
        stream: u32,
        /// The final size of the stream: the number of octets sent in total.
        size: u64,
        /// The reason.
        code: u32,
    },
    /// The connection is closed.
    Close {
        /// The reason. It is zero if both endpoints have finished.
        code: u32,
    },
    /// Opens a connection.
    Open {
        /// The connection ID for packets to this endpoint.
        source: ConnectionId,
        /// The parameters of this endpoint.
        parameters: Box<Parameters>,
    },
    /// Accepts a connection.
    Accept {
        /// The connection ID for packets to this endpoint.
        source: ConnectionId,
        /// The parameters of this endpoint.
        parameters: Box<Parameters>,
        /// The departure time of the packet that opened the connection.
        echo: Timestamp,
        /// The time from the arrival of the opening packet to the transmission of this packet, in
        /// microseconds.
        delay: u32,
    },
    /// Permits the peer to open a total number of streams (RFC 9000, §19.11).
    Streams {
        /// The maximum number of streams.
        limit: u32,
    },
    /// Octets of the cryptographic handshake, with their offset (RFC 9000, §19.6).
    Crypto(Crypto),
    /// An address validation token. A server sends it, and the client returns it in its next Open
    /// (RFC 9000, §8.1.2).
    Token(Box<[u8]>),
    /// Requests a [`Response`](Self::Response), which shows that the path carries packets in both
    /// directions (RFC 9000, §19.17).
    Challenge(u64),
    /// Returns the value of a [`Challenge`](Self::Challenge) (RFC 9000, §19.18).
    Response(u64),
    /// The receiver stops reading a stream, and requests a reset from its sender (RFC 9000, §19.5).
    Stop {
        /// The stream.
        stream: u32,
        /// The reason.
        code: u32,
    },
    /// A frame of a type that this version does not define. It is skipped.
    Extension(Box<Extension>),
    /// The versions that a server supports: the only frame of a packet of version 0.
    Versions(Box<[u8]>),
}

/// Octets of the cryptographic handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crypto {
    /// The offset of the first octet.
    pub offset: u32,
    /// The number of octets, at least one.
    pub length: u16,
}

impl Crypto {
    /// Returns the number of octets before the handshake data.
    #[must_use]
    pub const fn header(offset: u32) -> u64 {
        1 + varint::len(offset) + 2
    }
}

/// A frame that includes its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The type of the frame: at least [`FIRST`](Self::FIRST).
    pub kind: u8,
    /// The contents of the frame.
    pub octets: Vec<u8>,
}

impl Extension {
    /// The first type that is followed by a length.
    pub const FIRST: u8 = 0x40;
}

/// Octets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The stream.
    pub id: u32,
    /// The offset of the first octet.
    pub offset: u64,
    /// The number of octets.
    pub length: u16,
    /// `true` if the stream ends with these octets.
    pub is_end: bool,
}

impl Stream {
    /// Returns the offset after the last octet.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length as u64)
    }
}

/// A run of consecutive numbers after a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The number of packet numbers skipped before the run.
    pub skip: u32,
    /// The number of packet numbers in the run, at least one.
    pub length: u32,
}

/// Returns the ranges of numbers that `runs` represent, starting at `next`.
pub fn ranges(next: u64, runs: &[Run]) -> impl Iterator<Item = Range<u64>> + Clone {
    runs.iter().scan(next, |reached, run| {
        let start = *reached + u64::from(run.skip);
        *reached = start + u64::from(run.length);
        Some(start..*reached)
    })
}

/// A TACK (Li et al., SIGCOMM 2020, §5; ToN 2021, §VI).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tack {
    /// All numbers below `next` have arrived or are no longer expected.
    pub next: PktSeq,
    /// Acked list: runs of received numbers, from `next` on. Each run skips at least one number.
    pub acked: Vec<Run>,
    /// Unacked list: runs of lost numbers, from `next` on. Each run except the first skips at least
    /// one number.
    pub lost: Vec<Run>,
    /// The number of packets received beyond `next` for which the acked list has no room.
    pub unlisted: u32,
    /// The number of packets since the connection began that were reported lost and arrived later.
    pub late: u32,
    /// The departure time of the packet whose round trip is measured.
    pub echo: Timestamp,
    /// Δt*: the time from the arrival of the packet in `echo` to this TACK, in microseconds.
    pub delay: u32,
    /// Octets of streams that arrived in `interval`, to compute the delivery rate. Zero before the
    /// first measurement.
    pub delivered: u32,
    /// The interval of the delivery rate, in microseconds.
    pub interval: u32,
}

/// A loss-event-driven IACK (Li et al., SIGCOMM 2020, §5.1): the numbers between `after` and
/// `before` are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The second-largest number that has arrived.
    pub after: PktSeq,
    /// The largest number that has arrived.
    pub before: PktSeq,
    /// The number of consecutive packets that have arrived from `before` on, at least one. The
    /// paper's IACK lacks this field. There, only the TACK reports these packets, but it has no
    /// room for thousands of runs.
    pub arrived: u32,
}

/// The numbers of ack-eliciting packets since the connection began, by the ECN codepoint with which
/// they arrived (RFC 9000, §19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// ECT(0).
    pub ect0: u32,
    /// CE.
    pub ce: u32,
}

/// Measurements of the data sender that the receiver uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// RTTmin, in microseconds.
    pub rtt_min: u32,
    /// ρ′, the share of packets that are lost on the path from the receiver, in 65536ths.
    pub ack_loss: u16,
    /// L: full-sized packets per TACK, if byte counting applies.
    pub packets: u32,
    /// β: TACKs per RTTmin, if time applies.
    pub beta: u32,
}

impl Tack {
    /// Returns the number of octets of the frame.
    #[must_use]
    pub fn wire_len(&self) -> u64 {
        let fields =
            [self.unlisted, self.late, self.delay, self.delivered, self.interval].map(varint::len).iter().sum::<u64>();
        1 + 4 + 4 + fields + list_len(&self.acked) + list_len(&self.lost)
    }
}

fn list_len(list: &[Run]) -> u64 {
    varint::len(list.len() as u32) + list.iter().map(Run::wire_len).sum::<u64>()
}

impl Run {
    /// Returns the number of octets of a run in a list.
    #[must_use]
    pub const fn wire_len(&self) -> u64 {
        varint::len(self.skip) + varint::len(self.length)
    }
}

impl Frame {
    /// Returns the number of octets of the frame, including stream data.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        match self {
            Self::Stream(stream) => Self::stream_header(stream.id) + u64::from(stream.length),
            Self::Padding(octets) => u64::from(*octets),
            Self::Ping => 1,
            Self::Tack(tack) => tack.wire_len(),
            Self::Loss(loss) => 1 + 4 + 4 + varint::len(loss.arrived),
            Self::EcnCounts(counts) => 1 + varint::len(counts.ect0) + varint::len(counts.ce),
            Self::Window { stream, .. } => 1 + varint::len(*stream) + 8,
            Self::Blocked { stream } => 1 + varint::len(*stream),
            Self::Sync(sync) => 1 + varint::len(sync.rtt_min) + 2 + varint::len(sync.packets) + varint::len(sync.beta),
            Self::Forget { .. } => 1 + 4,
            Self::Reset { stream, code, .. } => 1 + varint::len(*stream) + 8 + varint::len(*code),
            Self::Close { code } => 1 + varint::len(*code),
            Self::Open { parameters, .. } => 1 + 8 + parameters.wire_len(),
            Self::Accept { parameters, delay, .. } => 1 + 8 + parameters.wire_len() + 4 + varint::len(*delay),
            Self::Streams { limit } => 1 + varint::len(*limit),
            Self::Crypto(crypto) => Crypto::header(crypto.offset) + u64::from(crypto.length),
            Self::Token(token) => 1 + varint::len(token.len() as u32) + token.len() as u64,
            Self::Challenge(_) | Self::Response(_) => 1 + 8,
            Self::Stop { stream, code } => 1 + varint::len(*stream) + varint::len(*code),
            Self::Extension(extension) => {
                let octets = extension.octets.len() as u64;
                1 + varint::len(octets as u32) + octets
            }
            Self::Versions(versions) => versions.len() as u64,
        }
    }

    /// Returns the number of octets before the stream data: type, stream, offset and length.
    #[must_use]
    #[inline]
    pub const fn stream_header(id: u32) -> u64 {
        1 + varint::len(id) + 8 + 2
    }

    /// Returns `true` for a TACK and for the receiver's IACKs.
    #[must_use]
    #[inline]
    pub const fn acknowledges(&self) -> bool {
        matches!(self, Self::Tack(_) | Self::Loss(_) | Self::Window { .. } | Self::Accept { .. })
    }

    /// Returns `true` if a packet with this frame must be acknowledged.
    #[must_use]
    #[inline]
    pub const fn is_ack_eliciting(&self) -> bool {
        !matches!(
            self,
            Self::Padding(_)
                | Self::Tack(_)
                | Self::Loss(_)
                | Self::EcnCounts(_)
                | Self::Window { .. }
                | Self::Forget { .. }
                | Self::Close { .. }
                | Self::Versions(_)
        )
    }
}
