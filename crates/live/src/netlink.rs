//! Addresses, routes and properties of the devices of a namespace, over rtnetlink.

use crate::namespace::Namespace;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;
use std::net::IpAddr;

/// The properties of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The largest IP packet in octets.
    pub mtu: u32,
    /// The packets that wait to be read.
    pub queue_len: u32,
    /// The largest number of segments that TCP hands over at once. With one, a segment is a packet also for TCP's own accounting.
    pub gso_max_segs: u32,
}

/// The properties of a route that TCP uses. The kernel's defaults hold where there is no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Acknowledge every segment at once.
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
        let mut socket = namespace.inside(|| Socket::new(NETLINK_ROUTE))?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    /// Sends a request and waits for its acknowledgment.
    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut packet = NetlinkMessage::from(message);
        packet.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        packet.finalize();
        let mut octets = vec![0; packet.buffer_len()];
        packet.serialize(&mut octets);
        self.socket.send(&octets, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
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

    /// Gives the device with this index an address, for that one host only.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn add_address(&self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        let (family, length) = family_of(address);
        message.header.family = family;
        message.header.prefix_len = length;
        message.header.index = index;
        // There is nobody on the link who could have the same address.
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Routes packets to `destination` through the device with this index, with these metrics for TCP.
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
        let values: Vec<RouteMetric> = [quick_ack, initial_window, min_rto].into_iter().flatten().collect();
        if !values.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(values));
        }
        self.request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }
}

const fn family_of(address: IpAddr) -> (AddressFamily, u8) {
    match address {
        IpAddr::V4(_) => (AddressFamily::Inet, 32),
        IpAddr::V6(_) => (AddressFamily::Inet6, 128),
    }
}
