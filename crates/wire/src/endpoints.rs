//! Addresses and ports of simulated connections.

use acklab_base::FlowKey;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// The network 10.0.0.0/9 of the clients, which send the data of a connection.
const CLIENTS: u32 = u32::from_be_bytes([10, 0, 0, 0]);
/// The network 10.128.0.0/9 of the servers.
const SERVERS: u32 = u32::from_be_bytes([10, 128, 0, 0]);
/// The number of hosts in each network, without the network address and the broadcast address.
const HOSTS: u32 = (1 << 23) - 2;
/// The first dynamic port (RFC 6335, §6).
const CLIENT_PORT: u16 = 49152;
/// Discard (RFC 863): simulated servers discard what they receive, and packet analysers do not
/// dissect the payload of this port.
const SERVER_PORT: u16 = 9;

/// The source and the destination of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoints {
    /// The sender.
    pub source: SocketAddrV4,
    /// The receiver.
    pub destination: SocketAddrV4,
}

impl Endpoints {
    /// Returns the endpoints of the simulated connection with this number, from its client to its
    /// server.
    ///
    /// Connection 0 runs from 10.0.0.1:49152 to 10.128.0.1:9, connection 1 from 10.0.0.2:49152 to
    /// 10.128.0.2:9, and so on; after the last address, the client's port is incremented. No two
    /// connections have the same endpoints.
    #[must_use]
    pub const fn of_connection(number: u32) -> Self {
        let (round, host) = (number / HOSTS, number % HOSTS + 1);
        let source = SocketAddrV4::new(Ipv4Addr::from_bits(CLIENTS + host), CLIENT_PORT + round as u16);
        let destination = SocketAddrV4::new(Ipv4Addr::from_bits(SERVERS + host), SERVER_PORT);
        Self { source, destination }
    }

    /// Returns the endpoints of a connection between two nodes, from its client to its server.
    /// `number` distinguishes the connections of the client.
    ///
    /// Every node has one [address](address_of_node), and every connection of a client has its own
    /// port: 49152, 49153, and so on. The server's port is 9. It is incremented after the last port
    /// of the client has been used.
    #[must_use]
    pub const fn of_nodes(client: u32, server: u32, number: u32) -> Self {
        let ports = (u16::MAX - CLIENT_PORT) as u32 + 1;
        let (round, port) = (number / ports, number % ports);
        Self {
            source: SocketAddrV4::new(address_of_node(client), CLIENT_PORT + port as u16),
            destination: SocketAddrV4::new(address_of_node(server), SERVER_PORT + round as u16),
        }
    }

    /// Returns the key of the flow with this IP protocol between these endpoints.
    #[must_use]
    pub fn flow_key(self, protocol: u8) -> FlowKey {
        let addresses = u64::from(self.source.ip().to_bits()) << 32 | u64::from(self.destination.ip().to_bits());
        FlowKey::of_words(&[addresses, ports_and_protocol(self.source.port(), self.destination.port(), protocol)])
    }

    /// Returns the endpoints of the opposite direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

/// Returns the address of a node of a simulated network: 10.0.0.1 for node 0, 10.0.0.2 for node 1,
/// and so on.
#[must_use]
pub const fn address_of_node(node: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(CLIENTS + 1 + node)
}

/// Returns the key of the flow between two IPv6 endpoints.
pub(crate) fn flow_key_v6(source: SocketAddrV6, destination: SocketAddrV6, protocol: u8) -> FlowKey {
    let words = |address: &SocketAddrV6| {
        let bits = address.ip().to_bits();
        [(bits >> 64) as u64, bits as u64]
    };
    let ([source_high, source_low], [destination_high, destination_low]) = (words(&source), words(&destination));
    let last = ports_and_protocol(source.port(), destination.port(), protocol);
    FlowKey::of_words(&[source_high, source_low, destination_high, destination_low, last])
}

/// Returns the key of the flow with this IP protocol between two sockets of one version of IP.
pub(crate) fn flow_key_between(sockets: [SocketAddr; 2], protocol: u8) -> FlowKey {
    match sockets {
        [SocketAddr::V4(source), SocketAddr::V4(destination)] => Endpoints { source, destination }.flow_key(protocol),
        [source, destination] => {
            let v6 = |socket: SocketAddr| match socket {
                SocketAddr::V4(v4) => SocketAddrV6::new(v4.ip().to_ipv6_mapped(), v4.port(), 0, 0),
                SocketAddr::V6(v6) => v6,
            };
            flow_key_v6(v6(source), v6(destination), protocol)
        }
    }
}

/// Returns the last word of a five-tuple.
fn ports_and_protocol(source: u16, destination: u16, protocol: u8) -> u64 {
    u64::from(source) << 32 | u64::from(destination) << 16 | u64::from(protocol)
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
    use std::collections::BTreeSet;

    #[test]
    fn a_node_has_one_address_and_each_of_its_connections_a_port() {
        assert_eq!(Endpoints::of_nodes(0, 3, 0).to_string(), "10.0.0.1:49152 → 10.0.0.4:9");
        assert_eq!(Endpoints::of_nodes(0, 300, 16_383).to_string(), "10.0.0.1:65535 → 10.0.1.45:9");
        assert_eq!(Endpoints::of_nodes(0, 3, 16_384).to_string(), "10.0.0.1:49152 → 10.0.0.4:10");
        let all: BTreeSet<_> = (0..40_000).map(|number| Endpoints::of_nodes(0, 1, number)).collect();
        assert_eq!(all.len(), 40_000);
    }

    #[test]
    fn the_first_connections_read_easily() {
        assert_eq!(Endpoints::of_connection(0).to_string(), "10.0.0.1:49152 → 10.128.0.1:9");
        assert_eq!(Endpoints::of_connection(0).reverse().to_string(), "10.128.0.1:9 → 10.0.0.1:49152");
        assert_eq!(Endpoints::of_connection(256).to_string(), "10.0.1.1:49152 → 10.128.1.1:9");
    }

    #[test]
    fn a_million_connections_are_distinct_both_ways() {
        let both = |number| [Endpoints::of_connection(number), Endpoints::of_connection(number).reverse()];
        let distinct: BTreeSet<Endpoints> = (0..1 << 20).flat_map(both).collect();
        let keys: BTreeSet<FlowKey> = distinct.iter().map(|endpoints| endpoints.flow_key(6)).collect();
        assert_eq!((distinct.len(), keys.len()), (1 << 21, 1 << 21));
    }

    #[test]
    fn clients_and_servers_stay_in_their_networks() {
        for connection in [0, HOSTS - 1, HOSTS, u32::MAX / 2] {
            let Endpoints { source, destination } = Endpoints::of_connection(connection);
            assert_eq!((source.ip().octets()[0], source.ip().octets()[1] >> 7), (10, 0));
            assert_eq!((destination.ip().octets()[0], destination.ip().octets()[1] >> 7), (10, 1));
        }
    }

    #[test]
    fn protocols_have_flows_of_their_own() {
        let endpoints = Endpoints::of_connection(3);
        assert_ne!(endpoints.flow_key(6), endpoints.flow_key(17));
    }
}
