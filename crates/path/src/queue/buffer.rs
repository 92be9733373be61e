//! A queue whose owner dequeues the packets.

use super::{HeadDrops, PacketQueue, QueueConfig, Verdict};
use crate::counters::{Counters, Tally};
use acklab_base::random::Stream;
use acklab_base::{Bytes, Datagram, FlowKey, Instant};
use std::ops::Range;

/// A queue in front of a server whose departures cannot be computed in advance, such as a Wi-Fi
/// MAC: its owner dequeues the packets.
///
/// A packet waits from `offer` to `take`; events after `take` are not counted here.
#[derive(Clone, Debug)]
pub struct Buffer<D> {
    packets: PacketQueue<D>,
    tally: Tally,
}

impl<D: Datagram> Buffer<D> {
    /// Returns an empty buffer. Random decisions of its discipline draw from `draws`.
    #[must_use]
    pub fn new(config: QueueConfig, draws: Stream) -> Self {
        Self { packets: PacketQueue::new(config, draws), tally: Tally::new() }
    }

    /// Disables the counters of arrivals, departures and the queue's length, for an owner that
    /// counts them itself.
    #[must_use]
    pub fn uncounted(mut self) -> Self {
        self.tally.owner_counts_traffic = true;
        self
    }

    /// Offers `packet` to the queue. `room` is `false` if a limit that several buffers share leaves
    /// no room for it; the buffer's own limit applies as well. An ACK that takes the position of an
    /// older ACK needs no room.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: D, room: bool) -> Verdict<D> {
        self.tally.arrives(now, packet.wire_len());
        self.packets.offer(now, packet, room, &mut self.tally)
    }

    /// Dequeues the next packet, and returns it with its arrival time. An ACK that replaced older
    /// ACKs has the arrival time of the first replaced ACK. Before that, the discipline may drop
    /// packets at the head. They are counted as drops and added to `dropped`.
    #[inline]
    pub fn take(&mut self, now: Instant, dropped: &mut HeadDrops) -> Option<(Instant, D)> {
        let (arrived, packet) = self.packets.take_next(now, &mut self.tally, dropped)?;
        self.tally.serves(now, packet.wire_len(), now.since(arrived));
        Some((arrived, packet))
    }

    /// Returns `true` if any queued packet satisfies `predicate`.
    #[must_use]
    pub fn any(&self, predicate: impl FnMut(&D) -> bool) -> bool {
        self.packets.any(predicate)
    }

    /// Removes the packets that satisfy `wanted` anywhere in the queue, and returns them with their
    /// arrival times. They are counted neither as served nor as dropped, because the owner sends
    /// them in another manner.
    pub fn take_out(&mut self, now: Instant, wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        if self.is_empty() { Vec::new() } else { self.packets.take_out(now, wanted, &mut self.tally) }
    }

    /// Returns the packet at the head. `take` may return another packet, or `None`, because
    /// disciplines such as `CoDel` drop packets when they are dequeued.
    #[must_use]
    pub fn head(&self) -> Option<&D> {
        self.packets.head().map(|(_, packet)| packet)
    }

    /// Returns the arrival time of the packet at the head.
    #[must_use]
    pub fn head_arrived(&self) -> Option<Instant> {
        self.packets.head().map(|(arrived, _)| arrived)
    }

    /// Returns the number of queued packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns `true` if no packet is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the octets of the queued packets.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.packets.bytes()
    }

    /// Restricts the counters to events in `window`. The default window is the whole run.
    pub fn measure(&mut self, window: Range<Instant>) {
        self.tally.window = window;
    }

    /// Returns the counters. A packet is counted as served when it is dequeued, without link-layer
    /// overhead. The counters of loss, duplication and delivery are always zero.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.tally.counters
    }

    /// Removes one packet that was dropped inside the window from the list of drops, and returns
    /// its flow.
    pub fn take_drop(&mut self) -> Option<FlowKey> {
        self.tally.dropped_flows.pop()
    }

    /// Records every change of the length from now on.
    pub fn log_queue(&mut self) {
        self.tally.lengths = Some(Vec::new());
    }

    /// Returns the recorded changes of the length: the instant and the new length.
    #[must_use]
    pub fn queue_log(&self) -> &[(Instant, u64)] {
        self.tally.lengths.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
