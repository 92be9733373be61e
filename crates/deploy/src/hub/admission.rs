//! Decides which unauthenticated clients get a connection.
//!
//! For an unauthenticated client, a server computes a signature and stores some kilobytes. While
//! there are few unauthenticated clients, each gets a connection immediately. Otherwise, each
//! client must repeat its request with a token, for which the server keeps no state. A token is
//! valid for a short time and for one address.

use super::Handle;
use crate::config::Server;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The code for a server with too many connections (RFC 9000, §20.1: CONNECTION_REFUSED). It is
/// above the codes of applications.
pub(super) const BUSY: u32 = 1 << 31 | 0x02;

/// The treatment of an unauthenticated client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// The client gets a connection.
    Accept,
    /// The client gets a token and must repeat its request with the token.
    Retry,
    /// The client gets no answer.
    TurnAway,
}

/// The clients of a hub.
#[derive(Debug, Default)]
pub(super) struct Visitors {
    of: HashMap<Handle, Visitor>,
    /// Unauthenticated clients without a validated address.
    strangers: usize,
    by_host: HashMap<IpAddr, usize>,
    /// Unauthenticated connections by their sequence number, and the total number of connections up
    /// to now.
    opening: BTreeMap<u64, Handle>,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Visitor {
    host: IpAddr,
    number: u64,
    is_stranger: bool,
}

/// Returns the part of an address that identifies one host. In IPv6, a host has a whole /64 (RFC
/// 7934, §6).
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

    /// If there are already `most` unauthenticated connections, returns the one to abandon.
    pub(super) fn makes_room(&self, most: usize) -> Option<Handle> {
        self.opening.first_key_value().filter(|_| self.opening.len() >= most).map(|(_, handle)| *handle)
    }

    /// Records that the handshake has ended.
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
