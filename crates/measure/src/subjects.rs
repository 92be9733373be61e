//! The subjects of measurements: names and known properties of flows, links, cells and proxies, for
//! the tables.
//!
//! The code that assembles a network or opens a connection sets these properties. An unknown
//! property is `None`. The columns that depend on it are null.

use acklab_base::{Duration, Instant};

/// All measured parts of a network, in their order in the network.
#[derive(Clone, Debug, Default)]
pub struct Subjects {
    /// The directions of links.
    pub links: Vec<LinkInfo>,
    /// The Wi-Fi cells.
    pub cells: Vec<CellInfo>,
    /// The flows, by measured direction. Each flow is followed by its reverse direction, if that
    /// direction carries data.
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
    /// The name of the flow.
    pub name: String,
    /// The name of the flow before expansion, if this flow is one of several copies.
    pub group: Option<String>,
    /// The node that sends the data.
    pub from: String,
    /// The node that receives the data.
    pub to: String,
    /// The total number of octets that the application sends. `None` if the application does not
    /// end by itself.
    pub total: Option<u64>,
    /// The name of the traffic model.
    pub traffic: String,
    /// When the application starts.
    pub start: Instant,
    /// When the application stops. `None` if it does not stop by itself.
    pub stop: Option<Instant>,
    /// The names of the transport and its parts.
    pub labels: TransportLabels,
    /// The payload of a full-sized packet in bytes. Windows in segments use this unit.
    pub payload: u64,
    /// The slowest hop on the path of the data. If several hops are equally slow, the first of
    /// them.
    pub bottleneck: Option<Bottleneck>,
    /// The slowest hop of the sender's connection, which ends at the first proxy.
    pub own_bottleneck: Option<Bottleneck>,
    /// The slowest hop, for packets without payload, on the path of the ACKs that the sender
    /// receives.
    pub return_bottleneck: Option<Bottleneck>,
    /// The propagation delay in both directions of the path, or of the path to the first proxy. The
    /// sender measures the round-trip time of this path.
    pub base_rtt: Option<Duration>,
    /// Propagation delay of the path of the ACKs that the sender receives.
    pub base_return: Option<Duration>,
}

impl FlowInfo {
    /// Returns the direction from `to` to `from`, with the properties that are derived from this
    /// direction. Its path is unknown.
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

    /// Returns the RTT at which the bottleneck is busy and packets wait only for the completion of
    /// their aggregate. Returns `None` without a bottleneck.
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
    /// The link direction or cell of the hop.
    pub at: Place,
    /// The rate in bits per second: the mean rate of a link, or the capacity of a cell.
    pub rate: f64,
    /// The size of a full-sized packet at this hop in octets, including link-layer overhead.
    pub full_size: u64,
    /// The mean duration of a cycle in which a cell fills an aggregate. Zero for a link.
    pub cycle: Duration,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// The name of the direction.
    pub name: String,
    /// The node at which the direction begins.
    pub from: String,
    /// The node at which the direction ends.
    pub to: String,
    /// `true` if the capacity of the direction is assigned on demand.
    pub is_on_demand: bool,
}

/// A Wi-Fi cell.
#[derive(Clone, Debug)]
pub struct CellInfo {
    /// The name of the cell.
    pub name: String,
    /// The names of the cell's nodes, the access point first.
    pub nodes: Vec<String>,
    /// The capacity of each node in bits per second, for the full-sized packets that flows send
    /// from it.
    pub capacities: Vec<Option<f64>>,
}

/// A performance enhancing proxy on the path of a flow.
#[derive(Clone, Debug)]
pub struct PepInfo {
    /// The name of the proxy's node.
    pub node: String,
    /// The index of the flow among the measured directions.
    pub flow: usize,
    /// The congestion controller of the proxy's end toward the receiver.
    pub controller: String,
}
