//! Which targets the far side of a proxy connects to.

use super::target::{Host, Target};
use crate::tools::ToolError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A rule: who, and which port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    who: Who,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    /// Every address of the public Internet.
    Public,
    Anyone,
    /// Addresses that begin with so many bits.
    Network(IpAddr, u8),
    Name(String),
    /// Names that end so, with the dot.
    Below(String),
}

impl Allow {
    /// What is allowed if nothing else is said: the public Internet, and so neither this host nor its own network.
    pub const PUBLIC: Self = Self { who: Who::Public, port: None };

    /// Does the rule allow a target, whose host has this address?
    #[must_use]
    pub fn allows(&self, target: &Target, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let name = match &target.host {
            Host::Name(name) => Some(name.trim_end_matches('.')),
            Host::Address(_) => None,
        };
        let is_host = match &self.who {
            Who::Public => is_public(address),
            Who::Anyone => true,
            Who::Network(network, bits) => is_within(address, *network, *bits),
            Who::Name(wanted) => name == Some(wanted),
            Who::Below(suffix) => name.is_some_and(|name| name.ends_with(suffix)),
        };
        is_host && self.port.is_none_or(|port| port == target.port)
    }
}

fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    }
}

fn is_within(address: IpAddr, network: IpAddr, length: u8) -> bool {
    let difference = bits(address).0 ^ bits(network).0;
    address.is_ipv4() == network.is_ipv4() && (length == 0 || difference >> (128 - u32::from(length)) == 0)
}

/// Addresses that the IANA registries of special-purpose addresses (RFC 6890) do not list: globally reachable ones.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Networks that are not globally reachable: "this network", private, shared (RFC 6598), loopback, link-local, IETF, documentation, 6to4 relays, benchmarking, multicast and reserved.
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

/// Of IPv6 only 2000::/3 is assigned for global use (RFC 4291, §2.4). What embeds an address of IPv4 leads there.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, ..] = address.segments();
    let embedded = |place: usize| {
        let octets = address.octets();
        is_public_v4(Ipv4Addr::new(octets[place], octets[place + 1], octets[place + 2], octets[place + 3]))
    };
    match (first, second) {
        // NAT64 (RFC 6052).
        (0x64, 0xff9b) if third == 0 => embedded(12),
        // 6to4 (RFC 3056).
        (0x2002, _) => embedded(2),
        // 2001::/23: Teredo, benchmarking, ORCHID; 2001:db8::/32 and 3fff::/20: documentation.
        (0x2001, 0..=0x1ff | 0xdb8) => false,
        (0x3fff, 0..=0xfff) => false,
        (first, _) => first & 0xe000 == 0x2000,
    }
}

impl FromStr for Allow {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        let expected = "public, *, a name, *.NAME, an address or a network such as 10.0.0.0/8, with :PORT if you like ([IPv6]:PORT)";
        parse(text).ok_or_else(|| ToolError::usage("--allow", format_args!("{text:?}"), expected))
    }
}

fn parse(text: &str) -> Option<Allow> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
        }
        None if text.matches(':').count() == 1 => text.split_once(':').map(|(host, port)| (host, Some(port)))?,
        None => (text, None),
    };
    let port = match port {
        None | Some("*") => None,
        Some(port) => Some(port.parse().ok()?),
    };
    let (address, length) = host.split_once('/').map_or((host, None), |(address, length)| (address, Some(length)));
    let who = match (host, address.parse::<IpAddr>(), length) {
        ("public", ..) => Who::Public,
        ("*", ..) => Who::Anyone,
        (_, Ok(address), length) => {
            let most = bits(address).1;
            let length = length.map_or(Some(most), |length| length.parse().ok().filter(|length| *length <= most))?;
            Who::Network(address, length)
        }
        (_, Err(_), Some(_)) => return None,
        (name, ..) => {
            let is_name = |name: &str| {
                !name.is_empty() && name.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"-_.".contains(&octet))
            };
            match name.strip_prefix('*') {
                Some(below) if below.starts_with('.') && is_name(&below[1..]) => Who::Below(below.to_ascii_lowercase()),
                None if is_name(name) => Who::Name(name.to_ascii_lowercase()),
                _ => return None,
            }
        }
    };
    Some(Allow { who, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(rule: &str, target: &str, address: &str) -> bool {
        rule.parse::<Allow>().unwrap().allows(&target.parse().unwrap(), address.parse().unwrap())
    }

    #[test]
    fn rules_match_names_networks_and_ports() {
        assert!(allows("10.0.0.0/8:22", "10.1.2.3:22", "10.1.2.3"));
        assert!(!allows("10.0.0.0/8:22", "10.1.2.3:23", "10.1.2.3"));
        assert!(!allows("10.0.0.0/8", "11.1.2.3:23", "11.1.2.3"));
        assert!(allows("0.0.0.0/0", "11.1.2.3:23", "11.1.2.3"));
        assert!(!allows("0.0.0.0/0", "[::1]:23", "::1"));
        assert!(allows("127.0.0.0/8", "[::ffff:127.0.0.1]:1", "::ffff:127.0.0.1"), "it leads to 127.0.0.1");
        assert!(allows("[fd00::/8]:443", "[fd00::1]:443", "fd00::1"));
        assert!(allows("*.example.org", "www.Example.ORG:80", "10.0.0.1"));
        assert!(!allows("*.example.org", "example.org:80", "10.0.0.1"));
        assert!(!allows("*.example.org", "wwwexample.org:80", "10.0.0.1"));
        assert!(allows("host:*", "host:80", "127.0.0.1"));
        assert!(allows("*:80", "host:80", "127.0.0.1"));
    }

    #[test]
    fn the_public_internet_is_neither_this_host_nor_its_network() {
        for address in ["9.9.9.9", "172.32.0.1", "2620:fe::fe", "64:ff9b::909:909", "2002:909:909::1"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        let others = "0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 198.19.0.1 224.0.0.1 \
                      255.255.255.255 :: ::1 fe80::1 fd00::1 fec0::1 ff02::1 2001:db8::1 2001::1 64:ff9b::7f00:1 2002:7f00:1::1";
        for address in others.split_whitespace() {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        assert!(!allows("public", "name:80", "::ffff:127.0.0.1"));
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in ["", ":", "a b", "10.0.0.0/33", "10.0.0/8", "*example.org", "host:http", "[::1", "[::1]x", "host/8"]
        {
            assert!(text.parse::<Allow>().is_err(), "{text}");
        }
    }
}
