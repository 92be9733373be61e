//! Decides whether octets look like an IP packet or an Ethernet frame, if no field announces it.

use super::ether_type::{ARP, IPV4, IPV6, MPLS, MPLS_MULTICAST, NSH, PPPOE_SESSION};
use super::ethernet::ADDRESSES;
use super::frame::Frame;
use super::{llc, tags};

/// The maximum number of octets that may follow an IPv6 packet. Chosen: an FCS of Ethernet, or the
/// padding of a minimum-size packet. IPv6 has no checksum, so the length must decide.
const MAX_TRAILER: usize = 8;

/// Returns `true` if the frame begins with an IP header that fits: the lengths, and the checksum of
/// IPv4 (RFC 791, §3.1; RFC 8200, §3).
pub(super) fn is_ip(frame: Frame<'_>) -> bool {
    match frame.octets.first().map(|first| first >> 4) {
        Some(4) => is_ipv4(frame),
        Some(6) => is_ipv6(frame),
        _ => false,
    }
}

fn is_ipv6(frame: Frame<'_>) -> bool {
    let Some(payload) = frame.number(4) else { return false };
    frame.length.checked_sub(40 + usize::from(payload)).is_some_and(|trailer| trailer <= MAX_TRAILER)
}

fn is_ipv4(frame: Frame<'_>) -> bool {
    let header = usize::from(frame.octets[0] & 0xf) * 4;
    let Some(total) = frame.number(2).map(usize::from) else { return false };
    let fits = header >= 20 && header <= total && total <= frame.length;
    fits && frame.octets.get(..header).is_some_and(|header| {
        let (words, _) = header.as_chunks();
        let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
        (sum >> 16) + (sum & 0xffff) == 0xffff
    })
}

/// Returns `true` if the frame begins with addresses and a valid type.
pub(super) fn is_ethernet(frame: Frame<'_>) -> bool {
    let Ok(rest) = frame.skip(ADDRESSES, "Ethernet") else { return false };
    let Some(number) = rest.number(0) else { return false };
    let Ok(payload) = rest.skip(2, "Ethernet") else { return false };
    match number {
        IPV4 | IPV6 => is_ip(payload),
        // Addresses of Ethernet and of IPv4 are resolved (RFC 826).
        ARP => payload.octets.starts_with(&[0, 1, 8, 0]),
        PPPOE_SESSION => payload.octets.starts_with(&[0x11, 0]),
        length @ 3..=1500 => usize::from(length) <= payload.length && llc::is_known(payload.octets),
        MPLS | MPLS_MULTICAST | NSH => true,
        _ => tags::open(number, payload).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 header without payload, with a correct checksum: 0x4500 + 0x0014 = 0x4514.
    const V4: [u8; 20] = [0x45, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0xba, 0xeb, 0, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn an_ip_header_has_lengths_that_fit_and_a_checksum() {
        let is = |octets: &[u8]| is_ip(Frame::new(octets, octets.len()));
        assert!(is(&V4));
        for (place, octet) in [(0, 0x44), (3, 21), (3, 19), (11, 0xea)] {
            let mut other = V4;
            other[place] = octet;
            assert!(!is(&other), "{place}");
        }
        let mut v6 = [0; 41];
        (v6[0], v6[5]) = (0x60, 1);
        assert!(is(&v6));
        v6[5] = 2;
        assert!(!is(&v6));
        assert!(is(&[&v6[..], &[0; 9]].concat()));
        assert!(!is(&[&v6[..], &[0; 10]].concat()), "too much follows the packet");
        assert!(!is(&[]) && !is(&[0x45]) && !is(&[0x60]));
    }

    #[test]
    fn ethernet_has_a_type_that_fits_what_follows() {
        let is = |field: [u8; 2], payload: &[u8]| {
            let octets = [&[2; 12][..], &field, payload].concat();
            is_ethernet(Frame::new(&octets, octets.len()))
        };
        assert!(is([0x08, 0x00], &V4));
        assert!(!is([0x08, 0x00], &V4[1..]));
        assert!(is([0x08, 0x06], &[0, 1, 8, 0]));
        assert!(is([0x81, 0x00], &[]));
        assert!(is([0, 3], &[0x42, 0x42, 3]));
        assert!(!is([0, 4], &[0x42, 0x42, 3]));
        assert!(!is_ethernet(Frame::new(&[0; 12], 12)));
    }
}
