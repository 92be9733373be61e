//! The device between queue and server, which takes packets from the queue before it sends them.

use acklab_base::Instant;
use std::collections::VecDeque;

/// A FIFO of fixed capacity between queue and server. With a capacity of n, a packet can enter it when the n-th packet before it begins
/// its service.
#[derive(Clone, Debug)]
pub(super) struct Device {
    capacity: usize,
    /// When the packets that entered last begin their service, oldest first; at most `capacity` of them.
    starts: VecDeque<Instant>,
}

impl Device {
    pub(super) const fn new(capacity: usize) -> Self {
        Self { capacity, starts: VecDeque::new() }
    }

    /// When a packet leaves the queue that reaches its head at `ready` and begins its service at `start`.
    pub(super) fn entry(&self, ready: Instant, start: Instant) -> Instant {
        match self.capacity {
            0 => start,
            capacity if self.starts.len() < capacity => ready,
            _ => self.starts.front().map_or(ready, |vacated| ready.max(*vacated)),
        }
    }

    #[inline]
    pub(super) fn enter(&mut self, start: Instant) {
        if self.capacity > 0 {
            self.note_start(start);
        }
    }

    #[inline(never)]
    fn note_start(&mut self, start: Instant) {
        if self.starts.len() == self.capacity {
            self.starts.pop_front();
        }
        self.starts.push_back(start);
    }
}
