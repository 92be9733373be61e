//! Nodes leave for a while and come back, as those do that scan other channels.

use super::{Cell, TxqId};
use crate::packet::Packet;
use crate::reception::Presence;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// May what waits in `id` be sent? A node that is away sends nothing, and one that has announced it is sent nothing.
    pub(super) fn may_send(&self, now: Instant, id: TxqId) -> bool {
        if self.timers.presence.is_none() {
            return true;
        }
        let txq = &self.backlog.txqs[id];
        self.medium.reception.presence(now, txq.from) == Presence::Here
            && self.medium.reception.presence(now, txq.to) != Presence::AwayAnnounced
    }

    /// Those that have come back, and those that have waited for them, go on.
    pub(super) fn presence_changes(&mut self, now: Instant) {
        if self.timers.presence.is_none_or(|due| due > now) {
            return;
        }
        for id in self.backlog.txqs.ids() {
            if self.backlog.txqs[id].rests && self.may_send(now, id) {
                self.backlog.txqs[id].rests = false;
                self.backlog.make_ready(id, false);
                self.wants_medium(now, self.backlog.txqs[id].function);
            }
        }
        // Without a further change nobody is away any more, or for good.
        self.timers.presence = self.medium.reception.next_presence_change(now).or(Some(Instant::FAR_FUTURE));
    }
}
