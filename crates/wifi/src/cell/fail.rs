//! Handling of missing response frames: retry counters, and frames that are given up.

use super::dialect::MimdLimit;
use super::exchange::{Exchange, FrameKind, Phase, Response};
use super::{Cell, TxqId};
use crate::access::EdcafId;
use crate::config::{AfterMissed, Queues};
use crate::packet::Packet;
use acklab_base::{Datagram, Duration, Instant};

impl<D: Packet> Cell<D> {
    /// Handles an exchange whose initiator receives no response frame, or a response frame that it
    /// cannot decode.
    pub(super) fn fails(&mut self, now: Instant, index: usize) {
        let exchange = self.medium.exchanges.swap_remove(index);
        let (id, edcaf_id) = (exchange.txq, exchange.edcaf);
        if let Some(counters) = self.measurement.of(now, self.backlog.txqs[id].from) {
            counters.unanswered += u64::from(exchange.kind == FrameKind::Data);
            counters.rts_unanswered += u64::from(exchange.kind == FrameKind::Rts);
        }
        let is_behind_rts = exchange.kind == FrameKind::Data && exchange.data.needs_rts;
        self.widen_window(edcaf_id, is_behind_rts);
        let is_at_limit = self.count_retry(id, is_behind_rts);
        let txq = &mut self.backlog.txqs[id];
        txq.attempt += 1;
        // Another queue is served once the failures of a PPDU, of any kind, reach the retry limit
        // of a frame.
        let are_tries_over = is_at_limit || txq.attempt >= u32::from(self.rules.retries.short);
        if matches!(exchange.kind, FrameKind::Data | FrameKind::Request) {
            txq.originator.miss_response(exchange.data.response == Response::Ack);
            txq.originator.requests =
                txq.originator.requests.saturating_add(u8::from(exchange.kind == FrameKind::Request));
        }
        if exchange.kind == FrameKind::Data {
            let frames = exchange.data.frames;
            self.backlog.txqs[id].rate.report(now, exchange.data.mode, frames, 0);
        }
        if exchange.data.response == Response::BlockAck {
            self.aggregate_fails(now, &exchange);
        } else if is_at_limit {
            let originator = &self.backlog.txqs[id].originator;
            let sent = originator.sent.first().map_or(0, |sequence| sequence.saturating_sub(originator.start) as usize);
            self.give_up_single_frame(now, id, sent);
        } else if exchange.kind == FrameKind::Data
            && let Some(frame) = self.backlog.txqs[id].originator.frames.front_mut()
        {
            frame.failures = frame.failures.saturating_add(1);
        }
        let stays_first = match self.backlog.edcafs[edcaf_id].queues {
            _ if self.rules.dialect.serves_failed_first => true,
            Queues::PerStation => false,
            Queues::Shared => !are_tries_over,
        };
        self.backlog.make_ready_after_failure(now, id, stays_first);
        let waits = match exchange.phase {
            // A response frame has arrived with an error.
            Phase::Response if self.rules.detects(&exchange) => self.rules.eifs_extra(),
            Phase::Response => Duration::ZERO,
            _ => self.rules.response_timeout(self.response_mode(exchange.mode)),
        };
        // A sender that receives the rest of another frame defers like the bystanders.
        let timeout = (!self.rules.defers_as_sender(&exchange)).then_some(now + waits);
        self.end_txop(now, edcaf_id, timeout);
    }

    /// Doubles the contention window of an EDCAF, or resets it if its retry counter reaches the
    /// limit (10.3.3).
    pub(super) fn widen_window(&mut self, id: EdcafId, is_behind_rts: bool) {
        let retries = self.rules.retries;
        let resets_mimd = self.rules.dialect.mimd_limit == MimdLimit::Resets;
        let edcaf = &mut self.backlog.edcafs[id];
        edcaf.window.fail();
        let (counter, limit) = if is_behind_rts {
            (&mut edcaf.long_retries, retries.long)
        } else {
            (&mut edcaf.short_retries, retries.short)
        };
        *counter = counter.saturating_add(1);
        if *counter >= limit {
            (edcaf.short_retries, edcaf.long_retries) = (0, 0);
            edcaf.window.give_up(resets_mimd);
        }
    }

