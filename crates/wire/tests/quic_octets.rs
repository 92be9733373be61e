//! Converts packets of QUIC to octets and back.

#[path = "properties/quic_decode.rs"]
mod quic_decode;

use acklab_base::Ecn;
use acklab_wire::ipv4::{Checksums, Extent, Ipv4Fields};
use acklab_wire::quic::decode::{DecodeError, decode_datagram, decode_frames};
use acklab_wire::quic::encode::append_header;
use acklab_wire::quic::{
    Ack, AckFrequency, AckRanges, Close, ConnectionId, Crypto, Datagram, Direction, EcnCounts, Frame, Header, Long,
    LongKind, NewConnectionId, OUTER_HEADERS, OlderRanges, Packet, PacketNumber, PacketType, Short, Stream, TAG,
    TimestampRange, decode,
};
use acklab_wire::sequence::Sequence;
use acklab_wire::{Endpoints, Pdu, varint};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use quic_decode::what_decodes_survives_the_round_trip;
use std::ops::Range;

const FLOW: Endpoints = Endpoints::of_connection(3);

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn id(octets: &str) -> ConnectionId {
    ConnectionId::new(&hex(octets)).unwrap()
}

fn short(number: PacketNumber, frames: impl IntoIterator<Item = Frame>) -> Packet {
    let header = Header::Short(Short { destination: ConnectionId::of_word(0x0102_0304_0506_0708), ..Short::default() });
    Packet { header, number, frames: frames.into_iter().collect() }
}

fn octets_of(datagram: &Datagram, extent: Extent) -> Vec<u8> {
    let mut octets = Vec::new();
    datagram.encode(FLOW, Ipv4Fields::default(), extent, &mut octets).expect("this datagram fits");
    octets
}

/// RFC 9001, appendix A.2: the header of the client's Initial before protection.
#[test]
fn the_header_of_the_client_initial_of_the_rfc() {
    let kind = LongKind::Initial { token: Vec::new() };
    let long = Long { kind, destination: id("8394c8f03e515708"), source: id("") };
    let frames = [Frame::Crypto(Crypto { offset: 0, length: 241 }), Frame::Padding(1162 - 4 - 241)];
    let packet = Packet {
        header: Header::Long(Box::new(long)),
        number: PacketNumber::new(2, 4),
        frames: frames.into_iter().collect(),
    };
    let mut octets = Vec::new();
    append_header(&packet, &mut octets);
    assert_eq!(octets, hex("c300000001088394c8f03e5157080000449e00000002"));
    assert_eq!(packet.wire_len(), 1200);
}

