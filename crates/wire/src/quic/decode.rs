//! Decodes packets.
//!
//! A decoded value encodes to octets that decode to the same value. These octets may differ from
//! the decoded octets. RFC 9000 permits a sender to choose the length of an integer, and to omit
//! the Length field of the last stream frame.

use super::header::{FIXED, KEY_PHASE, LENGTH_FIELD, LONG, LONG_TYPE, SPIN};
use super::kind;
use super::{
    Ack, AckFrequency, AckRanges, Close, ConnectionId, Crypto, Datagram, Direction, EcnCounts, Frame, Frames, Header,
    Long, LongKind, NewConnectionId, OlderRanges, Packet, PacketNumber, Short, Stream, TAG, TimestampRange, VERSION,
};
use crate::Endpoints;
use crate::ipv4::Checksums;
use crate::octets::Octets;
use crate::sequence::Sequence;
use crate::udp::header::{self, HeaderError, Received};
use crate::varint;
use acklab_base::Ecn;

/// The maximum length of packets with long headers, counted from the packet number.
const LONGEST: u64 = 1 << (8 * LENGTH_FIELD - 2);
/// The largest number of streams of a kind (RFC 9000, §4.6).
const MAX_STREAMS: u64 = 1 << 60;

/// The reasons why octets are not a packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The octets are not a UDP datagram in IPv4.
    #[error(transparent)]
    Udp(#[from] HeaderError),
    /// Octets are missing.
    #[error("found {present} of {length} octets of the datagram, expected all to read its frames")]
    Cut {
        /// Octets of the datagram.
        length: usize,
        /// Octets that are present.
        present: usize,
    },
    /// The datagram has no octets.
    #[error("the datagram is empty")]
    NoPacket,
    /// The header is incomplete or contains an invalid value.
    #[error("the header of a packet is truncated or has an invalid value")]
    Header,
    /// The fixed bit is zero.
    #[error("found first octet {0:#04x}, expected the fixed bit (0x40) to be set")]
    FixedBit(u8),
    /// A long header has another version.
    #[error("found version {0:#010x}, expected 1")]
    Version(u32),
    /// The packet is a 0-RTT or Retry packet.
    #[error("found a long header packet of type {0}, expected Initial (0) or Handshake (2)")]
    Type(u8),
    /// The tag of an unprotected packet is not zero.
    #[error("the packet is protected")]
    Protected,
    /// The packet has no frame.
    #[error("the packet has no frame")]
    Empty,
    /// The frame type is unknown.
    #[error("unknown frame type {0:#x}")]
    FrameType(u64),
    /// The contents of a frame do not match its type.
    #[error("a frame of type {kind:#x} is truncated or has an invalid value")]
    Frame {
        /// The type of the frame.
        kind: u64,
    },
}

/// Decodes the unprotected datagram in the IPv4 packet at the start of `octets`, and its endpoints.
/// Short headers have connection IDs of `id_length` octets.
///
/// # Errors
/// If the octets are not a whole, well-formed datagram.
pub fn decode(octets: &[u8], id_length: usize, checksums: Checksums) -> Result<(Endpoints, Datagram), DecodeError> {
    let Received { endpoints, ecn, payload, length } = header::read(octets, checksums)?;
    if payload.len() < length {
        return Err(DecodeError::Cut { length, present: payload.len() });
    }
    Ok((endpoints, decode_datagram(payload, ecn, id_length)?))
}

/// Decodes the unprotected packets in a datagram with this ECN field. Short headers have connection
/// IDs of `id_length` octets.
///
/// # Errors
/// If the packets are not well-formed.
pub fn decode_datagram(mut datagram: &[u8], ecn: Ecn, id_length: usize) -> Result<Datagram, DecodeError> {
    let mut packets = Sequence::default();
    while !datagram.is_empty() {
        packets.push(decode_packet(&mut datagram, id_length)?);
    }
    if packets.is_empty() { Err(DecodeError::NoPacket) } else { Ok(Datagram { ecn, packets }) }
}

/// Consumes the first packet of `datagram`.
fn decode_packet(datagram: &mut &[u8], id_length: usize) -> Result<Packet, DecodeError> {
    let mut octets = Octets(datagram);
    let first = octets.octet().ok_or(DecodeError::Header)?;
    if first & FIXED == 0 {
        return Err(DecodeError::FixedBit(first));
    }
    let number_length = (first & 0x03) + 1;
    let header = if first & LONG == 0 {
        let id = octets.take(id_length).and_then(ConnectionId::new).ok_or(DecodeError::Header)?;
        *datagram = &[];
        Header::Short(Short { destination: id, spin: first & SPIN != 0, key_phase: first & KEY_PHASE != 0 })
    } else {
        let version = octets.half().ok_or(DecodeError::Header)?;
        if version != VERSION {
            return Err(DecodeError::Version(version));
        }
        let long = long_header(first, &mut octets)?;
        // The encoder uses two octets for the length, which larger datagrams would exceed.
        let length = varint::take(&mut octets.0).filter(|length| *length < LONGEST).map(|length| length as usize);
        let Some((packet, rest)) = length.and_then(|length| octets.0.split_at_checked(length)) else {
            return Err(DecodeError::Header);
        };
        (octets, *datagram) = (Octets(packet), rest);
        Header::Long(Box::new(long))
    };
    let number = octets.take(number_length.into()).ok_or(DecodeError::Header)?;
    let number = number.iter().fold(0, |number, octet| number << 8 | u32::from(*octet));
    let Some((frames, tag)) = octets.0.split_last_chunk::<{ TAG as usize }>() else {
        return Err(DecodeError::Header);
    };
    if *tag != [0; TAG as usize] {
        return Err(DecodeError::Protected);
    }
    Ok(Packet { header, number: PacketNumber::new(number, number_length), frames: decode_frames(frames)? })
}

