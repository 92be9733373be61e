//! Entry of packets through the ACK thinner of their node, which may hold them.

use super::Cell;
use super::rules::Rules;
use crate::config::CellConfig;
use crate::packet::Packet;
use acklab_base::{Datagram, Instant, Machine};
use acklab_path::Thinner;

/// The thinners of the nodes that have one.
#[derive(Clone, Debug)]
pub(super) struct Thinners<D>(Vec<Option<Box<Thinner<D>>>>);

impl<D: Datagram> Thinners<D> {
    pub(super) fn new(config: &CellConfig, rules: &Rules, nodes: usize) -> Self {
        let of_node = |node| rules.node_settings(config, node).thinner.map(|rule| Box::new(Thinner::new(rule)));
        let all: Vec<_> = (0..nodes).map(of_node).collect();
        // In a cell without thinners, a check of the length is enough.
        Self(if all.iter().any(Option::is_some) { all } else { Vec::new() })
    }

    /// Returns `true` if the node has a thinner.
    #[inline]
    pub(super) fn has(&self, node: usize) -> bool {
        self.0.get(node).is_some_and(Option::is_some)
    }

    /// Returns when the next held ACK leaves.
    fn due(&self) -> Option<Instant> {
        self.0.iter().flatten().filter_map(|thinner| thinner.deadline()).min()
    }
}

impl<D: Packet> Cell<D> {
    /// Passes `packet`, if any, through the thinner of its node, and passes the packets that the
    /// thinner releases into the cell.
    #[inline(never)]
    pub(super) fn thin(&mut self, now: Instant, node: usize, packet: Option<D>) {
        let Some(mut thinner) = self.thinners.0.get_mut(node).and_then(Option::take) else { return };
        let removed = thinner.pass(now, packet, |packet| self.route(now, node, packet));
        if let Some(counters) = self.measurement.of(now, node) {
            counters.filtered += removed.packets;
        }
        self.thinners.0[node] = Some(thinner);
        self.timers.thinners = self.thinners.due();
        self.update_deadline();
    }

    /// Releases the held ACKs that are due.
    pub(super) fn release_thinned(&mut self, now: Instant) {
        if self.timers.thinners.is_some_and(|due| due <= now) {
            (0..self.thinners.0.len()).for_each(|node| self.thin(now, node, None));
        }
    }
}
