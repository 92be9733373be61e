//! Requests for the medium by idle EDCAFs that get a frame to send.

use super::dialect::AccessRequest;
use super::{Cell, Status};
use crate::access::EdcafId;
use crate::packet::Packet;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// Starts channel access of the EDCAF, if it is idle and has frames to send.
    #[inline]
    pub(super) fn request_access(&mut self, now: Instant, id: EdcafId) {
        let edcaf = &self.backlog.edcafs[id];
        if let Status::Idle(backoff_ends) = edcaf.status
            && !edcaf.ready.is_empty()
        {
            self.begin_to_wait(now, id, backoff_ends);
        }
    }

    #[inline(never)]
    fn begin_to_wait(&mut self, now: Instant, id: EdcafId, backoff_ends: u64) {
        match self.rules.dialect.request {
            AccessRequest::Standard => self.request_by_standard(now, id, backoff_ends),
            AccessRequest::Ns3 => self.request_as_ns3(now, id, backoff_ends),
            AccessRequest::AlwaysBacksOff => self.request_with_backoff(now, id, backoff_ends),
        }
        self.join_contention(now, id);
        self.update_deadline();
    }

    /// Requests the medium by the standard: the EDCAF backs off unless the medium has been idle for
    /// AIFS or DIFS (10.3.4.2).
    fn request_by_standard(&mut self, now: Instant, id: EdcafId, backoff_ends: u64) {
        let edcaf = &self.backlog.edcafs[id];
        let (node, lane) = (edcaf.node, edcaf.lane);
        let count = self.medium.contention.count(lane, now);
        let count = if backoff_ends > count {
            backoff_ends
        } else if self.medium.contention.is_busy(lane, now) || self.medium.is_about_to_respond(now, node) {
            count + self.draw_backoff(now, id)
        } else {
            count
        };
        self.medium.contention.wait(id, lane, count);
    }

    /// Requests the medium as ns-2's `Mac802_11::send` does: the EDCAF draws a new backoff unless
    /// the last one still runs. On an idle medium the backoff begins DIFS later, and its slots are
    /// not aligned with those of other nodes.
    fn request_with_backoff(&mut self, now: Instant, id: EdcafId, backoff_ends: u64) {
        let edcaf = &self.backlog.edcafs[id];
        let (node, lane, aifsn) = (edcaf.node, edcaf.lane, edcaf.parameters.aifsn);
        let count = self.medium.contention.count(lane, now);
        if backoff_ends > count {
            return self.medium.contention.wait(id, lane, backoff_ends);
        }
        let slots = self.draw_backoff(now, id);
        if self.medium.contention.is_busy(lane, now) || self.medium.is_about_to_respond(now, node) {
            self.medium.contention.wait(id, lane, count + slots);
        } else {
            self.medium.contention.wait_from(id, lane, now + self.rules.timing.aifs(aifsn), slots);
        }
    }

    /// Requests the medium as ns-3's `ChannelAccessManager` does: `NeedBackoffUponAccess`, then
    /// `RequestAccess`.
    fn request_as_ns3(&mut self, now: Instant, id: EdcafId, backoff_ends: u64) {
        let edcaf = &self.backlog.edcafs[id];
        let (node, lane, aifsn) = (edcaf.node, edcaf.lane, edcaf.parameters.aifsn);
        let counted = self.medium.contention.counted(lane, now);
        let left = backoff_ends.saturating_sub(counted);
        let is_idle = !self.medium.contention.is_busy(lane, now) || self.medium.is_about_to_respond(now, node);
        if left == 0 && !is_idle {
            let slots = self.draw_backoff(now, id);
            return self.medium.contention.wait(id, lane, counted + slots);
        }
        match self.medium.contention.next_boundary(lane, now) {
            _ if !self.rules.has_qos && left == 0 => {
                self.medium.contention.wait_from(id, lane, now + self.rules.timing.aifs(aifsn), 0);
            }
            Some(boundary) if self.rules.has_qos => {
                // With slots left, `UpdateBackoff` has moved the start of the backoff to this
                // boundary. Since it is after the end of AIFS, ns-3 treats it as a new request and
                // aligns it to the next boundary.
                let start = if left == 0 { boundary } else { boundary + self.rules.timing.slot };
                self.medium.contention.wait_from(id, lane, start, left);
            }
            _ => self.medium.contention.wait(id, lane, counted + left),
        }
    }
}
