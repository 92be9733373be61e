//! A frame comes to a function that had none.

use super::{Cell, Status};
use crate::access::FunctionId;
use crate::config::Dialect;
use crate::packet::Packet;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// If `function` has something to send and is idle, it gets in line for the medium.
    pub(super) fn wants_medium(&mut self, now: Instant, id: FunctionId) {
        let function = &self.backlog.edcafs[id];
        let Status::Idle(backoff_ends) = function.status else { return };
        if function.ready.is_empty() {
            return;
        }
        match self.rules.dialect {
            Dialect::Standard => self.arrives(now, id, backoff_ends),
            Dialect::Ns3 => self.arrives_in_ns3(now, id, backoff_ends),
        }
        self.get_in_line(now, id);
        self.look_ahead();
    }

    /// A frame that finds the medium busy backs off, one that finds it idle long enough does not (10.3.4.2).
    fn arrives(&mut self, now: Instant, id: FunctionId, backoff_ends: u64) {
        let function = &self.backlog.edcafs[id];
        let (node, lane) = (function.node, function.lane);
        let count = self.medium.contention.count(lane, now);
        let count = if backoff_ends > count {
            backoff_ends
        } else if self.medium.contention.is_busy(lane, now) || self.medium.is_about_to_answer(now, node) {
            count + self.draw_backoff(now, id)
        } else {
            count
        };
        self.medium.contention.wait(id, lane, count);
    }

    /// The same in ns-3's `ChannelAccessManager`: `NeedBackoffUponAccess`, then `RequestAccess`.
    fn arrives_in_ns3(&mut self, now: Instant, id: FunctionId, backoff_ends: u64) {
        let function = &self.backlog.edcafs[id];
        let (node, lane, aifsn) = (function.node, function.lane, function.parameters.aifsn);
        let counted = self.medium.contention.counted(lane, now);
        let left = backoff_ends.saturating_sub(counted);
        let is_idle = !self.medium.contention.is_busy(lane, now) || self.medium.is_about_to_answer(now, node);
        if left == 0 && !is_idle {
            let slots = self.draw_backoff(now, id);
            return self.medium.contention.wait(id, lane, counted + slots);
        }
        match self.medium.contention.next_boundary(lane, now) {
            _ if !self.rules.has_qos && left == 0 => {
                self.medium.contention.wait_from(id, lane, now + self.rules.timing.aifs(aifsn), 0);
            }
            Some(boundary) if self.rules.has_qos => {
                // With slots left, `UpdateBackoff` has moved the start of the backoff to this boundary; that it lies behind the end
                // of AIFS is taken for a new request, and it moves to the next.
                let start = if left == 0 { boundary } else { boundary + self.rules.timing.slot };
                self.medium.contention.wait_from(id, lane, start, left);
            }
            _ => self.medium.contention.wait(id, lane, counted + left),
        }
    }
}
