//! Builds the network of a run from its scenario.

mod observers;
mod plan;
mod way;

pub(crate) use plan::{CellPlan, FlowPlan, LinkPlan, Plan, RelayPlace};

use crate::RunOptions;
use crate::error::Error;
use crate::flows::{self, Flows};
use crate::observers::Observers;
use crate::packet::Packet;
use crate::probe::Probes;
use crate::scenario::{Scenario, Series, Transport};
use crate::transports::{self, Endpoints, RelayPlan};
use acklab_base::random::Seed;
use acklab_base::{Instant, NodeId};
use acklab_net::{Hop, Map, Network};
use acklab_path::Link;
use acklab_path::link;
use acklab_path::server::{Schedule, Server, Trace};
use acklab_wifi::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use way::Way;

/// The network of a run.
pub(crate) type World = Network<Packet, Flows, Observers>;

/// The plans of a flow and of its reverse direction, if that carries data as well.
type Plans = (FlowPlan, Option<FlowPlan>);

/// The name of link direction `direction`.
pub(crate) fn direction_name(scenario: &Scenario, direction: usize) -> String {
    let link = &scenario.link[direction / 2];
    if direction.is_multiple_of(2) { link.forward_name() } else { link.reverse_name() }
}

fn direction_config(scenario: &Scenario, direction: usize) -> &link::Config {
    let link = &scenario.link[direction / 2];
    if direction.is_multiple_of(2) { &link.forward } else { &link.reverse }
}

/// The beginning and the end of measurement.
pub(crate) fn window(scenario: &Scenario) -> Range<Instant> {
    let from = Instant::ZERO + scenario.measure.from;
    from..Instant::ZERO + scenario.measure.until.unwrap_or(scenario.duration)
}

