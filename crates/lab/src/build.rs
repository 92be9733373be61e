//! From scenario to world.

use crate::RunOptions;
use crate::air::Air;
use crate::capture::{AirCapture, Capture};
use crate::ends::{Ends, Pair};
use crate::error::Error;
use crate::packet::Packet;
use crate::probe::{FlowProbe, Records};
use crate::scenario::{Flow, Scenario, Series, Transport};
use crate::strategies::{self, Strategies};
use crate::taps::{Place, Taps};
use crate::topology::{self, Direction, Hop, Topology};
use crate::world::World;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, FlowId, Instant};
use acklab_path::Link;
use acklab_path::link::Config as LinkConfig;
use acklab_path::server::{Schedule, Server, Trace};
use acklab_transport::{tcp, udp};
use acklab_wifi::Cell;
use acklab_wifi::access::Category;
use acklab_wire::ipv4::{Extent, IPV4_HEADER};
use acklab_wire::tcp::TCP_HEADER;
use acklab_wire::udp::UDP_HEADER;
use std::fs;
use std::ops::Range;

/// Octets of a timestamps option with its padding.
const TIMESTAMPS: u64 = 12;

/// The bin of throughput where there is no propagation delay to take it from.
const DEFAULT_BIN: Duration = Duration::from_millis(100);

