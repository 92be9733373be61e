//! DSCP (RFC 2474, §3) and ECN (RFC 3168, §5): the second octet of IPv4, the traffic class of IPv6.

use acklab_base::Ecn;

/// The two bits of ECN.
const ECN: u8 = 0b11;
/// The position of the IPv4 header checksum (RFC 791, §3.1).
const CHECKSUM: [usize; 2] = [10, 11];

/// Returns the octet of DSCP and ECN of a packet with a complete IP header.
#[inline]
pub(super) fn of(octets: &[u8]) -> u8 {
    let (first, second) = (octets[0], octets[1]);
    if first >> 4 == 4 { second } else { first << 4 | second >> 4 }
}

/// Sets the ECN field and updates the checksum of an IPv4 header.
pub(super) fn set_ecn(octets: &mut [u8], ecn: Ecn) {
    let class = of(octets) & !ECN | ecn.bits();
    if octets[0] >> 4 == 4 {
        let word = |octets: &[u8], [high, low]: [usize; 2]| u16::from_be_bytes([octets[high], octets[low]]);
        let (checksum, old) = (word(octets, CHECKSUM), word(octets, [0, 1]));
        octets[1] = class;
        let [high, low] = updated(checksum, old, word(octets, [0, 1])).to_be_bytes();
        octets[CHECKSUM[0]] = high;
        octets[CHECKSUM[1]] = low;
    } else {
        octets[0] = octets[0] & 0xf0 | class >> 4;
        octets[1] = octets[1] & 0x0f | class << 4;
    }
}

/// Returns the checksum after a word that it covers has changed: ~(~HC + ~m + m') (RFC 1624, §3,
/// equation 3).
pub(super) const fn updated(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = !checksum as u32 + !old as u32 + new as u32;
    let sum = (sum >> 16) + (sum & 0xffff);
    !((sum >> 16) + (sum & 0xffff)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1624, §4, for which the equation of RFC 1141 gives 0xffff.
    #[test]
    fn a_checksum_of_zero_comes_out_as_zero() {
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn dscp_and_ecn_stand_across_two_octets_of_ipv6() {
        let mut octets = [0x6b, 0xa7, 0x12, 0x34];
        assert_eq!(of(&octets), 0b1011_1010);
        set_ecn(&mut octets, Ecn::Ce);
        assert_eq!((of(&octets), octets), (0b1011_1011, [0x6b, 0xb7, 0x12, 0x34]));
    }
}
