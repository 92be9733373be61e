//! Converts segments to octets and back.

#[path = "properties/tcp_decode.rs"]
mod tcp_decode;

use crate::common::segment::{any_segment, data};
use acklab_base::Ecn;
use acklab_wire::ipv4::{self, Checksums, Extent, Ipv4Fields, TooLong};
use acklab_wire::tcp::{
    DecodeError, EncodeError, Flags, Options, SackBlock, Segment, SeqNumber, Timestamps, decode, encode_with,
    payload_of,
};
use acklab_wire::{Endpoints, Pdu, pdu};
use etherparse::{IpNumber, Ipv4HeaderSlice, TcpSlice};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tcp_decode::what_decodes_survives_the_round_trip;

const FLOW: Endpoints = Endpoints::of_connection(3);

fn octets_of(segment: &Segment, extent: Extent) -> Vec<u8> {
    octets_between(FLOW, segment, extent)
}

fn octets_between(endpoints: Endpoints, segment: &Segment, extent: Extent) -> Vec<u8> {
    let mut octets = Vec::new();
    segment.encode(endpoints, identified(77), extent, &mut octets).expect("this segment fits a packet");
    octets
}

fn identified(identification: u16) -> Ipv4Fields {
    Ipv4Fields { identification, ..Ipv4Fields::default() }
}

fn decoded(octets: &[u8]) -> Result<Segment, DecodeError> {
    decode(octets, Checksums::Verify).map(|(_, segment)| segment)
}

/// Returns a packet with valid IPv4 and TCP headers around these options and flags, which may be
/// invalid.
fn around(options: &[u8], flags: u8) -> Vec<u8> {
    let mut octets = octets_of(&Segment { options: Options::default(), payload: 0, ..data() }, Extent::Headers);
    octets.extend_from_slice(options);
    octets.resize(octets.len().next_multiple_of(4), 0);
    let total = octets.len();
    octets[2..4].copy_from_slice(&(total as u16).to_be_bytes());
    octets[32] = ((total - 20) / 4) as u8 * 16;
    octets[33] = flags;
    octets
}

proptest! {
    /// Another implementation verifies the checksum of any payload, and the payload is restored.
    #[test]
    fn a_payload_is_carried(segment in any_segment(), payload in vec(any::<u8>(), 0..1400)) {
        let mut octets = Vec::new();
        encode_with(&segment, &payload, FLOW, Ipv4Fields::default(), &mut octets).expect("it fits");
        let ip = Ipv4HeaderSlice::from_slice(&octets).unwrap();
        let tcp = TcpSlice::from_slice(&octets[20..]).unwrap();
        prop_assert_eq!(tcp.checksum(), tcp.calc_checksum_ipv4(ip.source(), ip.destination()).unwrap());
        let again = decoded(&octets).unwrap();
        prop_assert_eq!(payload_of(&octets, &again), &payload[..]);
    }
}

#[test]
fn another_implementation_reads_the_headers() {
    let octets = octets_of(&data(), Extent::Whole);
    let ip = Ipv4HeaderSlice::from_slice(&octets).unwrap();
    assert_eq!((ip.ttl(), ip.identification(), ip.dont_fragment()), (64, 77, true));
    assert_eq!(ip.ecn().value(), 0b10, "the two low bits of the type of service");
    assert_eq!((ip.protocol(), usize::from(ip.total_len())), (IpNumber::TCP, octets.len()));
    assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
    let tcp = TcpSlice::from_slice(&octets[20..]).unwrap();
    assert_eq!(tcp.checksum(), tcp.calc_checksum_ipv4(ip.source(), ip.destination()).unwrap());
    assert_eq!((tcp.sequence_number(), tcp.window_size()), (0xdead_beef, 502));
    assert!(tcp.ack() && tcp.psh() && !tcp.syn() && !tcp.fin());
    assert_eq!(tcp.payload(), [0; 1448]);
}

#[test]
fn the_octets_are_those_of_linux() {
    // A SYN from 192.0.2.1 to 192.0.2.2:80, as Linux 6.18 passed it to a TUN device.
    let syn = [
        0x45, 0x00, 0x00, 0x3c, 0x4f, 0x4f, 0x40, 0x00, 0x40, 0x06, 0x67, 0x69, 0xc0, 0x00, 0x02, 0x01, 0xc0, 0x00,
        0x02, 0x02, 0x8d, 0x46, 0x00, 0x50, 0x0b, 0xbe, 0xb6, 0x18, 0x00, 0x00, 0x00, 0x00, 0xa0, 0x02, 0xfa, 0xf0,
        0xf8, 0x62, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4, 0x04, 0x02, 0x08, 0x0a, 0x13, 0x63, 0x6d, 0xd5, 0x00, 0x00,
        0x00, 0x00, 0x01, 0x03, 0x03, 0x0a,
    ];
    let (endpoints, segment) = decode(&syn, Checksums::Verify).unwrap();
    assert_eq!(endpoints.to_string(), "192.0.2.1:36166 → 192.0.2.2:80");
    let options = Options {
        mss: Some(1460),
        window_scale: Some(10),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 325_283_285, echo: 0 }),
        ..Options::default()
    };
    let (ecn, seq, ack) = (Ecn::NotEct, SeqNumber(197_047_832), SeqNumber(0));
    assert_eq!(segment, Segment { ecn, seq, ack, flags: Flags::SYN, window: 64240, options, payload: 0 });
    let mut again = Vec::new();
    segment.encode(endpoints, identified(0x4f4f), Extent::Whole, &mut again).unwrap();
    assert_eq!(again, syn);
}

