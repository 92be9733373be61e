//! Nodes leave for a while and come back, as those do that scan other channels.

use super::{Cell, TxqId};
use crate::packet::Packet;
use crate::reception::Presence;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// May what waits in `id` be sent? A node that is away sends nothing, and one that has announced it is sent nothing.
    pub(super) fn may_send(&self, now: Instant, id: TxqId) -> bool {
        if self.presence_changes.is_none() {
            return true;
        }
        let txq = &self.txqs[id.0 as usize];
        self.reception.presence(now, txq.from) == Presence::Here
            && self.reception.presence(now, txq.to) != Presence::AwayAnnounced
    }

    /// Those that have come back, and those that have waited for them, go on.
    pub(super) fn presence_changes(&mut self, now: Instant) {
        if self.presence_changes.is_none_or(|due| due > now) {
            return;
        }
        for index in 0..self.txqs.len() {
            let id = TxqId(index as u32);
            if self.txqs[index].rests && self.may_send(now, id) {
                self.txqs[index].rests = false;
                self.make_ready(id, false);
                self.wants_medium(now, self.txqs[index].function);
            }
        }
        // Without a further change nobody is away any more, or for good.
        self.presence_changes = self.reception.next_presence_change(now).or(Some(Instant::FAR_FUTURE));
    }
}
