//! Compares IP packets as octets with typed packets.

#[path = "properties/ip_packet.rs"]
mod property;

use crate::common::segment::{self, any_segment};
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, Instant, NodeId};
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::udp::UserDatagram;
use acklab_wire::{Endpoints, IpPacket, Pdu};
use property::what_parses_agrees_with_its_octets;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::net::IpAddr;

const FLOW: Endpoints = Endpoints::of_connection(3);
/// An ICMP echo request (RFC 792) from 192.0.2.1 to 192.0.2.2, EF (RFC 3246) and ECT(0), without
/// payload.
const ECHO: [u8; 28] = [
    0x45, 0xba, 0x00, 0x1c, 0x00, 0x01, 0x40, 0x00, 0x40, 0x01, 0xb6, 0x25, 0xc0, 0x00, 0x02, 0x01, 0xc0, 0x00, 0x02,
    0x02, 0x08, 0x00, 0xf7, 0xfd, 0x00, 0x01, 0x00, 0x01,
];
/// A pure ACK from [2001:db8::1]:5001 to [2001:db8::2]:443 over IPv6, CS1 and CE.
const ACK_V6: [u8; 60] = [
    0x62, 0x30, 0x00, 0x00, 0x00, 0x14, 0x06, 0x40, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01,
    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x13, 0x89, 0x01, 0xbb, 0, 0, 0, 1, 0, 0, 0x0b,
    0x51, 0x50, 0x10, 0x01, 0xf5, 0, 0, 0, 0,
];

fn node(_: IpAddr) -> NodeId {
    NodeId(7)
}

fn parsed(octets: &[u8]) -> IpPacket {
    IpPacket::parse(octets.to_vec(), node).unwrap_or_else(|error| panic!("{error}: {octets:02x?}"))
}

fn refused(octets: &[u8]) -> String {
    IpPacket::parse(octets.to_vec(), node).unwrap_err().to_string()
}

fn octets_of(pdu: &impl Pdu, endpoints: Endpoints, dscp: u8, extent: Extent) -> Vec<u8> {
    let mut octets = Vec::new();
    let fields = Ipv4Fields { dscp, ..Ipv4Fields::default() };
    pdu.encode(endpoints, fields, extent, &mut octets).unwrap_or_else(|error| panic!("{error}"));
    octets
}

/// Returns the packet with `header` inserted after the IPv6 header. The next-header fields are
/// adjusted.
fn with_extension(kind: u8, mut header: [u8; 8]) -> Vec<u8> {
    header[0] = ACK_V6[6];
    let mut octets = ACK_V6.to_vec();
    octets[6] = kind;
    octets[5] += header.len() as u8;
    octets.splice(40..40, header);
    octets
}

#[test]
fn other_protocols_have_a_flow_too() {
    let packet = parsed(&ECHO);
    assert_eq!((packet.wire_len().get(), packet.dscp(), packet.ecn()), (28, 46, Ecn::Ect0));
    assert_eq!((packet.destination(), packet.ack_header()), (NodeId(7), None));
    let mut other = ECHO;
    other[24..28].fill(9);
    assert_eq!(parsed(&other).flow(), packet.flow(), "an identifier of ICMP is no port");
    other[19] = 3;
    assert_ne!(parsed(&other).flow(), packet.flow());
}

#[test]
fn the_address_is_resolved_to_its_node() {
    let is_known = |address: IpAddr| if address.to_string() == "192.0.2.2" { NodeId(4) } else { NodeId::NOWHERE };
    let to = |octets: &[u8]| IpPacket::parse(octets.to_vec(), is_known).unwrap().destination();
    assert_eq!((to(&ECHO), to(&ACK_V6)), (NodeId(4), NodeId::NOWHERE));
}

#[test]
fn an_ack_over_ipv6_is_one() {
    let packet = parsed(&ACK_V6);
    assert_eq!((packet.wire_len().get(), packet.dscp(), packet.ecn()), (60, 8, Ecn::Ce));
    let header = packet.pure_ack().unwrap();
    assert_eq!((header.ack, header.window, header.has_other_content), (2897, 501, false));
    assert_eq!(packet.compressible_ack(), None, "ROHC here is for IPv4");
}

#[test]
fn extension_headers_are_passed_over() {
    // Destination options and hop-by-hop options of PadN (RFC 8200, §4.2), and the fragment header
    // of a whole packet (RFC 6946).
    for (kind, header) in [(60, [0, 0, 1, 4, 0, 0, 0, 0]), (0, [0, 0, 1, 4, 0, 0, 0, 0]), (44, [0; 8])] {
        let (with, without) = (parsed(&with_extension(kind, header)), parsed(&ACK_V6));
        assert_eq!((with.flow(), with.pure_ack()), (without.flow(), without.pure_ack()), "header {kind}");
        assert_eq!(with.wire_len().get(), 68);
    }
    // A header that is longer than the packet (RFC 8200, §4.6: in units of 8 octets, minus the
    // first).
    let cut = parsed(&with_extension(60, [0, 9, 1, 4, 0, 0, 0, 0]));
    assert_eq!((cut.wire_len().get(), cut.ack_header()), (68, None));
    // A header that announces another one, which is missing.
    let mut octets = with_extension(60, [0; 8]);
    octets[40] = 43;
    assert_eq!(parsed(&octets[..48]).ack_header(), None);
}

