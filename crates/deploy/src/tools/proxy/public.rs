//! Addresses of the public Internet.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns `true` for a public address of another host: the IANA registries of special-purpose
/// addresses (RFC 6890) do not list it, and `leads_here` returns `false`.
///
/// # Errors
/// The errors of `leads_here`.
pub(super) fn is_public_elsewhere(
    address: IpAddr,
    mut leads_here: impl FnMut(IpAddr) -> io::Result<bool>,
) -> io::Result<bool> {
    let address = address.to_canonical();
    if !is_public(address) || leads_here(address)? {
        return Ok(false);
    }
    match embedded(address) {
        Some(embedded) => Ok(!leads_here(embedded.into())?),
        None => Ok(true),
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Returns the embedded IPv4 address to which a translator or a tunnel of the public Internet
/// delivers packets for `address`.
fn embedded(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let at = |place: usize| address.octets()[place..].first_chunk().map(|octets: &[u8; 4]| Ipv4Addr::from(*octets));
    match address.segments() {
        // NAT64 (RFC 6052, §2.1).
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => at(12),
        // 6to4 (RFC 3056, §2).
        [0x2002, ..] => at(2),
        _ => None,
    }
}

/// Networks that are not globally reachable: "this network", private, shared (RFC 6598), loopback,
/// link-local, IETF, documentation, 6to4 relays, benchmarking, multicast and reserved.
const SPECIAL: [([u8; 4], u8); 15] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL.iter().any(|(network, length)| is_within(address.into(), (*network).into(), *length))
}

/// Returns `true` for public IPv6 addresses. Only 2000::/3 is assigned for global use (RFC 4291,
/// §2.4). This prefix excludes loopback, mapped, compatible, link-local and multicast addresses,
/// and the prefix for NAT64 of a network (64:ff9b:1::/48, RFC 8215). If an address embeds an IPv4
/// address, the result is that of the IPv4 address.
fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(embedded) = embedded(address.into()) {
        return is_public_v4(embedded);
    }
    match address.segments() {
        // 2001::/23: Teredo, benchmarking, ORCHID; 2001:db8::/32 and 3fff::/20: documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Returns the bits of an address, highest first, and the number of bits.
pub(super) fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    }
}

/// Returns `true` if the first `length` bits of `address` and `network` are equal.
pub(super) fn is_within(address: IpAddr, network: IpAddr, length: u8) -> bool {
    let difference = bits(address).0 ^ bits(network).0;
    address.is_ipv4() == network.is_ipv4() && (length == 0 || difference >> (128 - u32::from(length)) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_internet_is_neither_this_host_nor_its_network() {
        for address in ["9.9.9.9", "172.32.0.1", "2620:fe::fe", "64:ff9b::909:909", "2002:909:909::1"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        let others = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 127.1.2.3 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 \
                      192.88.99.1 192.168.1.1 198.19.0.1 198.51.100.1 203.0.113.1 224.0.0.1 255.255.255.255 :: ::1 ::9.9.9.9 100::1 fe80::1 \
                      fd00::1 fec0::1 ff02::1 2001:db8::1 2001::1 2001:2::1 3fff::1 5f00::1 64:ff9b::7f00:1 64:ff9b:1::909:909 64:ff9b:0:1::909:909 \
                      2002:7f00:1::1";
        for address in others.split_whitespace() {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        let mapped = "::ffff:127.0.0.1".parse().unwrap();
        assert!(!is_public_elsewhere(mapped, |_| Ok(false)).unwrap());
    }
}
