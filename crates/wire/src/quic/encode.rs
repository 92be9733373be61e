//! Encodes packets.

use super::header::{FIXED, KEY_PHASE, LENGTH_FIELD, LONG, SPIN};
use super::kind;
use super::{Ack, AckFrequency, Close, Datagram, Direction, Frame, Header, LongKind, Packet, Stream, TAG, VERSION};
use crate::Endpoints;
use crate::ipv4::{self, Carried, Extent, IPV4_HEADER, Ipv4Fields, TooLong};
use crate::pdu::Pdu as _;
use crate::udp::{self, UDP_HEADER};
use crate::varint;
use etherparse::IpNumber;

/// Replaces the contents of `octets` with the octets of `datagram`, with zeros for the octets of
/// streams and of the handshake. The memory is reused. [`Extent::Headers`] omits the octets of the
/// last stream or handshake frame and the octets after this frame, if only the tag follows.
pub(super) fn encode(
    datagram: &Datagram,
    endpoints: Endpoints,
    fields: Ipv4Fields,
    extent: Extent,
    octets: &mut Vec<u8>,
) -> Result<(), TooLong> {
    octets.clear();
    let wire_len = datagram.wire_len().get();
    let length = u16::try_from(wire_len).map_err(|_| TooLong { octets: wire_len })? - IPV4_HEADER as u16;
    let mut carried = vec![0; UDP_HEADER as usize];
    // The number of zeros that must still be appended.
    let mut zeros = 0;
    for packet in datagram.packets.iter() {
        carried.resize(carried.len() + zeros, 0);
        append_header(packet, &mut carried);
        zeros = 0;
        let count = packet.frames.len();
        for (index, frame) in packet.frames.iter().enumerate() {
            carried.resize(carried.len() + zeros, 0);
            append_frame(frame, index + 1 == count, &mut carried);
            zeros = match frame {
                Frame::Stream(stream) => usize::from(stream.length),
                Frame::Crypto(crypto) => usize::from(crypto.length),
                _ => 0,
            };
        }
        zeros += TAG as usize;
    }
    let (udp, payload) = carried.split_at_mut(UDP_HEADER as usize);
    udp.copy_from_slice(&udp::header::header(endpoints, payload, length));
    let carried = Carried { protocol: IpNumber::UDP.0, ecn: datagram.ecn, header: &carried, payload: zeros as u32 };
    ipv4::encode(&carried, endpoints, fields, extent, octets)
}

/// Appends the header of `packet` and its packet number.
pub fn append_header(packet: &Packet, octets: &mut Vec<u8>) {
    let number = packet.number;
    let number_length = number.length() - 1;
    match &packet.header {
        Header::Short(short) => {
            let (spin, phase) = (u8::from(short.spin) * SPIN, u8::from(short.key_phase) * KEY_PHASE);
            octets.push(FIXED | spin | phase | number_length);
            octets.extend_from_slice(short.destination.octets());
        }
        Header::Long(long) => {
            let kind = match &long.kind {
                LongKind::Initial { .. } => 0x00,
                LongKind::Handshake => 0x20,
            };
            octets.push(LONG | FIXED | kind | number_length);
            octets.extend_from_slice(&VERSION.to_be_bytes());
            for id in [&long.destination, &long.source] {
                octets.push(id.wire_len() as u8);
                octets.extend_from_slice(id.octets());
            }
            if let LongKind::Initial { token } = &long.kind {
                varint::append(token.len() as u64, octets);
                octets.extend_from_slice(token);
            }
            let length = u64::from(number.length()) + packet.frames.wire_len() + TAG;
            debug_assert!(
                length < 1 << (8 * LENGTH_FIELD - 2),
                "packets with long headers are datagrams of at most 16 KiB"
            );
            octets.extend_from_slice(&(length as u16 | 0x4000).to_be_bytes());
        }
    }
    let all = number.value().to_be_bytes();
    octets.extend_from_slice(&all[4 - usize::from(number.length())..]);
}

