//! The queues of all nodes, and the EDCAFs that send from them.

use super::by_id::{ById, TxqId};
use super::queue::Ready;
use crate::access::{Category, EdcafId, LaneId, Parameters, Window};
use crate::config::{QueueCounts, Queues};
use crate::hack::End;
use crate::originator::Originator;
use crate::rate::RateControl;
use crate::recipient::Recipient;
use acklab_base::{Bytes, Datagram, Instant};
use acklab_path::counters::QueueLength;
use acklab_path::queue::{self, Buffer, Verdict};
use std::ops::Range;

/// The queues and EDCAFs of all nodes.
#[derive(Clone, Debug)]
pub(super) struct Backlog<D> {
    pub(super) txqs: ById<TxqId, Txq<D>>,
    pub(super) edcafs: ById<EdcafId, Edcaf>,
}

/// The frame queue from one node to another in one category.
#[derive(Clone, Debug)]
pub(super) struct Txq<D> {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) edcaf: EdcafId,
    pub(super) buffer: Buffer<D>,
    pub(super) originator: Originator<D>,
    pub(super) recipient: Recipient<D>,
    pub(super) rate: RateControl,
    /// The number of consecutive failures of the next PPDU.
    pub(super) attempt: u32,
    /// The number of failures of the first frame without RTS: the short retry count of the MSDU
    /// (10.3.4.4).
    pub(super) short_retries: u8,
    /// The number of failures of the first frame after RTS: the long retry count of the MSDU.
    pub(super) long_retries: u8,
    /// `true` if the queue is among the ready queues of its EDCAF.
    pub(super) is_ready: bool,
    /// `true` if the sender of the queue is absent, or the receiver has announced an absence.
    pub(super) is_paused: bool,
    /// Packets that wait or are unacknowledged.
    pub(super) occupancy: Occupancy,
    /// The state of TCP/HACK, if it is enabled and the peer has a queue to this node in the same
    /// category.
    pub(super) hack: Option<Box<End<D>>>,
    /// The queue from the peer to this node. Responses to frames of that queue carry TCP ACKs of
    /// this queue.
    pub(super) reverse: Option<TxqId>,
}

/// Packets that wait or are unacknowledged, and their octets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occupancy {
    pub(super) packets: u64,
    pub(super) bytes: Bytes,
}

/// The enhanced distributed channel access function (EDCAF) of one node and category (10.23.2.2);
/// without QoS, the node's DCF.
#[derive(Clone, Debug)]
pub(super) struct Edcaf {
    pub(super) node: usize,
    pub(super) category: Category,
    pub(super) parameters: Parameters,
    pub(super) lane: LaneId,
    pub(super) window: Window,
    pub(super) status: Status,
    pub(super) ready: Ready,
    pub(super) config: queue::QueueConfig,
    pub(super) queues: Queues,
    pub(super) counts: QueueCounts,
    pub(super) occupancy: Occupancy,
    pub(super) length: QueueLength,
    pub(super) lengths: Option<Vec<(Instant, u64)>>,
    /// The number of consecutive failures of frames without RTS: SSRC without QoS, and QSRC of the
    /// category with QoS (10.3.4.4).
    pub(super) short_retries: u8,
    /// The number of consecutive failures of frames after RTS: SLRC without QoS, and QLRC with QoS.
    pub(super) long_retries: u8,
}

/// The state of an EDCAF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// The EDCAF has nothing to send. Its backoff ends, or ended, at this count of its lane.
    Idle(u64),
    /// The EDCAF waits for the medium.
    Waiting,
    /// The transmission opportunity of the EDCAF is in progress.
    Sending,
}

impl<D: Datagram> Txq<D> {
    /// Returns the occupancy without packets that have a sequence number.
    fn unsent(&self) -> Occupancy {
        Occupancy { packets: self.buffer.len() as u64, bytes: self.buffer.bytes() }
    }
}

impl Edcaf {
    /// Records a change of the occupancy.
    #[inline]
    fn note_length(&mut self, now: Instant, window: &Range<Instant>) {
        self.length.change(now, self.occupancy.packets, window);
        if let Some(log) = &mut self.lengths
            && window.contains(&now)
        {
            log.push((now, self.occupancy.packets));
        }
    }
}

impl<D> Default for Backlog<D> {
    fn default() -> Self {
        Self { txqs: ById::default(), edcafs: ById::default() }
    }
}

