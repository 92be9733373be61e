//! The headers of IPv4 (RFC 791) and IPv6 (RFC 8200).

use super::ack;
use crate::Endpoints;
use crate::endpoints::flow_key_v6;
use crate::ipv4;
use crate::udp::UDP_HEADER;
use acklab_base::{AckHeader, FlowKey};
use etherparse::err::ipv6;
use etherparse::ip_number::{AUTH, IPV6_DEST_OPTIONS, IPV6_FRAG, IPV6_HOP_BY_HOP, IPV6_ROUTE};
use etherparse::{
    IpAuthHeaderSlice, IpNumber, Ipv4ExtensionsSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice, Ipv6RawExtHeaderSlice,
};
use std::net::{IpAddr, SocketAddrV4, SocketAddrV6};

/// The reasons why octets cannot be parsed as an IP packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// There are no octets.
    #[error("found an empty IP packet, expected at least one octet")]
    Empty,
    /// The version is neither 4 nor 6.
    #[error("found IP version {0}, expected 4 or 6")]
    Version(u8),
    /// The IPv4 header is invalid.
    #[error(transparent)]
    Ipv4(#[from] ipv4::DecodeError),
    /// The IPv6 header is invalid.
    #[error(transparent)]
    Ipv6(#[from] ipv6::HeaderSliceError),
    /// A jumbogram, whose length is in a hop-by-hop option (RFC 2675, §2).
    #[error("the IPv6 payload length is zero before a hop-by-hop header: jumbograms (RFC 2675) are not supported")]
    Jumbogram,
}

/// The fields of the headers that are stored.
pub(super) struct Parsed {
    /// Octets of the packet, headers included.
    pub(super) wire_len: usize,
    pub(super) destination: IpAddr,
    pub(super) flow: FlowKey,
    pub(super) ack_header: Option<AckHeader>,
    /// Octets of TCP's or UDP's payload that are present.
    pub(super) payload: usize,
    /// The protocol behind all IP headers, and the number of octets of these headers.
    pub(super) carried: Carried,
}

/// The payload of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    /// The protocol; `None` in a fragment, because only the first fragment has a header of this
    /// protocol.
    pub(super) protocol: Option<IpNumber>,
    /// The number of octets of all IP headers before the payload.
    pub(super) offset: usize,
}

/// The part of the payload that is present, behind all IP headers.
struct Payload<'a> {
    protocol: IpNumber,
    is_fragment: bool,
    octets: &'a [u8],
    /// Octets of the whole payload.
    length: usize,
}

pub(super) fn parse(octets: &[u8]) -> Result<Parsed, ParseError> {
    match octets.first().ok_or(ParseError::Empty)? >> 4 {
        4 => parse_v4(octets),
        6 => parse_v6(octets),
        version => Err(ParseError::Version(version)),
    }
}

/// Source and destination of a packet that was parsed.
pub(super) fn addresses(octets: &[u8]) -> Option<[IpAddr; 2]> {
    let v4 = |place: usize| octets.get(place..)?.first_chunk::<4>().map(|&address| IpAddr::from(address));
    let v6 = |place: usize| octets.get(place..)?.first_chunk::<16>().map(|&address| IpAddr::from(address));
    match octets.first()? >> 4 {
        4 => Some([v4(12)?, v4(16)?]),
        _ => Some([v6(8)?, v6(24)?]),
    }
}

