//! The subjects of measurements: names and known properties of flows, links, cells and proxies, for
//! the tables.
//!
//! The code that assembles a network or opens a connection fills them in. An unknown property is
//! `None`, and the columns that need it are null.

use acklab_base::{Duration, Instant};

/// All measured parts of a network, in their order in the network.
#[derive(Clone, Debug, Default)]
pub struct Subjects {
    /// The directions of links.
    pub links: Vec<LinkInfo>,
    /// The Wi-Fi cells.
    pub cells: Vec<CellInfo>,
    /// The flows by measured direction: each flow, followed by its reverse direction if that
    /// carries data.
    pub flows: Vec<FlowInfo>,
    /// The proxies on the paths of flows, by flow.
    pub peps: Vec<PepInfo>,
}

/// The names of a transport and its parts in the flows table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportLabels {
    /// The transport.
    pub protocol: String,
    /// The preset of the end that sends the data.
    pub preset: Option<String>,
    /// The preset of the end that receives the data.
    pub peer_preset: Option<String>,
    /// The congestion controller.
    pub controller: Option<String>,
    /// The algorithm that sets the window in recovery.
    pub recovery: Option<String>,
    /// The ACK policy of the receiver.
    pub ack_policy: Option<String>,
}

/// Returns the name of the reverse direction of the flow called `name`.
#[must_use]
pub fn back_name(name: &str) -> String {
    format!("{name}_back")
}

/// One direction of a flow.
#[derive(Clone, Debug, Default)]
pub struct FlowInfo {
    /// Its name.
    pub name: String,
    /// The name of the flow of which this is a copy, if the flow has several copies.
    pub group: Option<String>,
    /// The node that sends its data.
    pub from: String,
    /// The node that receives its data.
    pub to: String,
    /// The octets that its application sends in total, if the application ends by itself.
    pub total: Option<u64>,
    /// The name of its model of traffic.
    pub traffic: String,
    /// When its application starts.
    pub start: Instant,
    /// When its application stops. `None` if it does not stop by itself.
    pub stop: Option<Instant>,
    /// The names of the parts of its transport.
    pub labels: TransportLabels,
    /// Bytes of payload in a full-sized packet, the unit of windows in segments.
    pub payload: u64,
    /// The slowest hop on the path of the data; the first of several equal ones.
    pub bottleneck: Option<Bottleneck>,
    /// The slowest hop up to the first proxy on the path, that is, of the sender's own connection.
    pub own_bottleneck: Option<Bottleneck>,
    /// The slowest hop on the path of the ACKs that the sender receives, for packets without
    /// payload.
    pub return_bottleneck: Option<Bottleneck>,
    /// Propagation delay of the path in both directions, or of the path to the first proxy, whose
    /// round trip the sender measures.
    pub base_rtt: Option<Duration>,
    /// Propagation delay of the path of the ACKs that the sender receives.
    pub base_return: Option<Duration>,
}

impl FlowInfo {
    /// Returns the direction from `to` to `from`, with the properties that follow from this one.
    /// Its path is not known.
    #[must_use]
    pub fn reverse(&self) -> Self {
        Self {
            name: back_name(&self.name),
            from: self.to.clone(),
            to: self.from.clone(),
            group: None,
            total: None,
            bottleneck: None,
            own_bottleneck: None,
            return_bottleneck: None,
            base_return: None,
            ..self.clone()
        }
    }

    /// Returns the RTT at which the bottleneck is busy and packets wait only for their own
    /// aggregate. `None` without a bottleneck.
    #[must_use]
    pub fn empty_rtt(&self) -> Option<Duration> {
        Some(self.base_rtt? + self.bottleneck?.cycle)
    }

    /// Returns the bandwidth-delay product in full-sized segments.
    #[must_use]
    pub fn bdp_segments(&self) -> Option<f64> {
        let Bottleneck { rate, full_size, .. } = self.bottleneck?;
        let octets = rate * self.empty_rtt()?.as_secs_f64() / 8.0;
        (octets > 0.0).then(|| octets / full_size as f64)
    }
}

/// A hop that flows may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A link direction, by its index among the [subjects](Subjects::links).
    Link(usize),
    /// A cell, by its index.
    Cell(usize),
}

/// The slowest hop of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// Its place.
    pub at: Place,
    /// The rate in bits per second: the mean rate of a link, or the capacity of a cell.
    pub rate: f64,
    /// Octets of a full-sized packet there, link-layer overhead included.
    pub full_size: u64,
    /// The mean cycle in which a cell fills an aggregate; zero for a link.
    pub cycle: Duration,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// Its name.
    pub name: String,
    /// The node at which it begins.
    pub from: String,
    /// The node at which it ends.
    pub to: String,
    /// `true` if its capacity is assigned on demand.
    pub is_on_demand: bool,
}

/// A Wi-Fi cell.
#[derive(Clone, Debug)]
pub struct CellInfo {
    /// Its name.
    pub name: String,
    /// The names of its nodes, the access point first.
    pub nodes: Vec<String>,
    /// For each node, its capacity in bits per second for the full-sized packets that flows send
    /// from it.
    pub capacities: Vec<Option<f64>>,
}

/// A performance enhancing proxy on the path of a flow.
#[derive(Clone, Debug)]
pub struct PepInfo {
    /// The name of its node.
    pub node: String,
    /// The index of the flow among the measured directions.
    pub flow: usize,
    /// The congestion controller of its end toward the receiver.
    pub controller: String,
}
