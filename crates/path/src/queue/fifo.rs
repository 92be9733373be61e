//! First in, first out, with the end known at the beginning.
//!
//! In a FIFO nothing that comes later changes when a packet begins its service. So a link computes that instant on arrival and
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
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: Instant,
    size: Bytes,
    on_wire: Bytes,
}

impl Fifo {
    pub(crate) fn new(limit: Option<Limit>) -> Self {
        Self { limit, waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }

    /// Those whose service has begun by `now` no longer wait.
    pub(crate) fn advance(&mut self, now: Instant, counters: &mut Counters, gauge: &mut Gauge) {
        while let Some(&Waiting { start, size, on_wire }) = self.waiting.front()
            && start <= now
        {
            self.waiting.pop_front();
            self.bytes -= size;
            counters.serve(size, on_wire);
            gauge.set(start, self.waiting.len());
        }
    }

    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        has_room(self.limit, self.waiting.len(), self.bytes, size)
    }

    pub(crate) fn join(&mut self, now: Instant, start: Instant, size: Bytes, on_wire: Bytes, gauge: &mut Gauge) {
        self.waiting.push_back(Waiting { start, size, on_wire });
        self.bytes += size;
        gauge.set(now, self.waiting.len());
    }
}
