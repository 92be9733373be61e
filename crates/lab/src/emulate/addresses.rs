//! Assigns the IP addresses of nodes: the same as in a simulation.

use acklab_base::NodeId;
use acklab_wire::{Endpoints, IpVersion, address_of_node};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};

/// The address of the network. The next address belongs to node 0.
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);

/// Returns the address of a node: 10.0.0.1 or 2001:db8::1 for node 0.
pub(super) const fn of(node: NodeId, version: IpVersion) -> IpAddr {
    version.address(address_of_node(node.0))
}

/// Returns the socket addresses of a flow's ends in this version of IP.
pub(super) fn sockets(endpoints: Endpoints, version: IpVersion) -> [SocketAddr; 2] {
    [endpoints.source, endpoints.destination].map(|at: SocketAddrV4| (version.address(*at.ip()), at.port()).into())
}

/// Returns the number, from one, of the node with this address. Returns `None` if the address is
/// not in the network.
fn number_of(address: IpAddr) -> Option<u64> {
    match (address, IpVersion::V6.address(NETWORK)) {
        (IpAddr::V4(address), _) => Some(address.to_bits().wrapping_sub(NETWORK.to_bits()).into()),
        (IpAddr::V6(address), IpAddr::V6(network)) => address.to_bits().wrapping_sub(network.to_bits()).try_into().ok(),
        (IpAddr::V6(_), IpAddr::V4(_)) => None,
    }
}

/// Returns the node with this address among the first `nodes` nodes. Any other address of a single
/// host belongs to the node `internet`. All remaining addresses belong to [`NodeId::NOWHERE`].
pub(super) fn node_of(address: IpAddr, nodes: usize, internet: Option<NodeId>) -> NodeId {
    // Zero is the address of the network.
    let number = number_of(address).filter(|number| (1..=nodes as u64).contains(number));
    let outside = || internet.filter(|_| is_of_one_host(address)).unwrap_or(NodeId::NOWHERE);
    number.map_or_else(outside, |number| NodeId(number as u32 - 1))
}

/// Returns `true` for an IPv4 address that a single host in another network may have.
fn is_of_one_host(address: IpAddr) -> bool {
    let IpAddr::V4(address) = address else { return false };
    !(address.is_multicast() || address.is_broadcast() || address.is_link_local() || address.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_node() {
        for node in [0, 1, 255, 70_000].map(NodeId) {
            assert_eq!(node_of(of(node, IpVersion::V4), 70_001, None), node);
            assert_eq!(node_of(of(node, IpVersion::V6), 70_001, None), node);
        }
        let of = |node, version| of(NodeId(node), version).to_string();
        assert_eq!((of(0, IpVersion::V4), of(9, IpVersion::V6)), ("10.0.0.1".into(), "2001:db8::a".into()));
    }

    #[test]
    fn addresses_of_other_networks_lead_out() {
        let node = |address: &str| node_of(address.parse().unwrap(), 2, Some(NodeId(1)));
        assert_eq!(["192.0.2.7", "10.0.0.9", "10.0.0.1"].map(node), [NodeId(1), NodeId(1), NodeId(0)]);
        for address in ["224.0.0.22", "255.255.255.255", "169.254.1.1", "ff02::2", "2001:db8:1::1"] {
            assert_eq!(node(address), NodeId::NOWHERE, "{address}");
        }
    }

    #[test]
    fn other_addresses_lead_nowhere() {
        for address in
            ["10.0.0.0", "10.0.0.3", "9.255.255.255", "224.0.0.1", "2001:db8::3", "2001:db8::", "ff02::2", "::1"]
        {
            assert_eq!(node_of(address.parse().unwrap(), 2, None), NodeId::NOWHERE, "{address}");
        }
    }
}
