//! The IPv4 header (RFC 791) that transports travel in, and the checksums of both.
//!
//! What a typed packet does not hold is ignored on the way in, and on the way out it is what [`Ipv4Fields`] say: TTL 64,
//! don't fragment and no differentiated service where nothing else is asked for.

use crate::Endpoints;
use acklab_base::Ecn;
use etherparse::err::ipv4;
use etherparse::{IpNumber, Ipv4HeaderSlice};

/// Octets of an IPv4 header without options.
pub const IPV4_HEADER: u64 = 20;

/// The time to live of what an endpoint sends: the value that RFC 1700 recommends and Linux uses.
const TIME_TO_LIVE: u8 = 64;

/// What an IPv4 header says that a typed packet does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Fields {
    /// Differentiated services (RFC 2474, §3): six bits.
    pub dscp: u8,
    /// Identification (RFC 791, §3.1; RFC 6864).
    pub identification: u16,
    /// Don't fragment.
    pub dont_fragment: bool,
    /// Time to live.
    pub time_to_live: u8,
}

impl Default for Ipv4Fields {
    /// As simulated endpoints send packets.
    fn default() -> Self {
        Self { dscp: 0, identification: 0, dont_fragment: true, time_to_live: TIME_TO_LIVE }
    }
}

impl Ipv4Fields {
    /// Those of a header that was received.
    pub(crate) fn of(ip: &Ipv4HeaderSlice<'_>) -> Self {
        Self {
            dscp: ip.dcp().value(),
            identification: ip.identification(),
            dont_fragment: ip.dont_fragment(),
            time_to_live: ip.ttl(),
        }
    }
}

/// How much of a packet is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The headers, whose lengths and checksums are those of the whole packet: at most 80 octets.
    Headers,
    /// The headers and the payload.
    Whole,
}

/// What to do about checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// Refuse a packet whose checksums are wrong, or whose payload is not all there, so that it cannot be told.
    Verify,
    /// Take the packet as it is: its payload was cut off in a capture, or the sender leaves checksums to a network card.
    Ignore,
}

/// The total length of an IPv4 packet has 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet of {octets} octets is longer than the 65535 that IPv4 allows")]
pub struct TooLong {
    /// What it would take.
    pub octets: u64,
}

/// Why octets are no IPv4 packet with the transport that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There is no IPv4 header.
    #[error(transparent)]
    Header(#[from] ipv4::HeaderSliceError),
    /// The IPv4 header is longer than the packet that it heads.
    #[error("the IPv4 header has {header} octets and says that the packet has {total}")]
    TotalLength {
        /// Octets of the IPv4 header.
        header: usize,
        /// Its total length.
        total: usize,
    },
    /// It is a part of a packet.
    #[error("the packet is a fragment")]
    Fragment,
    /// It carries something else.
    #[error("the packet carries protocol {found}, where {expected} was expected")]
    Protocol {
        /// What it carries.
        found: u8,
        /// What was expected.
        expected: u8,
    },
    /// Octets are missing that the checksum was taken over.
    #[error("the packet has {total} octets, of which {there} are there: its checksum cannot be verified")]
    Cut {
        /// Octets of the packet.
        total: usize,
        /// Octets that are there.
        there: usize,
    },
    /// The checksum of the IPv4 header is wrong.
    #[error("the IPv4 checksum is wrong")]
    Checksum,
}

/// The header, without options, of a packet of `total_len` octets (RFC 791, §3.1).
pub(crate) fn header(
    protocol: IpNumber,
    ecn: Ecn,
    endpoints: Endpoints,
    fields: Ipv4Fields,
    total_len: u16,
) -> [u8; IPV4_HEADER as usize] {
    let words = IPV4_HEADER as u8 / 4;
    let [high, low] = total_len.to_be_bytes();
    let mut header = [
        u32::from_be_bytes([4 << 4 | words, fields.dscp << 2 | ecn.bits(), high, low]),
        u32::from(fields.identification) << 16 | u32::from(fields.dont_fragment) << 14,
        u32::from(fields.time_to_live) << 24 | u32::from(protocol.0) << 16,
        endpoints.source.ip().to_bits(),
        endpoints.destination.ip().to_bits(),
    ];
    header[2] |= u32::from(ones_complement(sum_of(&header)));
    octets_of(header)
}

/// The header of the packet that `octets` start with, and how long it says that the packet is.
pub(crate) fn read_header(octets: &[u8]) -> Result<(Ipv4HeaderSlice<'_>, usize), DecodeError> {
    let ip = Ipv4HeaderSlice::from_slice(octets)?;
    let (header, total) = (ip.slice().len(), usize::from(ip.total_len()));
    if total < header { Err(DecodeError::TotalLength { header, total }) } else { Ok((ip, total)) }
}

