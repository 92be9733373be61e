//! The versions of IP for simulated packets: the addresses of nodes, and the header of a packet.
//!
//! Transports encode their packets with an IPv4 header. For IPv6, this header is replaced, which
//! changes the pseudo-header in the transport's checksum.

use crate::Endpoints;
use crate::endpoints::flow_key_v6;
use crate::ipv4::IPV4_HEADER;
use acklab_base::FlowKey;
use etherparse::IpNumber;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

/// Octets of an IPv6 header (RFC 8200, §3).
pub(crate) const IPV6_HEADER: usize = 40;
/// The network 2001:db8::/32, which is reserved for documentation (RFC 3849).
const NETWORK: u128 = 0x2001_0db8 << 96;

/// A version of the Internet Protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IpVersion {
    /// RFC 791.
    #[default]
    V4,
    /// RFC 8200.
    V6,
}

impl IpVersion {
    /// Returns the number of octets by which the header is longer than an IPv4 header.
    #[must_use]
    pub const fn longer_by(self) -> u64 {
        match self {
            Self::V4 => 0,
            Self::V6 => IPV6_HEADER as u64 - IPV4_HEADER,
        }
    }

    /// Returns the address of the node that has `address` with IPv4. With IPv6, the lower 24 bits
    /// are copied from `address`: 2001:db8::1 for 10.0.0.1.
    #[must_use]
    pub const fn address(self, address: Ipv4Addr) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(address),
            Self::V6 => IpAddr::V6(v6(address)),
        }
    }

    /// Returns the key of the flow with this IP protocol between `endpoints`. The addresses in
    /// packets are those that [`address`](Self::address) returns for `endpoints`.
    #[must_use]
    pub fn flow_key(self, endpoints: Endpoints, protocol: u8) -> FlowKey {
        let own = |at: SocketAddrV4| SocketAddrV6::new(v6(*at.ip()), at.port(), 0, 0);
        match self {
            Self::V4 => endpoints.flow_key(protocol),
            Self::V6 => flow_key_v6(own(endpoints.source), own(endpoints.destination), protocol),
        }
    }

    /// Converts an encoded IPv4 packet without options to a packet of this version.
    ///
    /// The traffic class, hop limit and payload are copied from the IPv4 packet, and the flow label
    /// is zero (RFC 6437, §3). The checksum of TCP or UDP is updated.
    pub fn convert(self, octets: &mut Vec<u8>) {
        const V4: usize = IPV4_HEADER as usize;
        let (Self::V6, Some((header, _))) = (self, octets.split_first_chunk::<V4>()) else { return };
        let header = *header;
        let source = Ipv4Addr::new(header[12], header[13], header[14], header[15]);
        let destination = Ipv4Addr::new(header[16], header[17], header[18], header[19]);
        let length = u16::from_be_bytes([header[2], header[3]]) - IPV4_HEADER as u16;
        let mut new = [0; IPV6_HEADER];
        new[..4].copy_from_slice(&(6 << 28 | u32::from(header[1]) << 20).to_be_bytes());
        new[4..6].copy_from_slice(&length.to_be_bytes());
        (new[6], new[7]) = (header[9], header[8]);
        new[8..24].copy_from_slice(&v6(source).octets());
        new[24..].copy_from_slice(&v6(destination).octets());
        update_checksum(IpNumber(header[9]), &header[12..], &new[8..], &mut octets[V4..]);
        octets.splice(..V4, new);
    }
}

/// Returns the IPv6 address of the node with this IPv4 address.
const fn v6(address: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(NETWORK | (address.to_bits() & 0x00ff_ffff) as u128)
}

