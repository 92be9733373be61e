//! Backoffs are drawn, and somebody wins.

use super::{Cell, Status};
use crate::access::FunctionId;
use crate::packet::Packet;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// Slots that a function waits for beyond AIFS: 0 to CW (10.3.3).
    pub(super) fn draw_backoff(&mut self, now: Instant, id: FunctionId) -> u64 {
        let function = &self.backlog.edcafs[id];
        let slots = self.contenders.draw(function.window.get());
        if let Some(counters) = self.measurement.of(now, function.node) {
            counters.backoffs += 1;
            counters.backoff_slots += slots;
        }
        slots
    }

    /// A function has something to send from now on.
    pub(super) fn get_in_line(&mut self, now: Instant, id: FunctionId) {
        self.backlog.edcafs[id].status = Status::Waiting;
        self.contenders.join(now);
    }

    /// The frame exchange of a function is over, well or badly. It draws the backoff that comes before its next one, and that it
    /// counts down even with nothing to send (10.3.4.3). `timeout`: when it knows that no answer comes.
    pub(super) fn leave_medium(&mut self, now: Instant, id: FunctionId, timeout: Option<Instant>) {
        let slots = self.draw_backoff(now, id);
        let function = &self.backlog.edcafs[id];
        let (lane, has_more) = (function.lane, !function.ready.is_empty());
        if !has_more {
            let ends = self.medium.contention.count(lane, now) + slots;
            self.backlog.edcafs[id].status = Status::Idle(ends);
            return;
        }
        self.get_in_line(now, id);
        match timeout {
            Some(timeout) => self.medium.contention.wait_alone(id, lane, timeout, slots),
            None => {
                let count = self.medium.contention.count(lane, now) + slots;
                self.medium.contention.wait(id, lane, count);
            }
        }
    }

    /// All whose backoff ends now begin.
    pub(super) fn contend(&mut self, now: Instant) {
        let mut winners = self.contenders.take_room();
        self.medium.contention.take_due(now, &mut winners);
        self.contenders.win(winners.len());
        // Within a node the highest category comes first (10.23.2.4).
        if winners.len() > 1 {
            winners.sort_unstable_by_key(|id| {
                let function = &self.backlog.edcafs[*id];
                (function.node, std::cmp::Reverse(function.category))
            });
        }
        let mut sender = None;
        for id in &winners {
            let node = self.backlog.edcafs[*id].node;
            self.backlog.edcafs[*id].status = Status::Sending;
            if sender == Some(node) || self.medium.is_sending(node) {
                self.collides_within(now, *id);
            } else if self.begin(now, *id) {
                sender = Some(node);
            }
        }
        self.contenders.give_back(winners);
    }

    /// Another function of the same node comes first: this one backs off as if it had failed on the air.
    fn collides_within(&mut self, now: Instant, id: FunctionId) {
        let function = &mut self.backlog.edcafs[id];
        function.window.fail();
        let node = function.node;
        if let Some(counters) = self.measurement.of(now, node) {
            counters.internal_collisions += 1;
        }
        self.leave_medium(now, id, None);
    }
}
