//! From scenario to world.

use crate::RunOptions;
use crate::air::Air;
use crate::capture::{AirCapture, Capture};
use crate::error::Error;
use crate::flows::{Flow as Measured, Flows};
use crate::packet::{Packet, Route};
use crate::probe::{FlowProbe, Probes, Records};
use crate::scenario::{Flow, Scenario, Series};
use crate::transports::{self, Endpoints as Pair, Labels};
use crate::watch::{Place, Watch};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Instant, NodeId, PortId};
use acklab_net::{Hop, Map, Network};
use acklab_path::Link;
use acklab_path::link::Config as LinkConfig;
use acklab_path::server::{Schedule, Server, Trace};
use acklab_wifi::Cell;
use acklab_wire::Endpoints;
use acklab_wire::ipv4::Extent;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;

/// The network of a run.
pub(crate) type World = Network<Packet, Flows, Watch>;

/// The bin of throughput where there is no propagation delay to take it from.
const DEFAULT_BIN: Duration = Duration::from_millis(100);

/// What a world was built from, for the tables.
pub(crate) struct Plan {
    pub(crate) links: Vec<LinkPlan>,
    pub(crate) cells: Vec<CellPlan>,
    /// By direction: each flow, and what comes back behind it, if that is measured.
    pub(crate) flows: Vec<FlowPlan>,
}

