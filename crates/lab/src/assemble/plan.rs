//! The facts about a scenario's links, cells, flows and proxies that the results tables contain.

use super::way::{Split, Way};
use super::{direction_config, direction_name};
use crate::scenario::{Flow, Scenario};
use crate::transports::Endpoints;
use acklab_base::{Bytes, Duration, Instant};
use acklab_measure::subjects::{Bottleneck, CellInfo, FlowInfo, LinkInfo, PepInfo, Place};
use acklab_net::Hop;
use acklab_path::Link;
use acklab_wifi::access::Category;
use acklab_wifi::{Cell, Packet};

/// Returns the proxies on the path of `flow`. `measured` is the index of the flow among the
/// measured directions.
pub(super) fn peps(way: &Way, flow: &Flow, measured: usize) -> Vec<PepInfo> {
    let Some(settings) = flow.transport.tcp() else { return Vec::new() };
    let info = |split: &Split| PepInfo {
        node: split.pep.node.clone(),
        flow: measured,
        controller: split.settings(settings)[1].config().congestion.name().to_owned(),
    };
    way.splits.iter().map(info).collect()
}

/// One direction of a flow.
pub(crate) struct FlowPlan {
    pub(crate) flow: Flow,
    /// The facts about the direction that the results tables contain.
    pub(crate) info: FlowInfo,
    /// The transmission time of a full-sized packet on the slowest link, in seconds. For a cell, it
    /// is computed with the PHY rate, because the packets of an aggregate follow each other at that
    /// rate.
    pub(crate) segment_time: f64,
    /// The capacities of the cells on the path of the data: the cell, its sending node and the
    /// capacity.
    pub(super) capacities: Vec<(usize, usize, f64)>,
}

impl FlowPlan {
    /// Creates the plan of a flow whose data take `path`. `own` is the round-trip path of the
    /// sender's connection. That connection ends at the first proxy.
    pub(super) fn new<P: Packet>(
        scenario: &Scenario,
        flow: Flow,
        path: &[Hop],
        own: [&[Hop]; 2],
        endpoints: &Endpoints,
        links: &[Link<P>],
        cells: &[Cell<P>],
    ) -> Self {
        let full_size = endpoints.full_size() + scenario.ip_version().longer_by();
        let capacities = path.iter().filter_map(|hop| match *hop {
            Hop::Cell { cell, from, .. } => {
                bottleneck(scenario, flow.category, *hop, full_size, links, cells).map(|found| (cell, from, found.rate))
            }
            Hop::Link(_) => None,
        });
        let facts = |paths: [&[Hop]; 2]| {
            PathFacts::new(scenario, flow.category, paths, full_size, endpoints.payload(), links, cells)
        };
        let (whole, own) = (facts([path, own[1]]), facts(own));
        let info = FlowInfo {
            name: flow.name.clone(),
            from: flow.from.clone(),
            to: flow.to.clone(),
            group: flow.group.clone(),
            traffic: flow.traffic_label(),
            total: flow.total(),
            start: Instant::ZERO + flow.start,
            stop: flow.stop.map(|stop| Instant::ZERO + stop),
            labels: endpoints.labels()[0].clone(),
            bottleneck: whole.info.bottleneck,
            ..own.info
        };
        Self { info, segment_time: whole.segment_time, capacities: capacities.collect(), flow }
    }

    /// Returns the propagation delay of the round-trip path.
    pub(super) fn base_rtt(&self) -> Duration {
        self.info.base_rtt.unwrap_or_default()
    }
}

/// The facts about a round-trip path that the results tables contain. All flows on the path share
/// them.
#[derive(Clone, Debug)]
pub(crate) struct PathFacts {
    /// The bottlenecks and delays of the path.
    pub(crate) info: FlowInfo,
    /// See [`FlowPlan::segment_time`].
    pub(crate) segment_time: f64,
}

