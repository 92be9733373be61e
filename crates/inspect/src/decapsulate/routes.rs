//! The final addresses of a packet on a source route. On the way, its addresses are those of the
//! next hop, or of the location of a mobile node. Transports use those of the ends (RFC 8200, §8.1;
//! RFC 1122, §3.2.1.8 (c); RFC 6275, §6.3 and §6.4).

/// Octets of an IPv4 header without options, and of an IPv6 header.
const V4_HEADER: usize = 20;
const V6_HEADER: usize = 40;
const V4_DESTINATION: usize = 16;
const V6_SOURCE: usize = 8;
const V6_DESTINATION: usize = 24;
const V6_ADDRESS: usize = 16;

/// Writes the addresses of the ends into the header of the packet at the start of `packet`.
#[inline]
pub(super) fn write_ends(packet: &mut [u8]) {
    match packet.first() {
        Some(0x46..=0x4f) => {
            let _ = of_v4(packet);
        }
        Some(first) if first >> 4 == 6 && packet.get(6).is_some_and(|&next| is_extension(next)) => {
            let _ = of_v6(packet);
        }
        _ => {}
    }
}

/// Handles loose and strict source routes (RFC 791, §3.1): length, pointer to the next address,
/// addresses.
#[cold]
fn of_v4(packet: &mut [u8]) -> Option<()> {
    const LOOSE: u8 = 131;
    const STRICT: u8 = 137;
    let end = usize::from(packet[0] & 0xf) * 4;
    let mut at = V4_HEADER;
    while at < end {
        let length = match packet.get(at)? {
            0 => return None,
            1 => 1,
            _ => usize::from(*packet.get(at + 1)?).max(2),
        };
        if matches!(packet[at], LOOSE | STRICT) && usize::from(*packet.get(at + 2)?) < length {
            let last = (at + length).checked_sub(4).filter(|last| *last >= at + 3)?;
            let address: [u8; 4] = *packet.get(last..)?.first_chunk()?;
            packet[V4_DESTINATION..V4_DESTINATION + 4].copy_from_slice(&address);
        }
        at += length;
    }
    Some(())
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const DESTINATION_OPTIONS: u8 = 60;

const fn is_extension(next: u8) -> bool {
    matches!(next, HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS)
}

/// Handles routing headers and home addresses among the extension headers.
#[cold]
fn of_v6(packet: &mut [u8]) -> Option<()> {
    let (mut kind, mut at) = (packet[6], V6_HEADER);
    while is_extension(kind) {
        let length = (usize::from(*packet.get(at + 1)?) + 1) * 8;
        let header = packet.get(at..at + length)?;
        let next = header[0];
        match kind {
            ROUTING => {
                if let Some(address) = last_address(header) {
                    packet[V6_DESTINATION..V6_DESTINATION + V6_ADDRESS].copy_from_slice(&address);
                }
            }
            DESTINATION_OPTIONS => {
                if let Some(address) = home_address(header) {
                    packet[V6_SOURCE..V6_SOURCE + V6_ADDRESS].copy_from_slice(&address);
                }
            }
            _ => {}
        }
        (kind, at) = (next, at + length);
    }
    Some(())
}

/// Returns the final destination by a routing header, if it has segments left.
fn last_address(header: &[u8]) -> Option<[u8; V6_ADDRESS]> {
    /// Types of source routes (RFC 2460, §4.4, deprecated) and of home addresses (RFC 6275, §6.4).
    const PLAIN: [u8; 2] = [0, 2];
    /// The type of segment routing (RFC 8754, §2), whose list begins with the last segment.
    const SEGMENTS: u8 = 4;
    let (kind, left) = (*header.get(2)?, *header.get(3)?);
    let addresses = header.get(8..)?;
    match kind {
        _ if left == 0 => None,
        SEGMENTS => addresses.first_chunk().copied(),
        _ if PLAIN.contains(&kind) => addresses.last_chunk().copied(),
        _ => None,
    }
}

/// Returns the home address option (RFC 6275, §6.3) among destination options.
fn home_address(header: &[u8]) -> Option<[u8; V6_ADDRESS]> {
    const HOME_ADDRESS: u8 = 0xc9;
    const PAD: u8 = 0;
    let mut at = 2;
    loop {
        match *header.get(at..)? {
            [PAD, ..] => at += 1,
            [HOME_ADDRESS, 16, ..] => return header.get(at + 2..)?.first_chunk().copied(),
            [_, length, ..] => at += 2 + usize::from(length),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(options: &[u8]) -> [u8; 4] {
        let mut packet = [&[0x40 | (5 + options.len() / 4) as u8][..], &[0; 19], options].concat();
        write_ends(&mut packet);
        *packet[V4_DESTINATION..].first_chunk().unwrap()
    }

    #[test]
    fn a_source_route_of_ipv4_ends_at_its_last_address_unless_it_is_used_up() {
        assert_eq!(v4(&[1, 131, 11, 4, 1, 1, 1, 1, 2, 2, 2, 2]), [2; 4]);
        assert_eq!(v4(&[137, 7, 4, 3, 3, 3, 3, 0]), [3; 4]);
        assert_eq!(v4(&[131, 7, 8, 3, 3, 3, 3, 0]), [0; 4], "the pointer is behind the route");
        assert_eq!(v4(&[131, 3, 1, 0]), [0; 4]);
        assert_eq!(v4(&[7, 200, 4, 0]), [0; 4]);
    }

    /// Returns source and destination of a packet with an extension header.
    fn v6(kind: u8, header: &[u8]) -> [u8; 2] {
        let mut packet = [&[0x60, 0, 0, 0, 0, 0, kind, 64][..], &[0; 32], header].concat();
        write_ends(&mut packet);
        [packet[V6_SOURCE], packet[V6_DESTINATION]]
    }

    fn routing(kind: u8, left: u8) -> Vec<u8> {
        [&[6, 4, kind, left, 0, 0, 0, 0][..], &[7; 16], &[8; 16]].concat()
    }

    #[test]
    fn a_routing_header_has_the_final_destination() {
        assert_eq!(v6(43, &routing(0, 1)), [0, 8]);
        assert_eq!(v6(43, &routing(2, 1)), [0, 8]);
        assert_eq!(v6(43, &routing(4, 1)), [0, 7], "the list of segments begins with the last");
        assert_eq!(v6(43, &routing(4, 0)), [0, 0], "the packet is at its last segment");
        assert_eq!(v6(43, &routing(3, 1)), [0, 0]);
        let behind = [&[43, 0, 1, 4, 0, 0, 0, 0][..], &routing(0, 1)].concat();
        assert_eq!(v6(0, &behind), [0, 8], "behind hop-by-hop options");
        assert_eq!(v6(43, &routing(0, 1)[..20]), [0, 0]);
    }

    #[test]
    fn a_mobile_node_sends_from_its_home_address() {
        let header = [&[6, 2, 1, 2, 0, 0, 0xc9, 16][..], &[9; 16]].concat();
        assert_eq!(v6(60, &header), [9, 0]);
        assert_eq!(v6(60, &[6, 0, 1, 4, 0, 0, 0, 0]), [0, 0]);
    }
}
