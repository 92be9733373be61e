//! The nodes of a scenario, and their connectivity.

use crate::scenario::Scenario;
use acklab_base::Duration;
use acklab_path::link;
use std::collections::BTreeMap;

/// The nodes of a scenario, in connected components.
pub(super) struct Network<'a> {
    /// The components that are connected by links of any kind.
    groups: Groups<'a>,
    /// The components that are connected by links without rate and delay.
    timeless: Groups<'a>,
    /// The first station of each group of stations, by the name of the group.
    alike: BTreeMap<&'a str, String>,
}

impl<'a> Network<'a> {
    /// Creates the network of a scenario. `stations` are the stations of all cells, each with its
    /// access point.
    pub(super) fn new(scenario: &'a Scenario, stations: &'a [(String, String)]) -> Self {
        let mut network = Self { groups: Groups::default(), timeless: Groups::default(), alike: BTreeMap::new() };
        for link in &scenario.link {
            network.groups.join(&link.from, &link.to);
            if takes_no_time(&link.forward) && takes_no_time(&link.reverse) {
                network.timeless.join(&link.from, &link.to);
            }
        }
        for (station, ap) in stations {
            network.groups.join(ap, station);
        }
        for station in scenario.wifi.iter().flat_map(|cell| &cell.station).filter(|station| station.count > 1) {
            network.alike.extend(station.names().into_iter().next().map(|first| (station.name.as_str(), first)));
        }
        network
    }

    /// Returns the node called `name`, or the first station of the group called `name`.
    pub(super) fn node<'b>(&'b self, name: &'b str) -> &'b str {
        self.alike.get(name).map_or(name, String::as_str)
    }

    pub(super) fn nodes(&self) -> Vec<&'a str> {
        self.groups.parents.keys().copied().collect()
    }

    pub(super) fn has(&self, node: &str) -> bool {
        self.groups.parents.contains_key(node)
    }

    pub(super) fn connects(&self, from: &str, to: &str) -> bool {
        self.groups.are_joined(from, to)
    }

    /// Returns the nodes other than `from` that can be reached from `from`.
    pub(super) fn reachable(&self, from: &str) -> Vec<&'a str> {
        self.nodes().into_iter().filter(|to| *to != from && self.connects(from, to)).collect()
    }

    /// Returns `true` if there is a path on which packets take no time.
    pub(super) fn is_timeless(&self, from: &str, to: &str) -> bool {
        self.timeless.are_joined(from, to)
    }
}

fn takes_no_time(direction: &link::LinkConfig) -> bool {
    let has_rate = direction.rate.is_some() || direction.steps.is_some() || direction.trace.is_some();
    !has_rate && direction.delay == Duration::ZERO && direction.gate.is_none() && direction.jitter.is_none()
}

/// A union-find structure over names.
#[derive(Default)]
struct Groups<'a> {
    parents: BTreeMap<&'a str, &'a str>,
}

impl<'a> Groups<'a> {
    fn root(&self, node: &str) -> Option<&'a str> {
        let (mut node, mut parent) = self.parents.get_key_value(node).map(|(node, parent)| (*node, *parent))?;
        while parent != node {
            node = parent;
            parent = self.parents.get(node).copied()?;
        }
        Some(node)
    }

    fn join(&mut self, one: &'a str, other: &'a str) {
        self.parents.entry(one).or_insert(one);
        self.parents.entry(other).or_insert(other);
        if let (Some(one), Some(other)) = (self.root(one), self.root(other)) {
            self.parents.insert(one, other);
        }
    }

    fn are_joined(&self, one: &str, other: &str) -> bool {
        match (self.root(one), self.root(other)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        }
    }
}
