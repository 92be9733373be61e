//! Long headers (RFC 8999, §5.1; RFC 9000, §17.2).

use super::version::{Types, Version};
use acklab_wire::quic::ConnectionId;
use acklab_wire::varint;

/// The header form bit of a long header.
const LONG: u8 = 0x80;
/// The minimum value of the Length field: at least four octets of packet number and payload,
/// because header protection needs a sample, and the tag of the AEAD (RFC 9001, §5.4.2).
const MIN_LENGTH: u64 = 4 + 16;
/// The longest connection ID (RFC 9000, §17.2).
pub(crate) const MAX_ID: usize = 20;
/// The integrity tag of a Retry packet (RFC 9001, §5.8).
const RETRY_TAG: usize = 16;

/// The type of a packet with a long header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Initial,
    ZeroRtt,
    Handshake,
    Retry,
    Negotiation,
    /// A packet of a version of which only the invariants are known.
    Unknown,
    /// The capture has truncated the header within its connection IDs, which are empty here.
    Cut,
}

/// A long header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongHeader {
    pub(crate) number: u32,
    pub(crate) version: Version,
    pub(crate) kind: Kind,
    pub(crate) destination: ConnectionId,
    pub(crate) source: ConnectionId,
}

/// Returns `true` if a datagram begins with a long header of any protocol.
#[inline]
pub(crate) fn is_long(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|first| first & LONG != 0)
}

impl LongHeader {
    /// Reads the header of a datagram of `length` octets, of which `octets` are present. Returns
    /// `None` if it is not a long header, or if a field of a known version does not fit in the
    /// datagram. Does not check missing fields.
    pub(crate) fn read(octets: &[u8], length: usize) -> Option<Self> {
        let (&first, rest) = octets.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        if first & LONG == 0 {
            return None;
        }
        let number = u32::from_be_bytes(*number);
        let version = Version::of(number);
        let read = if version == Version::Nibbles { ids_of_nibbles(rest) } else { ids(rest) };
        let Some((destination, source, rest)) = read else {
            let is_cut = octets.len() < length && version.is_known() && are_ids(rest);
            let [destination, source] = [ConnectionId::default(); 2];
            return is_cut.then_some(Self { number, version, kind: Kind::Cut, destination, source });
        };
        let left = length.checked_sub(octets.len() - rest.len())?;
        let kind = match version {
            Version::Negotiation => {
                if !is_list_of_versions(rest, left) {
                    return None;
                }
                Kind::Negotiation
            }
            Version::Current(types) => {
                let kind = kind(first, types);
                if !fits(kind, rest, left) {
                    return None;
                }
                kind
            }
            // Packets of these versions are protected as well: a number, a payload and a tag.
            _ if left < MIN_LENGTH as usize => return None,
            _ => Kind::Unknown,
        };
        Some(Self { number, version, kind, destination, source })
    }

    /// Returns `true` if this packet responds to `other`: it has the same version or is a Version
    /// Negotiation, and is addressed to the ID that the sender of `other` has chosen. IDs of three
    /// octets or fewer match at random.
    pub(crate) fn answers(&self, other: &Self) -> bool {
        const MIN_ID: usize = 4;
        let is_version = self.number == other.number || self.version == Version::Negotiation;
        is_version && self.destination == other.source && self.destination.octets().len() >= MIN_ID
    }
}

fn kind(first: u8, types: Types) -> Kind {
    let number = first >> 4 & 3;
    // Version 2 adds one to each number.
    match if types == Types::Two { (number + 3) % 4 } else { number } {
        0 => Kind::Initial,
        1 => Kind::ZeroRtt,
        2 => Kind::Handshake,
        _ => Kind::Retry,
    }
}

