//! Who waits for the server, who is turned away, and who is marked.
//!
//! The packet in service does not wait: a limit of 20 packets lets 20 wait behind it.
//!
//! One discipline is one file here, with its settings and its `Discipline`, and one line of `registry.rs`.

pub mod ack_filter;
mod buffer;
pub mod codel;
pub mod fifo;
mod registry;
#[cfg(test)]
mod sample;
mod settled;

pub use ack_filter::newest::{Keeps, Place};
pub use buffer::Buffer;
pub use registry::Config;
pub(crate) use registry::{Held, Settings};
pub(crate) use settled::{Settled, Waiting};

use crate::counters::Tally;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Ecn, Instant};

/// What became of a packet that asked to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict<D> {
    /// It waits.
    Queued,
    /// It waits, and this older ACK of its flow no longer does.
    Replaced(D),
    /// This one was turned away.
    Dropped(D),
}

/// The contract of a discipline: packets that it holds, each with the instant of its arrival. It counts what it marks, and what it
/// drops when it takes the head; [`Held`] counts the rest.
pub(crate) trait Discipline<D> {
    /// `packet` asks to wait. `room`: is there any, beyond what the discipline itself limits?
    fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D>;

    /// When the head arrived, and the head.
    fn head(&self) -> Option<(Instant, &D)>;

    /// The head leaves: when it arrived, and the head. Returns `None` if no packet waits, or if the head is dropped instead.
    fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)>;

    /// Does any waiting packet satisfy `holds`?
    fn any(&self, holds: impl FnMut(&D) -> bool) -> bool;

    /// Takes out those that are `wanted`, wherever they wait, with the instants of their arrival.
    fn take_out(&mut self, wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)>;

    /// A packet found nobody waiting and the server free: it is served without being offered.
    fn passed_by(&mut self) {}

    /// Packets that wait.
    fn len(&self) -> usize;

    /// Octets of the packets that wait.
    fn bytes(&self) -> Bytes;
}

/// The queue of a link. What a FIFO does to a packet is settled when it arrives, so it need not hold it.
#[derive(Clone, Debug)]
pub(crate) enum Queue<D> {
    Settled(Settled),
    Held(Held<D>),
}

impl<D: Datagram> Queue<D> {
    pub(crate) fn new(config: Config) -> Self {
        config.settled().map_or_else(|| Self::Held(Held::new(config)), Self::Settled)
    }
}

/// Marks `packet`, if its transport understands that and nobody has done so before (RFC 3168, §5).
pub(crate) fn mark(packet: &mut impl Datagram) -> bool {
    let is_markable = matches!(packet.ecn(), Ecn::Ect0 | Ecn::Ect1);
    if is_markable {
        packet.set_ecn(Ecn::Ce);
    }
    is_markable
}

/// Is there room for one more of `size` beside `packets` that hold `bytes`? For owners of several buffers with one limit, too.
#[must_use]
#[inline]
pub fn has_room(limit: Option<Limit>, packets: usize, bytes: Bytes, size: Bytes) -> bool {
    match limit {
        None => true,
        Some(Limit::Packets(most)) => (packets as u64) < most,
        Some(Limit::Bytes(most)) => bytes + size <= most,
    }
}