    /// Counts a failure of the first frame of a queue. Returns `true` if the frame has reached its
    /// retry limit (10.3.4.4).
    pub(super) fn count_retry(&mut self, id: TxqId, is_behind_rts: bool) -> bool {
        let retries = self.rules.retries;
        let txq = &mut self.backlog.txqs[id];
        let (counter, limit) =
            if is_behind_rts { (&mut txq.long_retries, retries.long) } else { (&mut txq.short_retries, retries.short) };
        *counter = counter.saturating_add(1);
        *counter >= limit
    }

    /// Handles a missing Block ACK: the originator cannot determine which frames of the aggregate
    /// have arrived.
    fn aggregate_fails(&mut self, now: Instant, exchange: &Exchange) {
        let id = exchange.txq;
        if exchange.kind == FrameKind::Rts {
            return;
        }
        let originator = &mut self.backlog.txqs[id].originator;
        let gives_up = self.rules.max_requests.is_some_and(|maximum| originator.requests >= maximum);
        if gives_up {
            (originator.must_request, originator.requests) = (false, 0);
        }
        if self.rules.after_missed == AfterMissed::Request && !gives_up {
            self.backlog.txqs[id].originator.must_request = true;
            return;
        }
        let sent = std::mem::take(&mut self.backlog.txqs[id].originator.sent);
        sent.iter().for_each(|sequence| self.frame_fails(now, id, *sequence));
        self.clear_sent(id, sent);
        self.advance(now, id);
        if gives_up && !self.backlog.has_more(id) {
            self.release_reorder_buffer(now, id);
        }
    }

    /// Releases frames behind a gap at the recipient. This is needed if the originator has nothing
    /// left to send and no Block ACK request has reached the recipient. The reorder timer of
    /// mac80211 does this after 100 ms (`HT_RX_REORDER_BUF_TIMEOUT`). The timer has no other effect
    /// here.
    pub(super) fn release_reorder_buffer(&mut self, now: Instant, id: TxqId) {
        let originator = &mut self.backlog.txqs[id].originator;
        (originator.must_request, originator.has_gap) = (false, false);
        self.move_window(now, id);
    }

    /// Gives up the first frame, which has reached its retry limit. The counters of the next frame
    /// start at zero (10.3.4.4).
    pub(super) fn give_up_single_frame(&mut self, now: Instant, id: TxqId, index: usize) {
        let txq = &mut self.backlog.txqs[id];
        (txq.attempt, txq.short_retries, txq.long_retries) = (0, 0, 0);
        let from = txq.from;
        self.measurement.counters[from].given_up += self.give_up(now, id, index);
        self.advance(now, id);
    }

    /// Counts a failure of a frame within an aggregate. Gives up the frame if the limit is reached.
    pub(super) fn frame_fails(&mut self, now: Instant, id: TxqId, sequence: u64) {
        let maximum = if self.rules.max_aggregate.is_some() { self.rules.retries.aggregated } else { None };
        let txq = &mut self.backlog.txqs[id];
        let index = sequence.saturating_sub(txq.originator.start) as usize;
        let Some(frame) = txq.originator.frame(sequence) else { return };
        if frame.is_settled {
            return;
        }
        frame.failures = frame.failures.saturating_add(1);
        if maximum.is_some_and(|maximum| frame.failures >= maximum) {
            let from = txq.from;
            self.measurement.counters[from].given_up += self.give_up(now, id, index);
        }
    }

    /// Gives up the frame at `index` of the window. Returns the number of its packets that the peer
    /// has not received, counted inside the window of measurement.
    pub(super) fn give_up(&mut self, now: Instant, id: TxqId, index: usize) -> u64 {
        let is_measured = self.measurement.is_on(now);
        let has_agreement = self.rules.max_aggregate.is_some();
        let txq = &mut self.backlog.txqs[id];
        let originator = &mut txq.originator;
        let Some(frame) = originator.frames.get_mut(index) else { return 0 };
        (frame.is_settled, frame.is_given_up) = (true, true);
        if frame.is_received {
            // Only the response frame was lost. The recipient keeps the frame in the reorder buffer
            // until an earlier frame arrives.
            originator.must_request |= originator.has_gap;
            return 0;
        }
        // The recipient waits for the frame until a Block ACK request moves its window
        // (10.25.6.6.3).
        originator.must_request |= has_agreement;
        originator.has_gap |= has_agreement;
        if !is_measured {
            return 0;
        }
        self.measurement.dropped_flows.extend(frame.packets.as_slice().iter().map(Datagram::flow));
        u64::from(frame.packet_count)
    }
}