/// Returns `true` if token and Length fit in the `left` octets after the connection IDs, as far as
/// `rest` shows them.
fn fits(kind: Kind, rest: &[u8], left: usize) -> bool {
    let is_cut = rest.len() < left;
    let mut octets = rest;
    let left_of = |octets: &[u8]| (left - (rest.len() - octets.len())) as u64;
    if kind == Kind::Retry {
        return left >= RETRY_TAG;
    }
    if kind == Kind::Initial {
        let Some(token) = varint::take(&mut octets) else { return is_cut };
        if token > left_of(octets) {
            return false;
        }
        let Some(behind) = usize::try_from(token).ok().and_then(|token| octets.get(token..)) else { return is_cut };
        octets = behind;
    }
    match varint::take(&mut octets) {
        Some(length) => (MIN_LENGTH..=left_of(octets)).contains(&length),
        None => is_cut,
    }
}

/// Returns `true` if `octets` are versions, at least one of which is known (RFC 8999, §6). They
/// have `length` octets in the packet.
fn is_list_of_versions(octets: &[u8], length: usize) -> bool {
    let mut versions = octets
        .chunks_exact(4)
        .map(|number| Version::of(u32::from_be_bytes([number[0], number[1], number[2], number[3]])));
    length >= 4 && length.is_multiple_of(4) && versions.any(Version::is_known)
}

/// Returns the destination and the source connection ID, and the remaining octets. No known version
/// has IDs of more than 20 octets (RFC 9000, §17.2).
fn ids(octets: &[u8]) -> Option<(ConnectionId, ConnectionId, &[u8])> {
    let (destination, rest) = id(octets)?;
    let (source, rest) = id(rest)?;
    Some((destination, source, rest))
}

fn id(octets: &[u8]) -> Option<(ConnectionId, &[u8])> {
    let (length, rest) = octets.split_first()?;
    let (id, rest) = rest.split_at_checked(usize::from(*length))?;
    Some((ConnectionId::new(id)?, rest))
}

/// Returns `true` if the lengths of connection IDs are valid, as far as they are present.
fn are_ids(octets: &[u8]) -> bool {
    let mut lengths = octets;
    for _ in 0..2 {
        let Some((&length, rest)) = lengths.split_first() else { return true };
        if usize::from(length) > MAX_ID {
            return false;
        }
        lengths = rest.get(usize::from(length)..).unwrap_or_default();
    }
    true
}

