//! The frames of packets (RFC 9000, §19).

use super::{Ack, ConnectionId, PacketType, kind};
use crate::varint;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// This number of octets of PADDING, at least one.
    Padding(u16),
    /// PING.
    Ping,
    /// ACK, `ACK_ECN` or `ACK_RECEIVE_TIMESTAMPS`.
    Ack(Ack),
    /// `RESET_STREAM`: the sender ends a stream early.
    ResetStream {
        /// The stream.
        stream: u64,
        /// The application's error code.
        code: u64,
        /// The final size of the stream.
        size: u64,
    },
    /// `STOP_SENDING`: the receiver stops reading a stream.
    StopSending {
        /// The stream.
        stream: u64,
        /// The application's error code.
        code: u64,
    },
    /// CRYPTO: octets of the cryptographic handshake.
    Crypto(Crypto),
    /// `NEW_TOKEN`.
    NewToken(Vec<u8>),
    /// STREAM: octets of a stream.
    Stream(Stream),
    /// `MAX_DATA`: the limit of all streams together.
    MaxData(u64),
    /// `MAX_STREAM_DATA`: the limit of a stream.
    MaxStreamData {
        /// The stream.
        stream: u64,
        /// The offset up to which data may be sent.
        limit: u64,
    },
    /// `MAX_STREAMS`: the number of streams that the receiver of the frame may open.
    MaxStreams {
        /// The direction of the streams.
        direction: Direction,
        /// The maximum number of streams over the lifetime of the connection.
        limit: u64,
    },
    /// `DATA_BLOCKED`: this limit of the connection blocks sending.
    DataBlocked(u64),
    /// `STREAM_DATA_BLOCKED`: this limit of a stream blocks sending.
    StreamDataBlocked {
        /// The stream.
        stream: u64,
        /// The limit.
        limit: u64,
    },
    /// `STREAMS_BLOCKED`: this limit blocks the opening of a stream.
    StreamsBlocked {
        /// The direction of the streams.
        direction: Direction,
        /// The limit.
        limit: u64,
    },
    /// `NEW_CONNECTION_ID`.
    NewConnectionId(Box<NewConnectionId>),
    /// `RETIRE_CONNECTION_ID` with this sequence number.
    RetireConnectionId(u64),
    /// `PATH_CHALLENGE`.
    PathChallenge([u8; 8]),
    /// `PATH_RESPONSE`.
    PathResponse([u8; 8]),
    /// `CONNECTION_CLOSE`.
    Close(Close),
    /// `HANDSHAKE_DONE`.
    HandshakeDone,
    /// `ACK_FREQUENCY`.
    AckFrequency(AckFrequency),
    /// `IMMEDIATE_ACK`.
    ImmediateAck,
}

/// Octets of the cryptographic handshake in one packet number space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crypto {
    /// The offset of the first octet.
    pub offset: u64,
    /// The number of octets.
    pub length: u16,
}

/// Octets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The stream.
    pub id: u64,
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
        self.offset + self.length as u64
    }

    /// Returns the number of octets of the frame, including its Length field.
    #[must_use]
    #[inline]
    pub const fn wire_len(&self) -> u64 {
        Self::header(self.id, self.offset) + Frame::length_field(self) + self.length as u64
    }

    /// Returns the number of octets before the stream data, without the Length field.
    #[inline]
    const fn header(id: u64, offset: u64) -> u64 {
        1 + varint::len(id) + if offset == 0 { 0 } else { varint::len(offset) }
    }
}

/// Kinds of streams (§2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Both endpoints send.
    Bidirectional,
    /// Only the endpoint that opens the stream sends.
    Unidirectional,
}

/// A new connection ID for packets to the sender of the frame (§19.15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConnectionId {
    /// The sequence number of the connection ID.
    pub sequence: u64,
    /// Connection IDs with smaller sequence numbers must be retired.
    pub retire_prior_to: u64,
    /// The connection ID, at least one octet.
    pub id: ConnectionId,
    /// The stateless reset token.
    pub reset_token: [u8; 16],
}

/// Closes the connection (§19.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// The code of the error: a transport error, or the application's.
    pub code: u64,
    /// The type of the frame that caused a transport error, or zero if it is unknown; `None` if the
    /// application closes.
    pub frame_type: Option<u64>,
    /// Octets of the reason phrase.
    pub reason: u16,
}

