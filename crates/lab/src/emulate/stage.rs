//! Namespaces, devices, routes and sockets.

use super::command::{self, Job};
use super::end::{KernelEnd, Shown};
use super::hosts::{KernelHosts, RealWorld};
use super::kernel::{self, Agreement, Request};
use super::packet::RealPacket;
use super::traffic::{Speaker, datagrams, stream};
use super::{EmulateOptions, addresses, host_error};
use crate::build::{Parts, Plans};
use crate::error::Error;
use crate::flows::Flow;
use crate::scenario::{self, Scenario};
use crate::table::Table;
use crate::transports;
use acklab_base::random::Seed;
use acklab_base::{FlowKey, Instant, NodeId, PortId};
use acklab_live::netlink::{Device, Metrics, Netlink};
use acklab_live::socket::{Tcp, Udp};
use acklab_live::{Namespace, Outlet, Tun, WallClock, realtime};
use acklab_wire::Endpoints;
use acklab_wire::ipv4::IPV4_HEADER;
use acklab_wire::tcp::TCP_HEADER;
use acklab_wire::udp::UDP_HEADER;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;

/// The name of the device in each namespace.
const DEVICE: &str = "acklab0";
/// The index of the loopback device.
const LOOPBACK_INDEX: u32 = 1;
/// The packets that wait in a device until they are read: far more than arrive in a stall of the reader.
const QUEUE_LEN: u32 = 10_000;
/// The maximum transmission unit of Ethernet.
const MTU: u64 = 1500;
/// IPv4 and TCP headers without options.
const HEADERS: u64 = IPV4_HEADER + TCP_HEADER;
/// The first dynamic port (RFC 6335, §6), from which the flows are numbered at the end that connects.
const CLIENT_PORT: u16 = 49_152;
/// The port of the first flow at the other end.
const SERVER_PORT: u16 = 20_000;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// What the devices do with the offloads of TCP and UDP, as the table `kernel` says it: nothing, so that a packet is a packet.
const DEVICES: [(&str, &str); 5] = [
    ("offloads", "none"),
    ("tso", "off: TCP hands over one segment at a time"),
    ("gso", "done by the kernel before the device: each read is one packet"),
    ("gro", "off: each packet enters the stack of its host alone"),
    ("gso_max_segs", "1"),
];

/// A node with a stack of the kernel.
struct Host {
    name: String,
    node: NodeId,
    namespace: Namespace,
    /// The index of its device.
    device: u32,
}

/// A flow, with its two ends.
struct Cast {
    flow: scenario::Flow,
    ends: [NodeId; 2],
    /// What it asks of the kernel's TCP; `None` for a flow over UDP.
    request: Option<Request>,
}

impl Cast {
    /// The largest packet of the flow in octets, if its size is set.
    fn largest_packet(&self) -> Option<u64> {
        match &self.request {
            Some(request) => request.options.mss.map(|mss| u64::from(mss) + HEADERS),
            None => self.flow.traffic.write().map(|write| write.get() + IPV4_HEADER + UDP_HEADER),
        }
    }
}

/// A flow whose sockets are made.
struct Staged {
    ends: [KernelEnd; 2],
    /// The keys of the packets of both ends.
    keys: [FlowKey; 2],
}

/// The hosts and flows of an emulation. Host `i` has device `i` and port `i`.
pub(super) struct Stage {
    hosts: Vec<Host>,
    nodes: BTreeMap<String, NodeId>,
    mtu: u32,
    casts: Vec<Cast>,
    shown: Vec<(String, Arc<Shown>)>,
    tuns: Vec<Tun>,
}