/// What an IPv4 packet carries.
#[derive(Clone, Copy, Debug)]
pub struct Carried<'a> {
    /// IP's number of its protocol.
    pub protocol: u8,
    /// The ECN field of the packet.
    pub ecn: Ecn,
    /// The octets that are written out.
    pub header: &'a [u8],
    /// Octets of zero behind them.
    pub payload: u32,
}

/// Put the octets of the packet in place of those in `octets`, whose memory is used again. [`Extent::Headers`] leaves the zeros out.
///
/// # Errors
/// If it is longer than a packet may be; `octets` is empty then.
pub fn encode(
    carried: &Carried<'_>,
    endpoints: Endpoints,
    fields: Ipv4Fields,
    extent: Extent,
    octets: &mut Vec<u8>,
) -> Result<(), TooLong> {
    octets.clear();
    let total = IPV4_HEADER + carried.header.len() as u64 + u64::from(carried.payload);
    let total_len = u16::try_from(total).map_err(|_| TooLong { octets: total })?;
    octets.extend_from_slice(&header(IpNumber(carried.protocol), carried.ecn, endpoints, fields, total_len));
    octets.extend_from_slice(carried.header);
    if extent == Extent::Whole {
        octets.resize(usize::from(total_len), 0);
    }
    Ok(())
}

/// The packet that `octets` start with: its header, what of its payload is there, and how long that would be. Octets after the
/// packet, as a link layer pads it with, are left out.
pub(crate) fn read(
    octets: &[u8],
    protocol: IpNumber,
    checksums: Checksums,
) -> Result<(Ipv4HeaderSlice<'_>, &[u8], usize), DecodeError> {
    let (ip, total) = read_header(octets)?;
    let header = ip.slice().len();
    if checksums == Checksums::Verify && ones_complement(sum(ip.slice())) != 0 {
        return Err(DecodeError::Checksum);
    }
    if ip.is_fragmenting_payload() {
        return Err(DecodeError::Fragment);
    }
    if ip.protocol() != protocol {
        return Err(DecodeError::Protocol { found: ip.protocol().0, expected: protocol.0 });
    }
    Ok((ip, &octets[header..octets.len().min(total)], total - header))
}

/// Is all there that the checksum of a transport was taken over? `carried` of `length` octets are.
pub(crate) fn all_there(ip: &Ipv4HeaderSlice<'_>, carried: &[u8], length: usize) -> Result<(), DecodeError> {
    let header = ip.slice().len();
    if carried.len() < length {
        return Err(DecodeError::Cut { total: header + length, there: header + carried.len() });
    }
    Ok(())
}

/// The checksum (RFC 1071) of `octets` of a transport, of which those up to `len` that are not there are zero, and of the
/// pseudo-header before them (RFC 768; RFC 9293, §3.1). Taken over octets that carry their checksum, it is zero if that is right.
pub(crate) fn checksum(protocol: IpNumber, endpoints: Endpoints, octets: &[u8], len: u16) -> u16 {
    checksum_of(protocol, endpoints, sum(octets), len)
}

/// The same of octets that have this sum.
pub(crate) fn checksum_of(protocol: IpNumber, endpoints: Endpoints, sum: u64, len: u16) -> u16 {
    let addresses = u64::from(endpoints.source.ip().to_bits()) + u64::from(endpoints.destination.ip().to_bits());
    ones_complement(addresses + u64::from(protocol.0) + u64::from(len) + sum)
}

/// The sum of these octets as words of 32 bits, which in ones' complement is that of words of 16 (RFC 1071, §2 (C)). Both ends of each
/// compressed ACK take it, so that it must not cost much.
pub(crate) fn sum(octets: &[u8]) -> u64 {
    let (words, rest) = octets.as_chunks();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    words.iter().chain([&last]).map(|word| u64::from(u32::from_be_bytes(*word))).sum()
}

/// The same of words, before they are octets.
pub(crate) fn sum_of(words: &[u32]) -> u64 {
    words.iter().map(|word| u64::from(*word)).sum()
}

/// The octets of a header of five words.
pub(crate) fn octets_of(words: [u32; 5]) -> [u8; 20] {
    let mut octets = [0; 20];
    octets.as_chunks_mut().0.iter_mut().zip(words).for_each(|(octets, word)| *octets = word.to_be_bytes());
    octets
}

/// The complement of a sum, its carries folded in.
const fn ones_complement(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    !(sum as u16)
}
