//! Which way a flow goes.

use crate::scenario::Scenario;
use std::collections::{BTreeMap, VecDeque};

/// Direction `2i` is link `i` forward, `2i + 1` the same link in reverse.
pub(crate) type Direction = usize;

/// One step of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// Over a link.
    Link(Direction),
    /// Through a cell, from one of its nodes to another; the access point is node 0.
    Cell {
        /// Which cell.
        cell: usize,
        /// Where it begins.
        from: usize,
        /// Where it ends.
        to: usize,
    },
}

impl Hop {
    /// The same the other way.
    pub(crate) const fn reversed(self) -> Self {
        match self {
            Self::Link(direction) => Self::Link(direction ^ 1),
            Self::Cell { cell, from, to } => Self::Cell { cell, from: to, to: from },
        }
    }
}

/// The way back.
pub(crate) fn reversed(way: &[Hop]) -> Vec<Hop> {
    way.iter().rev().map(|hop| hop.reversed()).collect()
}

/// Nodes, and the hops that lead from each.
pub(crate) struct Topology {
    nodes: BTreeMap<String, usize>,
    /// By node, the hops from it and where they lead, in the order of the scenario.
    hops: Vec<Vec<(Hop, usize)>>,
}

impl Topology {
    /// That of a scenario.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let mut topology = Self { nodes: BTreeMap::new(), hops: Vec::new() };
        for (index, link) in scenario.link.iter().enumerate() {
            topology.join(&link.from, &link.to, Hop::Link(2 * index));
        }
        for (cell, config) in scenario.wifi.iter().enumerate() {
            for (station, name) in (1..).zip(config.station_names()) {
                topology.join(&config.ap.name, &name, Hop::Cell { cell, from: 0, to: station });
            }
        }
        topology
    }

    fn join(&mut self, from: &str, to: &str, hop: Hop) {
        let (from, to) = (self.node(from), self.node(to));
        self.hops[from].push((hop, to));
        self.hops[to].push((hop.reversed(), from));
    }

    fn node(&mut self, name: &str) -> usize {
        let next = self.nodes.len();
        let index = *self.nodes.entry(name.to_owned()).or_insert(next);
        self.hops.resize(self.nodes.len().max(self.hops.len()), Vec::new());
        index
    }

    /// The hops of a flow's data in order; those of what comes back are the same, backwards.
    ///
    /// The way of the fewest hops is taken, and of equal ones the one that stands first in the scenario. Nothing, if the nodes are
    /// not connected.
    pub(crate) fn route(&self, from: &str, to: &str) -> Option<Vec<Hop>> {
        let (from, to) = (*self.nodes.get(from)?, *self.nodes.get(to)?);
        let mut came_by: Vec<Option<(Hop, usize)>> = vec![None; self.hops.len()];
        let mut frontier = VecDeque::from([from]);
        while let Some(node) = frontier.pop_front()
            && node != to
        {
            for (hop, next) in &self.hops[node] {
                if *next != from && came_by[*next].is_none() {
                    came_by[*next] = Some((*hop, node));
                    frontier.push_back(*next);
                }
            }
        }
        let mut way: Vec<Hop> = Vec::new();
        let mut node = to;
        while node != from {
            let (hop, before) = came_by[node]?;
            // From station to station through one cell is one hop: the access point passes it on.
            match (hop, way.last_mut()) {
                (Hop::Cell { cell, from, .. }, Some(Hop::Cell { cell: next, from: onward, .. })) if cell == *next => {
                    *onward = from;
                }
                _ => way.push(hop),
            }
            node = before;
        }
        way.reverse();
        Some(way)
    }
}
