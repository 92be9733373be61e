//! Packets join the queues of a node, and leave them.

use super::{Cell, TxqId};
use crate::config::Queues;
use crate::packet::Packet;
use acklab_base::Instant;
use acklab_path::queue::Verdict;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The queues of a function that have something to send, in the order in which they may.
#[derive(Clone, Debug)]
pub(super) enum Ready {
    /// In turn.
    InTurn(VecDeque<TxqId>),
    /// Whose first packet has waited longest.
    OldestFirst(BinaryHeap<Reverse<(Instant, TxqId)>>),
}

impl Ready {
    pub(super) fn new(queues: Queues) -> Self {
        match queues {
            Queues::PerStation => Self::InTurn(VecDeque::new()),
            Queues::Shared => Self::OldestFirst(BinaryHeap::new()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::InTurn(line) => line.is_empty(),
            Self::OldestFirst(heap) => heap.is_empty(),
        }
    }

    /// Whose turn it is.
    pub(super) fn take(&mut self) -> Option<TxqId> {
        match self {
            Self::InTurn(line) => line.pop_front(),
            Self::OldestFirst(heap) => heap.pop().map(|Reverse((_, txq))| txq),
        }
    }

    /// `oldest`: when the first packet of `txq` joined. `goes_first`: it has failed and is sent again.
    pub(super) fn put(&mut self, txq: TxqId, oldest: Instant, goes_first: bool) {
        match self {
            Self::InTurn(line) if goes_first => line.push_front(txq),
            Self::InTurn(line) => line.push_back(txq),
            Self::OldestFirst(heap) => heap.push(Reverse((oldest, txq))),
        }
    }
}

impl<D: Packet> Cell<D> {
    /// A packet is to go the way of `id`: it joins the queue, unless it is an ACK that waits for an answer.
    pub(super) fn admit(&mut self, now: Instant, id: TxqId, packet: D) {
        if let Some(packet) = self.hold(now, id, packet) {
            self.enqueue(now, id, packet);
        }
    }

    /// A packet joins the queue of `id`.
    pub(super) fn enqueue(&mut self, now: Instant, id: TxqId, packet: D) {
        let function = self.backlog.txqs[id].function;
        match self.backlog.offer(now, id, packet, &self.measurement.window) {
            Verdict::Queued => {}
            Verdict::Replaced(_) => {
                if let Some(counters) = self.measurement.of(now, self.backlog.edcafs[function].node) {
                    counters.filtered += 1;
                }
            }
            Verdict::Dropped(dropped) => {
                if let Some(counters) = self.measurement.of(now, self.backlog.edcafs[function].node) {
                    counters.dropped += 1;
                    self.measurement.turned_away.push(dropped.flow());
                }
            }
        }
        self.backlog.make_ready(id, false);
        self.wants_medium(now, function);
    }
}
