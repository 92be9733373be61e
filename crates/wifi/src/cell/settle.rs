//! The end of a response frame: acknowledgment of MPDUs.

use super::arrivals::pass_up;
use super::exchange::{Exchange, FrameKind, Phase, Response};
use super::{Cell, Txq, TxqId};
use crate::airtime::Use;
use crate::originator::MissedResponse;
use crate::packet::Packet;
use crate::phy::Mode;
use crate::ppdu::Outcome;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    pub(super) fn response_ends(&mut self, now: Instant, index: usize) {
        let exchange = self.medium.exchanges[index];
        let is_read = self.is_response_read(now, &exchange);
        let outcome = self.outcome(&exchange, is_read);
        let reserved = self.duration_field(&exchange);
        self.measurement.airtime.book(exchange.sender, Use::Interframe, exchange.begins);
        let what = if exchange.response == Response::Cts { Use::Control } else { Use::LinkAck };
        let plain_ends = exchange.begins + self.rules.response_time(exchange.response, exchange.mode);
        self.measurement.airtime.book(exchange.sender, use_by_outcome(outcome, what), plain_ends.min(now));
        self.measurement.airtime.book(exchange.sender, use_by_outcome(outcome, Use::CompressedAck), now);
        if let Some(counters) = self.measurement.of(now, exchange.sender) {
            counters.link_acks += u64::from(exchange.response != Response::Cts);
        }
        self.log_response(&exchange, outcome, reserved);
        self.medium.go_off_air(now, &self.rules, &exchange, reserved, is_read);
        self.medium.forget_overlaps(&exchange);
        match exchange.response {
            _ if outcome != Outcome::Received => self.fails(now, index),
            Response::Cts => {
                self.backlog.edcafs[exchange.edcaf].short_retries = 0;
                self.backlog.txqs[exchange.txq].short_retries = 0;
                self.send_data(now, index);
            }
            _ => {
                self.appended_acks_arrive(now, &exchange);
                self.succeeds(now, index);
            }
        }
    }

    /// Handles an ACK or Block ACK that the initiator has received.
    fn succeeds(&mut self, now: Instant, index: usize) {
        let exchange = self.medium.exchanges[index];
        let id = exchange.txq;
        let edcaf = &mut self.backlog.edcafs[exchange.edcaf];
        edcaf.window.succeed();
        (edcaf.short_retries, edcaf.long_retries) = (0, 0);
        let txq = &mut self.backlog.txqs[id];
        (txq.attempt, txq.short_retries, txq.long_retries) = (0, 0, 0);
        (txq.originator.missed_response, txq.originator.requests) = (MissedResponse::None, 0);
        self.update_snr(now, &exchange);
        self.settle(now, id, &exchange);
        self.next_or_end(now, index, &exchange);
    }

    /// Reports the peer's signal-to-noise ratio to the rate control, as if the response frame
    /// carried it (ns-3's `SnrTag`).
    fn update_snr(&mut self, now: Instant, exchange: &Exchange) {
        let one_stream = Mode { streams: 1, ..exchange.data.mode };
        let (initiator, peer) = (exchange.receiver.unwrap_or(super::ACCESS_POINT), exchange.sender);
        if let Some(snr_db) = self.medium.reception.snr_db(now, initiator, peer, one_stream) {
            self.backlog.txqs[exchange.txq].rate.update_snr(now, snr_db);
        }
    }

    /// Acknowledges the frames that the peer has received, and counts a failure for each frame just
    /// sent that the peer has not received.
    fn settle(&mut self, now: Instant, id: TxqId, exchange: &Exchange) {
        let was_data = exchange.kind == FrameKind::Data;
        let sent = std::mem::take(&mut self.backlog.txqs[id].originator.sent);
        let (mut delivered, mut missing) = (0, false);
        let originator = &mut self.backlog.txqs[id].originator;
        originator.has_gap &= was_data;
        originator.must_request = was_data && (originator.must_request || originator.has_gap);
        if was_data {
            for sequence in &sent {
                if let Some(frame) = originator.frame(*sequence) {
                    frame.is_settled |= frame.is_received;
                    delivered += u32::from(frame.is_received);
                    missing |= !frame.is_received;
                }
            }
        } else {
            missing = true;
        }
        if exchange.response == Response::BlockAck {
            // The bitmap of the Block ACK covers the whole window, not only the frames just sent
            // (10.25.6.5).
            originator.frames.iter_mut().for_each(|frame| frame.is_settled |= frame.is_received);
        }
        if was_data {
            self.backlog.txqs[id].rate.report(now, exchange.data.mode, sent.len() as u32, delivered);
        }
        if missing {
            sent.iter().for_each(|sequence| self.frame_fails(now, id, *sequence));
        }
        self.clear_sent(id, sent);
        self.advance(now, id);
        self.hold_waiting(now, id);
    }

    /// Empties the list of frames sent, so that a later Block ACK does not count their failures
    /// again.
    pub(super) fn clear_sent(&mut self, id: TxqId, mut sent: Vec<u64>) {
        sent.clear();
        self.backlog.txqs[id].originator.sent = sent;
    }

    /// Moves the transmit window past settled frames.
    pub(super) fn advance(&mut self, now: Instant, id: TxqId) {
        let Txq { originator, hack, .. } = &mut self.backlog.txqs[id];
        let (packets, bytes) = originator.advance(|frame| {
            if let Some(end) = hack {
                end.leaves_window(frame);
            }
        });
        self.backlog.let_go(now, id, packets, bytes, &self.measurement.window);
    }

    /// Handles a Block ACK request: the recipient no longer waits for frames before its starting
    /// sequence number (10.25.6.6.3).
    pub(super) fn move_window(&mut self, now: Instant, id: TxqId) {
        let txq = &mut self.backlog.txqs[id];
        let start = txq.originator.start;
        txq.recipient.advance(start, &mut pass_up(&mut self.arrivals, &self.distribution, txq.to, &mut txq.hack));
        self.relay(now);
    }

    /// Continues the transmission opportunity of the EDCAF after SIFS, or ends the exchange.
    fn next_or_end(&mut self, now: Instant, index: usize, exchange: &Exchange) {
        self.backlog.make_ready(exchange.txq, false);
        let begins = now + self.rules.timing.sifs;
        let next = exchange
            .txop_ends
            .filter(|ends| begins < *ends)
            .and_then(|ends| self.next_exchange(now, begins, exchange.edcaf, Some(ends), false));
        match next {
            Some(next) => {
                self.measurement.airtime.book(next.sender, Use::Interframe, begins);
                self.follow(index, next, Phase::BeforeFrame);
            }
            None => {
                self.medium.exchanges.swap_remove(index);
                self.end_txop(now, exchange.edcaf, None);
            }
        }
    }
}

/// Returns the use of the airtime of a frame with this outcome.
const fn use_by_outcome(outcome: Outcome, what: Use) -> Use {
    match outcome {
        Outcome::Received => what,
        Outcome::Collided => Use::Collision,
        Outcome::Lost => Use::Lost,
    }
}