impl PathFacts {
    /// Returns the facts about a path. Data take `path` in packets of `full_size` bytes, of which
    /// `payload` are data. ACKs take `return_path`.
    pub(super) fn new<P: Packet>(
        scenario: &Scenario,
        category: Category,
        [path, return_path]: [&[Hop]; 2],
        full_size: u64,
        payload: u64,
        links: &[Link<P>],
        cells: &[Cell<P>],
    ) -> Self {
        let slowest = |path: &[Hop], octets: u64| {
            let hops = path.iter().filter_map(|hop| bottleneck(scenario, category, *hop, octets, links, cells));
            hops.min_by(|one, other| one.rate.total_cmp(&other.rate))
        };
        let delay = |path: &[Hop]| {
            path.iter().fold(Duration::ZERO, |sum, hop| match *hop {
                Hop::Link(direction) => sum + direction_config(scenario, direction).delay,
                Hop::Cell { .. } => sum,
            })
        };
        let info = FlowInfo {
            payload,
            bottleneck: slowest(path, full_size),
            own_bottleneck: slowest(path, full_size),
            return_bottleneck: slowest(return_path, full_size - payload),
            base_rtt: Some(delay(path) + delay(return_path)),
            base_return: Some(delay(return_path)),
            ..FlowInfo::default()
        };
        Self { info, segment_time: segment_time(scenario, path, full_size, links, cells) }
    }
}

/// Returns a hop as a bottleneck for packets of `octets` bytes. Returns `None` if their
/// transmission takes no time.
fn bottleneck<P: Packet>(
    scenario: &Scenario,
    category: Category,
    hop: Hop,
    octets: u64,
    links: &[Link<P>],
    cells: &[Cell<P>],
) -> Option<Bottleneck> {
    match hop {
        Hop::Link(direction) => Some(Bottleneck {
            at: Place::Link(direction),
            rate: links[direction].mean_rate(&super::window(scenario))?,
            full_size: octets + direction_config(scenario, direction).overhead.get(),
            cycle: Duration::ZERO,
        }),
        Hop::Cell { cell, from, to } => {
            let cycle = cells[cell].cycle(from, to, category, Bytes(octets))?;
            Some(Bottleneck { at: Place::Cell(cell), rate: cycle.rate(), full_size: octets, cycle: cycle.time })
        }
    }
}

/// See [`FlowPlan::segment_time`].
fn segment_time<P: Packet>(
    scenario: &Scenario,
    path: &[Hop],
    octets: u64,
    links: &[Link<P>],
    cells: &[Cell<P>],
) -> f64 {
    let hops = path.iter().filter_map(|hop| match *hop {
        Hop::Link(direction) => {
            let rate = links[direction].mean_rate(&(Instant::ZERO..Instant::ZERO + scenario.duration))?;
            Some((rate, octets + direction_config(scenario, direction).overhead.get()))
        }
        Hop::Cell { cell, from, .. } => cells[cell].nominal_rate(from).map(|rate| (rate as f64, octets)),
    });
    let slowest = hops.min_by(|one, other| one.0.total_cmp(&other.0));
    slowest.map_or(0.0, |(rate, octets)| octets as f64 * 8.0 / rate)
}

pub(super) fn links(scenario: &Scenario) -> Vec<LinkInfo> {
    let info = |direction: usize| {
        let link = &scenario.link[direction / 2];
        let (from, to) = if direction.is_multiple_of(2) { (&link.from, &link.to) } else { (&link.to, &link.from) };
        let is_on_demand = direction_config(scenario, direction).demand.is_some();
        LinkInfo { name: direction_name(scenario, direction), from: from.clone(), to: to.clone(), is_on_demand }
    };
    (0..2 * scenario.link.len()).map(info).collect()
}

pub(super) fn cells(scenario: &Scenario, flows: &[FlowPlan]) -> Vec<CellInfo> {
    let info = |(index, config): (usize, &acklab_wifi::CellConfig)| {
        let nodes: Vec<String> = [config.ap.name.clone()].into_iter().chain(config.station_names()).collect();
        let capacity = |node: usize| {
            let of_flows = flows.iter().flat_map(|flow| &flow.capacities);
            let here = of_flows.filter(|(cell, from, _)| (*cell, *from) == (index, node)).map(|(.., rate)| *rate);
            here.max_by(f64::total_cmp)
        };
        CellInfo { name: config.name.clone(), capacities: (0..nodes.len()).map(capacity).collect(), nodes }
    };
    scenario.wifi.iter().enumerate().map(info).collect()
}