fn long_header(first: u8, octets: &mut Octets<'_>) -> Result<Long, DecodeError> {
    let mut id = || {
        let length = octets.octet()?;
        octets.take(length.into()).and_then(ConnectionId::new)
    };
    let (Some(destination), Some(source)) = (id(), id()) else { return Err(DecodeError::Header) };
    let kind = match (first & LONG_TYPE) >> 4 {
        0 => {
            let length = varint::take(&mut octets.0).and_then(|length| usize::try_from(length).ok());
            let token = length.and_then(|length| octets.take(length)).ok_or(DecodeError::Header)?;
            LongKind::Initial { token: token.to_vec() }
        }
        2 => LongKind::Handshake,
        other => return Err(DecodeError::Type(other)),
    };
    Ok(Long { kind, destination, source })
}

/// Decodes the frames in `octets`.
///
/// # Errors
/// If they are not well-formed frames.
pub fn decode_frames(octets: &[u8]) -> Result<Frames, DecodeError> {
    let (mut octets, mut frames) = (Octets(octets), Frames::default());
    while !octets.0.is_empty() {
        let before = octets.0.len();
        let kind = varint::take(&mut octets.0).ok_or(DecodeError::Frame { kind: 0 })?;
        // Unlike other integers, a frame type must have its shortest encoding (RFC 9000, §12.4).
        if (before - octets.0.len()) as u64 != varint::len(kind) {
            return Err(DecodeError::Frame { kind });
        }
        let frame = decode_frame(kind, &mut octets).ok_or(match kind {
            ..=kind::IMMEDIATE_ACK
            | kind::ACK_FREQUENCY
            | kind::ACK_RECEIVE_TIMESTAMPS
            | kind::ACK_RECEIVE_TIMESTAMPS_ECN => DecodeError::Frame { kind },
            _ => DecodeError::FrameType(kind),
        })?;
        frames.push(frame);
    }
    if frames.is_empty() { Err(DecodeError::Empty) } else { Ok(frames) }
}

fn decode_frame(kind: u64, octets: &mut Octets<'_>) -> Option<Frame> {
    let direction = |both: u64| if kind == both { Direction::Bidirectional } else { Direction::Unidirectional };
    let mut field = || varint::take(&mut octets.0);
    Some(match kind {
        kind::PADDING => padding(octets)?,
        kind::PING => Frame::Ping,
        kind::ACK | kind::ACK_ECN => Frame::Ack(ack(kind == kind::ACK_ECN, octets)?),
        kind::ACK_RECEIVE_TIMESTAMPS | kind::ACK_RECEIVE_TIMESTAMPS_ECN => {
            let ack = ack(kind == kind::ACK_RECEIVE_TIMESTAMPS_ECN, octets)?;
            Frame::Ack(ack.with_timestamps(Some(timestamp_ranges(octets)?)))
        }
        kind::RESET_STREAM => Frame::ResetStream { stream: field()?, code: field()?, size: field()? },
        kind::STOP_SENDING => Frame::StopSending { stream: field()?, code: field()? },
        kind::CRYPTO => {
            let crypto = Crypto { offset: field()?, length: u16::try_from(field()?).ok()? };
            octets.take(crypto.length.into())?;
            (crypto.offset + u64::from(crypto.length) <= varint::LARGEST).then_some(Frame::Crypto(crypto))?
        }
        kind::NEW_TOKEN => {
            let length = usize::try_from(field()?).ok().filter(|length| *length > 0)?;
            Frame::NewToken(octets.take(length)?.to_vec())
        }
        kind::STREAM..kind::MAX_DATA => Frame::Stream(stream(kind, octets)?),
        kind::MAX_DATA => Frame::MaxData(field()?),
        kind::MAX_STREAM_DATA => Frame::MaxStreamData { stream: field()?, limit: field()? },
        kind::MAX_STREAMS_BIDI | kind::MAX_STREAMS_UNI => {
            let limit = field()?;
            (limit <= MAX_STREAMS)
                .then_some(Frame::MaxStreams { direction: direction(kind::MAX_STREAMS_BIDI), limit })?
        }
        kind::DATA_BLOCKED => Frame::DataBlocked(field()?),
        kind::STREAM_DATA_BLOCKED => Frame::StreamDataBlocked { stream: field()?, limit: field()? },
        kind::STREAMS_BLOCKED_BIDI | kind::STREAMS_BLOCKED_UNI => {
            let (limit, direction) = (field()?, direction(kind::STREAMS_BLOCKED_BIDI));
            (limit <= MAX_STREAMS).then_some(Frame::StreamsBlocked { direction, limit })?
        }
        kind::NEW_CONNECTION_ID => Frame::NewConnectionId(Box::new(new_connection_id(octets)?)),
        kind::RETIRE_CONNECTION_ID => Frame::RetireConnectionId(field()?),
        kind::PATH_CHALLENGE => Frame::PathChallenge(octets.chunk()?),
        kind::PATH_RESPONSE => Frame::PathResponse(octets.chunk()?),
        kind::CONNECTION_CLOSE | kind::APPLICATION_CLOSE => {
            let code = field()?;
            let frame_type = if kind == kind::CONNECTION_CLOSE { Some(field()?) } else { None };
            let reason = u16::try_from(field()?).ok()?;
            octets.take(reason.into())?;
            Frame::Close(Close { code, frame_type, reason })
        }
        kind::HANDSHAKE_DONE => Frame::HandshakeDone,
        kind::IMMEDIATE_ACK => Frame::ImmediateAck,
        kind::ACK_FREQUENCY => Frame::AckFrequency(AckFrequency {
            sequence: field()?,
            threshold: field()?,
            max_ack_delay: field()?,
            reordering: field()?,
        }),
        _ => return None,
    })
}

