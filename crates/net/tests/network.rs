//! Runs one network under two clocks with the octets of IP packets. Ports join while it runs, and
//! undeliverable packets are counted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use acklab_base::random::Seed;
use acklab_base::{Bytes, Datagram, Duration, FlowKey, Instant, MachineId, NodeId, PortId, Rate, World};
use acklab_drive::{Agenda, VirtualClock};
use acklab_net::{AttachError, Departure, Hop, Hosts, Map, Network, Taps};
use acklab_path::server::Server;
use acklab_path::{Link, link};
use acklab_wifi::Cell;
use acklab_wire::ipv4::{self, Carried, Extent, Ipv4Fields};
use acklab_wire::{Endpoints, IpPacket};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};

/// The first of IP's experimental protocol numbers (RFC 3692, §2.1).
const PROTOCOL: u8 = 253;

/// Nodes 0 to 3: a server, a router, the access point, a station.
const SERVER: NodeId = NodeId(0);
const STATION: NodeId = NodeId(3);

fn address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node.0 as u8 + 1)
}

fn node_of(address: IpAddr) -> NodeId {
    match address {
        IpAddr::V4(v4) if v4.octets()[..3] == [10, 0, 0] && (1..=4).contains(&v4.octets()[3]) => {
            NodeId(u32::from(v4.octets()[3]) - 1)
        }
        _ => NodeId::NOWHERE,
    }
}

fn packet_to(from: NodeId, to: Ipv4Addr, payload: u32) -> IpPacket {
    let endpoints = Endpoints { source: SocketAddrV4::new(address(from), 0), destination: SocketAddrV4::new(to, 0) };
    let carried = Carried { protocol: PROTOCOL, ecn: acklab_base::Ecn::NotEct, header: &[], payload };
    let mut octets = Vec::new();
    ipv4::encode(&carried, endpoints, Ipv4Fields::default(), Extent::Whole, &mut octets).unwrap();
    IpPacket::parse(octets, node_of).unwrap()
}

fn packet(from: NodeId, to: NodeId, payload: u32) -> IpPacket {
    packet_to(from, address(to), payload)
}

/// Hosts that reply to each packet with a packet of 40 octets.
#[derive(Default)]
struct Echo {
    nodes: Vec<NodeId>,
    leaving: Vec<VecDeque<IpPacket>>,
    arrived: Vec<(Instant, PortId, u64)>,
}

impl Echo {
    fn join(&mut self, node: NodeId) {
        self.nodes.push(node);
        self.leaving.push(VecDeque::new());
    }
}

impl Hosts<IpPacket> for Echo {
    fn accept(&mut self, port: PortId, now: Instant, packet: IpPacket) {
        self.arrived.push((now, port, packet.wire_len().get()));
        if packet.wire_len() > Bytes(40) {
            let from = self.nodes[port.index()];
            let back = IpAddr::from(<[u8; 4]>::try_from(&packet.octets()[12..16]).unwrap());
            let IpAddr::V4(back) = back else { unreachable!() };
            self.leaving[port.index()].push_back(packet_to(from, back, 20));
        }
    }

    fn wake(&mut self, _: PortId, _: Instant) {}

    fn depart(&mut self, port: PortId, _: Instant) -> Departure<IpPacket> {
        self.leaving[port.index()].pop_front().map_or(Departure::None(None), Departure::One)
    }
}

#[derive(Default)]
struct Dropped(Vec<FlowKey>);

impl Taps<IpPacket> for Dropped {
    fn dropped(&mut self, flow: FlowKey) {
        self.0.push(flow);
    }
}

type Net = Network<IpPacket, Echo, Dropped>;

/// Returns the network server - 8 Mbps, 1 ms - router - 8 Mbps, 1 ms - access point - 802.11a -
/// station.
fn network() -> Net {
    let mut map = Map::new(4);
    let links = (0..4).map(|direction| {
        let config = link::LinkConfig {
            rate: Some(Rate::from_mbps(8)),
            delay: Duration::from_millis(1),
            ..link::LinkConfig::default()
        };
        Link::new(&config, Server::constant(Rate::from_mbps(8)), Seed(1), &format!("link{direction}"))
    });
    let links = links.collect();
    map.join(NodeId(0), NodeId(1), Hop::Link(0));
    map.join(NodeId(1), NodeId(2), Hop::Link(2));
    map.join(NodeId(2), STATION, Hop::Cell { cell: 0, from: 0, to: 1 });
    let cell: acklab_wifi::CellConfig = serde_json::from_value(serde_json::json!({
        "name": "cell", "standard": "802.11a", "ap": { "name": "ap" }, "station": [{ "name": "sta" }],
    }))
    .unwrap();
    let cells = vec![Cell::new(&cell, Seed(1)).unwrap()];
    Network::new(links, cells, map, [SERVER, STATION], Echo::default(), Dropped::default())
}

fn attach(net: &mut Net, node: NodeId, peer: NodeId) -> PortId {
    let port = net.attach(node, packet(peer, node, 0).flow()).unwrap();
    net.hosts.join(node);
    port
}