/// What a world was built from, for the tables.
pub(crate) struct Plan {
    pub(crate) links: Vec<LinkPlan>,
    pub(crate) cells: Vec<CellPlan>,
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
    /// Of a flow over TCP.
    pub(crate) tcp: Option<tcp::Config>,
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

impl FlowPlan {
    /// The bandwidth-delay product in full-sized segments.
    pub(crate) fn bdp_segments(&self) -> Option<f64> {
        let octets = self.bottleneck? * self.base_rtt.as_secs_f64() / 8.0;
        (octets > 0.0).then(|| octets / self.full_size_on_wire as f64)
    }
}

/// The name of link direction `direction`.
pub(crate) fn direction_name(scenario: &Scenario, direction: Direction) -> String {
    let link = &scenario.link[direction / 2];
    if direction.is_multiple_of(2) { link.forward_name() } else { link.reverse_name() }
}

fn direction_config(scenario: &Scenario, direction: Direction) -> &LinkConfig {
    let link = &scenario.link[direction / 2];
    if direction.is_multiple_of(2) { &link.forward } else { &link.reverse }
}

/// Build the machines, wire them, and open the captures.
pub(crate) fn build(scenario: &Scenario, options: &RunOptions) -> Result<(World, Plan), Error> {
    let seed = Seed(scenario.seed);
    let directions = 0..2 * scenario.link.len();
    let mut links = Vec::new();
    for direction in directions.clone() {
        let (name, config) = (direction_name(scenario, direction), direction_config(scenario, direction));
        let server = server(config, &name, options)?;
        let mut link = Link::<Packet>::new(config, server, seed, &name);
        link.measure(window(scenario));
        if scenario.measure.series.contains(&Series::Queue) {
            link.log_queue();
        }
        links.push(link);
    }

    let mut cells = Vec::new();
    for config in &scenario.wifi {
        cells.push(Cell::new(config, seed).map_err(|source| Error::Wifi { cell: config.name.clone(), source })?);
    }
    let topology = Topology::new(scenario);
    let (mut flows, mut routes, mut plans) = (Vec::new(), Vec::new(), Vec::new());
    for (index, flow) in scenario.flows().into_iter().enumerate() {
        let route = topology.route(&flow.from, &flow.to).ok_or_else(|| Error::NoRoute {
            flow: flow.name.clone(),
            from: flow.from.clone(),
            to: flow.to.clone(),
        })?;
        carry(scenario, &mut cells, FlowId::data(index as u32), &route, flow.category)?;
        let plan = plan(scenario, flow, &route, &links, &cells);
        if plan.base_rtt.is_zero() && plan.bottleneck.is_none() && plan.return_bottleneck.is_none() {
            return Err(Error::NoTime { flow: plan.flow.name });
        }
        flows.push(ends(scenario, &options.strategies, index as u32, &plan)?);
        routes.push(route);
        plans.push(plan);
    }

    for cell in &mut cells {
        cell.measure(window(scenario));
        if scenario.measure.series.contains(&Series::Queue) {
            cell.log_queues();
        }
    }
    let taps = taps(scenario, options, &plans)?;
    let air = air(scenario, options)?;
    for (cell, air) in cells.iter_mut().zip(&air) {
        if air.listens() {
            cell.log_air();
        }
    }
    let link_plans = directions
        .map(|direction| {
            let link = &scenario.link[direction / 2];
            let (from, to) = if direction.is_multiple_of(2) { (&link.from, &link.to) } else { (&link.to, &link.from) };
            LinkPlan { name: direction_name(scenario, direction), from: from.clone(), to: to.clone() }
        })
        .collect();
    let cell_plans = scenario.wifi.iter().map(|config| CellPlan {
        name: config.name.clone(),
        nodes: [config.ap.name.clone()].into_iter().chain(config.station_names()).collect(),
    });
    let plan = Plan { links: link_plans, cells: cell_plans.collect(), flows: plans };
    Ok((World::new(links, cells, flows, &routes, air, taps), plan))
}

/// Cells learn which flows pass them, there and back.
fn carry(
    scenario: &Scenario,
    cells: &mut [Cell<Packet>],
    flow: FlowId,
    route: &[Hop],
    category: Category,
) -> Result<(), Error> {
    for (flow, way) in [(flow, route.to_vec()), (flow.reverse(), topology::reversed(route))] {
        for hop in way {
            if let Hop::Cell { cell, from, to } = hop {
                let refused = |source| Error::Wifi { cell: scenario.wifi[cell].name.clone(), source };
                cells[cell].carry(flow, from, to, category).map_err(refused)?;
            }
        }
    }
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

fn plan(scenario: &Scenario, flow: Flow, route: &[Hop], links: &[Link<Packet>], cells: &[Cell<Packet>]) -> FlowPlan {
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
    let back = topology::reversed(route);
    let tcp = flow.tcp();
    let bottleneck = slowest(route);
    let overhead = match bottleneck {
        Some((_, Hop::Link(direction))) => direction_config(scenario, direction).overhead,
        _ => Bytes::ZERO,
    };
    let (payload, header) = match &tcp {
        Some(tcp) => (tcp.mss.get(), TCP_HEADER + tcp.timestamps.map_or(0, |_| TIMESTAMPS)),
        // Those that write nothing at a rate of their own have been refused.
        None => (flow.traffic.write().map_or(0, Bytes::get), UDP_HEADER),
    };
    FlowPlan {
        bottleneck: bottleneck.map(|(rate, _)| rate),
        return_bottleneck: slowest(&back).map(|(rate, _)| rate),
        base_rtt: route.iter().chain(&back).fold(Duration::ZERO, |sum, hop| sum + delay(hop)),
        full_size_on_wire: payload + header + IPV4_HEADER + overhead.get(),
        payload,
        tcp,
        flow,
    }
}

fn ends(scenario: &Scenario, strategies: &Strategies, index: u32, plan: &FlowPlan) -> Result<Ends, Error> {
    let asked = |series| scenario.measure.series.contains(&series);
    let records = Records {
        operating_points: asked(Series::OperatingPoint).then(Vec::new),
        throughput: asked(Series::Throughput).then(Vec::new),
        packets: asked(Series::Packets).then(Vec::new),
        events: asked(Series::Events).then(Vec::new),
    };
    let segment_time = plan.bottleneck.map_or(0.0, |rate| plan.full_size_on_wire as f64 * 8.0 / rate);
    let default_bin = if plan.base_rtt.is_zero() { DEFAULT_BIN } else { plan.base_rtt * 2 };
    let bin = scenario.measure.bin.unwrap_or(default_bin);
    let burst_gap = Duration::from_secs_f64(segment_time / 2.0);
    let pair = match (&plan.flow.transport, plan.tcp) {
        (_, Some(tcp)) => tcp_pair(scenario, strategies, index, &plan.flow, tcp)?,
        (Transport::Custom(custom), None) => {
            return Err(Error::NoStrategy {
                flow: plan.flow.name.clone(),
                key: "transport.name",
                name: custom.name.to_string(),
                expected: strategies::expected(&strategies.transport_names()),
            });
        }
        (_, None) => udp_pair(scenario, index, &plan.flow)?,
    };
    Ok(Ends::new(pair, FlowProbe::new(plan.payload, bin, burst_gap, records)))
}

fn tcp_pair(
    scenario: &Scenario,
    strategies: &Strategies,
    index: u32,
    flow: &Flow,
    tcp: tcp::Config,
) -> Result<Pair, Error> {
    let (seed, id) = (Seed(scenario.seed), FlowId::data(index));
    let missing = |key, name: &str, known: &[&str]| Error::NoStrategy {
        flow: flow.name.clone(),
        key,
        name: name.to_owned(),
        expected: strategies::expected(known),
    };
    let controller = strategies
        .controller(&tcp.congestion, &tcp.controller_start(seed, &flow.name))
        .ok_or_else(|| missing("congestion.custom", tcp.congestion.name(), &strategies.controller_names()))?;
    let policy = strategies
        .policy(tcp.ack, &tcp.policy_start(seed, &flow.name))
        .ok_or_else(|| missing("ack.name", tcp.ack.name(), &strategies.policy_names()))?;
    let (start, stop) = times(flow);
    Ok(Pair::tcp(
        tcp::Sender::new(tcp, controller, id, flow.traffic, start, stop, seed, &flow.name),
        tcp::Receiver::new(tcp, policy, id.reverse(), seed, &flow.name),
    ))
}

fn udp_pair(scenario: &Scenario, index: u32, flow: &Flow) -> Result<Pair, Error> {
    let (start, stop) = times(flow);
    let sender = udp::Sender::new(FlowId::data(index), flow.traffic, start, stop, Seed(scenario.seed), &flow.name)
        .ok_or_else(|| Error::NoRate { flow: flow.name.clone() })?;
    Ok(Pair::udp(sender, udp::Receiver::default()))
}

fn times(flow: &Flow) -> (Instant, Option<Instant>) {
    (Instant::ZERO + flow.start, flow.stop.map(|stop| Instant::ZERO + stop))
}

fn taps(scenario: &Scenario, options: &RunOptions, flows: &[FlowPlan]) -> Result<Taps, Error> {
    let mut taps = Taps::default();
    let Some(folder) = &options.captures else { return Ok(taps) };
    let of_packets = scenario.capture.iter().filter(|capture| cell_at(scenario, &capture.point).is_none());
    for capture in of_packets {
        let path = folder.join(&capture.file);
        let title = (!scenario.title.is_empty()).then_some(scenario.title.as_str());
        let file = Capture::create(&path, &capture.point, title, Extent::Headers)?;
        taps.add(file, places(scenario, &capture.point, flows));
    }
    Ok(taps)
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

fn places(scenario: &Scenario, point: &str, flows: &[FlowPlan]) -> Vec<Place> {
    for direction in 0..2 * scenario.link.len() {
        let name = direction_name(scenario, direction);
        if point == name {
            return vec![Place::Entrance(direction)];
        }
        if point.strip_suffix(".out") == Some(&name) {
            return vec![Place::Exit(direction)];
        }
    }
    let senders = flows.iter().enumerate().filter(|(_, plan)| plan.flow.from == point);
    let receivers = flows.iter().enumerate().filter(|(_, plan)| plan.flow.to == point);
    senders.map(|(flow, _)| Place::Sender(flow)).chain(receivers.map(|(flow, _)| Place::Receiver(flow))).collect()
}
