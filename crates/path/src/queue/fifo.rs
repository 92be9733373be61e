//! First in, first out, with a limit and an optional marking threshold.

mod precomputed;

pub(crate) use precomputed::PrecomputedFifo;

use super::{Discipline, Settings, Verdict, has_room, mark};
use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The settings of a FIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// If set, an ECN-capable packet is marked if more than this is queued when it arrives: the
    /// marking threshold K of DCTCP (RFC 8257, §3.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "20packets")]
    pub mark_above: Option<Limit>,
}

impl Settings for Config {
    type Discipline<D> = Fifo<(Instant, D)>;

    fn discipline<D: Datagram>(self, _draws: Stream) -> Fifo<(Instant, D)> {
        Fifo::new(self.limit, self.mark_above)
    }

    fn precomputed(self) -> Option<PrecomputedFifo> {
        Some(PrecomputedFifo::new(self.limit, self.mark_above))
    }
}

/// A FIFO of entries: packets with their arrival times, or the owner's record of a packet.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<T> {
    limit: Option<Limit>,
    mark_above: Option<Limit>,
    pub(super) waiting: VecDeque<T>,
    pub(super) bytes: Bytes,
}

impl<T> Fifo<T> {
    pub(crate) fn new(limit: Option<Limit>, mark_above: Option<Limit>) -> Self {
        Self { limit, mark_above, waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns `true` if there is room for a packet of `size`.
    #[inline]
    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        has_room(self.limit, self.waiting.len(), self.bytes, size)
    }

    /// Returns `true` if a packet that arrives now must be marked: if more than K are queued
    /// (Alizadeh et al., SIGCOMM 2010, §3.1 (1); RFC 8257, §3.1).
    #[inline]
    pub(crate) fn marks(&self) -> bool {
        match self.mark_above {
            None => false,
            Some(Limit::Packets(maximum)) => self.waiting.len() as u64 > maximum,
            Some(Limit::Bytes(maximum)) => self.bytes > maximum,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, entry: T, size: Bytes) {
        self.bytes += size;
        self.waiting.push_back(entry);
    }
}

impl<D: Datagram> Fifo<(Instant, D)> {
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Instant, D)> {
        let (arrived, packet) = self.waiting.pop_front()?;
        self.bytes -= packet.wire_len();
        Some((arrived, packet))
    }
}

impl<D: Datagram> Discipline<D> for Fifo<(Instant, D)> {
    #[inline]
    fn offer(&mut self, now: Instant, mut packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        let size = packet.wire_len();
        if !room || !self.has_room(size) {
            return Verdict::Dropped(packet);
        }
        if self.marks() && mark(&mut packet) {
            tally.marks(now, size);
        }
        self.push((now, packet), size);
        Verdict::Queued
    }

    #[inline]
    fn head(&self) -> Option<(Instant, &D)> {
        self.waiting.front().map(|(arrived, packet)| (*arrived, packet))
    }

    #[inline]
    fn take_head(&mut self, _leaves: Instant, _tally: &mut Tally) -> Option<(Instant, D)> {
        self.pop()
    }

    fn any(&self, predicate: impl FnMut(&D) -> bool) -> bool {
        self.waiting.iter().map(|(_, packet)| packet).any(predicate)
    }

    fn take_out(&mut self, mut wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        let mut taken = Vec::new();
        for _ in 0..self.waiting.len() {
            let Some((arrived, packet)) = self.pop() else { break };
            if wanted(arrived, &packet) {
                taken.push((arrived, packet));
            } else {
                let size = packet.wire_len();
                self.push((arrived, packet), size);
            }
        }
        taken
    }

    #[inline]
    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }
}
