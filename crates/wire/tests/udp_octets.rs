//! Converts user datagrams to octets and back.

#[path = "properties/udp_decode.rs"]
mod udp_decode;

use acklab_base::{Ecn, Instant};
use acklab_wire::ipv4::{self, Checksums, Extent, Ipv4Fields, TooLong};
use acklab_wire::udp::{
    DecodeError, EncodeError, HeaderError, LARGEST_PAYLOAD, TEST_HEADER, UserDatagram, decode, encode_between,
};
use acklab_wire::{Endpoints, Pdu, pdu};
use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice, UdpHeaderSlice, UdpSlice};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use udp_decode::what_decodes_survives_the_round_trip;

const FLOW: Endpoints = Endpoints::of_connection(3);

fn datagram() -> UserDatagram {
    UserDatagram {
        ecn: Ecn::NotEct,
        number: 0x0102_0304_0506_0708,
        sent_at: Instant::from_nanos(7_000_042_000),
        payload: 1472,
    }
}

fn octets_of(datagram: &UserDatagram, extent: Extent) -> Vec<u8> {
    octets_between(FLOW, datagram, extent)
}

fn octets_between(endpoints: Endpoints, datagram: &UserDatagram, extent: Extent) -> Vec<u8> {
    let (fields, mut octets) = (Ipv4Fields { identification: 77, ..Ipv4Fields::default() }, Vec::new());
    datagram.encode(endpoints, fields, extent, &mut octets).expect("this datagram fits a packet");
    octets
}

fn decoded(octets: &[u8]) -> Result<UserDatagram, DecodeError> {
    decode(octets, Checksums::Verify).map(|(_, datagram)| datagram)
}

prop_compose! {
    fn any_datagram()(
        (ecn, number) in any::<(u8, u64)>(),
        payload in prop_oneof![16u32..3000, 65_000..=LARGEST_PAYLOAD as u32],
        (seconds, micros) in (any::<u32>(), 0u64..1_000_000),
    ) -> UserDatagram {
        let sent_at = Instant::from_nanos(u64::from(seconds) * 1_000_000_000 + micros * 1000);
        UserDatagram { ecn: Ecn::from_bits(ecn), number, sent_at, payload }
    }
}

#[test]
fn another_implementation_reads_the_headers() {
    let octets = octets_of(&datagram(), Extent::Whole);
    let ip = Ipv4HeaderSlice::from_slice(&octets).unwrap();
    assert_eq!((ip.protocol(), usize::from(ip.total_len())), (IpNumber::UDP, 1500));
    assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
    let udp = UdpSlice::from_slice(&octets[20..]).unwrap();
    assert_eq!((udp.source_port(), udp.destination_port(), udp.length()), (49152, 9, 1480));
    let sum = udp.to_header().calc_checksum_ipv4(&ip.to_header(), udp.payload()).unwrap();
    assert_eq!(udp.checksum(), sum);
}

