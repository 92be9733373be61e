//! Packets join the queues of a node, and leave them.

use super::{Cell, TxqId};
use crate::config::Queues;
use crate::packet::Packet;
use acklab_base::Instant;
use acklab_path::queue::{self, Verdict};
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
    fn put(&mut self, txq: TxqId, oldest: Instant, goes_first: bool) {
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
        let txq = &mut self.txqs[id.0 as usize];
        let function = &mut self.functions[txq.function.0 as usize];
        let size = packet.wire_len();
        let held = match function.queues {
            Queues::PerStation => txq.held,
            Queues::Shared => function.held,
        };
        let room = queue::has_room(function.config.limit(), held.packets as usize, held.bytes, size);
        let is_measured = self.measured.contains(&now);
        let counters = &mut self.counters[function.node];
        match txq.buffer.offer(now, packet, room) {
            Verdict::Queued => {
                for held in [&mut txq.held, &mut function.held] {
                    held.packets += 1;
                    held.bytes += size;
                }
                function.note_length(now, &self.measured);
            }
            Verdict::Replaced(old) => {
                for held in [&mut txq.held, &mut function.held] {
                    held.bytes = held.bytes + size - old.wire_len();
                }
                counters.filtered += u64::from(is_measured);
            }
            Verdict::Dropped(dropped) => {
                // Told here, not by the queue.
                txq.buffer.take_drop();
                if is_measured {
                    counters.dropped += 1;
                    self.turned_away.push(dropped.flow());
                }
            }
        }
        let function = txq.function;
        self.make_ready(id, false);
        self.wants_medium(now, function);
    }

    /// `id` takes its place in its function's line, if it has something to send and does not stand there.
    pub(super) fn make_ready(&mut self, id: TxqId, goes_first: bool) {
        let txq = &mut self.txqs[id.0 as usize];
        if txq.is_ready || txq.rests {
            return;
        }
        let unsettled = txq.originator.frames.iter().find(|frame| !frame.is_settled).map(|frame| frame.arrived);
        let oldest = unsettled.or_else(|| txq.buffer.head_arrived());
        if let Some(oldest) = oldest.or_else(|| txq.originator.must_ask.then_some(Instant::ZERO)) {
            txq.is_ready = true;
            self.functions[txq.function.0 as usize].ready.put(id, oldest, goes_first);
        }
    }

    /// So many packets and octets of `id` are acknowledged or given up.
    pub(super) fn let_go(&mut self, now: Instant, id: TxqId, packets: u64, bytes: acklab_base::Bytes) {
        if packets == 0 {
            return;
        }
        let txq = &mut self.txqs[id.0 as usize];
        let function = &mut self.functions[txq.function.0 as usize];
        for held in [&mut txq.held, &mut function.held] {
            held.packets -= packets;
            held.bytes -= bytes;
        }
        function.note_length(now, &self.measured);
    }
}