/// Updates the checksum of a TCP segment or UDP datagram whose pseudo-header had the addresses
/// `old` and has `new` (RFC 1624, equation 3). Protocol and length contribute the same sum to both
/// pseudo-headers (RFC 8200, §8.1).
fn update_checksum(protocol: IpNumber, old: &[u8], new: &[u8], carried: &mut [u8]) {
    let place = match protocol {
        IpNumber::TCP => 16,
        IpNumber::UDP => 6,
        _ => return,
    };
    let Some(checksum) = carried.get_mut(place..).and_then(<[u8]>::first_chunk_mut::<2>) else { return };
    let words = |octets: &[u8]| octets.as_chunks().0.iter().map(|word| u16::from_be_bytes(*word)).collect::<Vec<_>>();
    let removed: u64 = words(old).into_iter().map(|word| u64::from(!word)).sum();
    let added: u64 = words(new).into_iter().map(u64::from).sum();
    let mut sum = u64::from(!u16::from_be_bytes(*checksum)) + removed + added;
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    // Zero would mean that a UDP datagram has no checksum (RFC 768; RFC 8200, §8.1).
    let new = match (protocol, !(sum as u16)) {
        (IpNumber::UDP, 0) => 0xffff,
        (_, new) => new,
    };
    *checksum = new.to_be_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipv4::{Extent, Ipv4Fields};
    use crate::tcp::{Flags, Options, Segment, SeqNumber};
    use crate::{IpPacket, Pdu, udp};
    use acklab_base::{Bytes, Datagram, Ecn, Instant, NodeId};
    use etherparse::checksum::u32_16bit_word as sum;

    fn segment(payload: u32) -> Segment {
        let (seq, ack) = (SeqNumber(77), SeqNumber(78));
        Segment { ecn: Ecn::Ect0, seq, ack, flags: Flags::ACK, window: 1000, options: Options::default(), payload }
    }

    fn converted(pdu: &impl Pdu, extent: Extent) -> Vec<u8> {
        let mut octets = Vec::new();
        let fields = Ipv4Fields { dscp: 46, ..Ipv4Fields::default() };
        pdu.encode(Endpoints::of_nodes(0, 1, 0), fields, extent, &mut octets).unwrap();
        IpVersion::V6.convert(&mut octets);
        octets
    }

    /// Returns the checksum over the pseudo-header and the payload of a whole packet. It is zero if
    /// the checksum in the packet is correct.
    fn remainder(octets: &[u8]) -> u16 {
        let (header, carried) = octets.split_at(IPV6_HEADER);
        let mut total = 0;
        total = sum::add_slice(total, &header[8..]);
        total = sum::add_4bytes(total, (carried.len() as u32).to_be_bytes());
        total = sum::add_4bytes(total, [0, 0, 0, header[6]]);
        total = sum::add_slice(total, carried);
        sum::ones_complement(total)
    }

    #[test]
    fn a_segment_of_tcp_keeps_its_fields_and_gets_a_valid_checksum() {
        for payload in [0, 1, 1448] {
            let segment = segment(payload);
            let octets = converted(&segment, Extent::Whole);
            assert_eq!(octets.len() as u64, segment.wire_len().get() + IpVersion::V6.longer_by());
            assert_eq!(remainder(&octets), 0);
            let packet = IpPacket::parse(octets, |_| NodeId(1)).unwrap();
            assert_eq!((packet.dscp(), packet.ecn()), (46, Ecn::Ect0));
            assert_eq!(packet.wire_len(), segment.wire_len() + Bytes(20));
            assert_eq!((packet.segment(), packet.datagram()), (Some(segment), None));
            assert_eq!(packet.flow(), IpVersion::V6.flow_key(Endpoints::of_nodes(0, 1, 0), segment.protocol()));
        }
    }

    #[test]
    fn a_datagram_of_udp_gets_a_valid_checksum() {
        for number in 0..300 {
            let datagram = udp::UserDatagram { ecn: Ecn::NotEct, number, sent_at: Instant::ZERO, payload: 100 };
            let octets = converted(&datagram, Extent::Whole);
            assert_eq!(remainder(&octets), 0);
            let packet = IpPacket::parse(octets, |_| NodeId(1)).unwrap();
            assert_eq!((packet.segment(), packet.datagram()), (None, Some(datagram)));
        }
    }

    #[test]
    fn octets_that_a_capture_omits_count() {
        let segment = segment(1448);
        let (cut, whole) = (converted(&segment, Extent::Headers), converted(&segment, Extent::Whole));
        assert_eq!(cut, whole[..cut.len()]);
    }

    #[test]
    fn nodes_have_addresses_of_the_documentation_prefix() {
        let address = |number| IpVersion::V6.address(crate::address_of_node(number)).to_string();
        assert_eq!([address(0), address(299)], ["2001:db8::1", "2001:db8::12c"]);
    }
}
