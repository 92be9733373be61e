//! The packets in flight to the far end of a link.

use acklab_base::{Datagram, Instant};
use std::collections::VecDeque;

/// The number of packets in flight from which they are prefetched. About as many packets fit in a
/// first-level cache of 32 KiB.
const LONG: usize = 128;

/// The packets that have left the server, in the order of their arrival at the far end.
#[derive(Clone, Debug)]
pub(super) struct Flight<D> {
    packets: VecDeque<(Instant, D)>,
    /// The arrival time of the first packet, or [`Instant::FAR_FUTURE`] if there is none. It is
    /// stored because it is read more often than it changes.
    next: Instant,
}

impl<D: Datagram> Flight<D> {
    pub(super) const fn new() -> Self {
        Self { packets: VecDeque::new(), next: Instant::FAR_FUTURE }
    }

    /// Returns when the first packet arrives.
    #[inline]
    pub(super) fn next(&self) -> Option<Instant> {
        (self.next != Instant::FAR_FUTURE).then_some(self.next)
    }

    /// Adds a packet that arrives after all other packets.
    #[inline]
    pub(super) fn push(&mut self, arrival: Instant, packet: D) {
        self.next = self.next.min(arrival);
        self.packets.push_back((arrival, packet));
    }

    /// Adds a packet behind the packets that arrive at the same time or earlier.
    pub(super) fn insert(&mut self, arrival: Instant, packet: D) {
        let index = self.packets.partition_point(|(at, _)| *at <= arrival);
        self.next = self.next.min(arrival);
        self.packets.insert(index, (arrival, packet));
    }

    /// Removes the packet that arrives first, and returns it with the instant of its arrival.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Instant, D)> {
        let first = self.packets.pop_front();
        self.next = self.packets.front().map_or(Instant::FAR_FUTURE, |(arrival, _)| *arrival);
        if self.packets.len() >= LONG {
            self.fetch_next();
        }
        first
    }

    /// Prefetches the next two packets before they arrive. If many packets are in flight, the first
    /// were written so long ago that the caches no longer contain them.
    #[inline]
    fn fetch_next(&self) {
        let mut next = self.packets.iter();
        if let Some((_, packet)) = next.next() {
            packet.prefetch_content();
        }
        if let Some((_, packet)) = next.next() {
            packet.prefetch_header();
        }
    }

    /// Removes the packet that arrives first, if it has arrived by `now`.
    #[inline]
    pub(super) fn pop_arrived(&mut self, now: Instant) -> Option<D> {
        if self.next > now {
            return None;
        }
        self.pop().map(|(_, packet)| packet)
    }
}
