//! Facts about a scenario's links, cells and flows that the tables need after the run.

use super::way::{Split, Way};
use super::{direction_config, direction_name};
use crate::scenario::{Flow, Scenario};
use crate::transports::{Endpoints, Labels};
use acklab_base::{Bytes, Duration, Instant};
use acklab_net::Hop;
use acklab_path::Link;
use acklab_wifi::{Cell, Packet};

/// The facts about all links, cells and flows of a world, in their order in the world.
pub(crate) struct Plan {
    pub(crate) links: Vec<LinkPlan>,
    pub(crate) cells: Vec<CellPlan>,
    /// By measured direction: each flow, followed by its reverse direction if that carries data.
    pub(crate) flows: Vec<FlowPlan>,
    /// The proxies on the ways of flows, by flow.
    pub(crate) relays: Vec<RelayPlace>,
}

/// A proxy on the way of a flow.
pub(crate) struct RelayPlace {
    pub(crate) node: String,
    /// The index of the flow among the measured directions.
    pub(crate) flow: usize,
    /// The congestion controller of its end toward the receiver.
    pub(crate) controller: String,
}

impl RelayPlace {
    /// The proxies on the way of `flow`, whose index among the measured directions is `measured`.
    pub(super) fn on(way: &Way, flow: &Flow, measured: usize) -> Vec<Self> {
        let Some(settings) = flow.transport.tcp() else { return Vec::new() };
        let place = |split: &Split| Self {
            node: split.pep.node.clone(),
            flow: measured,
            controller: split.settings(settings)[1].config().congestion.name().to_owned(),
        };
        way.splits.iter().map(place).collect()
    }
}

/// A link direction.
pub(crate) struct LinkPlan {
    pub(crate) name: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// Whether its capacity is assigned on demand.
    pub(crate) is_on_demand: bool,
}

/// A Wi-Fi cell: its name, and its nodes, the access point first.
pub(crate) struct CellPlan {
    pub(crate) name: String,
    pub(crate) nodes: Vec<String>,
    /// The capacity of each node for the full-sized packets that flows send from it, in bits per second.
    pub(crate) capacities: Vec<Option<f64>>,
}

/// The slowest hop of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bottleneck {
    /// In bits per second: the mean rate of a link, the capacity of a cell.
    pub(crate) rate: f64,
    /// Octets of a full-sized packet there, link-layer overhead included.
    pub(crate) full_size: u64,
    /// The mean cycle of a cell, which it needs for an aggregate; zero for a link.
    pub(crate) cycle: Duration,
}

/// One direction of a flow.
pub(crate) struct FlowPlan {
    pub(crate) flow: Flow,
    /// The names of the parts of its transport in the flows table.
    pub(crate) labels: Labels,
    /// Payload of a full-sized packet in octets.
    pub(crate) payload: u64,
    /// The slowest hop on the path of the data. Of hops that are equally slow, the first.
    pub(crate) bottleneck: Option<Bottleneck>,
    /// The slowest hop on the path of the ACKs, for packets without payload.
    pub(crate) return_bottleneck: Option<Bottleneck>,
    /// Propagation delay of the path there and back.
    pub(crate) base_rtt: Duration,
    /// The transmission time of a full-sized packet on the slowest link, in seconds. A cell counts by the rate of its PHY, because the
    /// packets of an aggregate follow each other at that rate.
    pub(crate) segment_time: f64,
    /// The capacities of the cells on the path of the data, with the cell and its node that sends.
    pub(super) capacities: Vec<(usize, usize, f64)>,
}