#[test]
fn the_protocol_stands_behind_all_headers_unless_the_packet_is_a_fragment() {
    let of = |octets: &[u8]| (parsed(octets).protocol(), parsed(octets).headers());
    assert_eq!(of(&ECHO), (Some(1), 20));
    assert_eq!(of(&ACK_V6), (Some(6), 40));
    assert_eq!(of(&with_extension(60, [0, 0, 1, 4, 0, 0, 0, 0])), (Some(6), 48));
    assert_eq!(of(&with_extension(44, [0, 0, 0, 1, 0, 0, 0, 7])), (None, 48));
}

#[test]
fn a_packet_without_room_for_its_length_can_be_lengthened() {
    let mut packet = parsed(&octets_of(&segment::ack(), FLOW, 0, Extent::Whole));
    let headers = packet.wire_len().get() as u32;
    packet.lengthen(headers + 80_000);
    assert_eq!(packet.segment().map(|segment| segment.payload), Some(80_000));
    packet.lengthen(0);
    assert_eq!(packet.wire_len().get(), u64::from(headers) + 80_000);
}

#[test]
fn all_fragments_of_a_packet_are_of_one_flow() {
    // The first fragment, then one 8 octets behind it, of IPv4 with more to come.
    let v4: Vec<FlowKey> = [[0x20, 0], [0x20, 1]]
        .into_iter()
        .map(|offset| {
            let ack = parsed(&octets_of(&segment::ack(), FLOW, 0, Extent::Whole));
            let mut octets = ack.octets().to_vec();
            octets[6..8].copy_from_slice(&offset);
            assert_eq!(parsed(&octets).ack_header(), None);
            assert_ne!(parsed(&octets).flow(), ack.flow());
            parsed(&octets).flow()
        })
        .collect();
    assert_eq!(v4[0], v4[1]);
    // The same fragments of IPv6. The second one does not begin with a header.
    let v6 = [[0, 1], [0, 9]].map(|[high, low]| parsed(&with_extension(44, [0, 0, high, low, 0, 0, 0, 1])));
    assert_eq!((v6[0].flow(), v6[0].ack_header()), (v6[1].flow(), None));
}

#[test]
fn ipv4_options_are_passed_over() {
    let plain = octets_of(&segment::ack(), FLOW, 0, Extent::Whole);
    let mut octets = plain.clone();
    // Router alert (RFC 2113).
    octets.splice(20..20, [0x94, 4, 0, 0]);
    octets[0] = 0x46;
    octets[3] += 4;
    let (with, without) = (parsed(&octets), parsed(&plain));
    assert_eq!((with.flow(), with.pure_ack()), (without.flow(), without.pure_ack()));
    assert!(with.compressible_ack().is_none() && without.compressible_ack().is_some(), "no ACK holds an IP option");
}

#[test]
fn options_that_are_not_known_say_more() {
    let around = |options: &[u8]| {
        let mut octets = octets_of(&segment::ack(), FLOW, 0, Extent::Whole);
        octets.truncate(40);
        octets.extend_from_slice(options);
        octets[3] = octets.len() as u8;
        octets[32] = ((octets.len() - 20) / 4) as u8 * 16;
        parsed(&octets).pure_ack().unwrap().has_other_content
    };
    assert!(!around(&[]) && !around(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]));
    // Multipath TCP (RFC 8684, §3.3), and a length that leads beyond the header.
    assert!(around(&[30, 4, 0x20, 0]) && around(&[1, 1, 8, 40]));
}

#[test]
fn octets_missing_from_the_payload_change_no_field() {
    let data = octets_of(&segment::data(), FLOW, 0, Extent::Whole);
    let whole = parsed(&data);
    let cut = |there: usize| parsed(&data[..there]);
    assert_eq!(
        (cut(60).wire_len(), cut(60).flow(), cut(60).ack_header()),
        (whole.wire_len(), whole.flow(), whole.ack_header())
    );
    assert_eq!((cut(51).flow(), cut(51).ack_header()), (whole.flow(), None), "within the options");
    assert_ne!(cut(23).flow(), whole.flow(), "within the ports");
    assert_eq!((cut(20).wire_len(), cut(20).destination()), (whole.wire_len(), whole.destination()));
}

