//! Addresses and ports of simulated connections.

use acklab_base::FlowId;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

/// The network 10.0.0.0/9 of the clients: the ends that send a connection's data.
const CLIENTS: u32 = u32::from_be_bytes([10, 0, 0, 0]);
/// The network 10.128.0.0/9 of the servers.
const SERVERS: u32 = u32::from_be_bytes([10, 128, 0, 0]);
/// Hosts in either network, without the address of the network itself and that of broadcast.
const HOSTS: u32 = (1 << 23) - 2;
/// The first dynamic port (RFC 6335, §6).
const CLIENT_PORT: u16 = 49152;
/// Discard (RFC 863): a server here throws away what it receives. No dissector claims the octets of this port as its own.
const SERVER_PORT: u16 = 9;

/// Who sends a packet to whom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoints {
    /// The sender.
    pub source: SocketAddrV4,
    /// The receiver.
    pub destination: SocketAddrV4,
}

impl Endpoints {
    /// The addresses and ports that `flow` stands for.
    ///
    /// Connection 0 runs from 10.0.0.1:49152 to 10.128.0.1:9, connection 1 from 10.0.0.2:49152 to 10.128.0.2:9, and so on;
    /// where the addresses end, the client's port moves on by one. Every connection has addresses of its own.
    #[must_use]
    pub const fn of(flow: FlowId) -> Self {
        let (round, host) = (flow.connection() / HOSTS, flow.connection() % HOSTS + 1);
        let client = SocketAddrV4::new(Ipv4Addr::from_bits(CLIENTS + host), CLIENT_PORT + round as u16);
        let server = SocketAddrV4::new(Ipv4Addr::from_bits(SERVERS + host), SERVER_PORT);
        let data = Self { source: client, destination: server };
        if flow.is_data() { data } else { data.reverse() }
    }

    /// The flow that has these addresses and ports by the rule of [`of`](Self::of), if there is one.
    #[must_use]
    pub fn flow(self) -> Option<FlowId> {
        let is_data = self.destination.port() == SERVER_PORT;
        let client = if is_data { self.source } else { self.destination };
        let host = client.ip().to_bits().checked_sub(CLIENTS + 1)?;
        let round = u32::from(client.port().checked_sub(CLIENT_PORT)?);
        let connection = round.checked_mul(HOSTS)?.checked_add(host)?;
        let data = FlowId(connection.checked_mul(2)?);
        let flow = if is_data { data } else { data.reverse() };
        (Self::of(flow) == self).then_some(flow)
    }

    /// The other direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

impl fmt::Display for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {}", self.source, self.destination)
    }
}

impl fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_first_connections_read_easily() {
        assert_eq!(Endpoints::of(FlowId::data(0)).to_string(), "10.0.0.1:49152 → 10.128.0.1:9");
        assert_eq!(Endpoints::of(FlowId::data(0).reverse()).to_string(), "10.128.0.1:9 → 10.0.0.1:49152");
        assert_eq!(Endpoints::of(FlowId::data(256)).to_string(), "10.0.1.1:49152 → 10.128.1.1:9");
    }

    #[test]
    fn a_million_connections_are_distinct() {
        let flows = 0..1u32 << 21;
        let distinct: BTreeSet<Endpoints> = flows.clone().map(|flow| Endpoints::of(FlowId(flow))).collect();
        assert_eq!(distinct.len(), flows.len());
    }

    #[test]
    fn clients_and_servers_stay_in_their_networks() {
        for connection in [0, HOSTS - 1, HOSTS, u32::MAX / 2] {
            let Endpoints { source, destination } = Endpoints::of(FlowId::data(connection));
            assert_eq!((source.ip().octets()[0], source.ip().octets()[1] >> 7), (10, 0));
            assert_eq!((destination.ip().octets()[0], destination.ip().octets()[1] >> 7), (10, 1));
        }
    }

    #[test]
    fn other_addresses_are_no_flow() {
        let Endpoints { source, destination } = Endpoints::of(FlowId::data(7));
        let elsewhere = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 80);
        for pair in [(source, elsewhere), (elsewhere, destination), (destination, destination), (source, source)] {
            assert_eq!(Endpoints { source: pair.0, destination: pair.1 }.flow(), None);
        }
    }

    proptest! {
        #[test]
        fn every_flow_is_found_by_its_endpoints(flow in any::<u32>()) {
            prop_assert_eq!(Endpoints::of(FlowId(flow)).flow(), Some(FlowId(flow)));
            prop_assert_eq!(Endpoints::of(FlowId(flow).reverse()), Endpoints::of(FlowId(flow)).reverse());
        }

        #[test]
        fn any_addresses_are_judged_without_panic(source: (u32, u16), destination: (u32, u16)) {
            let socket = |(address, port)| SocketAddrV4::new(Ipv4Addr::from_bits(address), port);
            let endpoints = Endpoints { source: socket(source), destination: socket(destination) };
            if let Some(flow) = endpoints.flow() {
                prop_assert_eq!(Endpoints::of(flow), endpoints);
            }
        }
    }
}
