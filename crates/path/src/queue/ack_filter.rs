//! ACK filters: queues in which a newer ACK supersedes an older one of its flow.
//!
//! Information that only the older ACK carries is lost. A filter's `Rule` decides which older ACK
//! is removed, and at which position the newer ACK waits. [`newest`] and [`cake`] are disciplines
//! with such rules.

pub mod cake;
mod chain;
pub mod newest;

use super::{Discipline, Verdict, has_room};
use crate::counters::Tally;
use acklab_base::units::Limit;
use acklab_base::{AckHeader, Bytes, Datagram, FlowKey, Instant};
pub(super) use chain::Chain;

/// Selects the older ACK that is removed, and the position of the newer ACK.
pub(crate) trait Rule {
    /// Returns the index in `chain` of the older ACK that `newer` supersedes, or `None`.
    fn superseded<D: Datagram>(&self, chain: &Chain<D>, flow: FlowKey, newer: AckHeader) -> Option<usize>;

    /// Returns `true` if the newer ACK takes the position of the older ACK, and `false` if it joins
    /// the tail.
    fn keeps_position(&self) -> bool {
        false
    }
}

/// A FIFO with an ACK filter.
#[derive(Clone, Debug)]
pub(crate) struct AckFilter<D, R> {
    limit: Option<Limit>,
    rule: R,
    chain: Chain<D>,
}

impl<D: Datagram, R: Rule> AckFilter<D, R> {
    pub(crate) const fn new(limit: Option<Limit>, rule: R) -> Self {
        Self { limit, rule, chain: Chain::new() }
    }
}

impl<D: Datagram, R: Rule> Discipline<D> for AckFilter<D, R> {
    fn offer(&mut self, now: Instant, packet: D, room: bool, _tally: &mut Tally) -> Verdict<D> {
        let (size, header) = (packet.wire_len(), packet.ack_header());
        if let Some(older) = header.and_then(|newer| self.rule.superseded(&self.chain, packet.flow(), newer)) {
            let removed = if self.rule.keeps_position() {
                self.chain.replace(older, packet)
            } else {
                let removed = self.chain.remove(older).map(|(_, packet)| packet);
                self.chain.push(now, packet, false);
                removed
            };
            return removed.map_or(Verdict::Queued, Verdict::Replaced);
        }
        if !room || !has_room(self.limit, self.chain.len(), self.chain.bytes(), size) {
            return Verdict::Dropped(packet);
        }
        let is_duplicate = header.is_some_and(|newer| {
            newer.is_pure && self.chain.newest_ack(packet.flow()).is_some_and(|(_, older)| older.ack == newer.ack)
        });
        self.chain.push(now, packet, is_duplicate);
        Verdict::Queued
    }

    fn head(&self) -> Option<(Instant, &D)> {
        self.chain.head()
    }

    fn take_head(&mut self, _leaves: Instant, _tally: &mut Tally) -> Option<(Instant, D)> {
        self.chain.pop()
    }

    fn any(&self, predicate: impl FnMut(&D) -> bool) -> bool {
        self.chain.iter().any(predicate)
    }

    fn take_out(&mut self, wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        self.chain.take_out(wanted)
    }

    fn len(&self) -> usize {
        self.chain.len()
    }

    fn bytes(&self) -> Bytes {
        self.chain.bytes()
    }
}

#[cfg(test)]
mod tests;