/// Builds and connects the machines, attaches the flows, and opens the captures.
pub(crate) fn build(scenario: &Scenario, options: &RunOptions) -> Result<(World, Plan), Error> {
    let seed = Seed(scenario.seed);
    let links = links(scenario, options, seed)?;
    let mut cells = Vec::new();
    for config in &scenario.wifi {
        cells.push(Cell::new(config, seed).map_err(|source| Error::Wifi { cell: config.name.clone(), source })?);
    }
    let (nodes, mut map) = map_of(scenario);
    let proxies: Vec<NodeId> = scenario.pep.iter().filter_map(|pep| nodes.get(&pep.node).copied()).collect();
    let (mut flows, mut plans) = (Vec::new(), Vec::new());
    let all = scenario.flows();
    let mut further = all.len() as u32;
    for (number, flow) in (0..).zip(all) {
        let no_route = || Error::NoRoute { flow: flow.name.clone(), from: flow.from.clone(), to: flow.to.clone() };
        let (Some(from), Some(to)) = (nodes.get(&flow.from), nodes.get(&flow.to)) else { return Err(no_route()) };
        let path = map.path(*from, *to).ok_or_else(no_route)?;
        let return_path = map.path(*to, *from).ok_or_else(no_route)?;
        let way = Way::new(scenario, &map, &proxies, &flow, number, [*from, *to], &mut further);
        if let (Some(split), Some(_)) = (way.splits.first(), flow.back) {
            return Err(Error::SplitBothWays { flow: flow.name, node: split.pep.node.clone() });
        }
        for ends in way.stops.windows(2) {
            let hops = [map.path(ends[0], ends[1]), map.path(ends[1], ends[0])];
            for hop in hops.into_iter().flatten().flatten() {
                if let Hop::Cell { cell, from, to } = hop {
                    let refused = |source| Error::Wifi { cell: scenario.wifi[cell].name.clone(), source };
                    cells[cell].carry(from, to, flow.category).map_err(refused)?;
                }
            }
        }
        let endpoints = transports::endpoints(&flow, seed, &options.strategies)?;
        let plan = |flow, paths| FlowPlan::new(scenario, flow, paths, &endpoints, &links, &cells);
        let reverse_plan = flow.reverse().map(|reverse| plan(reverse, [&return_path, &path]));
        let plan = plan(flow, [&path, &return_path]);
        if plan.base_rtt.is_zero() && plan.bottleneck.is_none() && plan.return_bottleneck.is_none() {
            return Err(Error::NoTime { flow: plan.flow.name });
        }
        flows.push((endpoints, way));
        plans.push((plan, reverse_plan));
    }

    for cell in &mut cells {
        cell.measure(window(scenario));
        if scenario.measure.series.contains(&Series::Queue) {
            cell.log_queues();
        }
    }
    let observers = observers::observers(scenario, options, &plans)?;
    for (cell, air) in cells.iter_mut().zip(&observers.air) {
        if air.is_in_use() {
            cell.log_air();
        }
    }
    let hosts_at: Vec<NodeId> = flows.iter().flat_map(|(_, way)| way.stops.clone()).collect();
    let mut world = Network::new(links, cells, map, hosts_at, Flows::default(), observers);
    let mut ways = Vec::new();
    for ((endpoints, way), plans) in flows.into_iter().zip(&plans) {
        let protocol = endpoints.protocol();
        attach(&mut world, scenario, endpoints, &way, plans)?;
        ways.push((protocol, way));
    }
    let (mut relays, mut measured) = (Vec::new(), 0);
    for (number, ((protocol, way), (plan, reverse))) in ways.iter().zip(&plans).enumerate() {
        attach_relays(&mut world, options, seed, number, *protocol, way, plan)?;
        relays.extend(RelayPlace::on(way, &plan.flow, measured));
        measured += 1 + usize::from(reverse.is_some());
    }
    let flows = plans.into_iter().flat_map(|(plan, reverse)| [Some(plan), reverse]).flatten().collect();
    Ok((world, Plan { links: plan::links(scenario), cells: plan::cells(scenario), flows, relays }))
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

fn server(config: &link::Config, name: &str, options: &RunOptions) -> Result<Server, Error> {
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

/// The nodes by name, and the map of links and cells between them.
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

/// Attaches the two endpoints of a flow at the ends of its way.
fn attach(
    world: &mut World,
    scenario: &Scenario,
    endpoints: Endpoints,
    way: &Way<'_>,
    (plan, reverse_plan): &Plans,
) -> Result<(), Error> {
    let (protocol, last) = (endpoints.protocol(), way.last());
    let routes = [way.data(protocol, 0), way.acks(protocol, last)];
    let keys = routes.map(|route| route.flow);
    let refused = |source| Error::Attach { flow: plan.flow.name.clone(), source };
    // The packets that arrive at one end have the key of those that the other end of its connection sends.
    world.attach(way.stops[0], way.acks(protocol, 0).flow).map_err(refused)?;
    world.attach(way.stops[last + 1], way.data(protocol, last).flow).map_err(refused)?;
    let probes = Probes {
        forward: observers::probe(scenario, plan),
        reverse: reverse_plan.as_ref().map(|plan| Box::new(observers::probe(scenario, plan))),
    };
    world.hosts.add(|pool| {
        let ends = endpoints.bind(&plan.flow, Seed(scenario.seed), routes, pool);
        let mut flow = flows::Flow::new(ends, keys, probes);
        if scenario.measure.series.contains(&Series::Decisions) {
            flow.record_decisions();
        }
        flow
    });
    Ok(())
}

/// Attaches the proxies on the way of flow `number`.
fn attach_relays(
    world: &mut World,
    options: &RunOptions,
    seed: Seed,
    number: usize,
    protocol: u8,
    way: &Way<'_>,
    plan: &FlowPlan,
) -> Result<(), Error> {
    let flow = &plan.flow;
    let Transport::Tcp(settings) = &flow.transport else { return Ok(()) };
    let refused = |source| Error::Attach { flow: flow.name.clone(), source };
    for (index, split) in way.splits.iter().enumerate() {
        let arriving_key = way.data(protocol, index).flow;
        let port = world.attach(way.stops[index + 1], arriving_key).map_err(refused)?;
        world.attach_also(port, way.acks(protocol, index + 1).flow).map_err(refused)?;
        let relay = RelayPlan {
            flow,
            handshake: split.pep.handshake,
            settings: split.settings(settings),
            routes: [way.acks(protocol, index), way.data(protocol, index + 1)],
            arriving_key,
            // No flow has a slash in its name.
            name: format!("{}/pep/{}", flow.name, split.pep.node),
        };
        let probe = observers::probe_without_records(plan, None);
        world.hosts.add_relay(number, |pool| transports::relay(relay, seed, &options.strategies, &probe, pool))?;
    }
    Ok(())
}