impl Stage {
    /// Makes the namespaces with their devices, addresses and routes.
    pub(super) fn new(scenario: &Scenario, options: &EmulateOptions, parts: &Parts<RealPacket>) -> Result<Self, Error> {
        let mut casts = Vec::new();
        for (flow, part) in scenario.flows().into_iter().zip(&parts.flows) {
            let request = kernel::request(&flow)?;
            casts.push(Cast { flow, ends: part.ends, request });
        }
        // What an application writes to UDP travels whole, as in a simulation.
        let mtu = casts.iter().filter_map(Cast::largest_packet).fold(MTU, u64::max) as u32;
        // Large packets of one flow do not make the segments of the others larger.
        if u64::from(mtu) > MTU {
            for request in casts.iter_mut().filter_map(|cast| cast.request.as_mut()) {
                request.options.mss.get_or_insert((MTU - HEADERS) as u32);
            }
        }
        let nodes = parts.nodes.clone();
        let mut stage = Self { hosts: Vec::new(), nodes, mtu, casts, shown: Vec::new(), tuns: Vec::new() };
        for node in stage.nodes_with_hosts(scenario, options)? {
            stage.add_host(node)?;
        }
        stage.set_parameters()?;
        stage.add_routes()?;
        Ok(stage)
    }

    fn node(&self, name: &str) -> Result<NodeId, Error> {
        self.nodes.get(name).copied().ok_or_else(|| {
            let names: Vec<&str> = self.nodes.keys().map(String::as_str).collect();
            Error::NoNode { node: name.to_owned(), expected: format!("one of {}", names.join(", ")) }
        })
    }

    /// The nodes on which flows end, commands run, or that commands name. A command with the terminal may reach every node at the edge.
    fn nodes_with_hosts(&self, scenario: &Scenario, options: &EmulateOptions) -> Result<BTreeSet<NodeId>, Error> {
        let mut hosts: BTreeSet<NodeId> = self.casts.iter().flat_map(|cast| cast.ends).collect();
        for application in &scenario.application {
            hosts.insert(self.node(&application.node)?);
            hosts.extend(command::nodes_in(&application.command, &self.nodes));
        }
        if let Some(foreground) = &options.foreground {
            hosts.insert(self.node(&foreground.node)?);
            hosts.extend(foreground.words.iter().flat_map(|word| command::nodes_in(word, &self.nodes)));
            let links = scenario.link.iter().flat_map(|link| [link.from.clone(), link.to.clone()]);
            let cells = scenario.wifi.iter().flat_map(acklab_wifi::Config::station_names);
            let mut degrees: BTreeMap<String, usize> = BTreeMap::new();
            links.chain(cells).for_each(|name| *degrees.entry(name).or_default() += 1);
            let edge = degrees.iter().filter(|(_, degree)| **degree == 1);
            hosts.extend(edge.filter_map(|(name, _)| self.nodes.get(name).copied()));
        }
        Ok(hosts)
    }

    fn add_host(&mut self, node: NodeId) -> Result<(), Error> {
        let name =
            self.nodes.iter().find(|(_, known)| **known == node).map_or_else(String::new, |(name, _)| name.clone());
        let namespace = Namespace::new()?;
        for (parameter, value) in kernel::PARAMETERS {
            // A kernel without IPv6 does not have all of them.
            let _ = namespace.set(parameter, value);
        }
        let tun = Tun::new(&namespace, DEVICE)?;
        let configure = || {
            let netlink = Netlink::new(&namespace)?;
            // One segment at a time, so that a packet is a packet also for TCP's own accounting.
            let device = Device { mtu: self.mtu, queue_len: QUEUE_LEN, gso_max_segs: 1 };
            netlink.configure(tun.index(), device)?;
            netlink.bring_up(LOOPBACK_INDEX)?;
            netlink.bring_up(tun.index())?;
            netlink.add_address(tun.index(), addresses::v4(node).into())?;
            // A kernel may be without IPv6.
            let _ = netlink.add_address(tun.index(), addresses::v6(node).into());
            Ok(())
        };
        configure().map_err(host_error(format!("cannot configure the device of node \"{name}\"")))?;
        self.hosts.push(Host { name, node, namespace, device: tun.index() });
        self.tuns.push(tun);
        Ok(())
    }

