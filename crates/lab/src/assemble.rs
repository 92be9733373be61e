//! Builds the network of a run from its scenario.

pub(crate) mod observers;
mod plan;
mod way;

pub(crate) use plan::{FlowPlan, PathFacts};

use crate::RunOptions;
use crate::error::Error;
use crate::flows::{self, Flows};
use crate::packet::Packet;
use crate::scenario::Scenario;
use crate::transports::tcp::{self, RelayPlan};
use crate::transports::{self, Endpoints, Maker};
use acklab_base::random::Seed;
use acklab_base::{Instant, NodeId, PortId};
use acklab_live::named_file::read_regular;
use acklab_measure::{Observed, Probes, Series, Subjects};
use acklab_net::{Hop, Hosts, Map, Network};
use acklab_path::Link;
use acklab_path::link;
use acklab_path::server::{Schedule, Server, Trace};
use acklab_wifi::Cell;
use acklab_wifi::access::Category;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use way::{Connection, Way};

/// The network of a run, by default of a simulation.
pub(crate) type World<P = Packet, H = Flows> = acklab_measure::observers::World<P, H>;

/// The plans of the two directions of a flow. The second is `None` if the reverse direction carries
/// no data.
pub(crate) type Plans = (FlowPlan, Option<FlowPlan>);

/// Returns the name of link direction `direction`.
pub(crate) fn direction_name(scenario: &Scenario, direction: usize) -> String {
    let link = &scenario.link[direction / 2];
    if direction.is_multiple_of(2) { link.forward_name() } else { link.reverse_name() }
}

fn direction_config(scenario: &Scenario, direction: usize) -> &link::LinkConfig {
    let link = &scenario.link[direction / 2];
    if direction.is_multiple_of(2) { &link.forward } else { &link.reverse }
}

/// Returns the beginning and the end of measurement.
pub(crate) fn window(scenario: &Scenario) -> Range<Instant> {
    let from = Instant::ZERO + scenario.measure.from;
    from..Instant::ZERO + scenario.measure.until.unwrap_or(scenario.duration)
}

/// The parts of a scenario's network, without its hosts.
pub(crate) struct Parts<P> {
    links: Vec<Link<P>>,
    cells: Vec<Cell<P>>,
    /// The nodes by name.
    pub(crate) nodes: BTreeMap<String, NodeId>,
    map: Map,
    /// The flows, in the order of the scenario.
    pub(crate) flows: Vec<FlowParts>,
}

/// A flow whose endpoints are not attached yet.
pub(crate) struct FlowParts {
    endpoints: Endpoints,
    /// The nodes at which the flow begins and ends.
    pub(crate) ends: [NodeId; 2],
    /// The connections that carry the flow.
    way: Way,
    pub(crate) plans: Plans,
}

impl FlowParts {
    /// Returns the IP protocol of the flow's packets.
    pub(crate) const fn protocol(&self) -> u8 {
        self.endpoints.protocol()
    }

    /// Returns the flow's endpoints and plans.
    pub(crate) fn split(self) -> (Endpoints, Plans) {
        (self.endpoints, self.plans)
    }

    /// Returns the probes of the flow's measured directions.
    pub(crate) fn probes(&self, scenario: &Scenario) -> Probes {
        let (plan, reverse_plan) = &self.plans;
        Probes {
            forward: observers::probe(scenario, plan),
            reverse: reverse_plan.as_ref().map(|plan| Box::new(observers::probe(scenario, plan))),
        }
    }
}

