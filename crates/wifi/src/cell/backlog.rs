//! What waits at each node, and the access functions by which it is sent.

use super::by_id::ById;
use super::queue::Ready;
use crate::access::{Category, FunctionId, LaneId, Parameters, Window};
use crate::config::Queues;
use crate::hack::End;
use crate::originator::Originator;
use crate::rate::RateControl;
use crate::recipient::Recipient;
use acklab_base::{Bytes, Datagram, Instant};
use acklab_path::counters::QueueLength;
use acklab_path::queue::{self, Buffer, Verdict};
use std::ops::Range;

/// A frame queue for one peer and category: mac80211's txq, and both ends of its Block ACK agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TxqId(pub(super) u32);

/// The queues and EDCAFs of all nodes, side by side.
#[derive(Clone, Debug)]
pub(super) struct Backlog<D> {
    pub(super) txqs: ById<TxqId, Txq<D>>,
    pub(super) edcafs: ById<FunctionId, Edcaf>,
}

/// What one node sends to another in one category.
#[derive(Clone, Debug)]
pub(super) struct Txq<D> {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) function: FunctionId,
    pub(super) buffer: Buffer<D>,
    pub(super) originator: Originator<D>,
    pub(super) recipient: Recipient<D>,
    pub(super) rate: RateControl,
    /// Failures in a row of what is sent next.
    pub(super) attempt: u32,
    /// It stands in its function's line.
    pub(super) is_ready: bool,
    /// Its sender is away, or its receiver is and has said so.
    pub(super) rests: bool,
    /// Packets that wait or are unacknowledged, and their octets.
    pub(super) held: Held,
    /// With TCP/HACK, and if its peer sends it data in turn.
    pub(super) hack: Option<Box<End<D>>>,
    /// What the peer sends to this node in the same category, whose answers carry ACKs of this one.
    pub(super) reverse: Option<TxqId>,
}

/// Packets and octets that wait or are unacknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub(super) packets: u64,
    pub(super) bytes: Bytes,
}

/// The enhanced distributed channel access function of one node and category (10.23.2.2); without QoS, the node's DCF.
#[derive(Clone, Debug)]
pub(super) struct Edcaf {
    pub(super) node: usize,
    pub(super) category: Category,
    pub(super) parameters: Parameters,
    pub(super) lane: LaneId,
    pub(super) window: Window,
    pub(super) status: Status,
    pub(super) ready: Ready,
    pub(super) config: queue::Config,
    pub(super) queues: Queues,
    pub(super) held: Held,
    pub(super) length: QueueLength,
    pub(super) lengths: Option<Vec<(Instant, u64)>>,
    /// Failures in a row of frames without and behind RTS (10.3.4.4: SSRC and SLRC, with QoS QSRC and QLRC of the category).
    pub(super) short_retries: u8,
    pub(super) long_retries: u8,
}

/// What an EDCAF is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Nothing to send. Its backoff ends at this count of its lane, or has ended.
    Idle(u64),
    /// In line for the medium.
    Waiting,
    /// Its frame exchange is under way.
    Sending,
}

impl Edcaf {
    /// What is held has changed.
    #[inline]
    fn note_length(&mut self, now: Instant, window: &Range<Instant>) {
        self.length.change(now, self.held.packets, window);
        if let Some(log) = &mut self.lengths
            && window.contains(&now)
        {
            log.push((now, self.held.packets));
        }
    }
}

impl<D> Default for Backlog<D> {
    fn default() -> Self {
        Self { txqs: ById::default(), edcafs: ById::default() }
    }
}

impl<D: Datagram> Backlog<D> {
    /// `packet` asks to join the queue of `id`. `window`: when lengths count.
    #[inline]
    pub(super) fn offer(&mut self, now: Instant, id: TxqId, packet: D, window: &Range<Instant>) -> Verdict<D> {
        let txq = &mut self.txqs[id];
        let edcaf = &mut self.edcafs[txq.function];
        let size = packet.wire_len();
        let held = match edcaf.queues {
            Queues::PerStation => txq.held,
            Queues::Shared => edcaf.held,
        };
        let room = queue::has_room(edcaf.config.limit(), held.packets as usize, held.bytes, size);
        let verdict = txq.buffer.offer(now, packet, room);
        match &verdict {
            Verdict::Queued => {
                for held in [&mut txq.held, &mut edcaf.held] {
                    held.packets += 1;
                    held.bytes += size;
                }
                edcaf.note_length(now, window);
            }
            Verdict::Replaced(old) => {
                for held in [&mut txq.held, &mut edcaf.held] {
                    held.bytes = held.bytes + size - old.wire_len();
                }
            }
            // Who asked tells of it, not the queue.
            Verdict::Dropped(_) => _ = txq.buffer.take_drop(),
        }
        verdict
    }

    /// So many packets and octets of `id` are acknowledged or given up.
    pub(super) fn let_go(&mut self, now: Instant, id: TxqId, packets: u64, bytes: Bytes, window: &Range<Instant>) {
        if packets == 0 {
            return;
        }
        let txq = &mut self.txqs[id];
        let edcaf = &mut self.edcafs[txq.function];
        for held in [&mut txq.held, &mut edcaf.held] {
            held.packets -= packets;
            held.bytes -= bytes;
        }
        edcaf.note_length(now, window);
    }

    /// `id` takes its place in its function's line, if it has something to send and does not stand there.
    pub(super) fn make_ready(&mut self, id: TxqId, goes_first: bool) {
        let txq = &mut self.txqs[id];
        if txq.is_ready || txq.rests {
            return;
        }
        let unsettled = txq.originator.frames.iter().find(|frame| !frame.is_settled).map(|frame| frame.arrived);
        let oldest = unsettled.or_else(|| txq.buffer.head_arrived());
        if let Some(oldest) = oldest.or_else(|| txq.originator.must_ask.then_some(Instant::ZERO)) {
            txq.is_ready = true;
            self.edcafs[txq.function].ready.put(id, oldest, goes_first);
        }
    }

    /// Does `id` have anything that it may send?
    pub(super) fn has_more(&self, id: TxqId) -> bool {
        let txq = &self.txqs[id];
        !txq.buffer.is_empty() || txq.originator.frames.iter().any(|frame| !frame.is_settled)
    }
}
