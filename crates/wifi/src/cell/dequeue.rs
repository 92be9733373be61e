//! Packets leave the queues: they are put into a frame, are dropped by the queue discipline, or
//! expire.

use super::{Cell, TxqId};
use crate::originator::Mpdu;
use crate::packet::Packet;
use acklab_base::{Duration, Instant};
use acklab_path::queue::HeadDrops;

impl<D: Packet> Cell<D> {
    /// Removes a packet from the queue and returns it. Reports the packets that the queue
    /// discipline drops before it.
    pub(super) fn take(&mut self, now: Instant, id: TxqId) -> Option<(Instant, D)> {
        let mut dropped = HeadDrops::default();
        let taken = self.backlog.txqs[id].buffer.take(now, &mut dropped);
        if dropped.packets > 0 {
            self.dropped_at_head(now, id, dropped);
        }
        taken
    }

    fn dropped_at_head(&mut self, now: Instant, id: TxqId, HeadDrops { packets, bytes }: HeadDrops) {
        let txq = &mut self.backlog.txqs[id];
        let is_measured = self.measurement.is_on(now);
        let gone = std::iter::from_fn(|| txq.buffer.take_drop()).filter(|_| is_measured);
        self.measurement.dropped_flows.extend(gone);
        if let Some(counters) = self.measurement.of(now, txq.from) {
            counters.dropped += packets;
        }
        self.backlog.let_go(now, id, packets, bytes, &self.measurement.window);
    }

    /// Drops packets at the head of the queue that have exceeded the lifetime.
    #[inline]
    pub(super) fn drop_expired(&mut self, now: Instant, id: TxqId) {
        if let Some(lifetime) = self.rules.lifetime {
            self.drop_older(now, id, lifetime);
        }
    }

    #[inline(never)]
    fn drop_older(&mut self, now: Instant, id: TxqId, lifetime: Duration) {
        while let Some(arrived) = self.backlog.txqs[id].buffer.head_arrived()
            && now.since(arrived) > lifetime
            && let Some((_, packet)) = self.take(now, id)
        {
            if let Some(counters) = self.measurement.of(now, self.backlog.txqs[id].from) {
                counters.expired += 1;
                self.measurement.dropped_flows.push(packet.flow());
            }
            self.backlog.let_go(now, id, 1, packet.wire_len(), &self.measurement.window);
        }
    }

    /// Gives up frames with a sequence number that have exceeded a lifetime. Later frames are
    /// younger, so the search ends at the first frame within its lifetime.
    pub(super) fn expire(&mut self, now: Instant, id: TxqId) {
        let (lifetime, transmit_lifetime) = (self.rules.lifetime, self.rules.transmit_lifetime);
        let has_expired = |frame: &Mpdu<D>| {
            lifetime.is_some_and(|lifetime| now.since(frame.arrived) > lifetime)
                || transmit_lifetime
                    .is_some_and(|lifetime| frame.first_sent.is_some_and(|first| now.since(first) > lifetime))
        };
        let mut is_any = false;
        for index in 0..self.backlog.txqs[id].originator.len() {
            let frame = &self.backlog.txqs[id].originator.frames[index];
            if frame.is_settled {
                continue;
            }
            if !has_expired(frame) {
                break;
            }
            let from = self.backlog.txqs[id].from;
            self.measurement.counters[from].expired += self.give_up(now, id, index);
            is_any = true;
        }
        if is_any {
            let txq = &mut self.backlog.txqs[id];
            (txq.attempt, txq.short_retries, txq.long_retries) = (0, 0, 0);
            self.advance(now, id);
        }
    }
}
