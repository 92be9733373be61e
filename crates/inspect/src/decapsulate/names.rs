//! Short names, by number, of protocols that are not decoded. They are keys of the report, so a
//! published name must not change.

use super::closed::Closed;
use super::link_type::LinkType;

/// IEEE Registration Authority, "EtherType".
const ETHER_TYPES: [(u16, &str); 28] = [
    (0x0806, "ARP"),
    (0x0842, "Wake-on-LAN"),
    (0x2000, "CDP"),
    (0x4305, "B.A.T.M.A.N."),
    (0x6002, "DEC MOP"),
    (0x6003, "DECnet"),
    (0x8035, "RARP"),
    (0x809b, "AppleTalk"),
    (0x80f3, "AARP"),
    (0x8137, "IPX"),
    (0x8808, "Ethernet flow control"),
    (0x8809, "slow protocols"),
    (0x8863, "PPPoE discovery"),
    (0x888e, "EAPOL"),
    (0x8892, "PROFINET"),
    (0x88a4, "EtherCAT"),
    (0x88b8, "GOOSE"),
    (0x88ba, "sampled values"),
    (0x88cc, "LLDP"),
    (0x88f5, "MVRP"),
    (0x88f7, "PTP"),
    (0x8902, "CFM"),
    (0x8906, "FCoE"),
    (0x890d, "TDLS"),
    (0x8914, "FIP"),
    (0x8915, "RoCE"),
    (0x9000, "Ethernet loopback"),
    (0xfefe, "OSI"),
];

/// IANA, "Protocol Numbers".
const IP_PROTOCOLS: [(u8, &str); 24] = [
    (1, "ICMP"),
    (2, "IGMP"),
    (6, "TCP"),
    (8, "EGP"),
    (17, "UDP"),
    (33, "DCCP"),
    (46, "RSVP"),
    (50, "ESP"),
    (51, "AH"),
    (54, "NHRP"),
    (58, "ICMPv6"),
    (59, "IPv6 without payload"),
    (80, "OSI"),
    (88, "EIGRP"),
    (89, "OSPF"),
    (103, "PIM"),
    (108, "IPComp"),
    (112, "VRRP"),
    (115, "L2TPv3"),
    (124, "IS-IS"),
    (132, "SCTP"),
    (135, "mobility header"),
    (136, "UDP-Lite"),
    (139, "HIP"),
];

/// IANA, "Service Name and Transport Protocol Port Numbers"; those of WireGuard and OpenVPN are
/// their defaults.
const UDP_PORTS: [(u16, &str); 38] = [
    (53, "DNS"),
    (67, "DHCP"),
    (68, "DHCP"),
    (69, "TFTP"),
    (88, "Kerberos"),
    (123, "NTP"),
    (137, "NetBIOS"),
    (138, "NetBIOS"),
    (161, "SNMP"),
    (162, "SNMP"),
    (500, "IKE"),
    (514, "syslog"),
    (520, "RIP"),
    (546, "DHCPv6"),
    (547, "DHCPv6"),
    (1194, "OpenVPN"),
    (1701, "L2TP"),
    (1812, "RADIUS"),
    (1813, "RADIUS"),
    (1900, "SSDP"),
    (2055, "NetFlow"),
    (2123, "GTP-C"),
    (2152, "GTP-U"),
    (3386, "GTP prime"),
    (3478, "STUN"),
    (3544, "Teredo"),
    (3784, "BFD"),
    (4500, "IPsec in UDP"),
    (4789, "VXLAN"),
    (5060, "SIP"),
    (5246, "CAPWAP"),
    (5247, "CAPWAP"),
    (5353, "mDNS"),
    (5355, "LLMNR"),
    (5683, "CoAP"),
    (6081, "Geneve"),
    (6343, "sFlow"),
    (8805, "PFCP"),
];

/// Protocols over UDP whose ports are above those of IANA's services.
const WIREGUARD: u16 = 51820;

pub(super) fn ether_type(number: u16) -> Closed {
    match name(&ETHER_TYPES, number) {
        Some(name) => Closed::protocol(name),
        None => Closed::Protocol(format!("EtherType {number:#06x}").into()),
    }
}

pub(super) fn ip_protocol(number: u8) -> Closed {
    match name(&IP_PROTOCOLS, number) {
        Some(name) => Closed::protocol(name),
        None => Closed::Protocol(format!("IP protocol {number}").into()),
    }
}

/// Returns the name of a protocol over UDP by its ports. The lower one is that of the service.
pub(super) fn udp(ports: [u16; 2]) -> Closed {
    let lower_first = if ports[0] <= ports[1] { ports } else { [ports[1], ports[0]] };
    let known = lower_first.into_iter().find_map(|port| match port {
        WIREGUARD => Some("WireGuard"),
        _ => name(&UDP_PORTS, port),
    });
    Closed::protocol(known.unwrap_or("UDP"))
}

/// IANA, "PPP DLL Protocol Numbers".
pub(super) const fn ppp(number: u16) -> &'static str {
    match number {
        0x002d | 0x002f => "PPP with compressed TCP headers",
        0x0061..=0x0069 | 0x0003 | 0x0005 | 0x2065..=0x2069 => "PPP with compressed headers",
        0x00fd | 0x00fb => "PPP, compressed",
        0x0053 | 0x0055 => "PPP, encrypted",
        0x0023 => "OSI",
        0x002b => "IPX",
        // Control protocols of networks and of links.
        0x8000.. => "PPP control",
        _ => "PPP, other protocols",
    }
}

/// <https://www.tcpdump.org/linktypes.html>
pub(super) fn link_type(link_type: LinkType) -> Closed {
    Closed::protocol(match link_type.0 {
        143 => "DOCSIS",
        182 => "multilink frame relay",
        187 | 201 | 251 | 254 | 255 => "Bluetooth",
        186 | 189 | 220 | 249 | 266 | 288..=290 => "USB",
        190 | 227 => "CAN",
        195 | 215 | 230 | 283 => "802.15.4",
        231 => "D-Bus",
        253 => "netlink",
        252 => "exported PDUs",
        271 => "vsock",
        LinkType::UNDEFINED_NUMBER => "packets of an undefined interface",
        number => return Closed::Protocol(format!("link type {number}").into()),
    })
}

fn name<N: Ord + Copy>(table: &[(N, &'static str)], number: N) -> Option<&'static str> {
    table.binary_search_by_key(&number, |(number, _)| *number).ok().map(|place| table[place].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order() {
        assert!(ETHER_TYPES.is_sorted_by_key(|(number, _)| *number));
        assert!(IP_PROTOCOLS.is_sorted_by_key(|(number, _)| *number));
        assert!(UDP_PORTS.is_sorted_by_key(|(number, _)| *number));
    }

    #[test]
    fn numbers_without_a_name_are_printed() {
        assert_eq!(ether_type(0x88cc), Closed::protocol("LLDP"));
        assert_eq!(ether_type(0x1234), Closed::Protocol("EtherType 0x1234".into()));
        assert_eq!(ip_protocol(253), Closed::Protocol("IP protocol 253".into()));
        assert_eq!(link_type(LinkType(250)), Closed::Protocol("link type 250".into()));
    }

    #[test]
    fn either_port_names_a_protocol_over_udp() {
        assert_eq!(udp([50_000, 53]), Closed::protocol("DNS"));
        assert_eq!(udp([2123, 2124]), Closed::protocol("GTP-C"));
        assert_eq!(udp([51_820, 40_000]), Closed::protocol("WireGuard"));
        assert_eq!(udp([40_000, 50_000]), Closed::protocol("UDP"));
    }
}