/// Appends the octets of `frame`. The octets of a stream or of the handshake are not included; they
/// follow the frame. `is_last` means that the frame is the last one of its packet.
pub fn append_frame(frame: &Frame, is_last: bool, octets: &mut Vec<u8>) {
    let mut fields = |fields: &[u64]| fields.iter().for_each(|field| varint::append(*field, octets));
    let bidirectional = |direction: Direction| direction == Direction::Bidirectional;
    match frame {
        Frame::Padding(count) => octets.resize(octets.len() + usize::from(*count), kind::PADDING as u8),
        Frame::Ping => fields(&[kind::PING]),
        Frame::Ack(ack) => append_ack(ack, octets),
        Frame::ResetStream { stream, code, size } => fields(&[kind::RESET_STREAM, *stream, *code, *size]),
        Frame::StopSending { stream, code } => fields(&[kind::STOP_SENDING, *stream, *code]),
        Frame::Crypto(crypto) => fields(&[kind::CRYPTO, crypto.offset, crypto.length.into()]),
        Frame::NewToken(token) => {
            fields(&[kind::NEW_TOKEN, token.len() as u64]);
            octets.extend_from_slice(token);
        }
        Frame::Stream(stream) => append_stream(stream, is_last, octets),
        Frame::MaxData(limit) => fields(&[kind::MAX_DATA, *limit]),
        Frame::MaxStreamData { stream, limit } => fields(&[kind::MAX_STREAM_DATA, *stream, *limit]),
        Frame::MaxStreams { direction, limit } => {
            let both = bidirectional(*direction);
            fields(&[if both { kind::MAX_STREAMS_BIDI } else { kind::MAX_STREAMS_UNI }, *limit]);
        }
        Frame::DataBlocked(limit) => fields(&[kind::DATA_BLOCKED, *limit]),
        Frame::StreamDataBlocked { stream, limit } => fields(&[kind::STREAM_DATA_BLOCKED, *stream, *limit]),
        Frame::StreamsBlocked { direction, limit } => {
            let both = bidirectional(*direction);
            fields(&[if both { kind::STREAMS_BLOCKED_BIDI } else { kind::STREAMS_BLOCKED_UNI }, *limit]);
        }
        Frame::NewConnectionId(new) => {
            fields(&[kind::NEW_CONNECTION_ID, new.sequence, new.retire_prior_to]);
            octets.push(new.id.wire_len() as u8);
            octets.extend_from_slice(new.id.octets());
            octets.extend_from_slice(&new.reset_token);
        }
        Frame::RetireConnectionId(sequence) => fields(&[kind::RETIRE_CONNECTION_ID, *sequence]),
        Frame::PathChallenge(data) => {
            fields(&[kind::PATH_CHALLENGE]);
            octets.extend_from_slice(data);
        }
        Frame::PathResponse(data) => {
            fields(&[kind::PATH_RESPONSE]);
            octets.extend_from_slice(data);
        }
        Frame::Close(close) => append_close(close, octets),
        Frame::HandshakeDone => fields(&[kind::HANDSHAKE_DONE]),
        Frame::AckFrequency(frequency) => {
            let AckFrequency { sequence, threshold, max_ack_delay, reordering } = *frequency;
            fields(&[kind::ACK_FREQUENCY, sequence, threshold, max_ack_delay, reordering]);
        }
        Frame::ImmediateAck => fields(&[kind::IMMEDIATE_ACK]),
    }
}

fn append_stream(stream: &Stream, is_last: bool, octets: &mut Vec<u8>) {
    let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
    let has_offset = stream.offset > 0;
    let bits = bit(has_offset, kind::OFF) | bit(!is_last, kind::LEN) | bit(stream.is_end, kind::FIN);
    varint::append(kind::STREAM | bits, octets);
    varint::append(stream.id, octets);
    if has_offset {
        varint::append(stream.offset, octets);
    }
    if !is_last {
        varint::append(stream.length.into(), octets);
    }
}

fn append_ack(ack: &Ack, octets: &mut Vec<u8>) {
    varint::append(ack.kind(), octets);
    let ranges = &ack.ranges;
    for field in [ranges.largest(), ack.delay, ranges.len() as u64 - 1, ranges.first_field()] {
        varint::append(field, octets);
    }
    for (gap, length) in ranges.fields() {
        varint::append(gap, octets);
        varint::append(length, octets);
    }
    if let Some(counts) = ack.ecn() {
        [counts.ect0, counts.ect1, counts.ce].iter().for_each(|count| varint::append(*count, octets));
    }
    ack.timestamp_fields().for_each(|field| varint::append(field, octets));
}

fn append_close(close: &Close, octets: &mut Vec<u8>) {
    let kind = if close.frame_type.is_some() { kind::CONNECTION_CLOSE } else { kind::APPLICATION_CLOSE };
    varint::append(kind, octets);
    varint::append(close.code, octets);
    close.frame_type.iter().for_each(|kind| varint::append(*kind, octets));
    varint::append(close.reason.into(), octets);
    octets.resize(octets.len() + usize::from(close.reason), 0);
}
