//! Addresses, routes and properties of the devices of a namespace, over rtnetlink.
//!
//! | module | contents |
//! |---|---|
//! | `destination` | decides whether an address leads to this host |

mod destination;

use crate::namespace::Namespace;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, BridgeStpState, In6AddrGenMode, InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute,
    LinkFlags, LinkInfo, LinkLayerType, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd};

/// The number of the metric (`linux/rtnetlink.h`).
const RTAX_RTO_MIN: u32 = 13;

/// The properties of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The largest IP packet in octets.
    pub mtu: u32,
    /// The maximum number of packets that wait to be read.
    pub queue_len: u32,
    /// The largest number of segments that TCP passes down at once. With one, TCP counts each
    /// segment as a packet.
    pub gso_max_segs: u32,
}

/// A device as the kernel describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its index.
    pub index: u32,
    /// A text that an administrator or a program has set.
    pub alias: String,
    /// The largest IP packet in octets.
    pub mtu: u32,
    /// The index of the bridge or other device that this one is a port of.
    pub master: Option<u32>,
    /// `true` if it is up.
    pub is_up: bool,
    /// `true` if its frames are those of Ethernet.
    pub is_ethernet: bool,
    /// Its addresses, except link-local ones.
    pub addresses: Vec<IpAddr>,
}

impl Interface {
    fn of(link: &LinkMessage) -> Self {
        let mut interface = Self {
            index: link.header.index,
            is_up: link.header.flags.contains(LinkFlags::Up),
            is_ethernet: link.header.link_layer_type == LinkLayerType::Ether,
            ..Self::default()
        };
        for attribute in &link.attributes {
            match attribute {
                LinkAttribute::IfName(name) => interface.name.clone_from(name),
                LinkAttribute::IfAlias(alias) => interface.alias.clone_from(alias),
                LinkAttribute::Mtu(mtu) => interface.mtu = *mtu,
                LinkAttribute::Controller(master) => interface.master = Some(*master),
                _ => {}
            }
        }
        interface
    }
}

/// The properties of a route that TCP uses. For missing values, the kernel uses its defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// `true` if every segment is acknowledged immediately.
    pub quick_ack: bool,
    /// The initial congestion window in segments.
    pub initial_window: Option<u32>,
    /// The lower bound of the retransmission timeout in milliseconds.
    pub min_rto_ms: Option<u32>,
}

/// The configuration of one namespace.
pub struct Netlink {
    socket: Socket,
}

impl Netlink {
    /// Opens the configuration of `namespace`.
    ///
    /// # Errors
    /// If the thread cannot enter the namespace.
    pub fn new(namespace: &Namespace) -> io::Result<Self> {
        namespace.inside(Self::here)
    }

    /// Opens the configuration of the namespace of the calling thread.
    ///
    /// # Errors
    /// If the system refuses a socket.
    pub fn here() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    fn send(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut packet = NetlinkMessage::from(message);
        packet.header.flags = NLM_F_REQUEST | flags;
        packet.finalize();
        let mut octets = vec![0; packet.buffer_len()];
        packet.serialize(&mut octets);
        self.socket.send(&octets, 0).map(|_| ())
    }

