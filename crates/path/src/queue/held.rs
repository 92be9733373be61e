//! The disciplines at work on packets that they hold.

use super::ack_filter::{AckFilter, Rule};
use super::codel::CoDel;
use super::fifo::Fifo;
use super::{Config, Verdict};
use crate::counters::Tally;
use acklab_base::{Bytes, Datagram, Instant};

/// Packets that wait in the order of a discipline.
#[derive(Clone, Debug)]
pub(crate) enum Held<D> {
    Fifo(Fifo<(Instant, D)>),
    CoDel(CoDel<D>),
    AckFilter(AckFilter<D>),
}

impl<D: Datagram> Held<D> {
    pub(crate) fn new(config: Config) -> Self {
        match config {
            Config::Fifo { limit, mark_above } => Self::Fifo(Fifo::new(limit, mark_above)),
            Config::CoDel { limit, target, interval, ecn } => Self::CoDel(CoDel::new(limit, target, interval, ecn)),
            Config::AckFilter { limit, keeps, place } => {
                Self::AckFilter(AckFilter::new(limit, Rule::Newest { keeps, place }))
            }
            Config::CakeAckFilter { limit, aggressive } => {
                Self::AckFilter(AckFilter::new(limit, Rule::Cake { aggressive }))
            }
        }
    }

    /// `packet` asks to wait. `room`: is there any, beyond what the discipline itself limits?
    #[inline]
    pub(crate) fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        let verdict = match self {
            Self::Fifo(fifo) => fifo.offer(now, packet, room, tally),
            Self::CoDel(codel) => codel.offer(now, packet, room, tally),
            Self::AckFilter(filter) => filter.offer(now, packet, room),
        };
        match &verdict {
            Verdict::Queued => tally.waits(now, self.len()),
            Verdict::Replaced(older) => tally.filters(now, older.wire_len()),
            Verdict::Dropped(packet) => tally.drops(now, packet.flow(), packet.wire_len()),
        }
        verdict
    }

    /// When the head arrived, and the head.
    #[inline]
    pub(crate) fn head(&self) -> Option<(Instant, &D)> {
        match self {
            Self::Fifo(fifo) => fifo.head(),
            Self::CoDel(codel) => codel.fifo.head(),
            Self::AckFilter(filter) => filter.chain.head(),
        }
    }

    /// The head leaves: when it arrived, and the head. None if nobody waits, or if it is dropped instead.
    #[inline]
    pub(crate) fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)> {
        let taken = match self {
            Self::Fifo(fifo) => fifo.pop(),
            Self::CoDel(codel) => codel.take_head(leaves, tally),
            Self::AckFilter(filter) => filter.chain.pop(),
        };
        tally.waits(leaves, self.len());
        taken
    }

    /// Does one wait of which this holds?
    pub(crate) fn any(&self, holds: impl FnMut(&D) -> bool) -> bool {
        match self {
            Self::Fifo(fifo) => fifo.waiting.iter().map(|(_, packet)| packet).any(holds),
            Self::CoDel(codel) => codel.fifo.waiting.iter().map(|(_, packet)| packet).any(holds),
            Self::AckFilter(filter) => filter.chain.iter().any(holds),
        }
    }

    /// Takes out those that are `wanted`, wherever they wait, with the instants of their arrival.
    pub(crate) fn take_out(
        &mut self,
        now: Instant,
        wanted: impl FnMut(Instant, &D) -> bool,
        tally: &mut Tally,
    ) -> Vec<(Instant, D)> {
        let taken = match self {
            Self::Fifo(fifo) => fifo.take_out(wanted),
            Self::CoDel(codel) => codel.fifo.take_out(wanted),
            Self::AckFilter(filter) => filter.chain.take_out(wanted),
        };
        tally.waits(now, self.len());
        taken
    }

    /// A packet went straight through.
    pub(crate) fn passed_by(&mut self) {
        if let Self::CoDel(codel) = self {
            codel.passed_by();
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fifo(fifo) => fifo.len(),
            Self::CoDel(codel) => codel.fifo.len(),
            Self::AckFilter(filter) => filter.chain.len(),
        }
    }

    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Self::Fifo(fifo) => fifo.bytes,
            Self::CoDel(codel) => codel.fifo.bytes,
            Self::AckFilter(filter) => filter.chain.bytes(),
        }
    }
}