    /// Sets what the flows of each node ask for.
    fn set_parameters(&self) -> Result<(), Error> {
        for host in &self.hosts {
            let mut agreement = Agreement::default();
            for cast in self.casts.iter().filter(|cast| cast.ends.contains(&host.node)) {
                cast.request.iter().try_for_each(|request| agreement.add(&cast.flow, request))?;
            }
            for (parameter, value) in agreement.parameters() {
                let set = host.namespace.set(parameter, value);
                set.map_err(host_error(format!("cannot set {parameter} = {value} at node \"{}\"", host.name)))?;
            }
        }
        Ok(())
    }

    /// Routes from each host to each other host.
    fn add_routes(&self) -> Result<(), Error> {
        let mut metrics: BTreeMap<(NodeId, NodeId), (Metrics, &str)> = BTreeMap::new();
        for Cast { flow, ends: [from, to], request } in &self.casts {
            let Some(request) = request else { continue };
            for pair in [(*from, *to), (*to, *from)] {
                let (agreed, owner) = metrics.entry(pair).or_insert_with(|| (request.metrics.clone(), &flow.name));
                if *agreed != request.metrics {
                    return Err(Error::Kernel {
                        flow: flow.name.clone(),
                        key: "ack, initial_window or min_rto".to_owned(),
                        found: format!("{:?}", request.metrics),
                        expected: format!(
                            "{agreed:?} as for flow \"{owner}\", because flows between two nodes share a route"
                        ),
                    });
                }
            }
        }
        for host in &self.hosts {
            let routes = || {
                let netlink = Netlink::new(&host.namespace)?;
                for other in self.hosts.iter().filter(|other| other.node != host.node) {
                    let metrics = metrics.get(&(host.node, other.node)).map(|(metrics, _)| metrics.clone());
                    let metrics = metrics.unwrap_or_default();
                    netlink.add_route(host.device, addresses::v4(other.node).into(), &metrics)?;
                    // A kernel may be without IPv6.
                    let _ = netlink.add_route(host.device, IpAddr::V6(addresses::v6(other.node)), &metrics);
                }
                Ok(())
            };
            routes().map_err(host_error(format!("cannot add the routes of node \"{}\"", host.name)))?;
        }
        Ok(())
    }

    /// Connects the network with the hosts, and makes the sockets of the flows.
    pub(super) fn populate(
        &mut self,
        scenario: &Scenario,
        options: &EmulateOptions,
        parts: Parts<RealPacket>,
        clock: WallClock,
    ) -> Result<(RealWorld, Vec<Speaker>, Vec<Plans>), Error> {
        let hosts_at: Vec<NodeId> = self.hosts.iter().map(|host| host.node).collect();
        let ports_of = |name: &str| {
            let named = (0..).zip(&self.hosts).filter(|(_, host)| host.name == name);
            named.map(|(port, _)| PortId(port)).collect()
        };
        let outlet = Outlet::new(std::mem::take(&mut self.tuns), clock);
        let hosts = KernelHosts::new(outlet, self.nodes.len(), self.mtu as usize);
        let (mut world, flows) = parts.connect(scenario, &options.run, hosts, hosts_at.clone(), ports_of)?;
        for node in hosts_at {
            let name =
                self.hosts.iter().find(|host| host.node == node).map_or_else(String::new, |host| host.name.clone());
            world.attach_host(node).map_err(|source| Error::Host {
                what: format!("cannot attach node \"{name}\""),
                source: io::Error::other(source),
            })?;
        }
        let (mut speakers, mut plans) = (Vec::new(), Vec::new());
        for (number, part) in (0..).zip(flows) {
            let staged = self.add_flow(scenario, number, &mut speakers)?;
            world.hosts.add(Flow::new(staged.ends.map(Box::new), staged.keys, part.probes(scenario)));
            plans.push(part.plans);
        }
        Ok((world, speakers, plans))
    }

