//! A FIFO with the end known at the beginning.
//!
//! In a FIFO nothing that comes later changes when a packet leaves it. So a link computes that instant on arrival and puts the
//! packet on the wire at once; what stays here is who is still waiting, which only matters when the next one asks.

use super::fifo::Fifo;
use crate::counters::Tally;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Settled {
    fifo: Fifo<Waiting>,
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

impl Settled {
    pub(crate) fn new(limit: Option<Limit>, mark_above: Option<Limit>) -> Self {
        Self { fifo: Fifo::new(limit, mark_above), next: Instant::FAR_FUTURE }
    }

    /// Those that have left by `now` no longer wait.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant, tally: &mut Tally) {
        if self.next <= now {
            self.leave(now, tally);
        }
    }

    fn leave(&mut self, now: Instant, tally: &mut Tally) {
        let Fifo { waiting, bytes, .. } = &mut self.fifo;
        while let Some(&Waiting { arrived, leaves, size, on_wire }) = waiting.front()
            && leaves <= now
        {
            waiting.pop_front();
            *bytes -= size;
            tally.serves(leaves, on_wire, leaves.since(arrived));
            tally.waits(leaves, waiting.len());
        }
        self.next = waiting.front().map_or(Instant::FAR_FUTURE, |first| first.leaves);
    }

    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        self.fifo.has_room(size)
    }

    pub(crate) fn marks(&self) -> bool {
        self.fifo.marks()
    }

    pub(crate) fn join(&mut self, packet: Waiting, tally: &mut Tally) {
        self.next = self.next.min(packet.leaves);
        self.fifo.push(packet, packet.size);
        tally.waits(packet.arrived, self.fifo.len());
    }
}
