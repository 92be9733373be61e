//! Routing within the cell: the node at which a packet leaves it, and the queue to that node.

use super::{ACCESS_POINT, Cell, Error, TxqId};
use crate::access::Category;
use crate::packet::Packet;
use acklab_base::{Instant, NodeId};

/// The nodes behind each station, as in the distribution service (4.5.2.1), and the queues.
#[derive(Clone, Debug, Default)]
pub(super) struct Distribution {
    /// The node of the cell at which packets leave, by destination.
    exits: Vec<Option<u32>>,
    /// The queue between a station and the access point, by station, direction and category.
    queues: Vec<Option<TxqId>>,
    /// The number of packets without a route.
    unplaced: u64,
}

impl Distribution {
    /// Returns the node at which packets to `destination` leave the cell.
    #[inline]
    pub(super) fn exit(&self, destination: NodeId) -> Option<usize> {
        self.exits.get(destination.index()).copied().flatten().map(|node| node as usize)
    }

    pub(super) const fn misplaces(&mut self) {
        self.unplaced += 1;
    }

    /// Returns the index of a queue. One of its nodes is the access point.
    fn place(from: usize, to: usize, category: Category) -> usize {
        let is_uplink = to == ACCESS_POINT;
        let station = if is_uplink { from } else { to };
        (station * 2 + usize::from(is_uplink)) * Category::ALL.len() + category as usize
    }

    #[inline]
    pub(super) fn queue(&self, from: usize, to: usize, category: Category) -> Option<TxqId> {
        self.queues.get(Self::place(from, to, category)).copied().flatten()
    }

    pub(super) fn add_queue(&mut self, from: usize, to: usize, category: Category, id: TxqId) {
        let place = Self::place(from, to, category);
        if self.queues.len() <= place {
            self.queues.resize(place + 1, None);
        }
        self.queues[place] = Some(id);
    }
}

impl<D: Packet> Cell<D> {
    /// Attaches `destination`, so that packets to it leave the cell at `node`.
    pub fn attach(&mut self, destination: NodeId, node: usize) {
        let exits = &mut self.distribution.exits;
        if exits.len() <= destination.index() {
            exits.resize(destination.index() + 1, None);
        }
        exits[destination.index()] = Some(node as u32);
    }

    /// Creates the queues from one node to another in a category before the first packet needs
    /// them. Without QoS, all packets are best effort.
    ///
    /// # Errors
    /// If the standard does not define the sender's mode.
    pub fn carry(&mut self, from: usize, to: usize, category: Category) -> Result<(), Error> {
        let category = if self.rules.has_qos { category } else { Category::BestEffort };
        if from == ACCESS_POINT || to == ACCESS_POINT {
            self.txq(from, to, category)?;
        } else {
            self.txq(from, ACCESS_POINT, category)?;
            self.txq(ACCESS_POINT, to, category)?;
        }
        Ok(())
    }

    /// Returns the number of packets dropped since the start because their destination is not
    /// attached to another node.
    #[must_use]
    pub const fn unplaced(&self) -> u64 {
        self.distribution.unplaced
    }

    /// Sends a packet that has entered the cell at this node towards its exit.
    pub(super) fn route(&mut self, now: Instant, from: usize, packet: D) {
        match self.distribution.exit(packet.destination()) {
            Some(exit) if exit != from => {
                let next = if from == ACCESS_POINT { exit } else { ACCESS_POINT };
                self.send_on(now, from, next, packet);
            }
            _ => self.misplace(now, &packet),
        }
    }

    /// Forwards a packet from one node to the next.
    #[inline]
    pub(super) fn send_on(&mut self, now: Instant, from: usize, to: usize, packet: D) {
        let category = if self.rules.has_qos { Category::of_dscp(packet.dscp()) } else { Category::BestEffort };
        match self.distribution.queue(from, to, category) {
            Some(id) => self.admit(now, id, packet),
            None => self.send_first(now, from, to, category, packet),
        }
    }

    /// Sends the first packet from one node to another in its category, which creates the queue.
    #[cold]
    fn send_first(&mut self, now: Instant, from: usize, to: usize, category: Category, packet: D) {
        match self.txq(from, to, category) {
            Ok(id) => self.admit(now, id, packet),
            Err(_) => self.misplace(now, &packet),
        }
    }

    #[cold]
    fn misplace(&mut self, now: Instant, packet: &D) {
        self.distribution.misplaces();
        if self.measurement.is_on(now) {
            self.measurement.dropped_flows.push(packet.flow());
        }
    }
}
