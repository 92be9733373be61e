//! Converts packets of the TACK transport to octets and back.

#[path = "properties/tack_decode.rs"]
mod tack_decode;

use acklab_base::{Ecn, NodeId};
use acklab_wire::ipv4::{Checksums, Extent, Ipv4Fields, TooLong};
use acklab_wire::tack::decode::{DecodeError, LARGEST_OFFSET, decode_frames};
use acklab_wire::tack::{
    ConnectionId, Crypto, EcnCounts, Extension, Frame, Frames, Loss, OVERHEAD, Packet, Parameters, PktSeq, Run, Stream,
    Sync, TAG, Tack, Timestamp, VERSION, decode, version,
};
use acklab_wire::udp::HeaderError;
use acklab_wire::{Endpoints, IpPacket, IpVersion, Pdu, pdu};
use etherparse::UdpSlice;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tack_decode::what_decodes_survives_the_round_trip;

const FLOW: Endpoints = Endpoints::of_connection(3);

fn packet(frames: impl IntoIterator<Item = Frame>) -> Packet {
    Packet {
        ecn: Ecn::NotEct,
        connection: ConnectionId(0x0102_0304_0506_0708),
        number: PktSeq(0xa0b0_c0d0),
        departed: Timestamp(0x1122_3344),
        frames: frames.into_iter().collect(),
    }
}

fn stream(length: u16) -> Frame {
    Frame::Stream(Stream { id: 0, offset: 77, length, is_end: false })
}

fn octets_of(packet: &Packet, extent: Extent) -> Vec<u8> {
    let mut octets = Vec::new();
    packet.encode(FLOW, Ipv4Fields::default(), extent, &mut octets).expect("this packet fits");
    octets
}

/// Returns the example of Li et al., §5.1: of the packets 1 to 10, those with the numbers 1, 4, 5,
/// 6 and 10 have arrived.
fn example() -> Tack {
    Tack {
        next: PktSeq(2),
        acked: vec![Run { skip: 2, length: 3 }, Run { skip: 3, length: 1 }],
        lost: vec![Run { skip: 0, length: 2 }, Run { skip: 3, length: 3 }],
        unlisted: 0,
        late: 0,
        echo: Timestamp(9),
        delay: 1000,
        delivered: 3000,
        interval: 20_000,
    }
}

fn runs(minimum: u32) -> impl Strategy<Value = Vec<Run>> {
    vec((0u32..70_000, 1u32..70_000), 0..20).prop_map(move |runs| {
        let run = |(index, (skip, length))| Run { skip: minimum.max(u32::from(index > 0)).max(skip), length };
        runs.into_iter().enumerate().map(run).collect()
    })
}