/// The ACK frequency that the data sender requests from its peer (draft-ietf-quic-ack-frequency,
/// §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFrequency {
    /// The sequence number of the frame, which increases with each frame. The receiver ignores an
    /// older frame.
    pub sequence: u64,
    /// The peer acknowledges when more than this number of ack-eliciting packets are
    /// unacknowledged.
    pub threshold: u64,
    /// The maximum delay of an acknowledgment, in microseconds.
    pub max_ack_delay: u64,
    /// The peer reports a gap immediately when the gap is this number of packets below the largest
    /// packet number. Zero means never.
    pub reordering: u64,
}

impl Frame {
    /// Returns the number of octets of the frame, including stream data and the Length field.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        let len = varint::len;
        match self {
            Self::Stream(stream) => stream.wire_len(),
            Self::Padding(octets) => u64::from(*octets),
            Self::Ping | Self::HandshakeDone | Self::ImmediateAck => 1,
            Self::Ack(ack) => ack.wire_len(),
            Self::ResetStream { stream, code, size } => 1 + len(*stream) + len(*code) + len(*size),
            Self::StopSending { stream, code } => 1 + len(*stream) + len(*code),
            Self::Crypto(crypto) => Self::crypto_header(crypto.offset, crypto.length) + u64::from(crypto.length),
            Self::NewToken(token) => 1 + len(token.len() as u64) + token.len() as u64,
            Self::MaxData(limit) | Self::DataBlocked(limit) => 1 + len(*limit),
            Self::MaxStreamData { stream, limit } | Self::StreamDataBlocked { stream, limit } => {
                1 + len(*stream) + len(*limit)
            }
            Self::MaxStreams { limit, .. } | Self::StreamsBlocked { limit, .. } => 1 + len(*limit),
            Self::NewConnectionId(new) => 1 + len(new.sequence) + len(new.retire_prior_to) + 1 + new.id.wire_len() + 16,
            Self::RetireConnectionId(sequence) => 1 + len(*sequence),
            Self::PathChallenge(_) | Self::PathResponse(_) => 1 + 8,
            Self::Close(close) => {
                1 + len(close.code)
                    + close.frame_type.map_or(0, len)
                    + len(close.reason.into())
                    + u64::from(close.reason)
            }
            Self::AckFrequency(frequency) => {
                let AckFrequency { sequence, threshold, max_ack_delay, reordering } = *frequency;
                len(kind::ACK_FREQUENCY) + [sequence, threshold, max_ack_delay, reordering].map(len).iter().sum::<u64>()
            }
        }
    }

    /// Returns the number of octets of the Length field of a stream frame, which the last frame of
    /// a packet omits.
    #[inline]
    pub(super) const fn length_field(stream: &Stream) -> u64 {
        varint::len(stream.length as u64)
    }

    /// Returns the number of octets before the stream data in the last frame of a packet.
    #[must_use]
    #[inline]
    pub const fn stream_header(id: u64, offset: u64) -> u64 {
        Stream::header(id, offset)
    }

    /// Returns the number of octets before the handshake data.
    #[must_use]
    pub const fn crypto_header(offset: u64, length: u16) -> u64 {
        1 + varint::len(offset) + varint::len(length as u64)
    }

    /// Returns `true` if a packet with this frame must be acknowledged (§13.2).
    #[must_use]
    #[inline]
    pub const fn is_ack_eliciting(&self) -> bool {
        !matches!(self, Self::Padding(_) | Self::Ack(_) | Self::Close(_))
    }

    /// Returns `true` if a packet of this type may carry the frame (§12.4, table 3).
    #[must_use]
    #[inline]
    pub fn is_permitted_in(&self, packet: PacketType) -> bool {
        match packet {
            PacketType::OneRtt => true,
            PacketType::Initial | PacketType::Handshake => match self {
                Self::Close(close) => close.frame_type.is_some(),
                // Timestamps are permitted only in 1-RTT packets (draft-ietf-quic-receive-ts, §4).
                Self::Ack(ack) => ack.timestamps().is_none(),
                Self::Padding(_) | Self::Ping | Self::Crypto(_) => true,
                _ => false,
            },
        }
    }
}