    fn host_at(&self, node: NodeId) -> Option<&Host> {
        self.hosts.iter().find(|host| host.node == node)
    }

    /// Makes the sockets of a flow.
    fn add_flow(&mut self, scenario: &Scenario, number: u16, speakers: &mut Vec<Speaker>) -> Result<Staged, Error> {
        let Cast { flow, ends, request } = &self.casts[usize::from(number)];
        let [from, to] = ends.map(addresses::v4);
        let client = SocketAddrV4::new(from, CLIENT_PORT + number % (u16::MAX - CLIENT_PORT));
        let server = SocketAddrV4::new(to, SERVER_PORT + number);
        let endpoints = Endpoints { source: client, destination: server };
        let namespaces = [self.namespace_at(ends[0])?, self.namespace_at(ends[1])?];
        let seed = Seed(scenario.seed);
        let shown = [Arc::<Shown>::default(), Arc::new(Shown::reading(transports::reader(flow, seed)))];
        let at = |end: usize| Arc::clone(&shown[end]);
        let tos = flow.category.dscp() << 2;
        let refused = || host_error(format!("flow \"{}\": cannot make its sockets", flow.name));
        let writers =
            [Some(transports::writer(flow, seed)), flow.reverse().map(|back| transports::writer(&back, seed))];
        let (protocol, kernel_ends) = match request {
            Some(request) => {
                let socket = |end: usize, address: SocketAddrV4| {
                    let socket = Tcp::bound(namespaces[end], address.into(), &request.options)?;
                    socket.set_tos(tos)?;
                    Ok(socket)
                };
                let sockets = [socket(0, client).map_err(refused())?, socket(1, server).map_err(refused())?];
                // The end that accepts comes first, so that it listens before the other one connects.
                let talks = sockets.into_iter().zip(writers).zip([Some(server.into()), None]).zip(&shown).rev();
                speakers.extend(talks.map(|(((socket, writer), peer), shown)| {
                    Speaker::Stream(stream::Speaker { socket, peer, writer, shown: Arc::clone(shown) })
                }));
                (TCP, [KernelEnd::tcp(0, at(0)), KernelEnd::tcp(1, at(1))])
            }
            None => {
                let socket = |end: usize, own: SocketAddrV4, peer: SocketAddrV4| {
                    let socket = Udp::between(namespaces[end], own.into(), peer.into())?;
                    socket.set_tos(tos)?;
                    Ok(socket)
                };
                let sockets =
                    [socket(0, client, server).map_err(refused())?, socket(1, server, client).map_err(refused())?];
                let talks = sockets.into_iter().zip(writers).zip(&shown);
                speakers.extend(talks.map(|((socket, writer), shown)| {
                    Speaker::Datagrams(datagrams::Speaker { socket, writer, shown: Arc::clone(shown) })
                }));
                let full = flow.traffic.write().unwrap_or_default();
                (UDP, [KernelEnd::udp(full, at(0)), KernelEnd::udp(full, at(1))])
            }
        };
        let keys = [endpoints.flow_key(protocol), endpoints.reverse().flow_key(protocol)];
        let name = flow.name.clone();
        self.shown.extend(shown.into_iter().map(|shown| (name.clone(), shown)));
        Ok(Staged { ends: kernel_ends, keys })
    }

    fn namespace_at(&self, node: NodeId) -> Result<&Namespace, Error> {
        let named = |node: NodeId| self.nodes.iter().find(|(_, known)| **known == node).map(|(name, _)| name.clone());
        let host = self.host_at(node).ok_or_else(|| Error::NoNode {
            node: named(node).unwrap_or_default(),
            expected: "a node with a host".to_owned(),
        })?;
        Ok(&host.namespace)
    }