fn parameters() -> impl Strategy<Value = Box<Parameters>> {
    let others = proptest::collection::btree_map(5u32..1 << 20, vec(any::<u8>(), 0..20), 0..3);
    (0..=LARGEST_OFFSET, any::<(u32, u16, u32)>(), others).prop_map(|(window, (streams, payload, idle), others)| {
        Box::new(Parameters { window, streams, payload, idle, others: others.into_iter().collect() })
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    let tack = (any::<[u32; 7]>(), runs(1), runs(0)).prop_map(|(words, acked, lost)| {
        let [next, unlisted, late, echo, delay, delivered, interval] = words;
        let (next, echo) = (PktSeq(next), Timestamp(echo));
        Frame::Tack(Box::new(Tack { next, acked, lost, unlisted, late, echo, delay, delivered, interval }))
    });
    prop_oneof![
        Just(Frame::Ping),
        (any::<u32>(), 0..=LARGEST_OFFSET - 2000, 1u16..2000, any::<bool>())
            .prop_map(|(id, offset, length, is_end)| Frame::Stream(Stream { id, offset, length, is_end })),
        tack,
        any::<[u32; 3]>().prop_map(|[after, before, arrived]| Frame::Loss(Loss {
            after: PktSeq(after),
            before: PktSeq(before),
            arrived,
        })),
        any::<[u32; 2]>().prop_map(|[ect0, ce]| Frame::EcnCounts(EcnCounts { ect0, ce })),
        (any::<u32>(), 0..=LARGEST_OFFSET).prop_map(|(stream, limit)| Frame::Window { stream, limit }),
        any::<u32>().prop_map(|stream| Frame::Blocked { stream }),
        (any::<[u32; 3]>(), any::<u16>()).prop_map(|([rtt_min, packets, beta], ack_loss)| Frame::Sync(Sync {
            rtt_min,
            ack_loss,
            packets,
            beta
        })),
        any::<u32>().prop_map(|below| Frame::Forget { below: PktSeq(below) }),
        (any::<[u32; 2]>(), 0..=LARGEST_OFFSET).prop_map(|([stream, code], size)| Frame::Reset { stream, size, code }),
        any::<u32>().prop_map(|code| Frame::Close { code }),
        (any::<u64>(), parameters())
            .prop_map(|(source, parameters)| Frame::Open { source: ConnectionId(source), parameters }),
        (any::<u64>(), parameters(), any::<[u32; 2]>()).prop_map(|(source, parameters, [echo, delay])| {
            Frame::Accept { source: ConnectionId(source), parameters, echo: Timestamp(echo), delay }
        }),
        any::<u32>().prop_map(|limit| Frame::Streams { limit }),
        vec(any::<u8>(), 1..100).prop_map(|token| Frame::Token(token.into())),
        any::<u64>().prop_map(Frame::Challenge),
        any::<[u32; 2]>().prop_map(|[stream, code]| Frame::Stop { stream, code }),
        any::<u64>().prop_map(Frame::Response),
        (any::<u32>(), 1u16..2000).prop_map(|(offset, length)| Frame::Crypto(Crypto { offset, length })),
        (Extension::FIRST..=u8::MAX, vec(any::<u8>(), 0..100))
            .prop_map(|(kind, octets)| Frame::Extension(Box::new(Extension { kind, octets }))),
    ]
}

#[test]
fn another_implementation_reads_the_headers() {
    let octets = octets_of(&packet([stream(1000)]), Extent::Whole);
    let udp = UdpSlice::from_slice(&octets[20..]).unwrap();
    assert_eq!((udp.source_port(), udp.destination_port(), udp.length()), (49152, 9, octets.len() as u16 - 20));
    let ip = etherparse::Ipv4HeaderSlice::from_slice(&octets).unwrap().to_header();
    assert_eq!(udp.checksum(), udp.to_header().calc_checksum_ipv4(&ip, udp.payload()).unwrap());
}

#[test]
fn the_octets_of_the_header_are_where_they_should_be() {
    let octets = octets_of(&packet([Frame::Ping]), Extent::Whole);
    let expected =
        [&[1, 2, 3, 4, 5, 6, 7, 8, 0xa0, 0xb0, 0xc0, 0xd0, 0x11, 0x22, 0x33, 0x44, 1][..], &[0; TAG as usize]];
    assert_eq!(octets[29..], expected.concat());
    assert_eq!(version::of(octets[28]), VERSION);
}

#[test]
fn the_example_of_the_paper_takes_two_octets_a_block() {
    let tack = example();
    assert_eq!(tack.wire_len(), 1 + 4 + (1 + 2 * 2) + (1 + 2 * 2) + 1 + 1 + 4 + 2 + 2 + 4);
    let sent = packet([Frame::Tack(Box::new(tack))]);
    assert_eq!(decode(&octets_of(&sent, Extent::Whole), Checksums::Verify), Ok((FLOW, sent)));
}

#[test]
fn headers_alone_end_with_that_of_the_last_stream_frame() {
    let sent = packet([Frame::Ping, stream(400), stream(600)]);
    let (headers, whole) = (octets_of(&sent, Extent::Headers), octets_of(&sent, Extent::Whole));
    assert_eq!(headers.len() as u64, whole.len() as u64 - 600 - TAG);
    assert_eq!(headers, whole[..headers.len()]);
    assert_eq!(whole.len() as u64, OVERHEAD + 1 + 2 * Frame::stream_header(0) + 1000);
    let cut = DecodeError::Cut { length: whole.len() - 28, present: headers.len() - 28 };
    assert_eq!(decode(&headers, Checksums::Ignore), Err(cut));
}

#[test]
fn faults_are_reported() {
    let refused = |change: fn(&mut Vec<u8>)| {
        let mut octets = octets_of(&packet([stream(9)]), Extent::Whole);
        change(&mut octets);
        decode(&octets, Checksums::Ignore).unwrap_err()
    };
    assert_eq!(refused(|octets| octets[28] = 0x2f), DecodeError::Version(2));
    assert_eq!(refused(|octets| *octets.last_mut().unwrap() = 1), DecodeError::Protected);
    assert_eq!(refused(|octets| octets[45] = 0x3f), DecodeError::Type(0x3f));
    assert_eq!(refused(|octets| octets[45..47].copy_from_slice(&[0x40, 30])), DecodeError::Malformed { kind: 0x40 });
    assert_eq!(refused(|octets| octets[46] = 0x40), DecodeError::Malformed { kind: 2 }, "the id in two octets");
    assert_eq!(refused(|octets| octets[47] = 0x40), DecodeError::Malformed { kind: 2 }, "beyond the largest offset");
    assert_eq!(refused(|octets| octets[56] = 10), DecodeError::Malformed { kind: 2 }, "longer than the packet");
    assert_eq!(refused(|octets| octets[24] = 1), HeaderError::Length { udp: 256 + 62, ip: 62 }.into());
    let mut octets = octets_of(&packet([stream(9)]), Extent::Whole);
    octets[50] ^= 1;
    assert_eq!(decode(&octets, Checksums::Verify), Err(HeaderError::Checksum.into()));
}

#[test]
fn reserved_bits_are_ignored() {
    let sent = packet([stream(9)]);
    for bits in 0..16 {
        let mut octets = octets_of(&sent, Extent::Whole);
        octets[28] = VERSION << 4 | bits;
        assert_eq!(decode(&octets, Checksums::Ignore), Ok((FLOW, sent.clone())));
    }
}

#[test]
fn unknown_frames_with_a_length_are_skipped() {
    let unknown = Extension { kind: 0x7f, octets: vec![4, 5, 6] };
    let sent = packet([Frame::Extension(Box::new(unknown)), Frame::Ping]);
    let octets = octets_of(&sent, Extent::Whole);
    assert_eq!(octets[45..51], [0x7f, 3, 4, 5, 6, 1]);
    assert_eq!(decode(&octets, Checksums::Verify), Ok((FLOW, sent)));
}

#[test]
fn an_answer_to_an_unknown_version_survives_the_round_trip() {
    let mut opening =
        octets_of(&Packet { connection: ConnectionId(0), ..packet([Frame::Padding(1300)]) }, Extent::Whole);
    opening[28] = 0x50;
    assert_eq!(decode(&opening, Checksums::Ignore), Err(DecodeError::Version(5)));
    let answer = version::answer(&opening[28..]).unwrap();
    let octets = octets_of(&answer, Extent::Whole);
    assert_eq!((version::of(octets[28]), octets[45]), (version::NEGOTIATION, VERSION));
    assert_eq!(decode(&octets, Checksums::Verify), Ok((FLOW, answer)));
}

#[test]
fn lists_are_those_of_a_receiver_that_counts() {
    let list = |acked: &[u8]| {
        let octets = [&[4, 0, 0, 0, 0][..], acked, &[0; 10]].concat();
        decode_frames(&octets, |_, _| ()).is_ok()
    };
    assert!(list(&[0]) && list(&[1, 1, 1]) && list(&[2, 1, 1, 1, 1]));
    assert!(!list(&[1, 0, 1]), "what is at `next` has not arrived");
    assert!(!list(&[1, 1, 0]), "an empty run");
    assert!(!list(&[2, 1, 1, 0, 1]), "two runs that are one");
    assert!(!list(&[1, 1, 0xc0, 0, 0, 0, 0x80, 0, 0, 0]), "beyond half the space");
    assert!(!list(&[0xbf, 0xff, 0xff, 0xff]), "more runs than octets");
}

#[test]
fn a_pdu_that_exceeds_a_packet_encodes_to_no_octets() {
    let sent = packet([stream(u16::MAX), Frame::Ping]);
    let mut octets = vec![1];
    let refused = sent.encode(FLOW, Ipv4Fields::default(), Extent::Headers, &mut octets);
    let expected = TooLong { octets: OVERHEAD + Frame::stream_header(0) + 65_535 + 1 };
    assert_eq!((refused, octets.len()), (Err(pdu::EncodeError::TooLong(expected)), 0));
}

#[test]
fn an_empty_packet_is_none() {
    assert_eq!(decode(&octets_of(&packet([]), Extent::Whole), Checksums::Verify), Err(DecodeError::Empty));
}

#[test]
fn memory_is_used_again() {
    let full: Frames = [stream(1), Frame::Ping, Frame::Ping].into_iter().collect();
    let mut place = Packet { frames: full, ..packet([]) };
    let source = packet([Frame::Ping, stream(3)]);
    place.clone_from(&source);
    assert_eq!(place, source);
}

proptest! {
    #[test]
    fn packets_survive_the_round_trip(frames in vec(frame(), 1..8), words in any::<(u64, u32, u32, u8)>()) {
        let (connection, number, departed, ecn) = words;
        let sent = Packet {
            ecn: Ecn::from_bits(ecn),
            connection: ConnectionId(connection),
            number: PktSeq(number),
            departed: Timestamp(departed),
            frames: frames.into_iter().collect(),
        };
        let octets = octets_of(&sent, Extent::Whole);
        prop_assert_eq!(octets.len() as u64, sent.wire_len().get());
        prop_assert_eq!(decode(&octets, Checksums::Verify), Ok((FLOW, sent)));
    }

    #[test]
    fn octets_that_decode_survive_the_round_trip(octets in vec(any::<u8>(), 0..200)) {
        what_decodes_survives_the_round_trip(&octets);
    }

    #[test]
    fn octets_close_to_a_packet_survive_the_round_trip(
        frames in vec(frame(), 1..4),
        changes in vec((any::<Index>(), any::<u8>()), 0..4),
        end in any::<Index>(),
    ) {
        let mut octets = octets_of(&packet(frames), Extent::Whole).split_off(28);
        for (index, octet) in changes {
            let place = index.index(octets.len());
            octets[place] = octet;
        }
        what_decodes_survives_the_round_trip(&octets);
        if octets.len() > 33 {
            what_decodes_survives_the_round_trip(&octets[17..octets.len() - 16]);
        }
        what_decodes_survives_the_round_trip(&octets[..end.index(octets.len())]);
    }
}

/// In a packet of a real host, the octets of two streams follow their frames, over either version
/// of IP.
#[test]
fn octets_of_streams_go_in_and_come_out() {
    let of = |id, offset, length| Frame::Stream(Stream { id, offset, length, is_end: false });
    let packet = packet([of(0, 77, 5), Frame::Ping, of(4, 0, 3)]);
    for version in [IpVersion::V4, IpVersion::V6] {
        let (mut octets, mut carried) = (Vec::new(), Vec::new());
        packet.encode_with(b"tackack", FLOW, Ipv4Fields::default(), &mut octets).expect("this packet fits");
        version.convert(&mut octets);
        assert_eq!(octets.len() as u64, packet.wire_len().get() + version.longer_by());
        let read = IpPacket::parse(octets, |_| NodeId(1)).expect("a packet of IP");
        assert_eq!(Packet::decode(&read, &mut carried).as_ref(), Some(&packet), "{version:?}");
        assert_eq!(carried, b"tackack\0", "what is not given is zero");
    }
}