fn parse_v4(octets: &[u8]) -> Result<Parsed, ParseError> {
    let (ip, wire_len) = ipv4::read_header(octets)?;
    let present = &octets[..octets.len().min(wire_len)];
    let is_fragment = ip.is_fragmenting_payload();
    let payload = &present[ip.slice().len()..];
    // All fragments of a packet have the same protocol field. Only the first fragment has an
    // authentication header (RFC 4302, §3.3.4).
    let (protocol, octets) = if is_fragment {
        (ip.protocol(), payload)
    } else {
        let (_, protocol, octets, _) = Ipv4ExtensionsSlice::from_slice_lax(ip.protocol(), payload);
        (protocol, octets)
    };
    let payload = Payload { protocol, is_fragment, octets, length: wire_len - (present.len() - octets.len()) };
    let (from, to) = payload.ports();
    let endpoints = Endpoints {
        source: SocketAddrV4::new(ip.source_addr(), from),
        destination: SocketAddrV4::new(ip.destination_addr(), to),
    };
    Ok(Parsed {
        wire_len,
        destination: ip.destination_addr().into(),
        flow: endpoints.flow_key(protocol.0),
        ack_header: payload.ack_header(),
        payload: payload.behind_headers(),
        carried: payload.carried(wire_len),
    })
}

fn parse_v6(octets: &[u8]) -> Result<Parsed, ParseError> {
    let ip = Ipv6HeaderSlice::from_slice(octets)?;
    if ip.payload_length() == 0 && ip.next_header() == IPV6_HOP_BY_HOP {
        return Err(ParseError::Jumbogram);
    }
    let wire_len = ip.slice().len() + usize::from(ip.payload_length());
    let present = &octets[..octets.len().min(wire_len)];
    let (protocol, is_fragment, octets) = behind_extensions(ip.next_header(), &present[ip.slice().len()..]);
    let payload = Payload { protocol, is_fragment, octets, length: wire_len - (present.len() - octets.len()) };
    let (from, to) = payload.ports();
    let (source, destination) = (ip.source_addr(), ip.destination_addr());
    let [source, destination] = [(source, from), (destination, to)].map(|(ip, port)| SocketAddrV6::new(ip, port, 0, 0));
    Ok(Parsed {
        wire_len,
        destination: ip.destination_addr().into(),
        flow: flow_key_v6(source, destination, protocol.0),
        ack_header: payload.ack_header(),
        payload: payload.behind_headers(),
        carried: payload.carried(wire_len),
    })
}

/// Skips the extension headers (RFC 8200, §4), which begin with a header of number `first`. Returns
/// three values: the number of the first header that is not an extension header or is cut off,
/// `true` if the packet is a fragment, and the remaining octets.
///
/// For a fragment, the number is the Next Header value of the fragment header. This value is the
/// same in all fragments, but only the first fragment begins with this header (RFC 8200, §4.5).
fn behind_extensions(first: IpNumber, octets: &[u8]) -> (IpNumber, bool, &[u8]) {
    // The iterator of etherparse's `Ipv6ExtensionsSlice` is not used, because it continues behind
    // the headers that could be parsed.
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

impl Payload<'_> {
    /// Returns the ports of a TCP segment or a UDP datagram, or zeros.
    fn ports(&self) -> (u16, u16) {
        let has_ports = !self.is_fragment && matches!(self.protocol, IpNumber::TCP | IpNumber::UDP);
        match *self.octets {
            [high, low, to_high, to_low, ..] if has_ports => {
                (u16::from_be_bytes([high, low]), u16::from_be_bytes([to_high, to_low]))
            }
            _ => (0, 0),
        }
    }

    /// Returns the octets behind the header of TCP or UDP; zero for fragments and other protocols.
    fn behind_headers(&self) -> usize {
        let header = match self.protocol {
            _ if self.is_fragment => return 0,
            // The data offset counts words of 32 bits (RFC 9293, §3.1).
            IpNumber::TCP => self.octets.get(12).map_or(0, |offset| usize::from(offset >> 4) * 4),
            IpNumber::UDP => UDP_HEADER as usize,
            _ => return 0,
        };
        self.octets.len().saturating_sub(header)
    }

    fn carried(&self, wire_len: usize) -> Carried {
        Carried { protocol: (!self.is_fragment).then_some(self.protocol), offset: wire_len - self.length }
    }

    fn ack_header(&self) -> Option<AckHeader> {
        let is_segment = !self.is_fragment && self.protocol == IpNumber::TCP;
        if is_segment { ack::header_of(self.octets, self.length) } else { None }
    }
}
