//! The path of a flow: the connections that carry it, and the proxies between them.

use crate::packet::Route;
use crate::scenario::{Flow, Pep, Scenario};
use acklab_base::NodeId;
use acklab_net::{Hop, Map};
use acklab_transport::tcp;
use acklab_wire::{Endpoints, IpVersion};
use std::collections::BTreeMap;

/// The path of a flow from its sender to its receiver. Without a proxy, it is one connection.
pub(crate) struct Way {
    /// The nodes at which connections begin and end. There is one more node than connections.
    pub(crate) stops: Vec<NodeId>,
    /// The proxies at the nodes between the first and the last.
    pub(super) splits: Vec<Split>,
}

/// A proxy on the path of a flow.
pub(super) struct Split {
    pub(super) pep: Pep,
    /// The links before and after the proxy.
    links: [String; 2],
}

impl Split {
    /// Returns the settings of the proxy's ends toward the sender and toward the receiver, for a
    /// flow with these settings.
    pub(super) fn settings<'a>(&'a self, flow: &'a tcp::Settings) -> [&'a tcp::Settings; 2] {
        [0, 1].map(|side: usize| self.pep.settings(&self.links[side]).unwrap_or(flow))
    }
}

impl Way {
    /// Creates the path of `flow` between its `ends`, on the route that `map` computes. `nodes`
    /// maps names to nodes.
    pub(super) fn new(
        scenario: &Scenario,
        map: &Map,
        nodes: &BTreeMap<String, NodeId>,
        flow: &Flow,
        [from, to]: [NodeId; 2],
    ) -> Self {
        let (mut stops, mut splits) = (vec![from], Vec::new());
        let (mut node, mut before) = (from, None);
        // Proxies split TCP. Other transports pass through unchanged.
        while flow.transport.tcp().is_some()
            && node != to
            && let Some((hop, next)) = map.next(node, to)
        {
            let pep = scenario.pep.iter().find(|pep| nodes.get(&pep.node) == Some(&node));
            if let (Some(before), Some(pep)) = (before, pep) {
                stops.push(node);
                splits.push(Split { pep: pep.clone(), links: [before, hop].map(|hop| name_of(scenario, hop)) });
            }
            (node, before) = (next, Some(hop));
        }
        stops.push(to);
        Self { stops, splits }
    }

    /// Returns the connections, with addresses. `numbers` is the number of connections that each
    /// node has opened.
    pub(super) fn connect(
        &self,
        protocol: u8,
        dscp: u8,
        version: IpVersion,
        numbers: &mut BTreeMap<NodeId, u32>,
    ) -> Vec<Connection> {
        let connect = |ends: &[NodeId]| {
            let number = numbers.entry(ends[0]).or_default();
            *number += 1;
            // A transparent proxy would keep the addresses of the flow.
            let addresses = Endpoints::of_nodes(ends[0].0, ends[1].0, *number - 1);
            Connection {
                data: Route { dscp, version, ..Route::new(protocol, addresses, ends[1]) },
                acks: Route { dscp, version, ..Route::new(protocol, addresses.reverse(), ends[0]) },
            }
        };
        self.stops.windows(2).map(connect).collect()
    }
}

/// Returns the name of the link or the cell of a hop.
fn name_of(scenario: &Scenario, hop: Hop) -> String {
    match hop {
        Hop::Link(direction) => scenario.link[direction / 2].name.clone(),
        Hop::Cell { cell, .. } => scenario.wifi[cell].name.clone(),
    }
}

/// The routes of a connection's packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    /// The route from the end that opens the connection.
    pub(super) data: Route,
    /// The route to the end that opens the connection.
    pub(super) acks: Route,
}
