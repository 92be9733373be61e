//! EDCAFs draw backoffs, and one or several win the medium.

use super::dialect::Dequeue;
use super::{Cell, Status};
use crate::access::EdcafId;
use crate::packet::Packet;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// Returns the backoff of an EDCAF in slots (10.3.3).
    pub(super) fn draw_backoff(&mut self, now: Instant, id: EdcafId) -> u64 {
        let edcaf = &self.backlog.edcafs[id];
        let slots = self.contenders.draw(self.rules.backoffs(edcaf.window.get()));
        if let Some(counters) = self.measurement.of(now, edcaf.node) {
            counters.backoffs += 1;
            counters.backoff_slots += slots;
        }
        slots
    }

    /// Records that an EDCAF has something to send from now on.
    pub(super) fn join_contention(&mut self, now: Instant, id: EdcafId) {
        self.backlog.edcafs[id].status = Status::Waiting;
        self.contenders.join(now);
        if self.rules.dialect.dequeue == Dequeue::WhenFree {
            self.take_frame(now, id);
        }
    }

    /// Removes the next frame from its queue and starts contention, because the MAC has nothing
    /// else to send.
    fn take_frame(&mut self, now: Instant, id: EdcafId) {
        if let Some(txq) = self.backlog.edcafs[id].ready.first()
            && self.backlog.txqs[txq].originator.is_empty()
        {
            // The discipline may drop all waiting packets. The EDCAF detects this once it has won
            // and has nothing to transmit.
            let _ = self.next_mpdu(now, txq);
        }
    }

    /// Ends the transmission opportunity, whether or not the last exchange succeeded. The EDCAF
    /// draws the backoff before its next opportunity, and counts it down even if it has nothing to
    /// send (10.3.4.3). `timeout` is the instant at which the EDCAF detects that no response frame
    /// arrives.
    pub(super) fn end_txop(&mut self, now: Instant, id: EdcafId, timeout: Option<Instant>) {
        let slots = self.draw_backoff(now, id);
        let edcaf = &self.backlog.edcafs[id];
        let (lane, has_more) = (edcaf.lane, !edcaf.ready.is_empty());
        if !has_more {
            let ends = self.medium.contention.count(lane, now) + slots;
            self.backlog.edcafs[id].status = Status::Idle(ends);
            return;
        }
        self.join_contention(now, id);
        match timeout {
            Some(timeout) => self.medium.contention.wait_after_timeout(id, lane, timeout, slots),
            None => {
                let count = self.medium.contention.count(lane, now) + slots;
                self.medium.contention.wait(id, lane, count);
            }
        }
    }

    /// Starts the transmission of all EDCAFs whose backoff ends now.
    pub(super) fn contend(&mut self, now: Instant) {
        let mut winners = self.contenders.take_winners();
        self.medium.contention.take_due(now, &mut winners);
        self.contenders.win(winners.len());
        // Within a node the highest category wins (10.23.2.4).
        if winners.len() > 1 {
            winners.sort_unstable_by_key(|id| {
                let edcaf = &self.backlog.edcafs[*id];
                (edcaf.node, std::cmp::Reverse(edcaf.category))
            });
        }
        let mut sender = None;
        for id in &winners {
            let node = self.backlog.edcafs[*id].node;
            self.backlog.edcafs[*id].status = Status::Sending;
            if sender == Some(node) || self.medium.is_sending(node) {
                self.collide_internally(now, *id);
            } else if self.begin(now, *id) {
                sender = Some(node);
            }
        }
        self.contenders.put_back(winners);
    }

    /// Handles an internal collision that a higher category of the same node wins. This EDCAF then
    /// backs off as after a failed transmission. The retry counters of the EDCAF and of its next
    /// frame increase by one (10.22.2.11.1 of 802.11-2016).
    fn collide_internally(&mut self, now: Instant, id: EdcafId) {
        let node = self.backlog.edcafs[id].node;
        if let Some(counters) = self.measurement.of(now, node) {
            counters.internal_collisions += 1;
        }
        self.widen_window(id, false);
        if let Some(txq) = self.backlog.edcafs[id].ready.first()
            && self.count_retry(txq, false)
            && self.rules.max_aggregate.is_none()
            && (!self.backlog.txqs[txq].originator.is_empty() || self.next_mpdu(now, txq).is_some())
        {
            self.give_up_single_frame(now, txq, 0);
        }
        self.end_txop(now, id, None);
    }
}
