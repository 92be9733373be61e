//! The newest pure ACK of a flow takes the place of the older one.
//!
//! After Kim et al., "On the cross-layer impact of TCP ACK thinning on IEEE 802.11 wireless MAC dynamics" (VTC 2006), Figure 1:
//! on arrival of a pure ACK, the one of the same flow with a strictly smaller number is overwritten where it stands, so no delay
//! is added. Unless the configuration asks for less ([`Keeps`]), what the older one alone says is never lost:
//!
//! * equal numbers stay, so duplicates still count towards fast retransmit, and a window update is not swallowed;
//! * an ACK with a SACK option stays: its blocks, a D-SACK among them, may not be repeated by the next (as CAKE's filter minds);
//! * an ACK whose ECN flags differ stays: each one counts (RFC 3168, §6.1.3; RFC 9768).
//!
//! Only the newest ACK of the flow is looked at, so that one never jumps ahead of a duplicate that waits.

use super::fifo::Fifo;
use super::{Keeps, Verdict};
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Instant, PureAck};

#[derive(Clone, Debug)]
pub(crate) struct AckFilter<D> {
    keeps: Keeps,
    fifo: Fifo<Waiting<D>>,
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

impl<D: Datagram> AckFilter<D> {
    pub(crate) fn new(limit: Option<Limit>, keeps: Keeps) -> Self {
        Self { keeps, fifo: Fifo::new(limit, None), departed: 0, newest: Vec::new() }
    }

    pub(crate) fn offer(&mut self, now: Instant, packet: D, room: bool) -> Verdict<D> {
        let (size, flow) = (packet.wire_len(), packet.flow().0 as usize);
        let (keeps, mut is_duplicate) = (self.keeps, false);
        let ack = packet.pure_ack();
        if let Some(newer) = ack
            && let Some(older) = self.newest_of(flow)
            && let Some(old_header) = older.packet.pure_ack()
        {
            is_duplicate = old_header.ack == newer.ack;
            let may_go = match keeps {
                Keeps::News => !older.is_duplicate && supersedes(newer, old_header),
                Keeps::Duplicates => !older.is_duplicate && is_after(newer, old_header),
                Keeps::Nothing => is_after(newer, old_header) || is_duplicate,
            };
            if may_go {
                let replaced = std::mem::replace(&mut older.packet, packet);
                self.fifo.bytes = self.fifo.bytes - replaced.wire_len() + size;
                return Verdict::Replaced(replaced);
            }
        }
        if !room || !self.fifo.has_room(size) {
            return Verdict::Dropped(packet);
        }
        if ack.is_some() {
            if self.newest.len() <= flow {
                self.newest.resize(flow + 1, None);
            }
            self.newest[flow] = Some(self.departed + self.fifo.len() as u64);
        }
        self.fifo.push(Waiting { arrived: now, packet, is_duplicate }, size);
        Verdict::Queued
    }

    fn newest_of(&mut self, flow: usize) -> Option<&mut Waiting<D>> {
        let ticket = (*self.newest.get(flow)?)?;
        self.fifo.waiting.get_mut(usize::try_from(ticket.checked_sub(self.departed)?).ok()?)
    }

    pub(crate) fn head(&self) -> Option<(Instant, &D)> {
        self.fifo.waiting.front().map(|head| (head.arrived, &head.packet))
    }

    pub(crate) fn pop(&mut self) -> Option<(Instant, D)> {
        let head = self.fifo.waiting.pop_front()?;
        self.departed += 1;
        self.fifo.bytes -= head.packet.wire_len();
        Some((head.arrived, head.packet))
    }

    pub(crate) fn len(&self) -> usize {
        self.fifo.len()
    }

    pub(crate) fn bytes(&self) -> Bytes {
        self.fifo.bytes
    }
}

/// Does `newer` say all that `older` says?
fn supersedes(newer: PureAck, older: PureAck) -> bool {
    is_after(newer, older) && !older.has_sack && newer.ecn == older.ecn
}

/// Is its number larger?
fn is_after(newer: PureAck, older: PureAck) -> bool {
    newer.ack.wrapping_sub(older.ack).cast_signed() > 0
}
