//! The newest pure ACK of a flow takes the place of the older one.
//!
//! After Kim et al., "On the cross-layer impact of TCP ACK thinning on IEEE 802.11 wireless MAC dynamics" (VTC 2006), Figure 1:
//! on arrival of a pure ACK, the one of the same flow with a strictly smaller number is overwritten where it stands, so no delay
//! is added. What the older one alone says is never lost:
//!
//! * equal numbers stay, so duplicates still count towards fast retransmit, and a window update is not swallowed;
//! * an ACK with a SACK option stays: its blocks, a D-SACK among them, may not be repeated by the next (as CAKE's filter minds);
//! * an ACK whose ECN flags differ stays: each one counts (RFC 3168, §6.1.3; RFC 9768).
//!
//! Only the newest ACK of the flow is looked at, so that one never jumps ahead of a duplicate that waits.

use super::{Gauge, has_room};
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Instant, PureAck};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct AckFilter<D> {
    limit: Option<Limit>,
    waiting: VecDeque<Waiting<D>>,
    bytes: Bytes,
    /// Packets that have ever left the head: the ticket of a packet less this is its place in `waiting`.
    departed: u64,
    /// By flow, the ticket of its newest pure ACK; stale once that has departed.
    newest: Vec<Option<u64>>,
}

#[derive(Clone, Debug)]
struct Waiting<D> {
    arrived: Instant,
    packet: D,
    /// The ACK before it in the queue had the same number.
    is_duplicate: bool,
}

/// What became of a packet that asked to wait.
pub(crate) enum Outcome {
    Queued,
    /// It took the place of an older ACK of this size.
    Replaced(Bytes),
    Dropped,
}

impl<D: Datagram> AckFilter<D> {
    pub(crate) fn new(limit: Option<Limit>) -> Self {
        Self { limit, waiting: VecDeque::new(), bytes: Bytes::ZERO, departed: 0, newest: Vec::new() }
    }

    pub(crate) fn offer(&mut self, now: Instant, packet: D, gauge: &mut Gauge) -> Outcome {
        let (size, flow) = (packet.wire_len(), packet.flow().0 as usize);
        let mut is_duplicate = false;
        let ack = packet.pure_ack();
        if let Some(newer) = ack
            && let Some(older) = self.newest_of(flow)
            && let Some(old_header) = older.packet.pure_ack()
        {
            is_duplicate = old_header.ack == newer.ack;
            if !older.is_duplicate && supersedes(newer, old_header) {
                let old_size = older.packet.wire_len();
                older.packet = packet;
                self.bytes = self.bytes - old_size + size;
                return Outcome::Replaced(old_size);
            }
        }
        if !has_room(self.limit, self.waiting.len(), self.bytes, size) {
            return Outcome::Dropped;
        }
        if ack.is_some() {
            if self.newest.len() <= flow {
                self.newest.resize(flow + 1, None);
            }
            self.newest[flow] = Some(self.departed + self.waiting.len() as u64);
        }
        self.waiting.push_back(Waiting { arrived: now, packet, is_duplicate });
        self.bytes += size;
        gauge.set(now, self.waiting.len());
        Outcome::Queued
    }

    fn newest_of(&mut self, flow: usize) -> Option<&mut Waiting<D>> {
        let ticket = (*self.newest.get(flow)?)?;
        self.waiting.get_mut(usize::try_from(ticket.checked_sub(self.departed)?).ok()?)
    }

    /// When the head arrived.
    pub(crate) fn head_arrived(&self) -> Option<Instant> {
        self.waiting.front().map(|head| head.arrived)
    }

    pub(crate) fn take_head(&mut self, start: Instant, gauge: &mut Gauge) -> Option<D> {
        let head = self.waiting.pop_front()?;
        self.departed += 1;
        self.bytes -= head.packet.wire_len();
        gauge.set(start, self.waiting.len());
        Some(head.packet)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

/// Does `newer` say all that `older` says?
fn supersedes(newer: PureAck, older: PureAck) -> bool {
    let is_after = newer.ack.wrapping_sub(older.ack).cast_signed() > 0;
    is_after && !older.has_sack && newer.ecn == older.ecn
}
