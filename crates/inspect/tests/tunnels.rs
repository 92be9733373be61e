//! Tests that a TCP connection is found in any nesting of tunnels and tags.

use crate::properties::decapsulation::{LINK_TYPES, accounted, any_frame_is_in_the_report};
use crate::seeds;
use acklab_base::{Ecn, Instant};
use acklab_inspect::table::Options as Bounds;
use acklab_inspect::{Inspector, LinkType, Report};
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};
use acklab_wire::{Endpoints, IpVersion, Pdu};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Octets of a frame, by their first header.
#[derive(Clone, Debug)]
enum Octets {
    Ip(Vec<u8>),
    Ethernet(Vec<u8>),
}

/// A header around an IP packet, whose result is an IP packet.
#[derive(Clone, Copy, Debug)]
enum Tunnel {
    IpInIp,
    Gre { flags: u8 },
    Gtp { has_container: bool },
    L2tp,
    Lisp,
    MplsInUdp,
    Nsh,
}

/// A header around an Ethernet frame, whose result is an IP packet.
#[derive(Clone, Copy, Debug)]
enum Overlay {
    Vxlan,
    VxlanGeneric,
    Geneve { options: u8 },
    Bridged,
    Erspan { kind: u8 },
    EtherIp,
    MplsPseudowire { has_control_word: bool },
    Tzsp,
}

/// A header around an IP packet, whose result is an Ethernet frame.
#[derive(Clone, Copy, Debug)]
enum Framing {
    Plain,
    Vlan { tags: u8 },
    Mpls { labels: u8 },
    Pppoe,
    Snap,
    ServiceHeader,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Tunnel(Tunnel),
    Overlay(Overlay),
    Framing(Framing),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let tunnel = prop_oneof![
        Just(Tunnel::IpInIp),
        select(vec![0, 0x80, 0x20, 0x10, 0xb0]).prop_map(|flags| Tunnel::Gre { flags }),
        any::<bool>().prop_map(|has_container| Tunnel::Gtp { has_container }),
        Just(Tunnel::L2tp),
        Just(Tunnel::Lisp),
        Just(Tunnel::MplsInUdp),
        Just(Tunnel::Nsh),
    ];
    let overlay = prop_oneof![
        Just(Overlay::Vxlan),
        Just(Overlay::VxlanGeneric),
        (0u8..4).prop_map(|options| Overlay::Geneve { options }),
        Just(Overlay::Bridged),
        (1u8..4).prop_map(|kind| Overlay::Erspan { kind }),
        Just(Overlay::EtherIp),
        any::<bool>().prop_map(|has_control_word| Overlay::MplsPseudowire { has_control_word }),
        Just(Overlay::Tzsp),
    ];
    let framing = prop_oneof![
        Just(Framing::Plain),
        (1u8..4).prop_map(|tags| Framing::Vlan { tags }),
        (1u8..4).prop_map(|labels| Framing::Mpls { labels }),
        Just(Framing::Pppoe),
        Just(Framing::Snap),
        Just(Framing::ServiceHeader),
    ];
    vec(
        prop_oneof![tunnel.prop_map(Step::Tunnel), overlay.prop_map(Step::Overlay), framing.prop_map(Step::Framing)],
        0..6,
    )
}

/// Returns an IPv4 packet with this protocol and a correct checksum.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let mut packet = vec![0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    let sum: u32 = packet.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let check = !((sum & 0xffff) + (sum >> 16)) as u16;
    packet[10..12].copy_from_slice(&check.to_be_bytes());
    packet.extend_from_slice(payload);
    packet
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    let header = [50_000_u16.to_be_bytes(), port.to_be_bytes(), length.to_be_bytes(), [0, 0]].concat();
    ipv4(17, &[&header, payload].concat())
}

fn ether_type(packet: &[u8]) -> [u8; 2] {
    if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [0x08, 0x00] }
}

fn ethernet(kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind, payload].concat()
}

fn tunnelled(tunnel: Tunnel, packet: &[u8]) -> Vec<u8> {
    let with = |header: &[u8]| [header, packet].concat();
    match tunnel {
        Tunnel::IpInIp => ipv4(if packet[0] >> 4 == 6 { 41 } else { 4 }, packet),
        Tunnel::Gre { flags } => {
            let [high, low] = ether_type(packet);
            let fields = vec![0; 4 * (flags >> 4).count_ones() as usize];
            ipv4(47, &[&[flags, 0, high, low][..], &fields, packet].concat())
        }
        Tunnel::Gtp { has_container } => {
            let container: &[u8] = if has_container { &[0, 0, 0, 0x85, 1, 0x10, 9, 0] } else { &[] };
            let [high, low] = ((container.len() + packet.len()) as u16).to_be_bytes();
            let flags = if has_container { 0x34 } else { 0x30 };
            udp(2152, &[&[flags, 255, high, low, 0, 0, 0, 1][..], container, packet].concat())
        }
        Tunnel::L2tp => {
            udp(1701, &with(&[0, 2, 0, 1, 0, 2, 0xff, 3, 0, if packet[0] >> 4 == 6 { 0x57 } else { 0x21 }]))
        }
        Tunnel::Lisp => udp(4341, &with(&[0; 8])),
        Tunnel::MplsInUdp => udp(6635, &with(&[0, 1, 1, 64])),
        Tunnel::Nsh => {
            let next = if packet[0] >> 4 == 6 { 2 } else { 1 };
            udp(4790, &with(&[0x0c, 0, 0, 4, 0, 0, 7, 0, 0, 2, 1, next, 0, 0, 1, 255]))
        }
    }
}

