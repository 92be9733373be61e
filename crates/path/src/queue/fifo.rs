//! First in, first out, with the end known at the beginning.
//!
//! In a FIFO nothing that comes later changes when a packet leaves it. So a link computes that instant on arrival and puts the
//! packet on the wire at once; what stays here is who is still waiting, which only matters when the next one asks.

use super::has_room;
use crate::counters::Tally;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Instant};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    limit: Option<Limit>,
    mark_above: Option<Limit>,
    waiting: VecDeque<Waiting>,
    bytes: Bytes,
    /// When the first of them leaves.
    next: Instant,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) arrived: Instant,
    pub(crate) leaves: Instant,
    pub(crate) size: Bytes,
    pub(crate) on_wire: Bytes,
}

impl Fifo {
    pub(crate) fn new(limit: Option<Limit>, mark_above: Option<Limit>) -> Self {
        Self { limit, mark_above, waiting: VecDeque::new(), bytes: Bytes::ZERO, next: Instant::FAR_FUTURE }
    }

    /// Those that have left by `now` no longer wait.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant, tally: &mut Tally) {
        if self.next <= now {
            self.leave(now, tally);
        }
    }

    fn leave(&mut self, now: Instant, tally: &mut Tally) {
        while let Some(&Waiting { arrived, leaves, size, on_wire }) = self.waiting.front()
            && leaves <= now
        {
            self.waiting.pop_front();
            self.bytes -= size;
            tally.serves(leaves, on_wire, leaves.since(arrived));
            tally.waits(leaves, self.waiting.len());
        }
        self.next = self.waiting.front().map_or(Instant::FAR_FUTURE, |first| first.leaves);
    }

    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        has_room(self.limit, self.waiting.len(), self.bytes, size)
    }

    /// Is a packet that comes now to be marked? Alizadeh et al., SIGCOMM 2010, §3.1 (1): if it finds more than K (RFC 8257, §3.1).
    pub(crate) fn marks(&self) -> bool {
        match self.mark_above {
            None => false,
            Some(Limit::Packets(most)) => self.waiting.len() as u64 > most,
            Some(Limit::Bytes(most)) => self.bytes > most,
        }
    }

    pub(crate) fn join(&mut self, packet: Waiting, tally: &mut Tally) {
        self.next = self.next.min(packet.leaves);
        self.bytes += packet.size;
        self.waiting.push_back(packet);
        tally.waits(packet.arrived, self.waiting.len());
    }
}