/// `iperf_udp_send` with 64-bit counters: seconds, microseconds, number, each big-endian.
#[test]
fn the_payload_begins_as_that_of_iperf3() {
    let octets = octets_of(&datagram(), Extent::Headers);
    assert_eq!(octets.len(), 44);
    assert_eq!(octets[28..], [0, 0, 0, 7, 0, 0, 0, 42, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(octets[..], octets_of(&datagram(), Extent::Whole)[..44], "with the checksums of the whole");
}

#[test]
fn octets_carry_whole_microseconds() {
    let finer = UserDatagram { sent_at: Instant::from_nanos(7_000_042_999), ..datagram() };
    assert_eq!(decoded(&octets_of(&finer, Extent::Whole)), Ok(datagram()));
}

#[test]
fn a_datagram_that_exceeds_a_packet_encodes_to_no_octets() {
    let refused = |datagram: &UserDatagram| {
        let mut octets = vec![1, 2, 3];
        let error = datagram.encode(FLOW, Ipv4Fields::default(), Extent::Headers, &mut octets).unwrap_err();
        assert!(octets.is_empty());
        error
    };
    let long = UserDatagram { payload: LARGEST_PAYLOAD as u32 + 1, ..datagram() };
    assert_eq!(refused(&long), pdu::EncodeError::Udp(TooLong { octets: 65_536 }.into()));
    let short = UserDatagram { payload: TEST_HEADER as u32 - 1, ..datagram() };
    assert_eq!(refused(&short), EncodeError::TooShort { octets: 15 }.into());
}

#[test]
fn every_fault_has_its_name() {
    let with = |change: fn(&mut Vec<u8>), checksums| {
        let mut octets = octets_of(&datagram(), Extent::Whole);
        change(&mut octets);
        decode(&octets, checksums).unwrap_err()
    };
    let ignored = |change| with(change, Checksums::Ignore);
    let header = DecodeError::Header;
    let of_ip = |error: ipv4::DecodeError| header(error.into());
    assert_eq!(ignored(|octets| octets[9] = 6), of_ip(ipv4::DecodeError::Protocol { found: 6, expected: 17 }));
    assert_eq!(ignored(|octets| octets.truncate(27)), header(HeaderError::TooShort { present: 7 }));
    assert_eq!(ignored(|octets| octets.truncate(43)), DecodeError::TooShort { present: 15 });
    assert_eq!(ignored(|octets| octets[24..26].fill(9)), header(HeaderError::Length { udp: 0x0909, ip: 1480 }));
    assert_eq!(ignored(|octets| octets[32..36].fill(0xff)), DecodeError::Microseconds(u32::MAX));
    let verified = |change| with(change, Checksums::Verify);
    assert_eq!(verified(|octets| octets[1499] = 1), header(HeaderError::Checksum));
    assert_eq!(verified(|octets| octets.truncate(44)), of_ip(ipv4::DecodeError::Cut { total: 1500, present: 44 }));
}

#[test]
fn a_sender_may_leave_the_checksum_out() {
    let mut octets = octets_of(&datagram(), Extent::Whole);
    octets[26..28].fill(0);
    assert_eq!(decoded(&octets), Ok(datagram()));
}

proptest! {
    #[test]
    fn any_datagram_survives_the_round_trip(datagram in any_datagram(), connection: u32) {
        let endpoints = Endpoints::of_connection(connection);
        let octets = octets_between(endpoints, &datagram, Extent::Whole);
        prop_assert_eq!(octets.len() as u64, datagram.wire_len().get());
        prop_assert!(octets[26..28] != [0, 0], "zero would mean that there is no checksum");
        prop_assert_eq!(decode(&octets, Checksums::Verify), Ok((endpoints, datagram)));
    }

    #[test]
    fn any_octets_do(octets in vec(any::<u8>(), 0..100)) {
        what_decodes_survives_the_round_trip(&octets);
    }

    #[test]
    fn any_damage_to_a_datagram_does(
        datagram in any_datagram(),
        damage in vec(any::<(Index, u8)>(), 0..8),
        end in any::<Index>(),
    ) {
        let mut octets = octets_of(&datagram, Extent::Headers);
        for (place, octet) in damage {
            *place.get_mut(&mut octets) = octet;
        }
        what_decodes_survives_the_round_trip(&octets);
        what_decodes_survives_the_round_trip(&octets[..end.index(octets.len())]);
    }
}

/// Between sockets of IPv6, or of both versions, the packet is an IPv6 packet, with a valid
/// checksum and mapped addresses.
#[test]
fn a_payload_between_sockets_becomes_a_packet_of_their_version() {
    let [v4, v6] = ["192.0.2.1:5000", "[2001:db8::2]:443"].map(|socket| socket.parse().unwrap());
    for (sockets, source) in [([v6, v6], "2001:db8::2"), ([v4, v6], "::ffff:192.0.2.1")] {
        let mut octets = vec![7; 3];
        let fields = Ipv4Fields { dscp: 46, time_to_live: 9, ..Ipv4Fields::default() };
        encode_between(sockets, Ecn::Ce, b"payload", fields, &mut octets).unwrap();
        let ip = Ipv6HeaderSlice::from_slice(&octets).unwrap();
        assert_eq!((ip.traffic_class(), ip.hop_limit(), ip.next_header()), (46 << 2 | 3, 9, IpNumber::UDP));
        assert_eq!(ip.source_addr(), source.parse::<std::net::Ipv6Addr>().unwrap());
        let udp = UdpHeaderSlice::from_slice(&octets[40..]).unwrap().to_header();
        assert_eq!((udp.source_port, udp.destination_port, udp.length), (sockets[0].port(), 443, 8 + 7));
        assert_eq!(udp.calc_checksum_ipv6_raw(ip.source(), ip.destination(), b"payload").unwrap(), udp.checksum);
        assert_eq!(&octets[48..], b"payload");
    }
    let mut octets = vec![7; 3];
    encode_between([v4, v4], Ecn::NotEct, b"payload", Ipv4Fields::default(), &mut octets).unwrap();
    let ip = Ipv4HeaderSlice::from_slice(&octets).unwrap();
    assert_eq!((ip.total_len(), &octets[28..]), (20 + 8 + 7, &b"payload"[..]));
}

#[test]
fn a_payload_that_fits_no_packet_is_refused() {
    for (socket, headers) in [("192.0.2.1:5000", 28), ("[2001:db8::2]:443", 48)] {
        let socket: std::net::SocketAddr = socket.parse().unwrap();
        let mut octets = vec![7; 3];
        let long = vec![0; 65_528];
        let refused = encode_between([socket, socket], Ecn::NotEct, &long, Ipv4Fields::default(), &mut octets);
        assert_eq!((refused, octets.len()), (Err(TooLong { octets: headers + 65_528 }), 0));
    }
}
