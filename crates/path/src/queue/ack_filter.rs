//! An older ACK goes when a newer one of its flow comes.
//!
//! What the older one alone says is lost with it, so filters differ in which older one goes, and in where the newer one then waits:
//! that is their `Rule`. [`newest`] and [`cake`] are disciplines.

pub mod cake;
mod chain;
pub mod newest;

use super::{Discipline, Verdict, has_room};
use crate::counters::Tally;
use acklab_base::units::Limit;
use acklab_base::{AckHeader, Bytes, Datagram, FlowKey, Instant};
use chain::Chain;

/// Which older ACK goes, and where the newer one waits.
pub(crate) trait Rule {
    /// The place of the older ACK that goes when `newer` comes, if one does.
    fn outdated<D: Datagram>(&self, chain: &Chain<D>, flow: FlowKey, newer: AckHeader) -> Option<usize>;

    /// Does the newer one wait where the older one stood, instead of at the tail?
    fn takes_its_place(&self) -> bool {
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
        if let Some(older) = header.and_then(|newer| self.rule.outdated(&self.chain, packet.flow(), newer)) {
            let gone = if self.rule.takes_its_place() {
                self.chain.replace(older, packet)
            } else {
                let gone = self.chain.remove(older).map(|(_, packet)| packet);
                self.chain.push(now, packet, false);
                gone
            };
            return gone.map_or(Verdict::Queued, Verdict::Replaced);
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

    fn any(&self, holds: impl FnMut(&D) -> bool) -> bool {
        self.chain.iter().any(holds)
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

/// Does sequence number `a` come after `b` (RFC 9293, §3.4)?
const fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

#[cfg(test)]
mod tests;