/// One link direction.
pub(crate) struct LinkPlan {
    pub(crate) name: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// One Wi-Fi cell: its name, and those of its nodes, the access point first.
pub(crate) struct CellPlan {
    pub(crate) name: String,
    pub(crate) nodes: Vec<String>,
}

/// One flow.
pub(crate) struct FlowPlan {
    pub(crate) flow: Flow,
    /// What the table of flows calls the parts of its transport.
    pub(crate) labels: Labels,
    /// Octets of payload of a full-sized packet.
    pub(crate) payload: u64,
    /// Bits per second of the slowest link on the way of its data.
    pub(crate) bottleneck: Option<f64>,
    /// The same for its ACKs.
    pub(crate) return_bottleneck: Option<f64>,
    /// Propagation delay there and back.
    pub(crate) base_rtt: Duration,
    /// Octets of a full-sized packet on the bottleneck.
    pub(crate) full_size_on_wire: u64,
}

/// The direction of a flow's data, and the other if it is measured as well.
type Ways = (FlowPlan, Option<FlowPlan>);

impl FlowPlan {
    /// The bandwidth-delay product in full-sized segments.
    pub(crate) fn bdp_segments(&self) -> Option<f64> {
        let octets = self.bottleneck? * self.base_rtt.as_secs_f64() / 8.0;
        (octets > 0.0).then(|| octets / self.full_size_on_wire as f64)
    }
}

/// The name of link direction `direction`.
pub(crate) fn direction_name(scenario: &Scenario, direction: usize) -> String {
    let link = &scenario.link[direction / 2];
    if direction.is_multiple_of(2) { link.forward_name() } else { link.reverse_name() }
}

fn direction_config(scenario: &Scenario, direction: usize) -> &LinkConfig {
    let link = &scenario.link[direction / 2];
    if direction.is_multiple_of(2) { &link.forward } else { &link.reverse }
}

/// Build the machines, wire them, and open the captures.
pub(crate) fn build(scenario: &Scenario, options: &RunOptions) -> Result<(World, Plan), Error> {
    let seed = Seed(scenario.seed);
    let links = links(scenario, options, seed)?;
    let mut cells = Vec::new();
    for config in &scenario.wifi {
        cells.push(Cell::new(config, seed).map_err(|source| Error::Wifi { cell: config.name.clone(), source })?);
    }
    let (nodes, mut map) = map_of(scenario);
    let (mut pairs, mut plans) = (Vec::new(), Vec::new());
    for flow in scenario.flows() {
        let no_route = || Error::NoRoute { flow: flow.name.clone(), from: flow.from.clone(), to: flow.to.clone() };
        let (Some(from), Some(to)) = (nodes.get(&flow.from), nodes.get(&flow.to)) else { return Err(no_route()) };
        let way = map.path(*from, *to).ok_or_else(no_route)?;
        let back = map.path(*to, *from).ok_or_else(no_route)?;
        for hop in way.iter().chain(&back) {
            if let Hop::Cell { cell, from, to } = *hop {
                let refused = |source| Error::Wifi { cell: scenario.wifi[cell].name.clone(), source };
                cells[cell].carry(from, to, flow.category).map_err(refused)?;
            }
        }
        let pair = transports::endpoints(&flow, seed, &options.strategies)?;
        let plan_back = flow.way_back().map(|flow| plan(scenario, flow, [&back, &way], &pair, &links, &cells));
        let plan = plan(scenario, flow, [&way, &back], &pair, &links, &cells);
        if plan.base_rtt.is_zero() && plan.bottleneck.is_none() && plan.return_bottleneck.is_none() {
            return Err(Error::NoTime { flow: plan.flow.name });
        }
        pairs.push((pair, *from, *to));
        plans.push((plan, plan_back));
    }

    for cell in &mut cells {
        cell.measure(window(scenario));
        if scenario.measure.series.contains(&Series::Queue) {
            cell.log_queues();
        }
    }
    let watch = watch(scenario, options, &plans)?;
    for (cell, air) in cells.iter_mut().zip(&watch.air) {
        if air.listens() {
            cell.log_air();
        }
    }
    let hosts_at: Vec<NodeId> = pairs.iter().flat_map(|(_, from, to)| [*from, *to]).collect();
    let mut world = Network::new(links, cells, map, hosts_at, Flows::default(), watch);
    for (number, ((pair, from, to), plan)) in (0..).zip(pairs.into_iter().zip(&plans)) {
        join(&mut world, scenario, number, pair, [from, to], plan)?;
    }
    let flows = plans.into_iter().flat_map(|(there, back)| [Some(there), back]).flatten().collect();
    Ok((world, Plan { links: link_plans(scenario), cells: cell_plans(scenario), flows }))
}

fn links(scenario: &Scenario, options: &RunOptions, seed: Seed) -> Result<Vec<Link<Packet>>, Error> {
    let mut links = Vec::new();
    for direction in 0..2 * scenario.link.len() {
        let (name, config) = (direction_name(scenario, direction), direction_config(scenario, direction));
        let server = server(config, &name, options)?;
        let mut link = Link::<Packet>::new(config, server, seed, &name);
        link.measure(window(scenario));
        if scenario.measure.series.contains(&Series::Queue) {
            link.log_queue();
        }
        links.push(link);
    }
    Ok(links)
}

fn link_plans(scenario: &Scenario) -> Vec<LinkPlan> {
    let plan = |direction: usize| {
        let link = &scenario.link[direction / 2];
        let (from, to) = if direction.is_multiple_of(2) { (&link.from, &link.to) } else { (&link.to, &link.from) };
        LinkPlan { name: direction_name(scenario, direction), from: from.clone(), to: to.clone() }
    };
    (0..2 * scenario.link.len()).map(plan).collect()
}

fn cell_plans(scenario: &Scenario) -> Vec<CellPlan> {
    let plan = |config: &acklab_wifi::Config| CellPlan {
        name: config.name.clone(),
        nodes: [config.ap.name.clone()].into_iter().chain(config.station_names()).collect(),
    };
    scenario.wifi.iter().map(plan).collect()
}

/// The nodes by their names, and how links and cells join them.
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

/// The two ends of flow `number` join the network at these nodes.
fn join(
    world: &mut World,
    scenario: &Scenario,
    number: u32,
    pair: Pair,
    [from, to]: [NodeId; 2],
    (plan, plan_back): &Ways,
) -> Result<(), Error> {
    let endpoints = Endpoints::of_connection(number);
    let route = |endpoints, destination| Route {
        dscp: plan.flow.category.dscp(),
        ..Route::new(pair.protocol(), endpoints, destination)
    };
    let routes = [route(endpoints, to), route(endpoints.reverse(), from)];
    let keys = routes.map(|route| route.flow);
    let refused = |source| Error::Join { flow: plan.flow.name.clone(), source };
    // What arrives at an end has the key of what the other sends.
    world.attach(from, keys[1]).map_err(refused)?;
    world.attach(to, keys[0]).map_err(refused)?;
    let probes =
        Probes { there: probe(scenario, plan), back: plan_back.as_ref().map(|plan| Box::new(probe(scenario, plan))) };
    world.hosts.add(|pool| {
        let ends = pair.bind(&plan.flow, Seed(scenario.seed), routes, pool);
        let mut flow = Measured::new(ends, keys, probes);
        if scenario.measure.series.contains(&Series::Decisions) {
            flow.keep_decisions();
        }
        flow
    });
    Ok(())
}

/// When measurement begins and ends.
pub(crate) fn window(scenario: &Scenario) -> Range<Instant> {
    let from = Instant::ZERO + scenario.measure.from;
    from..Instant::ZERO + scenario.measure.until.unwrap_or(scenario.duration)
}

fn server(config: &LinkConfig, name: &str, options: &RunOptions) -> Result<Server, Error> {
    if let Some(trace) = &config.trace {
        let path = options.base.join(&trace.file);
        let text = fs::read_to_string(&path).map_err(|source| Error::ReadTrace {
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

fn plan(
    scenario: &Scenario,
    flow: Flow,
    [way, back]: [&[Hop]; 2],
    pair: &Pair,
    links: &[Link<Packet>],
    cells: &[Cell<Packet>],
) -> FlowPlan {
    let until = Instant::ZERO + scenario.duration;
    let rate = |hop: &Hop| match *hop {
        Hop::Link(direction) => links[direction].mean_rate(until),
        Hop::Cell { cell, from, .. } => cells[cell].nominal_rate(from).map(|rate| rate as f64),
    };
    let slowest = |way: &[Hop]| {
        way.iter().filter_map(|hop| rate(hop).map(|rate| (rate, *hop))).min_by(|one, other| one.0.total_cmp(&other.0))
    };
    let delay = |hop: &Hop| match *hop {
        Hop::Link(direction) => direction_config(scenario, direction).delay,
        Hop::Cell { .. } => Duration::ZERO,
    };
    let bottleneck = slowest(way);
    let overhead = match bottleneck {
        Some((_, Hop::Link(direction))) => direction_config(scenario, direction).overhead,
        _ => Bytes::ZERO,
    };
    FlowPlan {
        bottleneck: bottleneck.map(|(rate, _)| rate),
        return_bottleneck: slowest(back).map(|(rate, _)| rate),
        base_rtt: way.iter().chain(back).fold(Duration::ZERO, |sum, hop| sum + delay(hop)),
        full_size_on_wire: pair.full_size() + overhead.get(),
        payload: pair.payload(),
        labels: pair.labels().clone(),
        flow,
    }
}

fn probe(scenario: &Scenario, plan: &FlowPlan) -> FlowProbe {
    let asked = |series| scenario.measure.series.contains(&series);
    let records = Records {
        operating_points: asked(Series::OperatingPoint).then(Vec::new),
        throughput: asked(Series::Throughput).then(Vec::new),
        packets: asked(Series::Packets).then(Vec::new),
        events: asked(Series::Events).then(Vec::new),
        decisions: asked(Series::Decisions).then(Vec::new),
    };
    let segment_time = plan.bottleneck.map_or(0.0, |rate| plan.full_size_on_wire as f64 * 8.0 / rate);
    let default_bin = if plan.base_rtt.is_zero() { DEFAULT_BIN } else { plan.base_rtt * 2 };
    let bin = scenario.measure.bin.unwrap_or(default_bin);
    let burst_gap = Duration::from_secs_f64(segment_time / 2.0);
    FlowProbe::new(plan.payload, bin, burst_gap, records)
}

/// All that watches the run.
fn watch(scenario: &Scenario, options: &RunOptions, flows: &[Ways]) -> Result<Watch, Error> {
    let mut watch = Watch::default();
    watch.air = air(scenario, options)?;
    let Some(folder) = &options.captures else { return Ok(watch) };
    let of_packets = scenario.capture.iter().filter(|capture| cell_at(scenario, &capture.point).is_none());
    for capture in of_packets {
        let path = folder.join(&capture.file);
        let title = (!scenario.title.is_empty()).then_some(scenario.title.as_str());
        let file = Capture::create(&path, &capture.point, title, Extent::Headers)?;
        watch.add(file, places(scenario, &capture.point, flows));
    }
    Ok(watch)
}

/// The cell whose air a capture is of.
fn cell_at(scenario: &Scenario, point: &str) -> Option<usize> {
    scenario.wifi.iter().position(|cell| cell.name == point)
}

/// What is kept of the air of each cell.
fn air(scenario: &Scenario, options: &RunOptions) -> Result<Vec<Air>, Error> {
    let mut all: Vec<Air> = scenario.wifi.iter().map(|_| Air::default()).collect();
    if scenario.measure.series.contains(&Series::Air) {
        all.iter_mut().for_each(Air::keep_rows);
    }
    let Some(folder) = &options.captures else { return Ok(all) };
    for capture in &scenario.capture {
        if let Some(index) = cell_at(scenario, &capture.point) {
            let (cell, path) = (&scenario.wifi[index], folder.join(&capture.file));
            let title = (!scenario.title.is_empty()).then_some(scenario.title.as_str());
            let access_point = acklab_wifi::cell::ACCESS_POINT as u32;
            let file = AirCapture::create(&path, &cell.name, access_point, cell.band(), title, Extent::Headers)?;
            all[index].add(file);
        }
    }
    Ok(all)
}

fn places(scenario: &Scenario, point: &str, flows: &[Ways]) -> Vec<Place> {
    for direction in 0..2 * scenario.link.len() {
        let name = direction_name(scenario, direction);
        if point == name {
            return vec![Place::Entrance(direction)];
        }
        if point.strip_suffix(".out") == Some(&name) {
            return vec![Place::Exit(direction)];
        }
    }
    let senders = flows.iter().enumerate().filter(|(_, (plan, _))| plan.flow.from == point);
    let receivers = flows.iter().enumerate().filter(|(_, (plan, _))| plan.flow.to == point);
    let ports = senders.map(|(flow, _)| 2 * flow).chain(receivers.map(|(flow, _)| 2 * flow + 1));
    ports.map(|port| Place::Port(PortId(port as u32))).collect()
}