/// RFC 9001, appendix A.3: the server's Initial before protection, with an ACK and a `ServerHello`.
#[test]
fn the_server_initial_of_the_rfc() {
    let mut octets = hex("c1000000010008f067a5502a4262b50040750001");
    octets.extend(hex("02000000000600405a020000560303ee fce7f7b37ba1d1632e96677825ddf739
         88cfc79825df566dc5430b9a045a1200 130100002e00330024001d00209d3c94
         0d89690b84d08a60993c144eca684d10 81287c834d5311bcf32bb9da1a002b00 020304"));
    octets.resize(octets.len() + TAG as usize, 0);
    let datagram = decode_datagram(&octets, Ecn::NotEct, 8).unwrap();
    let packet = datagram.packets.last().unwrap();
    assert_eq!(packet.header.packet_type(), PacketType::Initial);
    assert_eq!((packet.header.destination(), packet.number), (&id(""), PacketNumber::new(1, 2)));
    let frames: Vec<&Frame> = packet.frames.iter().collect();
    let ack = Ack::new((0..1).into(), 0);
    assert_eq!(frames, [&Frame::Ack(ack), &Frame::Crypto(Crypto { offset: 0, length: 90 })]);
    assert_eq!(datagram.udp_payload(), octets.len() as u64);
}

/// RFC 9001, appendix A.5: packet number 654360564 in three octets, and a PING.
#[test]
fn the_short_header_of_the_rfc() {
    let mut octets = hex("4200bff401");
    octets.resize(octets.len() + TAG as usize, 0);
    let datagram = decode_datagram(&octets, Ecn::NotEct, 0).unwrap();
    let packet = datagram.packets.last().unwrap();
    assert_eq!(packet.number.expand(Some(654_360_563)), 654_360_564);
    assert!(packet.frames.iter().eq([&Frame::Ping]));
}

/// Returns these ranges, the highest first.
fn ranges(mut ranges: Vec<Range<u64>>) -> AckRanges {
    AckRanges::new(ranges.remove(0), OlderRanges::new(ranges))
}

/// RFC 9000, §19.3.1 and §19.3.2, by hand: 10, 9, gap 8 and 7, 6 to 4, gap 3, 2.
#[test]
fn the_fields_of_an_ack_are_where_they_should_be() {
    let counts = EcnCounts { ect0: 6, ect1: 0, ce: 1 };
    let ack = Frame::Ack(Ack::new(ranges(vec![9..11, 4..7, 2..3]), 100).with_ecn(Some(counts)));
    let octets = hex("03 0a 4064 02 01  01 02  00 00  06 00 01");
    assert_eq!(decode_frames(&octets), Ok(std::iter::once(ack.clone()).collect()));
    assert_eq!(ack.wire_len(), octets.len() as u64);
    what_decodes_survives_the_round_trip(&octets);
}

/// The examples of draft-ietf-quic-receive-ts-03, §8: 87 to 91 and 96 to 100 have arrived, then 92
/// to 95. Both frames are encoded by hand. The ranges of the first ACK are 100 to 96, and, after a
/// gap of four, 91 to 87.
#[test]
fn the_examples_of_receive_timestamps() {
    let range = |below, deltas: &[u64]| TimestampRange { below, deltas: deltas.to_vec() };
    let early = [range(0, &[380, 10, 10, 5, 5]), range(9, &[20, 10, 10, 5, 5])];
    let frame = |numbers, timestamps: &[TimestampRange]| {
        Frame::Ack(Ack::new(ranges(numbers), 0).with_timestamps(Some(timestamps.to_vec())))
    };
    let first = frame(vec![96..101, 87..92], &early);
    let octets = hex("83178307 4064 00 01 04 03 04  02  00 05 417c 0a 0a 05 05  09 05 14 0a 0a 05 05");
    assert_eq!(decode_frames(&octets), Ok(std::iter::once(first.clone()).collect()));
    what_decodes_survives_the_round_trip(&octets);
    let Frame::Ack(ack) = first else { unreachable!() };
    let times: Vec<(u64, u64)> = ack.receive_times().flatten().collect();
    let expected =
        [100, 99, 98, 97, 96, 91, 90, 89, 88, 87].into_iter().zip([380, 370, 360, 355, 350, 330, 320, 310, 305, 300]);
    assert_eq!(times, expected.collect::<Vec<_>>());

    let late = [range(5, &[395, 1, 2, 2]), range(0, &[10, 10, 10, 5, 5]), early[1].clone()];
    let second = frame(vec![87..101], &late);
    let octets = hex("83178307 4064 00 00 0d  03  05 04 418b 01 02 02  00 05 0a 0a 0a 05 05  09 05 14 0a 0a 05 05");
    assert_eq!(decode_frames(&octets), Ok(std::iter::once(second.clone()).collect()));
    let Frame::Ack(ack) = second else { unreachable!() };
    let times: Vec<(u64, u64)> = ack.receive_times().flatten().collect();
    assert_eq!(times[..5], [(95, 395), (94, 394), (93, 392), (92, 390), (100, 380)]);
}

#[test]
fn timestamps_of_no_packet_are_none() {
    let timestamps =
        Some(vec![TimestampRange { below: 3, deltas: vec![9, 4, 6] }, TimestampRange { below: 6, deltas: vec![0] }]);
    let ack = Ack::new((0..5).into(), 0).with_timestamps(timestamps);
    assert_eq!(ack.receive_times().collect::<Vec<_>>(), [Some((1, 9)), Some((0, 5)), None, None]);
}

#[test]
fn only_the_last_stream_frame_has_no_length() {
    let stream = |offset| Frame::Stream(Stream { id: 0, offset, length: 100, is_end: false });
    let frames = |count: u64| (0..count).map(|index| stream(100 * index)).collect::<Sequence<Frame>>();
    assert_eq!(frames(1).wire_len(), 2 + 100, "type and id");
    assert_eq!(frames(2).wire_len(), 2 + 2 + 100 + 2 + 2 + 100, "a length before, an offset behind");
    assert_eq!(Frame::stream_header(0, 100), 4);
}

#[test]
fn a_full_datagram_keeps_its_length_and_its_headers() {
    let stream = Frame::Stream(Stream { id: 0, offset: 1 << 20, length: 1439, is_end: false });
    let datagram = Datagram { ecn: Ecn::Ect0, packets: short(PacketNumber::new(0xc0d0, 2), [stream]).into() };
    assert_eq!(datagram.wire_len().get(), OUTER_HEADERS + 1 + 8 + 2 + 1 + 1 + 4 + 1439 + TAG);
    let (whole, headers) = (octets_of(&datagram, Extent::Whole), octets_of(&datagram, Extent::Headers));
    assert_eq!((whole.len() as u64, headers.len()), (datagram.wire_len().get(), 28 + 11 + 6));
    assert_eq!(whole[..headers.len()], headers);
    assert_eq!(whole[28..39], [0x41, 1, 2, 3, 4, 5, 6, 7, 8, 0xc0, 0xd0]);
    assert_eq!(decode(&whole, 8, Checksums::Verify), Ok((FLOW, datagram)));
}

#[test]
fn malformed_octets_are_refused() {
    let refused = |octets: &str| decode_frames(&hex(octets)).unwrap_err();
    assert_eq!(refused(""), DecodeError::Empty);
    assert_eq!(refused("20"), DecodeError::FrameType(0x20));
    assert_eq!(refused("4001"), DecodeError::Frame { kind: 1 }, "a PING whose type takes two octets");
    assert_eq!(refused("0205000006"), DecodeError::Frame { kind: 2 }, "below zero");
    assert_eq!(refused("02050001000400"), DecodeError::Frame { kind: 2 }, "a second range below zero");
    assert_eq!(refused("12d000000000000001"), DecodeError::Frame { kind: 0x12 }, "more than 2^60 streams");
    assert_eq!(refused("180001 01 00"), DecodeError::Frame { kind: 0x18 }, "retires what is newer");
    let datagram = |octets: &str| decode_datagram(&hex(octets), Ecn::NotEct, 0).unwrap_err();
    assert_eq!(datagram(""), DecodeError::NoPacket);
    assert_eq!(datagram("0001"), DecodeError::FixedBit(0));
    assert_eq!(datagram("c00000000200"), DecodeError::Version(2));
    assert_eq!(datagram("d0000000010000"), DecodeError::Type(1));
    assert_eq!(datagram("4000 01 ff000000000000000000000000000000"), DecodeError::Protected);
}

fn integer() -> impl Strategy<Value = u64> {
    (0..=varint::LARGEST, 0u32..62).prop_map(|(value, shift)| value >> shift)
}

fn connection_id(minimum: usize) -> impl Strategy<Value = ConnectionId> {
    vec(any::<u8>(), minimum..=20).prop_map(|octets| ConnectionId::new(&octets).unwrap())
}

fn ack() -> impl Strategy<Value = Ack> {
    let ecn = proptest::option::of((integer(), integer(), integer()));
    let range = (integer(), vec(integer(), 0..20)).prop_map(|(below, deltas)| TimestampRange { below, deltas });
    let timestamps = proptest::option::of(vec(range, 0..4));
    let steps = vec((0u64..70_000, 1u64..70_000), 1..40);
    (steps, 0u64..1 << 40, integer(), ecn, timestamps).prop_map(|(steps, base, delay, ecn, timestamps)| {
        let mut reached = base;
        let mut all: Vec<_> = steps
            .into_iter()
            .map(|(gap, length)| {
                let start = reached + gap + 1;
                reached = start + length;
                start..reached
            })
            .collect();
        all.reverse();
        let ecn = ecn.map(|(ect0, ect1, ce)| EcnCounts { ect0, ect1, ce });
        Ack::new(ranges(all), delay).with_ecn(ecn).with_timestamps(timestamps)
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    let direction =
        any::<bool>().prop_map(|both| if both { Direction::Bidirectional } else { Direction::Unidirectional });
    let streams = (direction, 0u64..=1 << 60);
    let offset = 0..=varint::LARGEST - 2000;
    prop_oneof![
        Just(Frame::Ping),
        Just(Frame::HandshakeDone),
        Just(Frame::ImmediateAck),
        ack().prop_map(Frame::Ack),
        (integer(), integer(), integer()).prop_map(|(stream, code, size)| Frame::ResetStream { stream, code, size }),
        (integer(), integer()).prop_map(|(stream, code)| Frame::StopSending { stream, code }),
        (offset.clone(), 0u16..2000).prop_map(|(offset, length)| Frame::Crypto(Crypto { offset, length })),
        vec(any::<u8>(), 1..80).prop_map(Frame::NewToken),
        (integer(), offset, 0u16..2000, any::<bool>()).prop_map(|(id, offset, length, is_end)| Frame::Stream(Stream {
            id,
            offset,
            length,
            is_end
        })),
        integer().prop_map(Frame::MaxData),
        integer().prop_map(Frame::DataBlocked),
        integer().prop_map(Frame::RetireConnectionId),
        (integer(), integer()).prop_map(|(stream, limit)| Frame::MaxStreamData { stream, limit }),
        (integer(), integer()).prop_map(|(stream, limit)| Frame::StreamDataBlocked { stream, limit }),
        streams.clone().prop_map(|(direction, limit)| Frame::MaxStreams { direction, limit }),
        streams.prop_map(|(direction, limit)| Frame::StreamsBlocked { direction, limit }),
        (integer(), 0.0..1.0f64, connection_id(1), any::<[u8; 16]>()).prop_map(|(sequence, share, id, reset_token)| {
            let retire_prior_to = ((sequence as f64 * share) as u64).min(sequence);
            Frame::NewConnectionId(Box::new(NewConnectionId { sequence, retire_prior_to, id, reset_token }))
        }),
        any::<[u8; 8]>().prop_map(Frame::PathChallenge),
        any::<[u8; 8]>().prop_map(Frame::PathResponse),
        (integer(), proptest::option::of(integer()), 0u16..200)
            .prop_map(|(code, frame_type, reason)| Frame::Close(Close { code, frame_type, reason })),
        (integer(), integer(), integer(), integer()).prop_map(|(sequence, threshold, max_ack_delay, reordering)| {
            Frame::AckFrequency(AckFrequency { sequence, threshold, max_ack_delay, reordering })
        }),
    ]
}

fn packet(is_long: bool) -> impl Strategy<Value = Packet> {
    let header =
        (connection_id(0), connection_id(0), proptest::option::of(vec(any::<u8>(), 0..80)), any::<[bool; 2]>());
    // Padding would merge with padding next to it.
    let frames = (vec(frame(), 1..6), 0u16..30);
    (header, any::<u32>(), 1u8..=4, frames).prop_map(move |(header, number, length, (mut frames, padding))| {
        let (destination, source, token, [spin, key_phase]) = header;
        if padding > 0 {
            frames.push(Frame::Padding(padding));
        }
        let header = if is_long {
            let kind = token.map_or(LongKind::Handshake, |token| LongKind::Initial { token });
            Header::Long(Box::new(Long { kind, destination, source }))
        } else {
            Header::Short(Short { destination: ConnectionId::of_word(number.into()), spin, key_phase })
        };
        Packet { header, number: PacketNumber::new(number, length), frames: frames.into_iter().collect() }
    })
}

proptest! {
    #[test]
    fn datagrams_survive_the_round_trip(
        long in vec(packet(true), 0..3),
        last in packet(false),
        ecn in prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)],
    ) {
        let packets = long.into_iter().chain([last]).collect();
        let datagram = Datagram { ecn, packets };
        let octets = octets_of(&datagram, Extent::Whole);
        prop_assert_eq!(octets.len() as u64, datagram.wire_len().get());
        prop_assert_eq!(decode(&octets, 8, Checksums::Verify), Ok((FLOW, datagram.clone())));
        let headers = octets_of(&datagram, Extent::Headers);
        prop_assert_eq!(&octets[..headers.len()], &headers);
    }

    #[test]
    fn no_octets_make_the_decoder_panic(octets in vec(any::<u8>(), 0..200)) {
        what_decodes_survives_the_round_trip(&octets);
    }

    #[test]
    fn damaged_packets_are_refused_or_taken_for_others(packet in packet(true), place in any::<Index>(), value in any::<u8>()) {
        let mut octets = octets_of(&Datagram { ecn: Ecn::NotEct, packets: packet.into() }, Extent::Whole)[28..].to_vec();
        let place = place.index(octets.len());
        octets[place] = value;
        what_decodes_survives_the_round_trip(&octets);
    }
}
