//! Temporary absences of nodes, for example to scan other channels.

use super::{Cell, TxqId};
use crate::packet::Packet;
use crate::reception::Presence;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// Returns `true` if the queue may be served. An absent node does not transmit, and no frame is
    /// sent to a node that has announced its absence.
    pub(super) fn may_send(&self, now: Instant, id: TxqId) -> bool {
        if self.timers.presence.is_none() {
            return true;
        }
        let txq = &self.backlog.txqs[id];
        self.medium.reception.presence(now, txq.from) == Presence::Here
            && self.medium.reception.presence(now, txq.to) != Presence::AwayAnnounced
    }

    /// Resumes the queues from and to nodes that have returned.
    pub(super) fn update_presence(&mut self, now: Instant) {
        if self.timers.presence.is_none_or(|due| due > now) {
            return;
        }
        for id in self.backlog.txqs.ids() {
            if self.backlog.txqs[id].is_paused && self.may_send(now, id) {
                self.backlog.txqs[id].is_paused = false;
                self.backlog.make_ready(id, false);
                self.request_access(now, self.backlog.txqs[id].edcaf);
            }
        }
        // Without a further change, each node stays present or absent.
        self.timers.presence = self.medium.reception.next_presence_change(now).or(Some(Instant::FAR_FUTURE));
    }
}