/// Returns a network with a port at each end, and a packet of 500 octets that waits at the server.
fn loaded() -> (Net, PortId, PortId) {
    let mut net = network();
    let (server, station) = (attach(&mut net, SERVER, STATION), attach(&mut net, STATION, SERVER));
    net.hosts.leaving[server.index()].push_back(packet(SERVER, STATION, 480));
    (net, server, station)
}

#[test]
fn packets_are_forwarded_by_destination_over_links_and_a_cell() {
    let (mut net, server, station) = loaded();
    let mut clock = VirtualClock::new(&mut net);
    clock.run(&mut net, Instant::ZERO + Duration::from_secs(1), || true);
    let ports: Vec<_> = net.hosts.arrived.iter().map(|(_, port, size)| (*port, *size)).collect();
    assert_eq!(ports, [(station, 500), (server, 40)]);
    let wired = Duration::from_millis(2) + Duration::from_micros(1000);
    assert!(net.hosts.arrived[0].0 > Instant::ZERO + wired, "500 octets at 8 Mbps twice, 1 ms twice, and the air");
    assert_eq!((net.undeliverable(), net.taps.0.len()), (0, 0));
}

/// Wakes machines late, at multiples of 100 µs, as a real clock does.
fn drive_late(net: &mut Net, until: Instant) {
    let mut agenda = Agenda::new(net, Instant::ZERO);
    while let Some((due, _)) = agenda.next().filter(|(due, _)| *due < until) {
        let now = Instant::from_nanos(due.as_nanos().next_multiple_of(100_000));
        while let Some((_, machine)) = agenda.next().filter(|(due, _)| *due <= now) {
            agenda.wake(net, machine, now);
        }
    }
}

#[test]
fn a_late_clock_drives_the_same_network() {
    let (mut exact, ..) = loaded();
    VirtualClock::new(&mut exact).run(&mut exact, Instant::ZERO + Duration::from_secs(1), || true);
    let (mut late, ..) = loaded();
    drive_late(&mut late, Instant::ZERO + Duration::from_secs(1));
    assert_eq!(late.hosts.arrived.len(), exact.hosts.arrived.len());
    for ((at, port, size), (exact_at, exact_port, exact_size)) in late.hosts.arrived.iter().zip(&exact.hosts.arrived) {
        assert_eq!((port, size), (exact_port, exact_size));
        let lateness = at.since(*exact_at);
        assert!(
            lateness < Duration::from_millis(1),
            "the sum of some wake-ups, each less than 100 µs late: {lateness}"
        );
    }
}

#[test]
fn a_port_joins_while_the_network_runs() {
    let (mut net, ..) = loaded();
    let mut clock = VirtualClock::new(&mut net);
    clock.run(&mut net, Instant::ZERO + Duration::from_millis(100), || true);
    let before = net.machines();
    // A second flow between the same nodes, with another protocol number.
    let endpoints = |from: NodeId, to: NodeId| Endpoints {
        source: SocketAddrV4::new(address(from), 0),
        destination: SocketAddrV4::new(address(to), 0),
    };
    let port = net.attach(STATION, endpoints(SERVER, STATION).flow_key(254)).unwrap();
    assert_eq!((net.machine_of(port), net.machines()), (MachineId(before as u32), before + 1));
    net.hosts.join(STATION);
    net.hosts.leaving[port.index()].push_back(packet(STATION, SERVER, 480));
    clock.admit(&mut net);
    clock.run(&mut net, Instant::ZERO + Duration::from_secs(1), || true);
    assert_eq!(
        net.hosts.arrived.len(),
        4,
        "also the packet of the new port, and the server's reply, which the old port receives"
    );
}

#[test]
fn undeliverable_packets_are_counted_and_reported() {
    let (mut net, server, _) = loaded();
    let lost = [
        packet_to(SERVER, Ipv4Addr::new(192, 0, 2, 1), 480),
        // A node without ports.
        packet(SERVER, NodeId(1), 480),
        // A flow that no port receives.
        packet(NodeId(2), STATION, 480),
    ];
    let flows: Vec<_> = lost.iter().map(Datagram::flow).collect();
    net.hosts.leaving[server.index()].extend(lost);
    VirtualClock::new(&mut net).run(&mut net, Instant::ZERO + Duration::from_secs(1), || true);
    assert_eq!((net.undeliverable(), &net.taps.0), (3, &flows));
    assert_eq!(net.hosts.arrived.len(), 2, "the others arrive");
}

#[test]
fn a_port_is_refused_with_a_reason() {
    let (mut net, ..) = loaded();
    let taken = packet(SERVER, STATION, 0).flow();
    assert_eq!(net.attach(STATION, taken), Err(AttachError::FlowTaken));
    assert_eq!(net.attach(NodeId(1), FlowKey(7)), Err(AttachError::NoPorts(1)));
    assert_eq!(AttachError::NoPorts(1).to_string(), "node 1 has no ports");
}
