//! Backoffs are drawn, and somebody wins.

use super::{Cell, Status};
use crate::access::FunctionId;
use crate::airtime::Use;
use crate::packet::Packet;
use acklab_base::{Duration, Instant};

impl<D: Packet> Cell<D> {
    /// Slots that a function waits for beyond AIFS: 0 to CW (10.3.3).
    pub(super) fn draw_backoff(&mut self, now: Instant, id: FunctionId) -> u64 {
        let function = &self.functions[id.0 as usize];
        let slots = self.backoffs.below(u64::from(function.window.get()) + 1);
        if self.measured.contains(&now) {
            let counters = &mut self.counters[function.node];
            counters.backoffs += 1;
            counters.backoff_slots += slots;
        }
        slots
    }

    /// A function has something to send from now on.
    pub(super) fn get_in_line(&mut self, now: Instant, id: FunctionId) {
        self.functions[id.0 as usize].status = Status::Waiting;
        if self.waiting == 0 {
            self.waiting_since = now;
        }
        self.waiting += 1;
    }

    /// The frame exchange of a function is over, well or badly. It draws the backoff that comes before its next one, and that it
    /// counts down even with nothing to send (10.3.4.3). `timeout`: when it knows that no answer comes.
    pub(super) fn leave_medium(&mut self, now: Instant, id: FunctionId, timeout: Option<Instant>) {
        let slots = self.draw_backoff(now, id);
        let function = &self.functions[id.0 as usize];
        let (lane, has_more) = (function.lane, !function.ready.is_empty());
        if !has_more {
            let ends = self.contention.count(lane, now) + slots;
            self.functions[id.0 as usize].status = Status::Idle(ends);
            return;
        }
        self.get_in_line(now, id);
        match timeout {
            Some(timeout) => self.contention.wait_alone(id, lane, timeout, slots),
            None => {
                let count = self.contention.count(lane, now) + slots;
                self.contention.wait(id, lane, count);
            }
        }
    }

    /// All whose backoff ends now begin.
    pub(super) fn contend(&mut self, now: Instant) {
        let mut winners = std::mem::take(&mut self.winners);
        self.contention.take_due(now, &mut winners);
        self.waiting -= winners.len() as u32;
        // Within a node the highest category comes first (10.23.2.4).
        if winners.len() > 1 {
            winners.sort_unstable_by_key(|id| {
                let function = &self.functions[id.0 as usize];
                (function.node, std::cmp::Reverse(function.category))
            });
        }
        let mut sender = None;
        for id in &winners {
            let node = self.functions[id.0 as usize].node;
            self.functions[id.0 as usize].status = Status::Sending;
            if sender == Some(node) || self.is_sending(node) {
                self.collides_within(now, *id);
            } else if self.begin(now, *id) {
                sender = Some(node);
            }
        }
        self.winners = winners;
    }

    /// Has something of this node begun before it could be sensed?
    fn is_sending(&self, node: usize) -> bool {
        self.exchanges.iter().any(|exchange| exchange.sender == node)
    }

    /// Another function of the same node comes first: this one backs off as if it had failed on the air.
    fn collides_within(&mut self, now: Instant, id: FunctionId) {
        let function = &mut self.functions[id.0 as usize];
        function.window.fail();
        let node = function.node;
        self.counters[node].internal_collisions += u64::from(self.measured.contains(&now));
        self.leave_medium(now, id, None);
    }

    /// Books the time since the last transmission, now that `node` begins: idle, as long as nobody had waited, interframe space,
    /// backoff.
    pub(super) fn book_gap(&mut self, now: Instant, node: usize, space: Duration, since: Instant) {
        let waits_from = self.airtime.booked().max(since);
        let space_ends = self.airtime.booked() + space;
        self.airtime.book(super::ACCESS_POINT, Use::Idle, waits_from.min(now));
        self.airtime.book(node, Use::Interframe, space_ends.min(now));
        self.airtime.book(node, Use::Backoff, now);
    }
}