/// Reads IDs as in drafts up to -21: four bits for each length, which is 0, or three less than the
/// length (draft-ietf-quic-transport-21, §17.2).
fn ids_of_nibbles(octets: &[u8]) -> Option<(ConnectionId, ConnectionId, &[u8])> {
    let (lengths, rest) = octets.split_first()?;
    let length = |nibble: u8| if nibble == 0 { 0 } else { usize::from(nibble) + 3 };
    let (destination, rest) = rest.split_at_checked(length(lengths >> 4))?;
    let (source, rest) = rest.split_at_checked(length(lengths & 0xf))?;
    Some((ConnectionId::new(destination)?, ConnectionId::new(source)?, rest))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a datagram of `length` octets that begins with a long header and the octets after
    /// the IDs.
    pub(crate) fn long(first: u8, version: u32, ids: [&[u8]; 2], rest: &[u8], length: usize) -> Vec<u8> {
        let mut octets = vec![first];
        octets.extend_from_slice(&version.to_be_bytes());
        for id in ids {
            octets.push(id.len() as u8);
            octets.extend_from_slice(id);
        }
        octets.extend_from_slice(rest);
        octets.resize(length.max(octets.len()), 0);
        octets
    }

    const ID: &[u8] = &[7; 8];

    fn read(octets: &[u8]) -> Option<LongHeader> {
        LongHeader::read(octets, octets.len())
    }

    #[test]
    fn an_initial_packet_has_a_token_and_a_length() {
        // No token, and a Length of 1,182 in two octets.
        let initial = |length: usize| long(0xc3, 1, [ID, &[]], &[0, 0x44, 0x9e], length);
        let header = read(&initial(1200)).unwrap();
        assert_eq!((header.kind, header.destination.octets(), header.source.octets()), (Kind::Initial, ID, &[][..]));
        assert_eq!(read(&initial(1199)), None, "the Length does not fit");
        assert_eq!(read(&long(0xc3, 1, [ID, &[]], &[0x7f, 0xff], 1200)), None, "the token does not fit");
        assert_eq!(read(&long(0xc3, 1, [ID, &[]], &[0, 19], 1200)), None, "the packet is too short to be protected");
        // The fixed bit may be zero (RFC 9287).
        assert!(read(&long(0x83, 1, [ID, &[]], &[0, 0x44, 0x9e], 1200)).is_some());
    }

    #[test]
    fn version_2_has_other_numbers_for_types() {
        let kinds = |version| {
            [0xc0, 0xd0, 0xe0, 0xf0]
                .map(|first| read(&long(first, version, [ID, ID], &[0, 25, 0, 0], 60)).map(|header| header.kind))
        };
        // In version 1 of the third number, an Initial has a token of no octets. In 0-RTT and
        // Handshake, the first octet is a Length of zero.
        assert_eq!(kinds(1)[0], Some(Kind::Initial));
        assert_eq!(kinds(0x6b33_43cf)[1], Some(Kind::Initial));
        assert_eq!((kinds(1)[3], kinds(0x6b33_43cf)[0]), (Some(Kind::Retry), Some(Kind::Retry)));
    }

    #[test]
    fn heads_of_a_snap_length_are_enough() {
        let whole = long(0xc3, 1, [ID, ID], &[0, 0x44, 0x9e], 1210);
        for present in 5..whole.len() {
            let header = LongHeader::read(&whole[..present], whole.len()).unwrap();
            assert_eq!(header.kind, if present < 23 { Kind::Cut } else { Kind::Initial }, "{present}");
        }
        let mut long_id = whole[..22].to_vec();
        long_id[5] = 21;
        assert_eq!(LongHeader::read(&long_id, whole.len()), None);
        assert_eq!(LongHeader::read(&whole[..22], 22), None, "a whole datagram");
    }

    #[test]
    fn version_negotiation_names_a_version() {
        let versions = |list: &[u32]| list.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
        assert_eq!(read(&long(0x80, 0, [ID, ID], &versions(&[0x1a1a_1a1a, 1]), 0)).unwrap().kind, Kind::Negotiation);
        assert_eq!(read(&long(0x80, 0, [ID, ID], &versions(&[0x1234_5678]), 0)), None);
        assert_eq!(read(&long(0x80, 0, [ID, ID], &[0, 0, 0, 1, 0], 0)), None);
        assert_eq!(read(&long(0x80, 0, [ID, ID], &[], 0)), None);
    }

    #[test]
    fn other_protocols_have_no_long_header() {
        // A DNS query with the identification 0xc000: the version is 0, the list of versions is a
        // name.
        let dns = b"\xc0\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01";
        // NTP of a client whose clock is not synchronised (leap indicator 3).
        let mut ntp = vec![0xe3, 0, 6, 0xec];
        ntp.resize(48, 0);
        for octets in [&dns[..], &ntp, &[0xc0], &[], &[0x40; 40]] {
            assert!(read(octets).is_none_or(|header| !header.version.is_known()), "{octets:x?}");
        }
    }

    #[test]
    fn lengths_in_nibbles_are_read() {
        let mut octets = vec![0xc3];
        octets.extend_from_slice(b"Q046\x50");
        octets.extend_from_slice(ID);
        octets.resize(1350, 0);
        let header = read(&octets).unwrap();
        assert_eq!((header.destination.octets(), header.source.octets()), (ID, &[][..]));
    }

    #[test]
    fn an_answer_has_the_id_of_its_question() {
        let one = read(&long(0xc0, 0x0000_beef, [ID, &[1; 5]], &[], 60)).unwrap();
        let answer = |version, destination: &[u8]| read(&long(0xc0, version, [destination, &[2; 5]], &[], 60)).unwrap();
        assert!(answer(0x0000_beef, &[1; 5]).answers(&one));
        assert!(!answer(0x0000_beee, &[1; 5]).answers(&one) && !answer(0x0000_beef, &[1; 4]).answers(&one));
    }
}
