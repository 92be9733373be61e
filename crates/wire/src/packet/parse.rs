//! The headers of IPv4 (RFC 791) and IPv6 (RFC 8200).

use super::ack;
use crate::Endpoints;
use crate::endpoints::flow_key_v6;
use crate::ipv4;
use acklab_base::{AckHeader, FlowKey};
use etherparse::err::ipv6;
use etherparse::ip_number::{AUTH, IPV6_DEST_OPTIONS, IPV6_FRAG, IPV6_HOP_BY_HOP, IPV6_ROUTE};
use etherparse::{
    IpAuthHeaderSlice, IpNumber, Ipv4ExtensionsSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice, Ipv6RawExtHeaderSlice,
};
use std::net::{IpAddr, SocketAddrV4, SocketAddrV6};

/// Why octets are no IP packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// There is nothing.
    #[error("an IP packet has an octet at least, found none")]
    Empty,
    /// The first four bits are none of a version that is known.
    #[error("the IP version is {0}, expected 4 or 6")]
    Version(u8),
    /// The header of IPv4 is wrong.
    #[error(transparent)]
    Ipv4(#[from] ipv4::DecodeError),
    /// The header of IPv6 is wrong.
    #[error(transparent)]
    Ipv6(#[from] ipv6::HeaderSliceError),
    /// The length stands in a hop-by-hop option (RFC 2675, §2).
    #[error("the IPv6 payload length is zero before a hop-by-hop header: jumbograms (RFC 2675) are not supported")]
    Jumbogram,
}

/// What headers say.
pub(super) struct Parsed {
    /// Octets of the packet, headers included.
    pub(super) wire_len: usize,
    pub(super) destination: IpAddr,
    pub(super) flow: FlowKey,
    pub(super) ack_header: Option<AckHeader>,
}

/// What of the payload is there, behind all headers of IP.
struct Carried<'a> {
    protocol: IpNumber,
    is_fragment: bool,
    octets: &'a [u8],
    /// As many octets as it would be.
    length: usize,
}

pub(super) fn parse(octets: &[u8]) -> Result<Parsed, ParseError> {
    match octets.first().ok_or(ParseError::Empty)? >> 4 {
        4 => parse_v4(octets),
        6 => parse_v6(octets),
        version => Err(ParseError::Version(version)),
    }
}

fn parse_v4(octets: &[u8]) -> Result<Parsed, ParseError> {
    let (ip, wire_len) = ipv4::read_header(octets)?;
    let there = &octets[..octets.len().min(wire_len)];
    let is_fragment = ip.is_fragmenting_payload();
    let payload = &there[ip.slice().len()..];
    // All fragments of a packet name the same protocol here, and only the first has an authentication header (RFC 4302, §3.3.4).
    let (protocol, octets) = if is_fragment {
        (ip.protocol(), payload)
    } else {
        let (_, protocol, octets, _) = Ipv4ExtensionsSlice::from_slice_lax(ip.protocol(), payload);
        (protocol, octets)
    };
    let carried = Carried { protocol, is_fragment, octets, length: wire_len - (there.len() - octets.len()) };
    let (from, to) = carried.ports();
    let endpoints = Endpoints {
        source: SocketAddrV4::new(ip.source_addr(), from),
        destination: SocketAddrV4::new(ip.destination_addr(), to),
    };
    Ok(Parsed {
        wire_len,
        destination: ip.destination_addr().into(),
        flow: endpoints.flow_key(protocol.0),
        ack_header: carried.ack_header(),
    })
}

fn parse_v6(octets: &[u8]) -> Result<Parsed, ParseError> {
    let ip = Ipv6HeaderSlice::from_slice(octets)?;
    if ip.payload_length() == 0 && ip.next_header() == IPV6_HOP_BY_HOP {
        return Err(ParseError::Jumbogram);
    }
    let wire_len = ip.slice().len() + usize::from(ip.payload_length());
    let there = &octets[..octets.len().min(wire_len)];
    let (protocol, is_fragment, octets) = behind_extensions(ip.next_header(), &there[ip.slice().len()..]);
    let carried = Carried { protocol, is_fragment, octets, length: wire_len - (there.len() - octets.len()) };
    let (from, to) = carried.ports();
    let (source, destination) = (ip.source_addr(), ip.destination_addr());
    let [source, destination] = [(source, from), (destination, to)].map(|(ip, port)| SocketAddrV6::new(ip, port, 0, 0));
    Ok(Parsed {
        wire_len,
        destination: ip.destination_addr().into(),
        flow: flow_key_v6(source, destination, protocol.0),
        ack_header: carried.ack_header(),
    })
}

/// What stands behind the extension headers (RFC 8200, §4) of which the first has this number: the number of the first header that is
/// none of them or is cut off, whether it is that of a fragment, and the octets from there.
///
/// In a fragment that number is the one of the header at which the packet was divided: all fragments name it, and only the first begins
/// with it (RFC 8200, §4.5).
fn behind_extensions(first: IpNumber, octets: &[u8]) -> (IpNumber, bool, &[u8]) {
    // Not by etherparse's `Ipv6ExtensionsSlice`, whose iterator reads on behind the headers that could be parsed.
    let (mut number, mut rest) = (first, octets);
    loop {
        let (len, next, is_fragment) = match number {
            IPV6_HOP_BY_HOP | IPV6_ROUTE | IPV6_DEST_OPTIONS => {
                let Ok(header) = Ipv6RawExtHeaderSlice::from_slice(rest) else { break };
                (header.slice().len(), header.next_header(), false)
            }
            AUTH => {
                let Ok(header) = IpAuthHeaderSlice::from_slice(rest) else { break };
                (header.slice().len(), header.next_header(), false)
            }
            IPV6_FRAG => {
                let Ok(header) = Ipv6FragmentHeaderSlice::from_slice(rest) else { break };
                (header.slice().len(), header.next_header(), header.is_fragmenting_payload())
            }
            _ => break,
        };
        (number, rest) = (next, &rest[len..]);
        if is_fragment {
            return (number, true, rest);
        }
    }
    (number, false, rest)
}

impl Carried<'_> {
    /// The ports with which a segment of TCP and a datagram of UDP begin, or zeros.
    fn ports(&self) -> (u16, u16) {
        let has_ports = !self.is_fragment && matches!(self.protocol, IpNumber::TCP | IpNumber::UDP);
        match *self.octets {
            [high, low, to_high, to_low, ..] if has_ports => {
                (u16::from_be_bytes([high, low]), u16::from_be_bytes([to_high, to_low]))
            }
            _ => (0, 0),
        }
    }

    fn ack_header(&self) -> Option<AckHeader> {
        let is_segment = !self.is_fragment && self.protocol == IpNumber::TCP;
        if is_segment { ack::header_of(self.octets, self.length) } else { None }
    }
}