    /// Sends a request and waits for its acknowledgment.
    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.send(message, NLM_F_ACK | flags)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }

    /// Sends a query that has one answer, and returns it.
    fn get(&self, message: RouteNetlinkMessage) -> io::Result<RouteNetlinkMessage> {
        self.send(message, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::InnerMessage(message) => Ok(message),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            _ => Err(io::Error::other("the kernel has not answered the query")),
        }
    }

    /// Sends a query and calls `each` with each part of the answer.
    fn query(&self, message: RouteNetlinkMessage, mut each: impl FnMut(RouteNetlinkMessage)) -> io::Result<()> {
        self.send(message, NLM_F_DUMP)?;
        loop {
            let (answers, _) = self.socket.recv_from_full()?;
            let mut rest = &answers[..];
            while !rest.is_empty() {
                let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest).map_err(io::Error::other)?;
                // Each message is padded to four octets.
                let length = (answer.header.length as usize).next_multiple_of(4).clamp(4, rest.len());
                rest = &rest[length..];
                match answer.payload {
                    NetlinkPayload::Done(_) => return Ok(()),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    NetlinkPayload::InnerMessage(message) => each(message),
                    _ => {}
                }
            }
        }
    }

    /// Returns all devices, without their addresses.
    fn interfaces(&self) -> io::Result<Vec<Interface>> {
        let mut found = Vec::new();
        self.query(RouteNetlinkMessage::GetLink(LinkMessage::default()), |message| {
            if let RouteNetlinkMessage::NewLink(link) = message {
                found.push(Interface::of(&link));
            }
        })?;
        Ok(found)
    }

    /// Returns the device `name`. Returns `None` if there is none.
    ///
    /// # Errors
    /// If the kernel refuses the query.
    pub fn interface(&self, name: &str) -> io::Result<Option<Interface>> {
        let Some(mut interface) = self.interfaces()?.into_iter().find(|interface| interface.name == name) else {
            return Ok(None);
        };
        self.query(RouteNetlinkMessage::GetAddress(AddressMessage::default()), |message| {
            if let RouteNetlinkMessage::NewAddress(address) = message
                && address.header.index == interface.index
                && address.header.scope == AddressScope::Universe
            {
                interface.addresses.extend(address.attributes.into_iter().find_map(|attribute| match attribute {
                    AddressAttribute::Address(address) => Some(address),
                    _ => None,
                }));
            }
        })?;
        Ok(Some(interface))
    }

    /// Returns the alias of the device with this index, empty if it has none.
    ///
    /// # Errors
    /// If the kernel refuses the query.
    pub fn alias_of(&self, index: u32) -> io::Result<String> {
        let found = self.interfaces()?.into_iter().find(|interface| interface.index == index);
        Ok(found.unwrap_or_default().alias)
    }

    /// Creates a bridge without addresses that forwards like a wire. It runs no spanning tree and
    /// sends multicast to all ports. It also forwards frames that standards keep to one link, as
    /// far as the kernel permits. The bridge is down. `%d` in `name` is replaced by a free number.
    /// Returns its index.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn add_bridge(&self, name: &str, alias: &str) -> io::Result<u32> {
        let mut message = LinkMessage::default();
        let bridge = vec![
            InfoBridge::StpState(BridgeStpState::Disabled),
            InfoBridge::MulticastSnooping(false),
            // All except spanning tree, pause frames and LACP (`BR_GROUPFWD_RESTRICTED`,
            // net/bridge/br_private.h).
            InfoBridge::GroupFwdMask(0xfff8),
        ];
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Bridge), LinkInfo::Data(InfoData::Bridge(bridge))]),
        ];
        let before: Vec<u32> = self.interfaces()?.into_iter().map(|interface| interface.index).collect();
        self.request(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)?;
        let (prefix, _) = name.split_once('%').unwrap_or((name, ""));
        let is_made = |found: &Interface| found.name.starts_with(prefix) && !before.contains(&found.index);
        let made = self.interfaces()?.into_iter().find(is_made);
        let made = made.ok_or_else(|| io::Error::other("the new bridge has gone"))?;
        let mut message = LinkMessage::default();
        message.header.index = made.index;
        message.attributes = vec![LinkAttribute::IfAlias(alias.to_owned())];
        let prepared = without_ipv6(&made.name).and_then(|()| self.request(RouteNetlinkMessage::SetLink(message), 0));
        if prepared.is_err() {
            // Without its alias, no later process would recognise and adopt it.
            let _ = self.remove(made.index);
        }
        prepared.map(|()| made.index)
    }

    /// Makes the device with this index a port of a bridge.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_bridge(&self, index: u32, bridge: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.attributes = vec![LinkAttribute::Controller(bridge)];
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Removes the device with this index.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn remove(&self, index: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        self.request(RouteNetlinkMessage::DelLink(message), 0)
    }

    /// Creates a pair of virtual Ethernet devices: `name` here, and `peer` in another namespace.
    /// The pair exists as long as both namespaces.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn add_pair(&self, name: &str, peer: &str, namespace: &Namespace) -> io::Result<()> {
        let mut other = LinkMessage::default();
        other.attributes =
            vec![LinkAttribute::IfName(peer.to_owned()), LinkAttribute::NetNsFd(namespace.as_fd().as_raw_fd())];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other))),
            ]),
        ];
        self.request(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Routes all IPv4 packets without another route through the device with this index, to
    /// `gateway` if there is one.
    ///
    /// # Errors
    /// If the kernel refuses the route.
    pub fn add_default_route(&self, index: u32, gateway: Option<Ipv4Addr>) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = if gateway.is_some() { RouteScope::Universe } else { RouteScope::Link };
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![RouteAttribute::Oif(index)];
        message.attributes.extend(gateway.map(|to| RouteAttribute::Gateway(RouteAddress::from(to))));
        self.request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sets the properties of the device with this index.
    ///
    /// # Errors
    /// If the kernel refuses them.
    pub fn configure(&self, index: u32, device: Device) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.attributes = vec![
            LinkAttribute::Mtu(device.mtu),
            LinkAttribute::TxQueueLen(device.queue_len),
            LinkAttribute::GsoMaxSegs(device.gso_max_segs),
        ];
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Disables the automatic IPv6 address of the device with this index. Without an address, the
    /// device solicits no routers either. By itself, it then sends at most reports of multicast
    /// groups. The call requires only `CAP_NET_ADMIN`, and no file in `/proc/sys`.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn give_no_address(&self, index: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        let mode = vec![AfSpecInet6::AddrGenMode(In6AddrGenMode::None)];
        message.attributes = vec![LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(mode)])];
        match self.request(RouteNetlinkMessage::SetLink(message), 0) {
            // The kernel has no IPv6.
            Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => Ok(()),
            result => result,
        }
    }

    /// Brings the device with this index up.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn bring_up(&self, index: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Adds an address to the device with this index, with a prefix for this one host only.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn add_address(&self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        let (family, length) = family_of(address);
        message.header.family = family;
        message.header.prefix_len = length;
        message.header.index = index;
        // The link has no other host that could have the same address.
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Routes packets to `destination` through the device with this index, with these metrics for
    /// TCP.
    ///
    /// # Errors
    /// If the kernel refuses the route.
    pub fn add_route(&self, index: u32, destination: IpAddr, metrics: &Metrics) -> io::Result<()> {
        let mut message = RouteMessage::default();
        let (family, length) = family_of(destination);
        message.header.address_family = family;
        message.header.destination_prefix_length = length;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = if destination.is_ipv4() { RouteScope::Link } else { RouteScope::Universe };
        message.header.kind = RouteType::Unicast;
        message.attributes =
            vec![RouteAttribute::Destination(RouteAddress::from(destination)), RouteAttribute::Oif(index)];
        let quick_ack = metrics.quick_ack.then_some(RouteMetric::QuickAck(1));
        let initial_window = metrics.initial_window.map(RouteMetric::InitCwnd);
        let min_rto = metrics.min_rto_ms.map(RouteMetric::RtoMin);
        // The kernel applies a minimum timeout only if the route locks it (`tcp_rto_min`). iproute2
        // also locks it.
        let lock = metrics.min_rto_ms.map(|_| RouteMetric::Lock(1 << RTAX_RTO_MIN));
        let values: Vec<RouteMetric> = [lock, quick_ack, initial_window, min_rto].into_iter().flatten().collect();
        if !values.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(values));
        }
        self.request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }
}

/// Disables IPv6 on the device `name`. The host then sends no IPv6 packets of its own through the
/// device and is no IPv6 node of its network.
///
/// # Errors
/// If the system refuses, as it does in most containers.
pub fn without_ipv6(name: &str) -> io::Result<()> {
    let file = format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6");
    std::fs::write(&file, "1").or_else(|error| match error.kind() {
        // The kernel has no IPv6.
        io::ErrorKind::NotFound => Ok(()),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Err(io::Error::new(
            error.kind(),
            format!(
                "{file}: {error}; a container may write it with `--security-opt unmask=/proc/sys` (podman) or `--security-opt systempaths=unconfined` (Docker)"
            ),
        )),
        _ => Err(error),
    })
}

const fn family_of(address: IpAddr) -> (AddressFamily, u8) {
    match address {
        IpAddr::V4(_) => (AddressFamily::Inet, 32),
        IpAddr::V6(_) => (AddressFamily::Inet6, 128),
    }
}