#[test]
fn headers_alone_have_the_checksums_of_the_whole() {
    let (headers, whole) = (octets_of(&data(), Extent::Headers), octets_of(&data(), Extent::Whole));
    assert_eq!(headers.len(), 52);
    assert_eq!(headers[..], whole[..52]);
    let (_, segment) = decode(&headers, Checksums::Ignore).unwrap();
    assert_eq!(segment, data());
    assert_eq!(decoded(&headers), Err(ipv4::DecodeError::Cut { total: 1500, present: 52 }.into()));
}

#[test]
fn a_buffer_is_used_again() {
    let mut octets = octets_of(&data(), Extent::Whole);
    let ack = Segment { payload: 0, ..data() };
    ack.encode(FLOW, identified(0), Extent::Whole, &mut octets).unwrap();
    assert_eq!(decoded(&octets), Ok(ack));
}

#[test]
fn a_pdu_that_exceeds_a_packet_is_refused() {
    let mut octets = vec![1, 2, 3];
    let mut refused = |segment: &Segment| {
        let error = segment.encode(FLOW, identified(0), Extent::Headers, &mut octets).unwrap_err();
        assert!(octets.is_empty());
        error
    };
    let long = Segment { payload: u32::MAX, ..data() };
    assert_eq!(refused(&long), pdu::EncodeError::Tcp(TooLong { octets: long.wire_len().get() }.into()));
    let mut crowded = data();
    crowded.options.sack = [SackBlock::default(); 4].into_iter().collect();
    assert_eq!(refused(&crowded), EncodeError::OptionsTooLong { octets: 48 }.into());
}

#[test]
fn octets_that_are_no_segment_are_refused_with_the_reason() {
    let with = |change: fn(&mut Vec<u8>)| {
        let mut octets = octets_of(&data(), Extent::Whole);
        change(&mut octets);
        decode(&octets, Checksums::Ignore).unwrap_err()
    };
    let refused = |change| with(change).to_string();
    assert!(refused(|octets| octets.truncate(19)).contains("20 byte(s) would be required, but only 19"));
    assert!(refused(|octets| octets[0] = 0x65).contains("'6' as IP version"));
    assert!(refused(|octets| octets[0] = 0x44).contains("'4' present in the IPv4 header is smaller"));
    assert_eq!(with(|octets| octets[2..4].fill(0)), ipv4::DecodeError::TotalLength { header: 20, total: 0 }.into());
    assert_eq!(with(|octets| octets[6] = 0x20), ipv4::DecodeError::Fragment.into());
    assert_eq!(with(|octets| octets[9] = 17), ipv4::DecodeError::Protocol { found: 17, expected: 6 }.into());
    assert!(refused(|octets| octets.truncate(39)).contains("20 byte(s) would be required, but only 19"));
    assert!(refused(|octets| octets[32] = 0x40).contains("'data offset' too small (4)"));
    assert!(refused(|octets| octets[2..4].copy_from_slice(&[0, 45])).contains("32 byte(s) would be required"));
}

#[test]
fn a_wrong_bit_anywhere_is_found() {
    let octets = octets_of(&Segment { payload: 10, ..data() }, Extent::Whole);
    assert!(decoded(&octets).is_ok());
    for bit in 0..octets.len() * 8 {
        let mut wrong = octets.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(decoded(&wrong).is_err(), "bit {bit}");
    }
}

#[test]
fn padding_after_the_packet_is_left_out() {
    let ack = Segment { payload: 0, options: Options::default(), ..data() };
    let mut octets = octets_of(&ack, Extent::Whole);
    octets.resize(46, 0xaa);
    assert_eq!(decoded(&octets), Ok(ack));
}

proptest! {
    #[test]
    fn any_segment_survives_the_round_trip(segment in any_segment(), connection: u32) {
        let endpoints = Endpoints::of_connection(connection);
        let octets = octets_between(endpoints, &segment, Extent::Whole);
        prop_assert_eq!(octets.len() as u64, segment.wire_len().get());
        prop_assert_eq!(decode(&octets, Checksums::Verify), Ok((endpoints, segment)));
    }

    #[test]
    fn any_octets_do(octets in vec(any::<u8>(), 0..200)) {
        what_decodes_survives_the_round_trip(&octets);
    }

    #[test]
    fn any_damage_to_a_segment_does(
        segment in any_segment(),
        damage in vec(any::<(Index, u8)>(), 0..8),
        end in any::<Index>(),
    ) {
        let mut octets = octets_of(&segment, Extent::Headers);
        for (place, octet) in damage {
            *place.get_mut(&mut octets) = octet;
        }
        what_decodes_survives_the_round_trip(&octets);
        what_decodes_survives_the_round_trip(&octets[..end.index(octets.len())]);
    }

    #[test]
    fn any_options_do(options in vec(prop_oneof![0u8..12, Just(172u8), Just(174u8), any::<u8>()], 0..=40), flags: u8) {
        what_decodes_survives_the_round_trip(&around(&options, flags));
    }
}