    /// The commands of the scenario and of the caller.
    pub(super) fn jobs(&self, scenario: &Scenario, options: &EmulateOptions) -> Result<Vec<Job>, Error> {
        let mut jobs = Vec::new();
        for (application, name) in scenario.application.iter().zip(scenario.application_names()) {
            let shell =
                ["/bin/sh".to_owned(), "-c".to_owned(), command::with_addresses(&application.command, &self.nodes)];
            let environment = application.environment.iter().filter_map(|variable| variable.split_once('='));
            let output = options.outputs.as_ref().map(|folder| folder.join(format!("{name}.out")));
            jobs.push(Job {
                node: application.node.clone(),
                namespace: self.namespace_of(&application.node)?,
                words: shell.to_vec(),
                directory: application.directory.as_ref().map(PathBuf::from),
                environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
                start: Instant::ZERO + application.start,
                stop: application.stop.map(|stop| Instant::ZERO + stop),
                output,
                is_foreground: false,
                name,
            });
        }
        if let Some(foreground) = &options.foreground {
            let words = foreground.words.iter().map(|word| command::with_addresses(word, &self.nodes)).collect();
            jobs.push(Job {
                name: "foreground".to_owned(),
                node: foreground.node.clone(),
                namespace: self.namespace_of(&foreground.node)?,
                words,
                directory: None,
                environment: Vec::new(),
                start: Instant::ZERO,
                stop: None,
                output: None,
                is_foreground: true,
            });
        }
        Ok(jobs)
    }

    /// The IPv4 address of a node.
    pub(super) fn address_of(&self, name: &str) -> Result<Ipv4Addr, Error> {
        self.node(name).map(addresses::v4)
    }

    /// The namespace of the host at a node.
    pub(super) fn namespace_of(&self, name: &str) -> Result<Namespace, Error> {
        let node = self.node(name)?;
        self.namespace_at(node)?.try_clone().map_err(host_error("cannot keep a namespace"))
    }

    /// The packets that devices have dropped because their queue was full.
    pub(super) fn overruns(&self) -> Result<u64, Error> {
        let mut sum = 0;
        for host in &self.hosts {
            let dropped = host.namespace.inside(|| {
                let text = fs::read_to_string("/proc/thread-self/net/dev")?;
                let line = text.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'));
                // The eight columns of reception, then octets, packets, errors and drops of transmission.
                let dropped = line.and_then(|line| line.split_whitespace().nth(11)?.parse::<u64>().ok());
                dropped.ok_or_else(|| io::Error::other("the device has no counters"))
            });
            sum += dropped.map_err(host_error(format!("cannot read the counters of node \"{}\"", host.name)))?;
        }
        Ok(sum)
    }

    /// Why flows have failed.
    pub(super) fn failures(&self) -> Vec<String> {
        let failed = |(name, shown): &(String, Arc<Shown>)| Some(format!("flow \"{name}\": {}", shown.failure.get()?));
        self.shown.iter().filter_map(failed).collect()
    }

    /// The kernel and its parameters, as the table `kernel`.
    pub(super) fn provenance(&self) -> Result<Table, Error> {
        let mut rows: Vec<(Option<String>, String, String)> = Vec::new();
        rows.push((None, "release".to_owned(), realtime::kernel_release()));
        for (name, value) in DEVICES {
            rows.push((None, name.to_owned(), value.to_owned()));
        }
        rows.push((None, "mtu".to_owned(), self.mtu.to_string()));
        for host in &self.hosts {
            for parameter in kernel::REPORTED {
                // Kernels differ in what they have.
                if let Ok(value) = host.namespace.get(parameter) {
                    rows.push((Some(host.name.clone()), parameter.replace('/', "."), value));
                }
            }
        }
        Ok(Table::new("kernel")
            .text("node", rows.iter().map(|(node, ..)| node.clone()))
            .text("parameter", rows.iter().map(|(_, parameter, _)| parameter.clone()))
            .text("value", rows.iter().map(|(.., value)| value.clone())))
    }
}