impl FlowPlan {
    /// The plan of a flow whose data take `path` and whose ACKs take `return_path`.
    pub(super) fn new<P: Packet>(
        scenario: &Scenario,
        flow: Flow,
        [path, return_path]: [&[Hop]; 2],
        endpoints: &Endpoints,
        links: &[Link<P>],
        cells: &[Cell<P>],
    ) -> Self {
        let slowest = |path: &[Hop], octets: u64| {
            let hops = path.iter().filter_map(|hop| bottleneck(scenario, &flow, *hop, octets, links, cells));
            hops.min_by(|one, other| one.rate.total_cmp(&other.rate))
        };
        let delay = |hop: &Hop| match *hop {
            Hop::Link(direction) => direction_config(scenario, direction).delay,
            Hop::Cell { .. } => Duration::ZERO,
        };
        let full_size = endpoints.full_size() + scenario.ip_version().longer_by();
        let capacities = path.iter().filter_map(|hop| match *hop {
            Hop::Cell { cell, from, .. } => {
                bottleneck(scenario, &flow, *hop, full_size, links, cells).map(|found| (cell, from, found.rate))
            }
            Hop::Link(_) => None,
        });
        Self {
            bottleneck: slowest(path, full_size),
            return_bottleneck: slowest(return_path, full_size - endpoints.payload()),
            base_rtt: path.iter().chain(return_path).fold(Duration::ZERO, |sum, hop| sum + delay(hop)),
            segment_time: segment_time(scenario, path, full_size, links, cells),
            capacities: capacities.collect(),
            payload: endpoints.payload(),
            labels: endpoints.labels()[0].clone(),
            flow,
        }
    }

    /// The RTT at which the bottleneck is busy and no packet waits longer than for its aggregate. Returns `None` without a bottleneck.
    pub(crate) fn empty_rtt(&self) -> Option<Duration> {
        Some(self.base_rtt + self.bottleneck?.cycle)
    }

    /// The bandwidth-delay product in full-sized segments.
    pub(crate) fn bdp_segments(&self) -> Option<f64> {
        let Bottleneck { rate, full_size, .. } = self.bottleneck?;
        let octets = rate * self.empty_rtt()?.as_secs_f64() / 8.0;
        (octets > 0.0).then(|| octets / full_size as f64)
    }
}

/// What a hop is to packets of `octets` as a bottleneck. Returns `None` if they take no time to send.
fn bottleneck<P: Packet>(
    scenario: &Scenario,
    flow: &Flow,
    hop: Hop,
    octets: u64,
    links: &[Link<P>],
    cells: &[Cell<P>],
) -> Option<Bottleneck> {
    match hop {
        Hop::Link(direction) => Some(Bottleneck {
            rate: links[direction].mean_rate(Instant::ZERO + scenario.duration)?,
            full_size: octets + direction_config(scenario, direction).overhead.get(),
            cycle: Duration::ZERO,
        }),
        Hop::Cell { cell, from, to } => {
            let cycle = cells[cell].cycle(from, to, flow.category, Bytes(octets))?;
            Some(Bottleneck { rate: cycle.rate(), full_size: octets, cycle: cycle.time })
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
            let rate = links[direction].mean_rate(Instant::ZERO + scenario.duration)?;
            Some((rate, octets + direction_config(scenario, direction).overhead.get()))
        }
        Hop::Cell { cell, from, .. } => cells[cell].nominal_rate(from).map(|rate| (rate as f64, octets)),
    });
    let slowest = hops.min_by(|one, other| one.0.total_cmp(&other.0));
    slowest.map_or(0.0, |(rate, octets)| octets as f64 * 8.0 / rate)
}

pub(super) fn links(scenario: &Scenario) -> Vec<LinkPlan> {
    let plan = |direction: usize| {
        let link = &scenario.link[direction / 2];
        let (from, to) = if direction.is_multiple_of(2) { (&link.from, &link.to) } else { (&link.to, &link.from) };
        let is_on_demand = direction_config(scenario, direction).demand.is_some();
        LinkPlan { name: direction_name(scenario, direction), from: from.clone(), to: to.clone(), is_on_demand }
    };
    (0..2 * scenario.link.len()).map(plan).collect()
}

pub(super) fn cells(scenario: &Scenario, flows: &[FlowPlan]) -> Vec<CellPlan> {
    let plan = |(index, config): (usize, &acklab_wifi::Config)| {
        let nodes: Vec<String> = [config.ap.name.clone()].into_iter().chain(config.station_names()).collect();
        let capacity = |node: usize| {
            let of_flows = flows.iter().flat_map(|flow| &flow.capacities);
            let here = of_flows.filter(|(cell, from, _)| (*cell, *from) == (index, node)).map(|(.., rate)| *rate);
            here.max_by(f64::total_cmp)
        };
        CellPlan { name: config.name.clone(), capacities: (0..nodes.len()).map(capacity).collect(), nodes }
    };
    scenario.wifi.iter().enumerate().map(plan).collect()
}
