//! Namespaces, devices, routes and sockets.
//!
//! | module | contents |
//! |---|---|
//! | `devices` | the namespace, device, addresses and parameters of each host, and the routes between them |
//! | `internet` | the node that connects to the networks of this machine |
//! | `sockets` | the sockets of the kernel's flows |
//! | `own` | the flows of acklab's stack |
//! | `jobs` | the commands, each in the namespace of its node |
//! | `provenance` | the kernel's version, parameters and drops |

mod devices;
mod internet;
mod jobs;
mod own;
mod provenance;
mod sockets;

use super::command;
use super::end::Shown;
use super::hosts::{RealHosts, RealWorld};
use super::kernel::{self, Request};
use super::packet::RealPacket;
use super::programs::Programs;
use super::traffic::TrafficEnd;
use super::{EmulateOptions, addresses, host_error};
use crate::assemble::{Parts, Plans};
use crate::error::Error;
use crate::scenario::{self, Scenario};
use acklab_base::{Bytes, NodeId, PortId};
use acklab_live::{Namespace, Outlet, Tun, WallClock, namespace};
use acklab_wire::IpVersion;
use acklab_wire::ipv4::IPV4_HEADER;
use acklab_wire::tcp::TCP_HEADER;
use acklab_wire::udp::UDP_HEADER;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

/// The maximum transmission unit of Ethernet.
const MTU: u64 = 1500;
/// The timestamps option, padded (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;

/// A node with a stack of the kernel.
struct Host {
    name: String,
    node: NodeId,
    namespace: Namespace,
    /// The index of the node's device.
    device: u32,
}

/// A flow, with its two ends.
struct Cast {
    flow: scenario::Flow,
    ends: [NodeId; 2],
    /// `true` if the flow's ends are acklab's endpoints.
    is_own: bool,
    /// The flow's requirements on the kernel's TCP. `None` for a flow over UDP or acklab's stack.
    request: Option<Request>,
}

impl Cast {
    /// Returns the size of the flow's largest packet over IPv4 in bytes, if the size is set.
    fn largest_packet(&self) -> Option<u64> {
        match &self.request {
            _ if self.is_own => None,
            Some(request) => request.options.mss.map(|mss| u64::from(mss) + IPV4_HEADER + TCP_HEADER),
            None => self.flow.traffic.write().map(|write| write.get() + IPV4_HEADER + UDP_HEADER),
        }
    }
}

/// The hosts and flows of an emulation. Host `i` has device `i` and port `i`.
pub(super) struct Stage {
    hosts: Vec<Host>,
    nodes: BTreeMap<String, NodeId>,
    /// The version of IP that flows use. Commands may use both.
    version: IpVersion,
    mtu: u32,
    casts: Vec<Cast>,
    shown: Vec<(String, Arc<Shown>)>,
    tuns: Vec<Tun>,
    internet: Option<internet::Internet>,
}

impl Stage {
    /// Moves the thread to a new network namespace, and creates the namespaces of the hosts with
    /// their devices, addresses and routes.
    pub(super) fn new(scenario: &Scenario, options: &EmulateOptions, parts: &Parts<RealPacket>) -> Result<Self, Error> {
        let home = Namespace::here().map_err(host_error("cannot keep a namespace"))?;
        namespace::leave_home()?;
        let mut casts = Vec::new();
        for (flow, part) in scenario.flows().into_iter().zip(&parts.flows) {
            let is_own = flow.stack == Some(scenario::Stack::Own);
            let request = if is_own { None } else { kernel::request(&flow)? };
            casts.push(Cast { flow, ends: part.ends, is_own, request });
        }
        // Writes to UDP sockets are never fragmented, as in a simulation.
        let mtu = casts.iter().filter_map(Cast::largest_packet).fold(MTU, u64::max);
        // Large packets of one flow must not enlarge the segments of the others.
        if mtu > MTU {
            for request in casts.iter_mut().filter_map(|cast| cast.request.as_mut()) {
                request.options.mss.get_or_insert((MTU - IPV4_HEADER - TCP_HEADER) as u32);
            }
        }
        let version = scenario.ip_version();
        // The longer header of IPv6 makes packets longer, not segments shorter, as in a simulation.
        let mtu = (mtu + if casts.iter().all(|cast| cast.is_own) { 0 } else { version.longer_by() }) as u32;
        let nodes = parts.nodes.clone();
        let mut stage =
            Self { hosts: Vec::new(), nodes, version, mtu, casts, shown: Vec::new(), tuns: Vec::new(), internet: None };
        for node in stage.nodes_with_hosts(scenario, options)? {
            stage.add_host(node)?;
        }
        stage.set_parameters()?;
        stage.add_routes()?;
        if let Some(name) = &options.internet {
            stage.open_internet(stage.node(name)?, &home)?;
        }
        Ok(stage)
    }

    fn node(&self, name: &str) -> Result<NodeId, Error> {
        self.nodes.get(name).copied().ok_or_else(|| {
            let names: Vec<&str> = self.nodes.keys().map(String::as_str).collect();
            Error::NoNode { node: name.to_owned(), expected: format!("one of {}", names.join(", ")) }
        })
    }