impl<P: Observed> Parts<P> {
    /// Builds the machines and the flows, and finds the routes.
    pub(crate) fn new(scenario: &Scenario, options: &RunOptions) -> Result<Self, Error> {
        let seed = Seed(scenario.seed);
        let links = links(scenario, options, seed)?;
        let mut cells = Vec::new();
        for config in &scenario.wifi {
            cells.push(Cell::new(config, seed).map_err(|source| Error::Wifi { cell: config.name.clone(), source })?);
        }
        let (nodes, mut map) = map_of(scenario);
        let mut flows = Vec::new();
        for flow in scenario.flows() {
            let no_route = || Error::NoRoute { flow: flow.name.clone(), from: flow.from.clone(), to: flow.to.clone() };
            let (Some(from), Some(to)) = (nodes.get(&flow.from), nodes.get(&flow.to)) else { return Err(no_route()) };
            let path = map.path(*from, *to).ok_or_else(no_route)?;
            let return_path = map.path(*to, *from).ok_or_else(no_route)?;
            let way = Way::new(scenario, &map, &nodes, &flow, [*from, *to]);
            if let Some(split) = way.splits.first().filter(|_| flow.is_both_ways()) {
                return Err(Error::SplitBothWays { flow: flow.name, node: split.pep.node.clone() });
            }
            let own = match way.stops[1] {
                next if next == *to => [path.clone(), return_path.clone()],
                proxy => [map.path(*from, proxy).ok_or_else(no_route)?, map.path(proxy, *from).ok_or_else(no_route)?],
            };
            for ends in way.stops.windows(2) {
                let hops = [map.path(ends[0], ends[1]), map.path(ends[1], ends[0])];
                for hop in hops.into_iter().flatten().flatten() {
                    if let Hop::Cell { cell, from, to } = hop {
                        let refused = |source| Error::Wifi { cell: scenario.wifi[cell].name.clone(), source };
                        cells[cell].carry(from, to, flow.category).map_err(refused)?;
                    }
                }
            }
            let maker = Maker { flow: &flow, seed, strategies: &options.strategies };
            let endpoints = transports::endpoints(&maker, scenario.ip_version())?;
            let plan = |flow, path: &[Hop], own| FlowPlan::new(scenario, flow, path, own, &endpoints, &links, &cells);
            let reverse_plan = flow.reverse().map(|reverse| {
                let mut plan = plan(reverse, &return_path, [&return_path, &path]);
                plan.info.labels = endpoints.labels()[1].clone();
                plan
            });
            let plan = plan(flow, &path, [&own[0], &own[1]]);
            if plan.base_rtt().is_zero() && plan.info.bottleneck.is_none() && plan.info.return_bottleneck.is_none() {
                return Err(Error::NoTime { flow: plan.flow.name });
            }
            flows.push(FlowParts { endpoints, ends: [*from, *to], way, plans: (plan, reverse_plan) });
        }
        Ok(Self { links, cells, nodes, map, flows })
    }

    /// Returns the path between each pair of these nodes. Packets have `full_size` bytes, of which
    /// `payload` are data.
    pub(crate) fn paths_between(
        &mut self,
        scenario: &Scenario,
        nodes: &[NodeId],
        full_size: u64,
        payload: u64,
    ) -> BTreeMap<(NodeId, NodeId), PathFacts> {
        let pairs = nodes.iter().flat_map(|from| nodes.iter().map(move |to| (*from, *to)));
        let mut paths = BTreeMap::new();
        for (from, to) in pairs.filter(|(from, to)| from != to) {
            if let (Some(path), Some(back)) = (self.map.path(from, to), self.map.path(to, from)) {
                let (category, ways) = (Category::BestEffort, [path.as_slice(), back.as_slice()]);
                let facts = PathFacts::new(scenario, category, ways, full_size, payload, &self.links, &self.cells);
                paths.insert((from, to), facts);
            }
        }
        paths
    }

    /// Refuses flows whose path a proxy splits. Hosts with kernel connections cannot use proxies.
    pub(crate) fn refuse_split_ways(&self) -> Result<(), Error> {
        let split = self.flows.iter().find_map(|flow| Some((flow, flow.way.splits.first()?)));
        split.map_or(Ok(()), |(flow, split)| {
            Err(Error::SplitKernel { flow: flow.plans.0.flow.name.clone(), node: split.pep.node.clone() })
        })
    }

    /// Connects the machines with `hosts`, which may have ports at the nodes `hosts_at`, and opens
    /// the captures. `ports_of` returns the ports that will be attached to the node with a name.
    /// Also returns the flows. They are not attached yet.
    pub(crate) fn connect<H: Hosts<P>>(
        mut self,
        scenario: &Scenario,
        options: &RunOptions,
        hosts: H,
        hosts_at: impl IntoIterator<Item = NodeId>,
        ports_of: impl Fn(&str) -> Vec<PortId>,
    ) -> Result<(World<P, H>, Vec<FlowParts>), Error> {
        for cell in &mut self.cells {
            cell.measure(window(scenario));
            if scenario.measure.series.contains(&Series::Queue) {
                cell.log_queues();
            }
        }
        let observers = observers::observers(scenario, options, ports_of)?;
        for (cell, air) in self.cells.iter_mut().zip(observers.air()) {
            if air.is_in_use() {
                cell.log_air();
            }
        }
        Ok((Network::new(self.links, self.cells, self.map, hosts_at, hosts, observers), self.flows))
    }
}

