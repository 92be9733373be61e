//! A queue whose owner takes the packets out.

use super::{Config, Held, Verdict};
use crate::counters::{Counters, Tally};
use acklab_base::{Bytes, Datagram, FlowKey, Instant};
use std::ops::Range;

/// A queue that holds its packets until its owner takes them: before a server whose pace nobody knows ahead, a Wi-Fi MAC.
///
/// A packet waits from `offer` to `take`. What becomes of it after that, its owner counts.
#[derive(Clone, Debug)]
pub struct Buffer<D> {
    held: Held<D>,
    tally: Tally,
}

impl<D: Datagram> Buffer<D> {
    /// An empty one.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { held: Held::new(config), tally: Tally::new() }
    }

    /// The same for an owner that keeps books of its own: nobody counts who comes, waits and goes.
    #[must_use]
    pub fn uncounted(mut self) -> Self {
        self.tally.is_counted_elsewhere = true;
        self
    }

    /// `packet` asks to wait. `room`: may one more wait, beyond this buffer's own limit? Several buffers may share one. What takes
    /// the place of another needs no room.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: D, room: bool) -> Verdict<D> {
        self.tally.arrives(now, packet.wire_len());
        self.held.offer(now, packet, room, &mut self.tally)
    }

    /// The next packet, and when it arrived; of an ACK in the place of an older one, when the first in that place arrived.
    /// `CoDel` may drop heads before it finds the one to give: they are in the counters.
    #[inline]
    pub fn take(&mut self, now: Instant) -> Option<(Instant, D)> {
        while !self.is_empty() {
            if let Some((arrived, packet)) = self.held.take_head(now, &mut self.tally) {
                self.tally.serves(now, packet.wire_len(), now.since(arrived));
                return Some((arrived, packet));
            }
        }
        None
    }

    /// Does one wait of which this holds?
    #[must_use]
    pub fn any(&self, holds: impl FnMut(&D) -> bool) -> bool {
        self.held.any(holds)
    }

    /// Takes out those that are `wanted`, wherever they wait, with the instants of their arrival, as their owner has another way for them.
    pub fn take_out(&mut self, now: Instant, wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        if self.is_empty() { Vec::new() } else { self.held.take_out(now, wanted, &mut self.tally) }
    }

    /// The packet that waits first. `take` may give another one, or none: `CoDel` judges a packet as it leaves.
    #[must_use]
    pub fn head(&self) -> Option<&D> {
        self.held.head().map(|(_, packet)| packet)
    }

    /// When the packet that waits first arrived.
    #[must_use]
    pub fn head_arrived(&self) -> Option<Instant> {
        self.held.head().map(|(arrived, _)| arrived)
    }

    /// Packets that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Does nobody wait?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Octets of the packets that wait.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.held.bytes()
    }

    /// Count only what happens in `window`; without this, everything counts.
    pub fn measure(&mut self, window: Range<Instant>) {
        self.tally.window = window;
    }

    /// What has happened inside the window. Packets are served when they are taken, with no overhead on the wire; none come out or
    /// get lost.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.tally.counters
    }

    /// The flow of a packet that was turned away or dropped inside the window and that this has not told yet.
    pub fn take_drop(&mut self) -> Option<FlowKey> {
        self.tally.turned_away.pop()
    }

    /// Keep every change of the length from here on.
    pub fn log_queue(&mut self) {
        self.tally.lengths = Some(Vec::new());
    }

    /// The changes of the length that were kept: when, and the length after it.
    #[must_use]
    pub fn queue_log(&self) -> &[(Instant, u64)] {
        self.tally.lengths.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
