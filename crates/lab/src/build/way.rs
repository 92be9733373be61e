//! The connections that carry a flow, and the proxies between them.

use crate::packet::Route;
use crate::scenario::{Flow, Pep, Scenario, Transport};
use acklab_base::NodeId;
use acklab_net::{Hop, Map};
use acklab_transport::tcp;
use acklab_wire::Endpoints;

/// The way of a flow from its sender to its receiver. Without a proxy, it is one connection.
pub(super) struct Way<'a> {
    /// The nodes at which connections begin and end: one more than there are connections.
    pub(super) stops: Vec<NodeId>,
    /// The addresses of each connection. A proxy that hides itself would keep the same for all; here they are the keys of packets.
    addresses: Vec<Endpoints>,
    pub(super) splits: Vec<Split<'a>>,
    dscp: u8,
}

/// A proxy on the way of a flow.
pub(super) struct Split<'a> {
    pub(super) pep: &'a Pep,
    node: NodeId,
    /// The links before and behind it.
    links: [&'a str; 2],
}

impl Split<'_> {
    /// The settings of the proxy's ends toward the sender and toward the receiver, of a flow with these settings.
    pub(super) fn settings<'b>(&'b self, flow: &'b tcp::Settings) -> [&'b tcp::Settings; 2] {
        self.links.map(|link| self.pep.settings(link).unwrap_or(flow))
    }
}

impl<'a> Way<'a> {
    /// The way of `flow`, which is flow `number`, on the computed route of `map` between its `ends`. `proxies` are the nodes of the
    /// scenario's proxies. `further` is the number of the next connection after the first ones of all flows.
    pub(super) fn new(
        scenario: &'a Scenario,
        map: &Map,
        proxies: &[NodeId],
        flow: &Flow,
        number: u32,
        ends: [NodeId; 2],
        further: &mut u32,
    ) -> Self {
        let splits = match flow.transport {
            Transport::Tcp(_) => splits(scenario, map, proxies, ends),
            _ => Vec::new(),
        };
        let [from, to] = ends;
        let stops = [from].into_iter().chain(splits.iter().map(|split| split.node)).chain([to]).collect();
        let others = splits.iter().map(|_| {
            *further += 1;
            Endpoints::of_connection(*further - 1)
        });
        let addresses = [Endpoints::of_connection(number)].into_iter().chain(others).collect();
        Self { stops, addresses, splits, dscp: flow.category.dscp() }
    }

    /// The index of the last connection.
    pub(super) const fn last(&self) -> usize {
        self.addresses.len() - 1
    }

    /// The route of the data on connection `index`.
    pub(super) fn data(&self, protocol: u8, index: usize) -> Route {
        Route { dscp: self.dscp, ..Route::new(protocol, self.addresses[index], self.stops[index + 1]) }
    }

    /// The route of the acknowledgments on connection `index`.
    pub(super) fn acks(&self, protocol: u8, index: usize) -> Route {
        Route { dscp: self.dscp, ..Route::new(protocol, self.addresses[index].reverse(), self.stops[index]) }
    }
}

/// The proxies between two nodes, without those at the ends.
fn splits<'a>(scenario: &'a Scenario, map: &Map, proxies: &[NodeId], [from, to]: [NodeId; 2]) -> Vec<Split<'a>> {
    let name = |hop: Hop| match hop {
        Hop::Link(direction) => scenario.link[direction / 2].name.as_str(),
        Hop::Cell { cell, .. } => scenario.wifi[cell].name.as_str(),
    };
    let (mut splits, mut node, mut before) = (Vec::new(), from, None);
    while node != to
        && let Some((hop, next)) = map.next(node, to)
    {
        let pep = scenario.pep.iter().zip(proxies).find(|(_, proxy)| **proxy == node);
        if let (Some(before), Some((pep, _))) = (before, pep) {
            splits.push(Split { pep, node, links: [name(before), name(hop)] });
        }
        (node, before) = (next, Some(hop));
    }
    splits
}
