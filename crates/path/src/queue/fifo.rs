//! First in, first out, with the end known at the beginning.
//!
//! In a FIFO nothing that comes later changes when a packet leaves it. So a link computes that instant on arrival and
//! puts the packet on the wire at once; what stays here is who is still waiting, which only matters when the next one asks.

use super::{Gauge, has_room};
use crate::Counters;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Instant};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    limit: Option<Limit>,
    waiting: VecDeque<Waiting>,
    bytes: Bytes,
    /// When the first of them leaves.
    next: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    leaves: Instant,
    size: Bytes,
    on_wire: Bytes,
}

impl Fifo {
    pub(crate) fn new(limit: Option<Limit>) -> Self {
        Self { limit, waiting: VecDeque::new(), bytes: Bytes::ZERO, next: Instant::FAR_FUTURE }
    }

    /// Those whose service has begun by `now` no longer wait.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant, counters: &mut Counters, gauge: &mut Gauge) {
        if self.next <= now {
            self.leave(now, counters, gauge);
        }
    }

    fn leave(&mut self, now: Instant, counters: &mut Counters, gauge: &mut Gauge) {
        while let Some(&Waiting { leaves, size, on_wire }) = self.waiting.front()
            && leaves <= now
        {
            self.waiting.pop_front();
            self.bytes -= size;
            counters.serve(size, on_wire);
            gauge.set(leaves, self.waiting.len());
        }
        self.next = self.waiting.front().map_or(Instant::FAR_FUTURE, |first| first.leaves);
    }

    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        has_room(self.limit, self.waiting.len(), self.bytes, size)
    }

    pub(crate) fn join(&mut self, now: Instant, leaves: Instant, size: Bytes, on_wire: Bytes, gauge: &mut Gauge) {
        self.next = self.next.min(leaves);
        self.waiting.push_back(Waiting { leaves, size, on_wire });
        self.bytes += size;
        gauge.set(now, self.waiting.len());
    }
}
