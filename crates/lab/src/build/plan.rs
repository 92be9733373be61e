//! Facts about a scenario's links, cells and flows that the tables need after the run.

use super::way::{Split, Way};
use super::{direction_config, direction_name};
use crate::scenario::{Flow, Scenario, Transport};
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
        let Transport::Tcp(settings) = &flow.transport else { return Vec::new() };
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

/// A Wi-Fi cell: its name and the names of its nodes, the access point first.
pub(crate) struct CellPlan {
    pub(crate) name: String,
    pub(crate) nodes: Vec<String>,
}

/// One direction of a flow.
pub(crate) struct FlowPlan {
    pub(crate) flow: Flow,
    /// The names of the parts of its transport in the flows table.
    pub(crate) labels: Labels,
    /// Payload of a full-sized packet in octets.
    pub(crate) payload: u64,
    /// The rate of the slowest link on the path of the data, in bits per second.
    pub(crate) bottleneck: Option<f64>,
    /// The rate of the slowest link on the path of the ACKs, in bits per second.
    pub(crate) return_bottleneck: Option<f64>,
    /// Propagation delay of the path there and back.
    pub(crate) base_rtt: Duration,
    /// Size of a full-sized packet on the bottleneck in octets, link-layer overhead included.
    pub(crate) full_size_on_wire: u64,
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
        let until = Instant::ZERO + scenario.duration;
        let rate = |hop: &Hop| match *hop {
            Hop::Link(direction) => links[direction].mean_rate(until),
            Hop::Cell { cell, from, .. } => cells[cell].nominal_rate(from).map(|rate| rate as f64),
        };
        let slowest = |path: &[Hop]| {
            let rates = path.iter().filter_map(|hop| rate(hop).map(|rate| (rate, *hop)));
            rates.min_by(|one, other| one.0.total_cmp(&other.0))
        };
        let delay = |hop: &Hop| match *hop {
            Hop::Link(direction) => direction_config(scenario, direction).delay,
            Hop::Cell { .. } => Duration::ZERO,
        };
        let bottleneck = slowest(path);
        let overhead = match bottleneck {
            Some((_, Hop::Link(direction))) => direction_config(scenario, direction).overhead,
            _ => Bytes::ZERO,
        };
        Self {
            bottleneck: bottleneck.map(|(rate, _)| rate),
            return_bottleneck: slowest(return_path).map(|(rate, _)| rate),
            base_rtt: path.iter().chain(return_path).fold(Duration::ZERO, |sum, hop| sum + delay(hop)),
            full_size_on_wire: endpoints.full_size() + overhead.get(),
            payload: endpoints.payload(),
            labels: endpoints.labels().clone(),
            flow,
        }
    }

    /// The bandwidth-delay product in full-sized segments.
    pub(crate) fn bdp_segments(&self) -> Option<f64> {
        let octets = self.bottleneck? * self.base_rtt.as_secs_f64() / 8.0;
        (octets > 0.0).then(|| octets / self.full_size_on_wire as f64)
    }
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

pub(super) fn cells(scenario: &Scenario) -> Vec<CellPlan> {
    let plan = |config: &acklab_wifi::Config| CellPlan {
        name: config.name.clone(),
        nodes: [config.ap.name.clone()].into_iter().chain(config.station_names()).collect(),
    };
    scenario.wifi.iter().map(plan).collect()
}
