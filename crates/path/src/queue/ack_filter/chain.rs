//! Packets in a row, and those of each flow in a row of their own, so that one may be taken from the middle.

use acklab_base::{AckHeader, Bytes, Datagram, FlowKey, FlowTable, Instant};
use std::iter::successors;

#[derive(Clone, Debug)]
pub(crate) struct Chain<D> {
    nodes: Vec<Node<D>>,
    /// Nodes without a packet.
    free: Vec<usize>,
    all: Ends,
    flows: FlowTable<Ends>,
    len: usize,
    bytes: Bytes,
}

#[derive(Clone, Debug)]
struct Node<D> {
    waiting: Option<(Instant, D)>,
    /// The ACK of its flow before it had the same number.
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
    /// Joins node `at` to this row, of which `row` tells a node's place.
    fn join<D>(&mut self, nodes: &mut [Node<D>], at: usize, row: fn(&mut Node<D>) -> &mut Neighbours) {
        *row(&mut nodes[at]) = Neighbours { before: self.last, behind: None };
        match self.last {
            None => self.first = Some(at),
            Some(last) => row(&mut nodes[last]).behind = Some(at),
        }
        self.last = Some(at);
    }

    fn leave<D>(&mut self, nodes: &mut [Node<D>], at: usize, row: fn(&mut Node<D>) -> &mut Neighbours) {
        let Neighbours { before, behind } = *row(&mut nodes[at]);
        match before {
            None => self.first = behind,
            Some(before) => row(&mut nodes[before]).behind = behind,
        }
        match behind {
            None => self.last = before,
            Some(behind) => row(&mut nodes[behind]).before = before,
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

    /// When the head arrived, and the head.
    pub(crate) fn head(&self) -> Option<(Instant, &D)> {
        let (arrived, packet) = self.nodes[self.all.first?].waiting.as_ref()?;
        Some((*arrived, packet))
    }

    fn ends(&self, flow: FlowKey) -> Ends {
        self.flows.get(flow).copied().unwrap_or_default()
    }

    /// The places of this flow's packets, the one nearest to the head first.
    pub(super) fn of_flow(&self, flow: FlowKey) -> impl Iterator<Item = usize> {
        successors(self.ends(flow).first, |at| self.nodes[*at].in_flow.behind)
    }

    pub(super) fn of_flow_newest_first(&self, flow: FlowKey) -> impl Iterator<Item = usize> {
        successors(self.ends(flow).last, |at| self.nodes[*at].in_flow.before)
    }

    /// Is it the last of its flow?
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

    /// The newest pure ACK of the flow, and its place.
    pub(super) fn newest_ack(&self, flow: FlowKey) -> Option<(usize, AckHeader)> {
        self.of_flow_newest_first(flow).find_map(|at| Some((at, self.pure_ack(at)?)))
    }

    pub(super) fn push(&mut self, arrived: Instant, packet: D, is_duplicate: bool) {
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
        self.all.join(&mut self.nodes, at, |node| &mut node.in_all);
        self.flows.entry(flow, Ends::default).join(&mut self.nodes, at, |node| &mut node.in_flow);
    }

    /// Puts `packet` where another of its flow stands, and returns that.
    pub(super) fn replace(&mut self, at: usize, packet: D) -> Option<D> {
        let (_, place) = self.nodes[at].waiting.as_mut()?;
        let size = packet.wire_len();
        let gone = std::mem::replace(place, packet);
        self.bytes = self.bytes - gone.wire_len() + size;
        Some(gone)
    }

    /// Takes a packet out, with the instant of its arrival.
    pub(super) fn remove(&mut self, at: usize) -> Option<(Instant, D)> {
        let (arrived, packet) = self.nodes[at].waiting.take()?;
        self.all.leave(&mut self.nodes, at, |node| &mut node.in_all);
        if let Some(of_flow) = self.flows.get_mut(packet.flow()) {
            of_flow.leave(&mut self.nodes, at, |node| &mut node.in_flow);
        }
        self.free.push(at);
        self.len -= 1;
        self.bytes -= packet.wire_len();
        Some((arrived, packet))
    }

    /// All, the head first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &D> {
        successors(self.all.first, |at| self.nodes[*at].in_all.behind).filter_map(|at| self.packet(at))
    }

    /// Takes out those that are `wanted`, wherever they wait.
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
