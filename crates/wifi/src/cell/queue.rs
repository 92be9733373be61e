//! Enqueueing of packets, and scheduling of the queues of an EDCAF.

use super::{Cell, TxqId};
use crate::config::Queues;
use crate::packet::Packet;
use acklab_base::Instant;
use acklab_path::queue::Verdict;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The queues of an EDCAF that have something to send, in the order in which they are served.
#[derive(Clone, Debug)]
pub(super) enum Ready {
    /// Round robin.
    RoundRobin(VecDeque<TxqId>),
    /// The queue whose first packet has waited longest is next.
    OldestFirst(BinaryHeap<Reverse<(Instant, TxqId)>>),
}

impl Ready {
    pub(super) fn new(queues: Queues) -> Self {
        match queues {
            Queues::PerStation => Self::RoundRobin(VecDeque::new()),
            Queues::Shared => Self::OldestFirst(BinaryHeap::new()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::RoundRobin(line) => line.is_empty(),
            Self::OldestFirst(heap) => heap.is_empty(),
        }
    }

    /// Returns the next queue.
    pub(super) fn first(&self) -> Option<TxqId> {
        match self {
            Self::RoundRobin(line) => line.front().copied(),
            Self::OldestFirst(heap) => heap.peek().map(|Reverse((_, txq))| *txq),
        }
    }

    /// Removes the next queue and returns it.
    pub(super) fn take(&mut self) -> Option<TxqId> {
        match self {
            Self::RoundRobin(line) => line.pop_front(),
            Self::OldestFirst(heap) => heap.pop().map(|Reverse((_, txq))| txq),
        }
    }

    /// Adds a queue. `oldest` is the instant at which its first packet was enqueued. With
    /// `at_front`, the queue is served next, because its last exchange failed.
    pub(super) fn put(&mut self, txq: TxqId, oldest: Instant, at_front: bool) {
        match self {
            Self::RoundRobin(line) if at_front => line.push_front(txq),
            Self::RoundRobin(line) => line.push_back(txq),
            Self::OldestFirst(heap) => heap.push(Reverse((oldest, txq))),
        }
    }
}

impl<D: Packet> Cell<D> {
    /// Enqueues a packet, unless it is a TCP ACK that is held for a response frame.
    pub(super) fn admit(&mut self, now: Instant, id: TxqId, packet: D) {
        if let Some(packet) = self.hold(now, id, packet) {
            self.enqueue(now, id, packet);
        }
    }

    /// Enqueues a packet.
    pub(super) fn enqueue(&mut self, now: Instant, id: TxqId, packet: D) {
        let edcaf = self.backlog.txqs[id].edcaf;
        match self.backlog.offer(now, id, packet, &self.measurement.window) {
            Verdict::Queued => {}
            Verdict::Replaced(_) => {
                if let Some(counters) = self.measurement.of(now, self.backlog.edcafs[edcaf].node) {
                    counters.filtered += 1;
                }
            }
            Verdict::Dropped(dropped) => {
                if let Some(counters) = self.measurement.of(now, self.backlog.edcafs[edcaf].node) {
                    counters.dropped += 1;
                    self.measurement.dropped_flows.push(dropped.flow());
                }
            }
        }
        self.backlog.make_ready(id, false);
        self.request_access(now, edcaf);
    }
}