    /// Returns the nodes that are ends of flows, run commands, or are named in commands. A command
    /// that uses the terminal may reach every node at the edge.
    fn nodes_with_hosts(&self, scenario: &Scenario, options: &EmulateOptions) -> Result<BTreeSet<NodeId>, Error> {
        let mut hosts: BTreeSet<NodeId> =
            self.casts.iter().filter(|cast| !cast.is_own).flat_map(|cast| cast.ends).collect();
        for application in &scenario.application {
            hosts.insert(self.node(&application.node)?);
            hosts.extend(command::nodes_in(&application.command, &self.nodes));
        }
        if let Some(internet) = &options.internet {
            hosts.insert(self.node(internet)?);
        }
        if let Some(foreground) = &options.foreground {
            hosts.insert(self.node(&foreground.node)?);
            hosts.extend(foreground.words.iter().flat_map(|word| command::nodes_in(word, &self.nodes)));
            let links = scenario.link.iter().flat_map(|link| [link.from.clone(), link.to.clone()]);
            let cells = scenario.wifi.iter().flat_map(acklab_wifi::CellConfig::station_names);
            let mut degrees: BTreeMap<String, usize> = BTreeMap::new();
            links.chain(cells).for_each(|name| *degrees.entry(name).or_default() += 1);
            let edge = degrees.iter().filter(|(_, degree)| **degree == 1);
            hosts.extend(edge.filter_map(|(name, _)| self.nodes.get(name).copied()));
        }
        Ok(hosts)
    }

    /// Connects the network with the hosts, and creates the sockets of the flows.
    pub(super) fn populate(
        &mut self,
        scenario: &Scenario,
        options: &EmulateOptions,
        mut parts: Parts<RealPacket>,
        clock: WallClock,
    ) -> Result<(RealWorld, Vec<TrafficEnd>, Vec<Plans>), Error> {
        let devices_at: Vec<NodeId> = self.hosts.iter().map(|host| host.node).collect();
        let own_at: Vec<NodeId> = self.casts.iter().filter(|cast| cast.is_own).flat_map(|cast| cast.ends).collect();
        let ports_at = [devices_at.clone(), own_at].concat();
        let ports_of = |name: &str| {
            let node = self.nodes.get(name);
            let here = (0..).zip(&ports_at).filter(|(_, at)| node == Some(at));
            here.map(|(port, _)| PortId(port)).collect()
        };
        let outlet = Outlet::new(std::mem::take(&mut self.tuns), clock);
        let internet = self.internet.as_ref().map(|internet| internet.node);
        let mut hosts = RealHosts::new(outlet, self.nodes.len(), self.mtu as usize, internet);
        hosts.observe(self.programs(scenario, &mut parts, &devices_at), devices_at.clone());
        let (mut world, flows) = parts.connect(scenario, &options.run, hosts, ports_at.clone(), ports_of)?;
        for node in devices_at {
            let name =
                self.hosts.iter().find(|host| host.node == node).map_or_else(String::new, |host| host.name.clone());
            world.attach_host(node).map_err(|source| Error::Host {
                what: format!("cannot attach node \"{name}\""),
                source: io::Error::other(source),
            })?;
        }
        let (mut traffic, mut plans) = (Vec::new(), Vec::new());
        for (number, part) in (0..).zip(flows) {
            let cast = &self.casts[usize::from(number)];
            if cast.is_own {
                plans.push(own::add(&mut world, scenario, cast, self.endpoints_of(number), part)?);
                continue;
            }
            let staged = self.add_flow(scenario, number, &mut traffic)?;
            world.hosts.add_kernel(staged.ends, staged.keys, part.probes(scenario));
            plans.push(part.plans);
        }
        Ok((world, traffic, plans))
    }

    /// Returns the tracker of programs at these nodes. Programs may send packets up to the maximum
    /// size of the devices.
    fn programs(&self, scenario: &Scenario, parts: &mut Parts<RealPacket>, at: &[NodeId]) -> Programs {
        let mut names = vec![String::new(); self.nodes.len()];
        self.nodes.iter().for_each(|(name, node)| names[node.index()].clone_from(name));
        let headers = IPV4_HEADER + self.version.longer_by();
        // The segments of programs have timestamps by default in Linux.
        let payload = u64::from(self.mtu) - headers - TCP_HEADER - TIMESTAMPS;
        let paths = parts.paths_between(scenario, at, self.mtu.into(), payload);
        Programs::new(scenario, names, paths, Bytes(u64::from(self.mtu) - headers - UDP_HEADER))
    }

    fn host_at(&self, node: NodeId) -> Option<&Host> {
        self.hosts.iter().find(|host| host.node == node)
    }

    fn namespace_at(&self, node: NodeId) -> Result<&Namespace, Error> {
        let named = |node: NodeId| self.nodes.iter().find(|(_, known)| **known == node).map(|(name, _)| name.clone());
        let host = self.host_at(node).ok_or_else(|| Error::NoNode {
            node: named(node).unwrap_or_default(),
            expected: "a node with a host".to_owned(),
        })?;
        Ok(&host.namespace)
    }

    /// Returns the address of a node.
    pub(super) fn address_of(&self, name: &str) -> Result<IpAddr, Error> {
        self.node(name).map(|node| addresses::of(node, self.version))
    }

    /// Returns the namespace of the host at a node.
    pub(super) fn namespace_of(&self, name: &str) -> Result<Namespace, Error> {
        let node = self.node(name)?;
        self.namespace_at(node)?.try_clone().map_err(host_error("cannot keep a namespace"))
    }
}