/// Returns the subjects of the measurement of a run with these flows, without proxies.
pub(crate) fn subjects(scenario: &Scenario, flows: impl IntoIterator<Item = Plans>) -> Subjects {
    let plans: Vec<FlowPlan> = flows.into_iter().flat_map(|(plan, reverse)| [Some(plan), reverse]).flatten().collect();
    let (links, cells) = (plan::links(scenario), plan::cells(scenario, &plans));
    Subjects { links, cells, flows: plans.into_iter().map(|plan| plan.info).collect(), peps: Vec::new() }
}

/// Builds and connects the machines, attaches the flows, and opens the captures.
pub(crate) fn assemble(scenario: &Scenario, options: &RunOptions) -> Result<(World, Subjects), Error> {
    let parts = Parts::new(scenario, options)?;
    let hosts_at: Vec<NodeId> = parts.flows.iter().flat_map(|flow| flow.way.stops.clone()).collect();
    let names: Vec<[String; 2]> =
        parts.flows.iter().map(|flow| [flow.plans.0.flow.from.clone(), flow.plans.0.flow.to.clone()]).collect();
    let ports_of = |node: &str| {
        let ends = |end: usize| (0..).zip(&names).filter(move |(_, names)| names[end] == node);
        let ports = [0, 1].map(|end| ends(end).map(move |(flow, _): (u32, _)| PortId(2 * flow + end as u32)));
        ports.into_iter().flatten().collect()
    };
    let (mut world, flows) = parts.connect(scenario, options, Flows::default(), hosts_at, ports_of)?;
    let (mut plans, mut ways, mut peps) = (Vec::new(), Vec::new(), Vec::new());
    let (mut numbers, mut measured) = (BTreeMap::new(), 0);
    for flow in flows {
        let dscp = flow.plans.0.flow.category.dscp();
        let connections = flow.way.connect(flow.endpoints.protocol(), dscp, scenario.ip_version(), &mut numbers);
        let (way, attached) = attach(&mut world, scenario, options, &connections, flow)?;
        peps.extend(plan::peps(&way, &attached.0.flow, measured));
        measured += 1 + usize::from(attached.1.is_some());
        ways.push((way, connections));
        plans.push(attached);
    }
    for (number, ((way, connections), (flow, _))) in ways.iter().zip(&plans).enumerate() {
        attach_relays(&mut world, scenario, options, number, way, connections, flow)?;
    }
    Ok((world, Subjects { peps, ..subjects(scenario, plans) }))
}

/// Checks what a valid scenario needs in order to run, by either [`run`](crate::run()) or
/// [`emulate`](crate::emulate()): its trace files, its cells and its routes.
///
/// # Errors
/// As for [`run`](crate::run()), with the same message. An unknown strategy or transport is not an
/// error, because only a run has the user's strategies.
pub fn check(scenario: &Scenario, options: &RunOptions) -> Result<(), Error> {
    match Parts::<Packet>::new(scenario, options) {
        Ok(_) | Err(Error::NoStrategy { .. }) => Ok(()),
        Err(why) => Err(why),
    }
}

fn links<P: Observed>(scenario: &Scenario, options: &RunOptions, seed: Seed) -> Result<Vec<Link<P>>, Error> {
    let mut links = Vec::new();
    for direction in 0..2 * scenario.link.len() {
        let (name, config) = (direction_name(scenario, direction), direction_config(scenario, direction));
        let server = server(config, &name, options)?;
        let mut link = Link::<P>::new(config, server, seed, &name);
        link.measure(window(scenario));
        if scenario.measure.series.contains(&Series::Queue) {
            link.log_queue();
        }
        links.push(link);
    }
    Ok(links)
}

fn server(config: &link::LinkConfig, name: &str, options: &RunOptions) -> Result<Server, Error> {
    if let Some(trace) = &config.trace {
        let path = options.base.join(&trace.file);
        let text = read_trace(&path).map_err(|source| Error::ReadTrace {
            link: name.to_owned(),
            path: path.clone(),
            source,
        })?;
        let trace = Trace::parse(&text).map_err(|source| Error::Trace { link: name.to_owned(), path, source })?;
        return Ok(Server::Trace(trace));
    }
    if let Some(steps) = &config.steps {
        let schedule = Schedule::new(steps).map_err(|source| Error::Schedule { link: name.to_owned(), source })?;
        return Ok(Server::Schedule(schedule));
    }
    Ok(config.rate.map_or(Server::Unlimited, Server::constant))
}

