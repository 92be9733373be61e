//! Queues: which packets wait for the server, are dropped, or are marked.
//!
//! The packet in service is not part of the queue: with a limit of 20 packets, 20 packets wait
//! behind it.
//!
//! Each discipline is one file here, with its settings and its `Discipline`, and one entry in
//! `registry.rs`.

pub mod ack_filter;
pub mod acks_first;
mod buffer;
pub mod cake;
pub mod codel;
pub mod dualpi2;
pub mod fifo;
pub mod fq_codel;
pub mod pie;
mod registry;
#[cfg(test)]
pub(crate) mod sample;

pub use ack_filter::newest::{Keeps, Place};
pub use buffer::Buffer;
pub(crate) use fifo::PrecomputedFifo;
pub(crate) use registry::PacketQueue;
pub use registry::QueueConfig;

use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Ecn, Instant, Rate};

/// The result of offering a packet to a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict<D> {
    /// The packet was queued.
    Queued,
    /// The packet was queued. It superseded this older ACK of its flow, which was removed.
    Replaced(D),
    /// The packet was dropped. Contains the packet.
    Dropped(D),
}

/// Packets that a discipline has dropped at the head of its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadDrops {
    /// The number of these packets.
    pub packets: u64,
    /// The octets of these packets.
    pub bytes: Bytes,
}

/// The settings of a discipline in a scenario. Every discipline has the setting `limit`, the
/// capacity of the queue. It is unlimited by default.
pub(crate) trait Settings: Copy + Default {
    /// The [`Discipline`] that these settings configure.
    type Discipline<D>;

    /// Returns an empty queue with these settings. Its random decisions draw from `draws`.
    fn discipline<D: Datagram>(self, draws: Stream) -> Self::Discipline<D>;

    /// Returns an empty queue that need not store packets, if the discipline permits departures to
    /// be computed on arrival.
    fn precomputed(self) -> Option<PrecomputedFifo> {
        None
    }

    /// Returns the names and values of the settings that are times.
    fn times(&self) -> Vec<(&'static str, Duration)> {
        Vec::new()
    }

    /// Checks the settings that are neither limits nor times. The error is the name of an invalid
    /// setting, and its expected value.
    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }

    /// Returns the rate to which the discipline shapes traffic; only a link supports this. Returns
    /// `None` if the discipline does not limit the rate.
    fn shaper(&self) -> Option<Rate> {
        None
    }
}

/// The contract of a discipline: a queue of packets with their arrival times. The discipline counts
/// the packets that it marks or drops at the head. [`PacketQueue`] counts all others.
pub(crate) trait Discipline<D> {
    /// Offers `packet` to the queue. `room` is `false` if a limit outside of the discipline leaves
    /// no room for it.
    fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D>;

    /// Returns the packet at the head, with its arrival time.
    fn head(&self) -> Option<(Instant, &D)>;

    /// Removes the head and returns it with its arrival time. Returns `None` if the queue is empty,
    /// or if the discipline drops the head.
    fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)>;

    /// Returns `true` if any queued packet satisfies `predicate`.
    fn any(&self, predicate: impl FnMut(&D) -> bool) -> bool;

    /// Removes the packets that satisfy `wanted` anywhere in the queue, and returns them with their
    /// arrival times.
    fn take_out(&mut self, wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)>;

    /// Serves a packet that finds the queue empty and the server free. Returns `None` if the
    /// discipline drops it.
    fn pass(&mut self, _now: Instant, packet: D, _tally: &mut Tally) -> Option<D> {
        Some(packet)
    }

    /// [`pass`](Self::pass) of a discipline that accounts for served packets: the packet enters and
    /// leaves the queue.
    fn pass_through(&mut self, now: Instant, packet: D, tally: &mut Tally) -> Option<D> {
        drop(self.offer(now, packet, true, tally));
        self.take_head(now, tally).map(|(_, packet)| packet)
    }

    /// Returns when the next packet may leave, if the discipline shapes traffic to a rate.
    fn not_before(&self) -> Instant {
        Instant::ZERO
    }

    /// Returns the number of queued packets.
    fn len(&self) -> usize;

    /// Returns the octets of the queued packets.
    fn bytes(&self) -> Bytes;
}

/// The queue of a link. The departure of a packet from a FIFO is known on its arrival, so a FIFO
/// need not store packets.
#[derive(Clone, Debug)]
pub(crate) enum Queue<D> {
    Precomputed(PrecomputedFifo),
    Stored(PacketQueue<D>),
}

impl<D: Datagram> Queue<D> {
    /// Returns a queue that draws from the stream that `draws` returns, if it needs one.
    pub(crate) fn new(config: QueueConfig, draws: impl FnOnce() -> Stream) -> Self {
        config.precomputed().map_or_else(|| Self::Stored(PacketQueue::new(config, draws())), Self::Precomputed)
    }
}

/// The totals of several queues of a discipline.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    packets: usize,
    bytes: Bytes,
}

impl Total {
    fn adds(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }

    fn loses(&mut self, packets: usize, bytes: Bytes) {
        self.packets -= packets;
        self.bytes -= bytes;
    }

    /// Returns the packets that `take_out` removes from these queues.
    fn take_out<'q, D: Datagram + 'q, Q: 'q>(
        &mut self,
        queues: impl Iterator<Item = &'q mut Q>,
        take_out: impl FnMut(&'q mut Q) -> Vec<(Instant, D)>,
    ) -> Vec<(Instant, D)> {
        let taken: Vec<_> = queues.flat_map(take_out).collect();
        self.loses(taken.len(), taken.iter().fold(Bytes::ZERO, |sum, (_, packet)| sum + packet.wire_len()));
        taken
    }

    fn exceeds(self, limit: Option<Limit>) -> bool {
        match limit {
            None => false,
            Some(Limit::Packets(maximum)) => self.packets as u64 > maximum,
            Some(Limit::Bytes(maximum)) => self.bytes > maximum,
        }
    }
}

/// Marks `packet` CE if it is ECN-capable and not yet marked (RFC 3168, §5). Returns `true` if
/// `packet` was marked.
pub(crate) fn mark(packet: &mut impl Datagram) -> bool {
    let is_markable = matches!(packet.ecn(), Ecn::Ect0 | Ecn::Ect1);
    if is_markable {
        packet.set_ecn(Ecn::Ce);
    }
    is_markable
}

/// Returns `true` if `limit` permits a packet of `size` in addition to `packets` packets with
/// `bytes` octets in total. An owner of several buffers with a common limit can call this, too.
#[must_use]
#[inline]
pub fn has_room(limit: Option<Limit>, packets: usize, bytes: Bytes, size: Bytes) -> bool {
    match limit {
        None => true,
        Some(Limit::Packets(maximum)) => (packets as u64) < maximum,
        Some(Limit::Bytes(maximum)) => bytes + size <= maximum,
    }
}
