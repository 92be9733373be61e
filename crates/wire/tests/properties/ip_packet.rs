//! Properties of the parser, for any octets. The tests of this crate and the fuzz target
//! `ip_packet` share them.

use acklab_base::{Datagram, Ecn, NodeId};
use acklab_wire::ipv4::Checksums;
use acklab_wire::{IpPacket, rohc, tcp};
use std::net::IpAddr;

/// Returns a node for an address. Different addresses have different nodes.
fn node(address: IpAddr) -> NodeId {
    NodeId(match address {
        IpAddr::V4(address) => address.to_bits(),
        IpAddr::V6(address) => address.to_bits() as u32,
    })
}

/// Checks that parsing never panics, and that the result agrees with its octets, also after it is
/// marked.
///
/// # Panics
/// If the property is violated.
pub(crate) fn what_parses_agrees_with_its_octets(octets: &[u8]) {
    let packet = match IpPacket::parse(octets.to_vec(), node) {
        Ok(packet) => packet,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let there = packet.octets();
    assert!(octets.starts_with(there));
    assert_eq!(there.len() as u64, packet.wire_len().get().min(octets.len() as u64));
    assert_eq!(IpPacket::parse(there.to_vec(), node), Ok(packet.clone()));
    agrees_with_the_decoder(&packet);
    marks_change_nothing_else(&packet);
}

/// Checks that a packet that decodes to a segment has the flow of its endpoints and the fields of
/// the segment.
fn agrees_with_the_decoder(packet: &IpPacket) {
    let Ok((endpoints, segment)) = tcp::decode(packet.octets(), Checksums::Ignore) else { return };
    assert_eq!(packet.flow(), endpoints.flow_key(6));
    assert_eq!(packet.destination(), node((*endpoints.destination.ip()).into()));
    assert_eq!((packet.wire_len().get() as u32, packet.ecn()), (header_len(packet) + segment.payload, segment.ecn));
    let has_other_content = packet.ack_header().is_some_and(|header| header.has_other_content);
    let of_segment = segment.ack_header();
    assert!(has_other_content || !of_segment.is_some_and(|header| header.has_other_content), "{packet:?}");
    let accurate_ecn = packet.ack_header().map_or(0, |header| header.accurate_ecn);
    assert!(accurate_ecn == 0 || of_segment.is_some_and(|header| header.accurate_ecn == accurate_ecn), "{packet:?}");
    let expected = of_segment.map(|header| acklab_base::AckHeader { has_other_content, accurate_ecn, ..header });
    assert_eq!(packet.ack_header(), expected);
    assert_eq!(packet.is_pure_ack(), segment.is_pure_ack());
    if let Some(ack) = packet.compressible_ack() {
        assert_eq!(packet.with_ack(&ack), *packet);
        assert_eq!(ack, rohc::Ack { segment, endpoints, ip: ack.ip });
    }
}

/// Returns the number of octets of both headers of a segment in IPv4.
fn header_len(packet: &IpPacket) -> u32 {
    let octets = packet.octets();
    let ip = usize::from(octets[0] & 0x0f) * 4;
    (ip + usize::from(octets[ip + 12] >> 4) * 4) as u32
}

fn marks_change_nothing_else(packet: &IpPacket) {
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        let mut marked = packet.clone();
        marked.set_ecn(ecn);
        assert_eq!((marked.ecn(), marked.dscp()), (ecn, packet.dscp()));
        assert_eq!(IpPacket::parse(marked.octets().to_vec(), node), Ok(marked.clone()));
        // The ones' complement sum of an IPv4 header is unchanged: zero if the checksum was
        // correct.
        assert_eq!(sum(&marked), sum(packet));
        let changed =
            marked.octets().iter().zip(packet.octets()).enumerate().filter(|(_, (after, before))| after != before);
        let may_change: &[usize] = if sum(packet).is_some() { &[1, 10, 11] } else { &[1] };
        assert!(changed.into_iter().all(|(place, _)| may_change.contains(&place)), "{packet:?}");
    }
}

/// Returns the sum of the header, its checksum included (RFC 1071); none for IPv6.
fn sum(packet: &IpPacket) -> Option<u16> {
    let octets = packet.octets();
    let header = (octets[0] >> 4 == 4).then(|| &octets[..usize::from(octets[0] & 0x0f) * 4])?;
    let sum: u32 = header.as_chunks().0.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    let sum = (sum >> 16) + (sum & 0xffff);
    Some(!((sum >> 16) + (sum & 0xffff)) as u16)
}
