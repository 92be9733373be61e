//! The IPv4 header (RFC 791), and the Internet checksum (RFC 1071).
//!
//! When a packet is encoded, [`Ipv4Fields`] supplies the fields that a typed packet lacks. Their
//! defaults are TTL 64, don't fragment, and DSCP 0. Decoding ignores these fields.

use crate::Endpoints;
use acklab_base::Ecn;
use etherparse::err::ipv4;
use etherparse::{IpNumber, Ipv4HeaderSlice};

/// Octets of an IPv4 header without options.
pub const IPV4_HEADER: u64 = 20;

/// The time to live of packets from an endpoint: the value that RFC 1700 recommends and Linux uses.
const TIME_TO_LIVE: u8 = 64;

/// The fields of an IPv4 header that a typed packet lacks.
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
    /// Returns the fields of packets from simulated endpoints.
    fn default() -> Self {
        Self { dscp: 0, identification: 0, dont_fragment: true, time_to_live: TIME_TO_LIVE }
    }
}

impl Ipv4Fields {
    /// Returns the fields of a received header.
    pub(crate) fn of(ip: &Ipv4HeaderSlice<'_>) -> Self {
        Self {
            dscp: ip.dcp().value(),
            identification: ip.identification(),
            dont_fragment: ip.dont_fragment(),
            time_to_live: ip.ttl(),
        }
    }
}

/// The part of a packet that is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only the headers, with the lengths and checksums of the whole packet: at most 80 octets.
    Headers,
    /// The headers and the payload.
    Whole,
}

/// The treatment of checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// A packet with a wrong checksum is an error. Missing payload is also an error, because the
    /// checksum cannot be verified.
    Verify,
    /// Any checksum is accepted: a capture may lack the payload, or the sender may offload
    /// checksums to its network interface.
    Ignore,
}

/// The packet is too long for the 16 bits of the total length field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet of {octets} octets is longer than the 65535 that IPv4 allows")]
pub struct TooLong {
    /// The number of octets of the packet.
    pub octets: u64,
}

/// The reasons why octets cannot be decoded as an IPv4 packet with the expected protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There is no IPv4 header.
    #[error(transparent)]
    Header(#[from] ipv4::HeaderSliceError),
    /// The header is longer than the packet.
    #[error("found IPv4 total length {total}, expected at least the {header} octets of the header")]
    TotalLength {
        /// Octets of the IPv4 header.
        header: usize,
        /// The total length field of the header.
        total: usize,
    },
    /// The packet is a fragment.
    #[error("the packet is a fragment")]
    Fragment,
    /// The packet carries another protocol.
    #[error("found protocol {found}, expected {expected}")]
    Protocol {
        /// The protocol found.
        found: u8,
        /// The protocol expected.
        expected: u8,
    },
    /// Octets that the checksum covers are missing.
    #[error("found {present} of {total} octets of the packet, expected all to verify its checksum")]
    Cut {
        /// The number of octets of the packet.
        total: usize,
        /// The number of octets that are present.
        present: usize,
    },
    /// The checksum of the IPv4 header is wrong.
    #[error("the IPv4 checksum is wrong")]
    Checksum,
}

/// Encodes the header, without options, of a packet of `total_len` octets (RFC 791, §3.1).
pub(crate) fn header(
    protocol: IpNumber,
    ecn: Ecn,
    endpoints: Endpoints,
    fields: Ipv4Fields,
    total_len: u16,
) -> [u8; IPV4_HEADER as usize] {
    octets_of(header_words(protocol, ecn, endpoints, fields, total_len))
}

/// Returns the header of [`header`] as words in host order.
#[inline]
pub(crate) fn header_words(
    protocol: IpNumber,
    ecn: Ecn,
    endpoints: Endpoints,
    fields: Ipv4Fields,
    total_len: u16,
) -> [u32; IPV4_HEADER as usize / 4] {
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
    header
}

/// Returns the IPv4 header at the start of `octets`, and its total length field.
pub(crate) fn read_header(octets: &[u8]) -> Result<(Ipv4HeaderSlice<'_>, usize), DecodeError> {
    let ip = Ipv4HeaderSlice::from_slice(octets)?;
    let (header, total) = (ip.slice().len(), usize::from(ip.total_len()));
    if total < header { Err(DecodeError::TotalLength { header, total }) } else { Ok((ip, total)) }
}

/// The payload of an IPv4 packet: a transport header, followed by zeros.
#[derive(Clone, Copy, Debug)]
pub struct Carried<'a> {
    /// The protocol number.
    pub protocol: u8,
    /// The ECN field of the packet.
    pub ecn: Ecn,
    /// The octets of the transport header.
    pub header: &'a [u8],
    /// The number of zeros after the transport header.
    pub payload: u32,
}

/// Replaces the contents of `octets` with the packet. [`Extent::Headers`] omits the zeros.
///
/// # Errors
/// If the packet is too long. `octets` is then empty.
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

/// Reads the packet at the start of `octets`. Returns its header, the part of its payload that is
/// present, and the length of the whole payload. Octets after the packet, such as padding of the
/// link layer, are ignored.
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

/// Returns an error unless `carried` contains all `length` octets of the payload. Otherwise, a
/// checksum over the payload could not be verified.
pub(crate) fn check_complete(ip: &Ipv4HeaderSlice<'_>, carried: &[u8], length: usize) -> Result<(), DecodeError> {
    let header = ip.slice().len();
    if carried.len() < length {
        return Err(DecodeError::Cut { total: header + length, present: header + carried.len() });
    }
    Ok(())
}

/// Computes the checksum (RFC 1071) of the pseudo-header (RFC 768; RFC 9293, §3.1) and a transport
/// segment of `len` octets, which begins with `octets` and continues with zeros. If the octets
/// include a correct checksum, the result is zero.
pub(crate) fn checksum(protocol: IpNumber, endpoints: Endpoints, octets: &[u8], len: u16) -> u16 {
    checksum_of(protocol, endpoints, sum(octets), len)
}

/// Like [`checksum`], with the [sum](sum()) of the octets.
pub(crate) fn checksum_of(protocol: IpNumber, endpoints: Endpoints, sum: u64, len: u16) -> u16 {
    let addresses = u64::from(endpoints.source.ip().to_bits()) + u64::from(endpoints.destination.ip().to_bits());
    ones_complement(addresses + u64::from(protocol.0) + u64::from(len) + sum)
}

/// Sums `octets` as words of 32 bits, which equals the sum of 16-bit words in ones' complement
/// arithmetic (RFC 1071, §2 (C)). This function is called twice for each compressed ACK, so it must
/// be fast.
pub(crate) fn sum(octets: &[u8]) -> u64 {
    let (words, rest) = octets.as_chunks();
    let words: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
    rest.iter().zip([24, 16, 8]).fold(words, |sum, (&octet, shift)| sum + (u64::from(octet) << shift))
}

/// Like [`sum`](sum()), of words in host order.
pub(crate) fn sum_of(words: &[u32]) -> u64 {
    words.iter().map(|word| u64::from(*word)).sum()
}

/// Converts the words of a header to octets.
pub(crate) fn octets_of<const WORDS: usize, const OCTETS: usize>(words: [u32; WORDS]) -> [u8; OCTETS] {
    const { assert!(OCTETS == 4 * WORDS) };
    let mut octets = [0; OCTETS];
    octets.as_chunks_mut().0.iter_mut().zip(words).for_each(|(octets, word)| *octets = word.to_be_bytes());
    octets
}

/// Folds the carries of a sum, and complements it.
const fn ones_complement(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    !(sum as u16)
}
