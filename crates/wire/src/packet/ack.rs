//! The acknowledgment in a TCP header.

use super::traffic_class::updated;
use crate::tcp::Options;
use crate::tcp::octets::{KIND_ACCURATE_ECN, flags_of, has_others, read_options, segment_of};
use acklab_base::{AckHeader, Ecn};
use etherparse::TcpHeaderSlice;

/// Returns the acknowledgment in `segment`, whose complete length is `length`. Returns `None` if
/// its header is cut off or acknowledges nothing.
///
/// [`AckHeader::has_other_content`] is set if an option is unknown or cannot be parsed, so that no
/// ACK filter drops the segment as redundant.
pub(super) fn header_of(segment: &[u8], length: usize) -> Option<AckHeader> {
    let tcp = TcpHeaderSlice::from_slice(segment).ok()?;
    let options = read_options(tcp.options(), flags_of(&tcp));
    let has_others = |besides: &[u8]| options.is_err() || has_others(tcp.options(), besides);
    let (has_other_content, has_unknown_content) = (has_others(&[]), has_others(&KIND_ACCURATE_ECN));
    // The result does not depend on the ECN field of the IP header.
    let segment = segment_of(&tcp, Ecn::NotEct, options.unwrap_or_else(|_| Options::default()), length);
    let header = segment.ack_header()?;
    Some(AckHeader {
        has_other_content: header.has_other_content || has_other_content,
        accurate_ecn: if has_unknown_content { 0 } else { header.accurate_ecn },
        ..header
    })
}

/// The positions of the acknowledgment number and of the checksum in a TCP header (RFC 9293, §3.1).
const NUMBER: usize = 8;
const CHECKSUM: usize = 16;

/// Sets the acknowledgment number in a TCP header, and updates the checksum. Returns `None` if the
/// header is cut off.
pub(super) fn set_number(segment: &mut [u8], number: u32) -> Option<()> {
    let word = |segment: &[u8], at: usize| Some(u16::from_be_bytes(*segment.get(at..)?.first_chunk()?));
    let mut checksum = word(segment, CHECKSUM)?;
    for (at, new) in [(NUMBER, (number >> 16) as u16), (NUMBER + 2, number as u16)] {
        checksum = updated(checksum, word(segment, at)?, new);
        segment[at..at + 2].copy_from_slice(&new.to_be_bytes());
    }
    segment[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_covers_the_new_number() {
        // Returns the ones' complement of the sum of the words of a segment.
        let sum = |octets: &[u8]| {
            let total: u32 = octets.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
            (total & 0xffff) + (total >> 16)
        };
        let mut segment = [7, 1, 2, 3, 4, 5, 6, 7, 0xff, 0xff, 0x12, 0x34, 0x50, 0x10, 1, 2, 0, 0, 0, 0];
        let checksum = !(sum(&segment) as u16);
        segment[16..18].copy_from_slice(&checksum.to_be_bytes());
        assert_eq!(sum(&segment), 0xffff);
        set_number(&mut segment, 0x0001_beef).unwrap();
        assert_eq!((sum(&segment), &segment[8..12]), (0xffff, &[0, 1, 0xbe, 0xef][..]));
        assert_eq!(set_number(&mut segment[..12], 1), None);
    }
}
