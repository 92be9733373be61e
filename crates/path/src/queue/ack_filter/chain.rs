//! A queue as a linked list, with a second linked list for each flow, so that a packet can be
//! removed from the middle.

use acklab_base::{AckHeader, Bytes, Datagram, FlowKey, FlowTable, Instant};
use std::iter::successors;

#[derive(Clone, Debug)]
pub(crate) struct Chain<D> {
    nodes: Vec<Node<D>>,
    /// The indices of nodes without a packet.
    free: Vec<usize>,
    all: Ends,
    flows: FlowTable<Ends>,
    len: usize,
    bytes: Bytes,
}

#[derive(Clone, Debug)]
struct Node<D> {
    waiting: Option<(Instant, D)>,
    /// `true` if the previous ACK of its flow has the same acknowledgment number.
    is_duplicate: bool,
    in_all: Neighbours,
    in_flow: Neighbours,
}

#[derive(Clone, Copy, Debug, Default)]
struct Neighbours {
    before: Option<usize>,
    behind: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    first: Option<usize>,
    last: Option<usize>,
}

impl Ends {
    /// Appends node `at` to this list. `links` selects the links of this list in a node.
    fn append<D>(&mut self, nodes: &mut [Node<D>], at: usize, links: fn(&mut Node<D>) -> &mut Neighbours) {
        *links(&mut nodes[at]) = Neighbours { before: self.last, behind: None };
        match self.last {
            None => self.first = Some(at),
            Some(last) => links(&mut nodes[last]).behind = Some(at),
        }
        self.last = Some(at);
    }

    fn unlink<D>(&mut self, nodes: &mut [Node<D>], at: usize, links: fn(&mut Node<D>) -> &mut Neighbours) {
        let Neighbours { before, behind } = *links(&mut nodes[at]);
        match before {
            None => self.first = behind,
            Some(before) => links(&mut nodes[before]).behind = behind,
        }
        match behind {
            None => self.last = before,
            Some(behind) => links(&mut nodes[behind]).before = before,
        }
    }
}

impl<D> Chain<D> {
    pub(crate) const fn new() -> Self {
        let all = Ends { first: None, last: None };
        Self { nodes: Vec::new(), free: Vec::new(), all, flows: FlowTable::new(), len: 0, bytes: Bytes::ZERO }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Returns the packet at the head, with its arrival time.
    pub(crate) fn head(&self) -> Option<(Instant, &D)> {
        let (arrived, packet) = self.nodes[self.all.first?].waiting.as_ref()?;
        Some((*arrived, packet))
    }

    fn ends(&self, flow: FlowKey) -> Ends {
        self.flows.get(flow).copied().unwrap_or_default()
    }

    /// Returns the node indices of the flow's packets, from the head to the tail.
    pub(super) fn of_flow(&self, flow: FlowKey) -> impl Iterator<Item = usize> {
        successors(self.ends(flow).first, |at| self.nodes[*at].in_flow.behind)
    }

    /// Returns the node indices of the flow's packets, from the tail to the head.
    pub(super) fn of_flow_newest_first(&self, flow: FlowKey) -> impl Iterator<Item = usize> {
        successors(self.ends(flow).last, |at| self.nodes[*at].in_flow.before)
    }

    /// Returns `true` if node `at` contains the last packet of its flow.
    pub(super) fn is_last_of_flow(&self, at: usize) -> bool {
        self.nodes[at].in_flow.behind.is_none()
    }

    pub(super) fn is_duplicate(&self, at: usize) -> bool {
        self.nodes[at].is_duplicate
    }
}

impl<D: Datagram> Chain<D> {
    pub(super) fn packet(&self, at: usize) -> Option<&D> {
        self.nodes[at].waiting.as_ref().map(|(_, packet)| packet)
    }

    pub(super) fn pure_ack(&self, at: usize) -> Option<AckHeader> {
        self.packet(at)?.pure_ack()
    }

    /// Returns the newest pure ACK of the flow, with its node index.
    pub(super) fn newest_ack(&self, flow: FlowKey) -> Option<(usize, AckHeader)> {
        self.of_flow_newest_first(flow).find_map(|at| Some((at, self.pure_ack(at)?)))
    }

    pub(in crate::queue) fn push(&mut self, arrived: Instant, packet: D, is_duplicate: bool) {
        let flow = packet.flow();
        self.len += 1;
        self.bytes += packet.wire_len();
        let (in_all, in_flow) = Default::default();
        let node = Node { waiting: Some((arrived, packet)), is_duplicate, in_all, in_flow };
        let at = match self.free.pop() {
            Some(at) => {
                self.nodes[at] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        self.all.append(&mut self.nodes, at, |node| &mut node.in_all);
        self.flows.forget(|ends| ends.first.is_some());
        self.flows.entry(flow, Ends::default).append(&mut self.nodes, at, |node| &mut node.in_flow);
    }

    /// Replaces the packet of node `at` by another packet of its flow, and returns the old packet.
    pub(super) fn replace(&mut self, at: usize, packet: D) -> Option<D> {
        let (_, queued) = self.nodes[at].waiting.as_mut()?;
        let size = packet.wire_len();
        let replaced = std::mem::replace(queued, packet);
        self.bytes = self.bytes - replaced.wire_len() + size;
        Some(replaced)
    }

    /// Removes the packet of node `at`, and returns it with its arrival time.
    pub(in crate::queue) fn remove(&mut self, at: usize) -> Option<(Instant, D)> {
        let (arrived, packet) = self.nodes[at].waiting.take()?;
        self.all.unlink(&mut self.nodes, at, |node| &mut node.in_all);
        if let Some(of_flow) = self.flows.get_mut(packet.flow()) {
            of_flow.unlink(&mut self.nodes, at, |node| &mut node.in_flow);
        }
        self.free.push(at);
        self.len -= 1;
        self.bytes -= packet.wire_len();
        Some((arrived, packet))
    }

    /// Returns all packets, from the head to the tail.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &D> {
        successors(self.all.first, |at| self.nodes[*at].in_all.behind).filter_map(|at| self.packet(at))
    }

    /// Removes the packets that satisfy `wanted`, and returns them with their arrival times.
    pub(crate) fn take_out(&mut self, mut wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        let mut taken = Vec::new();
        let mut next = self.all.first;
        while let Some(at) = next {
            next = self.nodes[at].in_all.behind;
            let is_wanted = self.nodes[at].waiting.as_ref().is_some_and(|(arrived, packet)| wanted(*arrived, packet));
            if is_wanted {
                taken.extend(self.remove(at));
            }
        }
        taken
    }

    pub(crate) fn pop(&mut self) -> Option<(Instant, D)> {
        self.remove(self.all.first?)
    }
}
