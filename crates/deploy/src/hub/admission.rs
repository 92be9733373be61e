//! Decides which unauthenticated clients get a connection.
//!
//! An unauthenticated client costs a server a signature and some kilobytes. While there are few
//! such clients, each gets a connection at once. Beyond that, each client must return with a token,
//! which costs the server no state. A token is valid for a short time and for one address.

use super::Handle;
use crate::config::Server;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The code that the server has too many connections (RFC 9000, §20.1: CONNECTION_REFUSED). It lies
/// above the codes of applications.
pub(super) const BUSY: u32 = 1 << 31 | 0x02;

/// The treatment of an unauthenticated client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It gets a connection.
    Accept,
    /// It gets a token with which it may return.
    Retry,
    /// It gets nothing.
    TurnAway,
}

/// The clients of a hub.
#[derive(Debug, Default)]
pub(super) struct Visitors {
    of: HashMap<Handle, Visitor>,
    /// Unauthenticated clients without a validated address.
    strangers: usize,
    by_host: HashMap<IpAddr, usize>,
    /// Unauthenticated connections by their sequence number, and the number of connections so far.
    opening: BTreeMap<u64, Handle>,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Visitor {
    host: IpAddr,
    number: u64,
    is_stranger: bool,
}

/// Returns the part of an address that counts as one host: hosts have a /64 of IPv6 to themselves
/// (RFC 7934, §6).
pub(crate) fn host_of(address: SocketAddr) -> IpAddr {
    match address.ip() {
        IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or_else(|| IpAddr::V6(network_of(ip)), IpAddr::V4),
        ip => ip,
    }
}

fn network_of(ip: Ipv6Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)
}

impl Visitors {
    pub(super) fn admit(&self, server: &Server, connections: usize, from: SocketAddr, has_token: bool) -> Admission {
        let limits = &server.limits;
        if connections >= limits.connections {
            return Admission::TurnAway;
        }
        if !has_token {
            let is_free = !server.always_retry && self.strangers < limits.strangers;
            return if is_free { Admission::Accept } else { Admission::Retry };
        }
        let here = self.by_host.get(&host_of(from)).copied().unwrap_or(0);
        if here < limits.per_address { Admission::Accept } else { Admission::TurnAway }
    }

    pub(super) fn add(&mut self, handle: Handle, from: SocketAddr, is_validated: bool) {
        let host = host_of(from);
        self.count += 1;
        self.opening.insert(self.count, handle);
        self.of.insert(handle, Visitor { host, number: self.count, is_stranger: !is_validated });
        self.strangers += usize::from(!is_validated);
        *self.by_host.entry(host).or_default() += 1;
    }

    /// Returns the connection whose handshake must be abandoned, if there are already `most`.
    pub(super) fn makes_room(&self, most: usize) -> Option<Handle> {
        self.opening.first_key_value().filter(|_| self.opening.len() >= most).map(|(_, handle)| *handle)
    }

    /// Records that the handshake is over.
    pub(super) fn on_complete(&mut self, handle: Handle) {
        if let Some(visitor) = self.of.get_mut(&handle) {
            self.opening.remove(&visitor.number);
            self.strangers -= usize::from(std::mem::take(&mut visitor.is_stranger));
        }
    }

    pub(super) fn remove(&mut self, handle: Handle) {
        self.on_complete(handle);
        let Some(visitor) = self.of.remove(&handle) else { return };
        if let Some(here) = self.by_host.get_mut(&visitor.host) {
            *here -= 1;
            if *here == 0 {
                self.by_host.remove(&visitor.host);
            }
        }
    }
}
