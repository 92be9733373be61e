//! The IP addresses of nodes.

use acklab_base::NodeId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network 10.0.0.0/8 (RFC 1918, §3).
const V4: u32 = u32::from_be_bytes([10, 0, 0, 0]);
/// The unique local prefix fdac:1ab::/64 (RFC 4193, §3).
const V6: u128 = 0xfdac_01ab_0000_0000 << 64;

/// The IPv4 address of a node: node 0 has 10.0.0.1.
pub(super) const fn v4(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::from_bits(V4 + node.0 + 1)
}

/// The IPv6 address of a node: node 0 has fdac:1ab::1.
pub(super) const fn v6(node: NodeId) -> Ipv6Addr {
    Ipv6Addr::from_bits(V6 + node.0 as u128 + 1)
}

/// The node with this address among the first `nodes`, or [`NodeId::NOWHERE`].
pub(super) fn node_of(address: IpAddr, nodes: usize) -> NodeId {
    let number = match address {
        IpAddr::V4(address) => u64::from(address.to_bits().wrapping_sub(V4)),
        IpAddr::V6(address) => u64::try_from(address.to_bits().wrapping_sub(V6)).unwrap_or(0),
    };
    // Zero is the address of the network.
    if (1..=nodes as u64).contains(&number) { NodeId(number as u32 - 1) } else { NodeId::NOWHERE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_node() {
        for node in [0, 1, 255, 70_000].map(NodeId) {
            assert_eq!(node_of(v4(node).into(), 70_001), node);
            assert_eq!(node_of(v6(node).into(), 70_001), node);
        }
        assert_eq!((v4(NodeId(0)).to_string(), v6(NodeId(9)).to_string()), ("10.0.0.1".into(), "fdac:1ab::a".into()));
    }

    #[test]
    fn other_addresses_lead_nowhere() {
        for address in
            ["10.0.0.0", "10.0.0.3", "9.255.255.255", "224.0.0.1", "fdac:1ab::3", "fdac:1ab::", "ff02::2", "::1"]
        {
            assert_eq!(node_of(address.parse().unwrap(), 2), NodeId::NOWHERE, "{address}");
        }
    }
}
