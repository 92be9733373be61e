//! A FIFO whose departures are computed on arrival.
//!
//! In a FIFO, later arrivals do not change when a packet leaves. So a link computes the departure
//! on arrival, and passes the packet to the channel immediately. Only the size and the times of the
//! packet are stored here, to compute the queue's length when the next packet arrives.

use super::Fifo;
use crate::counters::{Tally, Waiting};
use acklab_base::units::Limit;
use acklab_base::{Bytes, Instant};

#[derive(Clone, Debug)]
pub(crate) struct PrecomputedFifo {
    fifo: Fifo<Waiting>,
    /// The time at which the first of these packets leaves, or [`Instant::FAR_FUTURE`] if the queue
    /// is empty.
    next: Instant,
}

impl PrecomputedFifo {
    pub(crate) fn new(limit: Option<Limit>, mark_above: Option<Limit>) -> Self {
        Self { fifo: Fifo::new(limit, mark_above), next: Instant::FAR_FUTURE }
    }

    /// Removes the packets that leave by `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant, tally: &mut Tally) {
        if self.next <= now {
            self.leave(now, tally);
        }
    }

    #[inline(never)]
    fn leave(&mut self, now: Instant, tally: &mut Tally) {
        let Fifo { waiting, bytes, .. } = &mut self.fifo;
        while let Some(&Waiting { leaves, size, .. }) = waiting.front()
            && leaves <= now
        {
            waiting.pop_front();
            *bytes -= size;
            tally.notes_length(leaves, waiting.len());
        }
        self.next = waiting.front().map_or(Instant::FAR_FUTURE, |first| first.leaves);
    }

    /// Returns the packets that have not left at the last [`advance`](Self::advance).
    pub(crate) fn waiting(&self) -> impl ExactSizeIterator<Item = &Waiting> {
        self.fifo.waiting.iter()
    }

    #[inline]
    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        self.fifo.has_room(size)
    }

    #[inline]
    pub(crate) fn marks(&self) -> bool {
        self.fifo.marks()
    }

    #[inline]
    pub(crate) fn join(&mut self, packet: Waiting, tally: &mut Tally) {
        self.next = self.next.min(packet.leaves);
        self.fifo.push(packet, packet.size);
        tally.notes_length(packet.arrived, self.fifo.len());
    }
}