/// Returns the run of padding whose first octet was already consumed.
fn padding(octets: &mut Octets<'_>) -> Option<Frame> {
    let more = octets.0.iter().take_while(|octet| u64::from(**octet) == kind::PADDING).count();
    octets.take(more)?;
    Some(Frame::Padding(u16::try_from(more + 1).ok()?))
}

fn stream(kind: u64, octets: &mut Octets<'_>) -> Option<Stream> {
    let id = varint::take(&mut octets.0)?;
    let offset = if kind & kind::OFF == 0 { 0 } else { varint::take(&mut octets.0)? };
    let length = if kind & kind::LEN == 0 { octets.0.len() as u64 } else { varint::take(&mut octets.0)? };
    let length = u16::try_from(length).ok()?;
    octets.take(length.into())?;
    let stream = Stream { id, offset, length, is_end: kind & kind::FIN != 0 };
    (stream.end() <= varint::LARGEST).then_some(stream)
}

fn ack(has_ecn: bool, octets: &mut Octets<'_>) -> Option<Ack> {
    let mut field = || varint::take(&mut octets.0);
    let (largest, delay, count, first) = (field()?, field()?, field()?, field()?);
    let mut lowest = largest.checked_sub(first)?;
    // A range has at least two octets, so the count is limited by the remaining octets before
    // memory is allocated.
    let maximum = octets.0.len() / 2 + 1;
    let newest = lowest..largest + 1;
    let mut older = Vec::with_capacity(usize::try_from(count).ok()?.min(maximum));
    for _ in 0..count {
        let (gap, length) = (varint::take(&mut octets.0)?, varint::take(&mut octets.0)?);
        let top = lowest.checked_sub(gap + 2)?;
        lowest = top.checked_sub(length)?;
        older.push(lowest..top + 1);
    }
    let mut field = || varint::take(&mut octets.0);
    let ecn = if has_ecn { Some(EcnCounts { ect0: field()?, ect1: field()?, ce: field()? }) } else { None };
    Some(Ack::new(AckRanges::new(newest, OlderRanges::new(older)), delay).with_ecn(ecn))
}

/// Reads the timestamp fields, which follow the fields of an ACK frame (draft-ietf-quic-receive-ts,
/// §4.1).
fn timestamp_ranges(octets: &mut Octets<'_>) -> Option<Vec<TimestampRange>> {
    let count = varint::take(&mut octets.0)?;
    let mut ranges = Vec::new();
    for _ in 0..count {
        let (below, deltas) = (varint::take(&mut octets.0)?, varint::take(&mut octets.0)?);
        let deltas = (0..deltas).map(|_| varint::take(&mut octets.0)).collect::<Option<_>>()?;
        ranges.push(TimestampRange { below, deltas });
    }
    Some(ranges)
}

fn new_connection_id(octets: &mut Octets<'_>) -> Option<NewConnectionId> {
    let (sequence, retire_prior_to) = (varint::take(&mut octets.0)?, varint::take(&mut octets.0)?);
    let length = octets.octet().filter(|length| *length > 0)?;
    let id = octets.take(length.into()).and_then(ConnectionId::new)?;
    (retire_prior_to <= sequence).then_some(NewConnectionId {
        sequence,
        retire_prior_to,
        id,
        reset_token: octets.chunk()?,
    })
}