fn overlaid(overlay: Overlay, frame: &[u8]) -> Vec<u8> {
    let with = |header: &[u8]| [header, frame].concat();
    match overlay {
        Overlay::Vxlan => udp(4789, &with(&[8, 0, 0, 0, 0, 0, 7, 0])),
        Overlay::VxlanGeneric => udp(4790, &with(&[0x0c, 0, 0, 3, 0, 0, 7, 0])),
        Overlay::Geneve { options } => {
            let more = vec![1; usize::from(options) * 4];
            udp(6081, &[&[options, 0, 0x65, 0x58, 0, 0, 7, 0][..], &more, frame].concat())
        }
        Overlay::Bridged => ipv4(47, &with(&[0x20, 0, 0x65, 0x58, 0, 0, 0, 7])),
        Overlay::Erspan { kind: 1 } => ipv4(47, &with(&[0, 0, 0x88, 0xbe])),
        Overlay::Erspan { kind: 2 } => ipv4(47, &with(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 7, 0x10, 7, 0, 1, 0, 0, 0, 0])),
        Overlay::Erspan { .. } => ipv4(
            47,
            &with(&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 7, 0x20, 7, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8]),
        ),
        Overlay::EtherIp => ipv4(97, &with(&[0x30, 0])),
        Overlay::MplsPseudowire { has_control_word: true } => ipv4(137, &with(&[0, 1, 1, 64, 0, 0, 0, 7])),
        Overlay::MplsPseudowire { has_control_word: false } => ipv4(137, &with(&[0, 1, 1, 64])),
        Overlay::Tzsp => udp(37008, &with(&[1, 0, 0, 1, 10, 1, 200, 1])),
    }
}

fn framed(framing: Framing, packet: &[u8]) -> Vec<u8> {
    match framing {
        Framing::Plain => ethernet(ether_type(packet), packet),
        Framing::Vlan { tags } => {
            let tags: Vec<u8> = (0..tags).flat_map(|tag| [[0x88, 0xa8], [0, tag]].concat()).collect();
            [&[2; 12][..], &tags, &ether_type(packet), packet].concat()
        }
        Framing::Mpls { labels } => {
            let mut stack = vec![0; 4 * usize::from(labels)];
            stack[4 * usize::from(labels) - 2] = 1;
            ethernet([0x88, 0x47], &[&stack, packet].concat())
        }
        Framing::Pppoe => {
            let [high, low] = (2 + packet.len() as u16).to_be_bytes();
            let protocol = if packet[0] >> 4 == 6 { 0x57 } else { 0x21 };
            ethernet([0x88, 0x64], &[&[0x11, 0, 0, 7, high, low, 0, protocol][..], packet].concat())
        }
        Framing::Snap => {
            let length = 8 + packet.len() as u16;
            let [high, low] = ether_type(packet);
            ethernet(length.to_be_bytes(), &[&[0xaa, 0xaa, 3, 0, 0, 0, high, low][..], packet].concat())
        }
        Framing::ServiceHeader => {
            let next = if packet[0] >> 4 == 6 { 2 } else { 1 };
            ethernet([0x89, 0x4f], &[&[0, 2, 1, next, 0, 0, 1, 255][..], packet].concat())
        }
    }
}

fn after(octets: Octets, step: Step) -> Octets {
    match (step, octets) {
        (Step::Tunnel(tunnel), Octets::Ip(packet)) => Octets::Ip(tunnelled(tunnel, &packet)),
        (Step::Overlay(overlay), Octets::Ethernet(frame)) => Octets::Ip(overlaid(overlay, &frame)),
        (Step::Framing(framing), Octets::Ip(packet)) => Octets::Ethernet(framed(framing, &packet)),
        (Step::Tunnel(tunnel), Octets::Ethernet(frame)) => {
            Octets::Ip(tunnelled(tunnel, &overlaid(Overlay::Vxlan, &frame)))
        }
        (Step::Overlay(overlay), Octets::Ip(packet)) => Octets::Ip(overlaid(overlay, &framed(Framing::Plain, &packet))),
        (Step::Framing(framing), Octets::Ethernet(frame)) => {
            Octets::Ethernet(framed(framing, &overlaid(Overlay::Geneve { options: 1 }, &frame)))
        }
    }
}