impl<D: Datagram> Backlog<D> {
    /// Offers a packet to the queue. `window` is the window of measurement.
    #[inline]
    pub(super) fn offer(&mut self, now: Instant, id: TxqId, packet: D, window: &Range<Instant>) -> Verdict<D> {
        let counted = self.counted(id);
        let txq = &mut self.txqs[id];
        let edcaf = &mut self.edcafs[txq.edcaf];
        let size = packet.wire_len();
        let room = queue::has_room(edcaf.config.limit(), counted.packets as usize, counted.bytes, size);
        let verdict = txq.buffer.offer(now, packet, room);
        match &verdict {
            Verdict::Queued => {
                for occupancy in [&mut txq.occupancy, &mut edcaf.occupancy] {
                    occupancy.packets += 1;
                    occupancy.bytes += size;
                }
                edcaf.note_length(now, window);
            }
            Verdict::Replaced(old) => {
                for occupancy in [&mut txq.occupancy, &mut edcaf.occupancy] {
                    occupancy.bytes = occupancy.bytes + size - old.wire_len();
                }
            }
            // The caller reports the drop, not the queue.
            Verdict::Dropped(_) => _ = txq.buffer.take_drop(),
        }
        verdict
    }

    /// Returns the packets that are compared with the limit of a queue.
    #[inline]
    fn counted(&self, id: TxqId) -> Occupancy {
        let txq = &self.txqs[id];
        let edcaf = &self.edcafs[txq.edcaf];
        match (edcaf.counts, edcaf.queues) {
            (QueueCounts::Unacknowledged, Queues::PerStation) => txq.occupancy,
            (QueueCounts::Unacknowledged, Queues::Shared) => edcaf.occupancy,
            (QueueCounts::Unsent, Queues::PerStation) => txq.unsent(),
            (QueueCounts::Unsent, Queues::Shared) => self
                .txqs
                .ids()
                .map(|other| &self.txqs[other])
                .filter(|other| other.edcaf == txq.edcaf)
                .map(Txq::unsent)
                .fold(Occupancy::default(), |sum, unsent| Occupancy {
                    packets: sum.packets + unsent.packets,
                    bytes: sum.bytes + unsent.bytes,
                }),
        }
    }

    /// Subtracts packets that have been acknowledged or given up from the occupancy.
    pub(super) fn let_go(&mut self, now: Instant, id: TxqId, packets: u64, bytes: Bytes, window: &Range<Instant>) {
        if packets == 0 {
            return;
        }
        let txq = &mut self.txqs[id];
        let edcaf = &mut self.edcafs[txq.edcaf];
        for occupancy in [&mut txq.occupancy, &mut edcaf.occupancy] {
            occupancy.packets -= packets;
            occupancy.bytes -= bytes;
        }
        edcaf.note_length(now, window);
    }

    /// Adds the queue to the ready queues of its EDCAF, if it has something to send and is not yet
    /// among them.
    #[inline]
    pub(super) fn make_ready(&mut self, id: TxqId, at_front: bool) {
        let txq = &self.txqs[id];
        if !(txq.is_ready || txq.is_paused) {
            self.join_ready(id, at_front);
        }
    }

    #[inline(never)]
    fn join_ready(&mut self, id: TxqId, at_front: bool) {
        let txq = &mut self.txqs[id];
        let unsettled = txq.originator.frames.iter().find(|frame| !frame.is_settled).map(|frame| frame.arrived);
        let oldest = unsettled.or_else(|| txq.buffer.head_arrived());
        if let Some(oldest) = oldest.or_else(|| txq.originator.must_request.then_some(Instant::ZERO)) {
            txq.is_ready = true;
            self.edcafs[txq.edcaf].ready.put(id, oldest, at_front);
        }
    }

    /// Adds a queue whose exchange has failed to the ready queues of its EDCAF: before or after all
    /// other queues, depending on the dialect.
    pub(super) fn make_ready_after_failure(&mut self, now: Instant, id: TxqId, at_front: bool) {
        if at_front {
            return self.make_ready(id, true);
        }
        let txq = &self.txqs[id];
        if !txq.is_ready && !txq.is_paused && (self.has_more(id) || self.txqs[id].originator.must_request) {
            self.txqs[id].is_ready = true;
            // The position of the queue is chosen as if its first packet had just been enqueued.
            self.edcafs[self.txqs[id].edcaf].ready.put(id, now, false);
        }
    }

    /// Returns `true` if the queue has anything to send.
    pub(super) fn has_more(&self, id: TxqId) -> bool {
        let txq = &self.txqs[id];
        !txq.buffer.is_empty() || txq.originator.frames.iter().any(|frame| !frame.is_settled)
    }
}