#[test]
fn padding_is_cut_off() {
    let mut octets = ECHO.to_vec();
    octets.resize(46, 0xaa);
    assert_eq!(parsed(&octets), parsed(&ECHO));
    assert_eq!(parsed(&octets).take_octets(), ECHO);
}

#[test]
fn octets_that_are_no_packet_are_refused_with_the_reason() {
    assert_eq!(refused(&[]), "found an empty IP packet, expected at least one octet");
    assert_eq!(refused(&[0x75; 60]), "found IP version 7, expected 4 or 6");
    assert!(refused(&ECHO[..19]).contains("20 byte(s) would be required, but only 19"));
    assert!(refused(&ACK_V6[..39]).contains("40 byte(s) would be required, but only 39"));
    let mut short = ECHO;
    short[2..4].fill(0);
    assert_eq!(refused(&short), "found IPv4 total length 0, expected at least the 20 octets of the header");
    let mut jumbo = with_extension(0, [0, 0, 0xc2, 4, 0, 1, 0, 0]);
    jumbo[4..6].fill(0);
    assert!(refused(&jumbo).contains("jumbograms (RFC 2675) are not supported"));
}

/// The properties that typed packets and their octets share: length, flow, ECN, DSCP, the
/// acknowledgment, and the acknowledgment of a pure ACK.
type Answers = (Bytes, FlowKey, Ecn, u8, Option<AckHeader>, Option<AckHeader>, bool);

fn answers(packet: &IpPacket) -> Answers {
    let (header, pure) = (packet.ack_header(), packet.pure_ack());
    (packet.wire_len(), packet.flow(), packet.ecn(), packet.dscp(), header, pure, packet.is_pure_ack())
}

fn answers_of(pdu: &impl Pdu, endpoints: Endpoints, dscp: u8) -> Answers {
    let (flow, header) = (endpoints.flow_key(pdu.protocol()), pdu.ack_header());
    let pure = header.filter(|header| header.is_pure);
    (pdu.wire_len(), flow, pdu.ecn(), dscp, header, pure, pure.is_some())
}

proptest! {
    #[test]
    fn a_segment_answers_as_its_octets_do(segment in any_segment(), connection: u32, dscp in 0u8..64, is_whole: bool) {
        let endpoints = Endpoints::of_connection(connection);
        let extent = if is_whole { Extent::Whole } else { Extent::Headers };
        let packet = parsed(&octets_of(&segment, endpoints, dscp, extent));
        prop_assert_eq!(answers(&packet), answers_of(&segment, endpoints, dscp));
        let ack = packet.compressible_ack();
        prop_assert_eq!(ack.map(|ack| (ack.segment, ack.endpoints)), segment.is_pure_ack().then_some((segment, endpoints)));
    }

    #[test]
    fn a_user_datagram_does(payload in 16u32..3000, ecn: u8, connection: u32, dscp in 0u8..64) {
        let datagram = UserDatagram { ecn: Ecn::from_bits(ecn), number: 1, sent_at: Instant::ZERO, payload };
        let endpoints = Endpoints::of_connection(connection);
        let packet = parsed(&octets_of(&datagram, endpoints, dscp, Extent::Whole));
        prop_assert_eq!(answers(&packet), answers_of(&datagram, endpoints, dscp));
    }

    #[test]
    fn marked_octets_are_those_of_the_marked_segment(segment in any_segment(), ecn: u8) {
        let ecn = Ecn::from_bits(ecn);
        let mut packet = parsed(&octets_of(&segment, FLOW, 0, Extent::Whole));
        packet.set_ecn(ecn);
        let mut marked = segment;
        marked.set_ecn(ecn);
        prop_assert_eq!(packet, parsed(&octets_of(&marked, FLOW, 0, Extent::Whole)));
    }

    #[test]
    fn any_octets_agree(version in prop_oneof![Just(0x45), Just(0x46), Just(0x60)], octets in vec(any::<u8>(), 0..200)) {
        what_parses_agrees_with_its_octets(&octets);
        what_parses_agrees_with_its_octets(&[&[version], &octets[..]].concat());
    }

    #[test]
    fn any_damage_agrees(
        base in prop_oneof![
            any_segment().prop_map(|segment| octets_of(&segment, FLOW, 0, Extent::Headers)),
            Just(ACK_V6.to_vec()),
            (0u8..=255, any::<[u8; 8]>()).prop_map(|(kind, header)| with_extension(kind, header)),
            prop::sample::select(vec![0u8, 43, 44, 51, 60]).prop_map(|kind| with_extension(kind, [0; 8])),
        ],
        damage in vec(any::<(Index, u8)>(), 0..8),
        end in any::<Index>(),
    ) {
        let mut octets = base;
        for (place, octet) in damage {
            *place.get_mut(&mut octets) = octet;
        }
        what_parses_agrees_with_its_octets(&octets);
        what_parses_agrees_with_its_octets(&octets[..end.index(octets.len())]);
    }
}