/// Returns a segment with timestamps and 100 octets of payload, in some tunnels.
fn nested(version: IpVersion, steps: &[Step]) -> (LinkType, Vec<u8>) {
    let options = Options { timestamps: Some(Timestamps { value: 1, echo: 2 }), ..Options::default() };
    let (seq, ack) = (SeqNumber(7), SeqNumber(8));
    let segment = Segment { ecn: Ecn::NotEct, seq, ack, flags: Flags::ACK, window: 9, options, payload: 100 };
    let mut packet = Vec::new();
    segment.encode(Endpoints::of_nodes(0, 1, 0), Ipv4Fields::default(), Extent::Whole, &mut packet).unwrap();
    version.convert(&mut packet);
    match steps.iter().fold(Octets::Ip(packet), |octets, &step| after(octets, step)) {
        Octets::Ip(octets) => (LinkType::IP, octets),
        Octets::Ethernet(octets) => (LinkType::ETHERNET, octets),
    }
}

fn inspected(link_type: LinkType, octets: &[u8], length: usize) -> Report {
    let mut inspector = Inspector::new(Bounds::default());
    inspector.frame(Instant::ZERO, link_type, octets, length as u32);
    inspector.finish()
}

fn version() -> impl Strategy<Value = IpVersion> {
    select(vec![IpVersion::V4, IpVersion::V6])
}

proptest! {
    #[test]
    fn a_connection_is_found_in_any_nesting(version in version(), steps in steps()) {
        let (link_type, octets) = nested(version, &steps);
        let report = inspected(link_type, &octets, octets.len());
        prop_assert_eq!(report.counts.connections, 1, "{:?}", report.counts);
        prop_assert_eq!(report.counts.others + report.counts.malformed, 0);
        prop_assert_eq!(report.connections[0].directions[0].data_octets, 100);
    }

    #[test]
    fn a_cut_is_never_taken_for_damage(version in version(), steps in steps(), end in any::<Index>()) {
        let (link_type, octets) = nested(version, &steps);
        let report = inspected(link_type, &octets[..end.index(octets.len())], octets.len());
        prop_assert!(report.counts.unopened.damaged.is_empty(), "{:?}", report.counts);
        prop_assert!(accounted(&report) > 0, "{:?}", report.counts);
    }

    #[test]
    fn damage_to_any_nesting_is_in_the_report(
        version in version(),
        steps in steps(),
        damage in vec(any::<(Index, u8)>(), 0..6),
        link_type in select(LINK_TYPES.to_vec()),
    ) {
        let (own, mut octets) = nested(version, &steps);
        for (place, octet) in damage {
            *place.get_mut(&mut octets) = octet;
        }
        for link_type in [own, LinkType(link_type)] {
            let report = inspected(link_type, &octets, octets.len());
            prop_assert!(accounted(&report) > 0, "{:?}", report.counts);
        }
    }

    #[test]
    fn any_octets_are_in_the_report(octets in vec(any::<u8>(), 0..2000)) {
        any_frame_is_in_the_report(&octets);
    }
}

#[test]
fn the_seeds_of_the_fuzz_target() {
    seeds::replay("decapsulate", any_frame_is_in_the_report);
}

/// Seeds of the fuzzer. Their frames contain the same SYN behind headers of different kinds.
const OPENED: [&[u8]; 4] = [
    include_bytes!("../../../fuzz/seeds/decapsulate/link_types"),
    include_bytes!("../../../fuzz/seeds/decapsulate/tags"),
    include_bytes!("../../../fuzz/seeds/decapsulate/tunnels_over_ip"),
    include_bytes!("../../../fuzz/seeds/decapsulate/tunnels_over_udp"),
];

/// The fuzzer starts from each of these headers.
#[test]
fn each_frame_of_these_seeds_is_opened() {
    let mut frames = 0;
    for mut rest in OPENED {
        while let [kind, length, _, further @ ..] = rest {
            let (frame, behind) = further.split_at(usize::from(*length));
            let link_type = LinkType(LINK_TYPES[usize::from(*kind)]);
            let report = inspected(link_type, frame, frame.len());
            assert_eq!(report.counts.connections, 1, "{link_type:?} {frame:02x?}: {:?}", report.counts);
            (rest, frames) = (behind, frames + 1);
        }
    }
    assert_eq!(frames, 58);
}

#[test]
fn the_number_of_headers_is_bounded() {
    // 32 headers are opened: Ethernet, 29 tags, the header after the last tag, and IP.
    for (tags, is_found) in [(29, true), (30, false)] {
        let packet = nested(IpVersion::V4, &[]).1;
        let octets = framed(Framing::Vlan { tags }, &packet);
        let report = inspected(LinkType::ETHERNET, &octets, octets.len());
        assert_eq!(report.counts.connections == 1, is_found, "{tags} tags: {:?}", report.counts);
        assert_eq!(report.counts.unopened.closed.contains_key("too many headers"), !is_found);
    }
}
