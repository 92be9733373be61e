//! Decides which targets the far side of a proxy connects to.

use super::public;
use super::target::{Host, Target};
use crate::tools::ToolError;
use std::io;
use std::net::IpAddr;
use std::str::FromStr;

/// A rule: the permitted hosts and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    who: Who,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    /// Every address of the public Internet, except addresses of this host.
    Public,
    Anyone,
    /// Addresses with this prefix. The number is the length of the prefix in bits.
    Network(IpAddr, u8),
    Name(String),
    /// Names with this suffix, including the dot.
    Below(String),
}

impl Allow {
    /// The default rule: the public Internet. It excludes this host and its local network.
    pub const PUBLIC: Self = Self { who: Who::Public, port: None };

    /// Returns `true` if the rule allows a connection to `address`, one of the addresses of the
    /// target's host. `leads_here` returns `true` for an address of this host. It is called only
    /// for addresses of the public Internet.
    ///
    /// # Errors
    /// The errors of `leads_here`.
    pub fn allows(
        &self,
        target: &Target,
        address: IpAddr,
        leads_here: impl FnMut(IpAddr) -> io::Result<bool>,
    ) -> io::Result<bool> {
        if self.port.is_some_and(|port| port != target.port) {
            return Ok(false);
        }
        let address = address.to_canonical();
        let name = match &target.host {
            Host::Name(name) => Some(name.trim_end_matches('.')),
            Host::Address(_) => None,
        };
        Ok(match &self.who {
            Who::Public => public::is_public_elsewhere(address, leads_here)?,
            Who::Anyone => true,
            Who::Network(network, bits) => public::is_within(address, *network, *bits),
            Who::Name(wanted) => name == Some(wanted),
            Who::Below(suffix) => name.is_some_and(|name| name.ends_with(suffix)),
        })
    }

    /// Returns `true` if the rule excludes this host. The addresses of this host must then be
    /// known.
    pub(super) fn excludes_this_host(&self) -> bool {
        self.who == Who::Public
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
            let most = public::bits(address).1;
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
        let rule: Allow = rule.parse().unwrap();
        rule.allows(&target.parse().unwrap(), address.parse().unwrap(), |_| Ok(false)).unwrap()
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
    fn the_rule_for_the_public_internet_excludes_this_host_however_its_address_is_written() {
        let own = ["9.9.9.9", "2620:fe::fe"].map(|address| address.parse::<IpAddr>().unwrap());
        let allows = |address: &str| {
            let target = "name:80".parse().unwrap();
            Allow::PUBLIC.allows(&target, address.parse().unwrap(), |address| Ok(own.contains(&address))).unwrap()
        };
        for address in "9.9.9.9 ::ffff:9.9.9.9 64:ff9b::909:909 2002:909:909::1 2620:fe::fe".split(' ') {
            assert!(!allows(address), "{address}");
        }
        for address in "9.9.9.10 ::ffff:9.9.9.10 64:ff9b::909:90a 2002:909:90a::1 2620:fe::9".split(' ') {
            assert!(allows(address), "{address}");
        }
        let target = "9.9.9.9:80".parse().unwrap();
        let lookup = |_| Err(io::ErrorKind::PermissionDenied.into());
        assert!(Allow::PUBLIC.allows(&target, own[0], lookup).is_err(), "what cannot be looked up is not allowed");
        assert!("9.9.9.9".parse::<Allow>().unwrap().allows(&target, own[0], lookup).unwrap(), "by its address");
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in ["", ":", "a b", "10.0.0.0/33", "10.0.0/8", "*example.org", "host:http", "[::1", "[::1]x", "host/8"]
        {
            assert!(text.parse::<Allow>().is_err(), "{text}");
        }
    }
}