/// The maximum size of a trace file in bytes: a trace of a gigabit link over ten minutes. An
/// endless file is therefore an error, not a hang.
const LARGEST_TRACE: u64 = 1 << 28;

fn read_trace(path: &Path) -> io::Result<String> {
    let octets = read_regular(path, LARGEST_TRACE)?;
    if octets.len() as u64 > LARGEST_TRACE {
        return Err(io::Error::other(format!(
            "found more than {} MiB, expected a trace in mahimahi's format",
            LARGEST_TRACE >> 20
        )));
    }
    String::from_utf8(octets).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&octet| octet == b'\n').count();
        io::Error::other(format!("line {line}: found an octet that is not UTF-8, expected the number of a millisecond"))
    })
}

/// Returns the nodes by name, and the map of links and cells between them.
fn map_of(scenario: &Scenario) -> (BTreeMap<String, NodeId>, Map) {
    let names = scenario.node_names();
    let nodes: BTreeMap<String, NodeId> = names.into_iter().zip((0..).map(NodeId)).collect();
    let mut map = Map::new(nodes.len());
    for (index, link) in scenario.link.iter().enumerate() {
        map.join(nodes[&link.from], nodes[&link.to], Hop::Link(2 * index));
    }
    for (cell, config) in scenario.wifi.iter().enumerate() {
        for (station, name) in (1..).zip(config.station_names()) {
            map.join(nodes[&config.ap.name], nodes[&name], Hop::Cell { cell, from: 0, to: station });
        }
    }
    (nodes, map)
}

/// Attaches the two endpoints of a flow at the ends of its `connections`. Returns the flow's path
/// and plans.
fn attach(
    world: &mut World,
    scenario: &Scenario,
    options: &RunOptions,
    connections: &[Connection],
    flow: FlowParts,
) -> Result<(Way, Plans), Error> {
    let probes = flow.probes(scenario);
    let FlowParts { endpoints, ends: [from, to], way, plans } = flow;
    let plan = &plans.0;
    let (first, last) = (connections[0], connections[connections.len() - 1]);
    let routes = [first.data, last.acks];
    let keys = routes.map(|route| route.flow);
    let refused = |source| Error::Attach { flow: plan.flow.name.clone(), source };
    // Packets that arrive at one end have the flow key of the packets that the other end sends.
    world.attach(from, first.acks.flow).map_err(refused)?;
    world.attach(to, last.data.flow).map_err(refused)?;
    world.hosts.add(|pool| {
        let ends = endpoints.bind(&plan.flow, Seed(scenario.seed), routes, pool);
        let mut flow = flows::Flow::new(ends, keys, probes);
        if scenario.measure.series.contains(&Series::Decisions) {
            flow.record_decisions();
        }
        if let Some(options) = &options.qlog {
            for (index, end) in flow.ends.iter_mut().enumerate() {
                end.keep_log(observers::log(scenario, options, plan, index, routes));
            }
        }
        flow
    });
    Ok((way, plans))
}

/// Attaches the proxies on the path of flow `number`.
fn attach_relays(
    world: &mut World,
    scenario: &Scenario,
    options: &RunOptions,
    number: usize,
    way: &Way,
    connections: &[Connection],
    plan: &FlowPlan,
) -> Result<(), Error> {
    let flow = &plan.flow;
    let Some(settings) = flow.transport.tcp() else { return Ok(()) };
    let refused = |source| Error::Attach { flow: flow.name.clone(), source };
    for ((split, node), pair) in way.splits.iter().zip(&way.stops[1..]).zip(connections.windows(2)) {
        let arriving_key = pair[0].data.flow;
        let port = world.attach(*node, arriving_key).map_err(refused)?;
        world.attach_also(port, pair[1].acks.flow).map_err(refused)?;
        let relay = RelayPlan {
            handshake: split.pep.handshake,
            settings: split.settings(settings),
            routes: [pair[0].acks, pair[1].data],
            arriving_key,
            // The slash makes the name unique: names of flows contain none.
            name: format!("{}/pep/{}", flow.name, split.pep.node),
        };
        let probe = observers::probe_at_proxy(plan);
        let maker = Maker { flow, seed: Seed(scenario.seed), strategies: &options.strategies };
        world.hosts.add_relay(number, |pool| tcp::relay(relay, &maker, &probe, pool))?;
    }
    Ok(())
}
