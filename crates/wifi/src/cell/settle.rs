//! An answer ends, or does not come.

use super::arrivals::goes_up;
use super::rules::Answer;
use super::transmit::{Exchange, Phase, Step};
use super::{Cell, Txq, TxqId};
use crate::airtime::Use;
use crate::config::AfterMissed;
use crate::originator::Missed;
use crate::packet::Packet;
use crate::phy::Mode;
use crate::ppdu::Fate;
use acklab_base::{Datagram, Instant};

impl<D: Packet> Cell<D> {
    pub(super) fn answer_ends(&mut self, now: Instant, index: usize) {
        let exchange = self.medium.exchanges[index];
        let is_read = self.is_answer_read(now, &exchange);
        let fate = self.fate(&exchange, is_read);
        let reserved = self.reserved_behind(&exchange);
        self.measurement.airtime.book(exchange.sender, Use::Interframe, exchange.begins);
        let what = if exchange.answer == Answer::Cts { Use::Control } else { Use::LinkAck };
        let plain_ends = exchange.begins + self.rules.answer_time(exchange.answer, exchange.mode);
        self.measurement.airtime.book(exchange.sender, what_of(fate, what), plain_ends.min(now));
        self.measurement.airtime.book(exchange.sender, what_of(fate, Use::CompressedAck), now);
        if let Some(counters) = self.measurement.of(now, exchange.sender) {
            counters.link_acks += u64::from(exchange.answer != Answer::Cts);
        }
        self.log_answer(&exchange, fate, reserved);
        self.medium.go_off_air(now, &self.rules, &exchange, reserved, is_read);
        self.medium.forget_overlaps(&exchange);
        match exchange.answer {
            _ if fate != Fate::Received => self.fails(now, index),
            Answer::Cts => {
                self.backlog.edcafs[exchange.function].short_retries = 0;
                self.sends_data(now, index);
            }
            _ => {
                self.appended_acks_arrive(now, &exchange);
                self.succeeds(now, index);
            }
        }
    }

    /// The answer has come.
    fn succeeds(&mut self, now: Instant, index: usize) {
        let exchange = self.medium.exchanges[index];
        let id = exchange.txq;
        let function = &mut self.backlog.edcafs[exchange.function];
        function.window.succeed();
        (function.short_retries, function.long_retries) = (0, 0);
        let txq = &mut self.backlog.txqs[id];
        txq.attempt = 0;
        (txq.originator.missed, txq.originator.requests) = (Missed::Nothing, 0);
        self.heard(now, &exchange);
        self.settle(now, id, exchange.step == Step::Data, exchange.data.mode);
        self.next_or_leave(now, index, &exchange);
    }

    /// The answer tells how well the peer hears what it answers, as if that stood in it (ns-3's `SnrTag`).
    fn heard(&mut self, now: Instant, exchange: &Exchange) {
        let one_stream = Mode { streams: 1, ..exchange.data.mode };
        let (initiator, peer) = (exchange.receiver.unwrap_or(super::ACCESS_POINT), exchange.sender);
        if let Some(snr_db) = self.medium.reception.snr_db(now, initiator, peer, one_stream) {
            self.backlog.txqs[exchange.txq].rate.heard(now, snr_db);
        }
    }

    /// What the peer has is acknowledged; what it does not have counts a failure, if it was sent just now.
    fn settle(&mut self, now: Instant, id: TxqId, was_data: bool, mode: Mode) {
        let sent = std::mem::take(&mut self.backlog.txqs[id].originator.sent);
        let (mut delivered, mut missing) = (0, false);
        let originator = &mut self.backlog.txqs[id].originator;
        originator.has_gap &= was_data;
        originator.must_ask = was_data && (originator.must_ask || originator.has_gap);
        if was_data {
            for sequence in &sent {
                if let Some(frame) = originator.frame(*sequence) {
                    frame.is_settled |= frame.is_received;
                    delivered += u32::from(frame.is_received);
                    missing |= !frame.is_received;
                }
            }
            self.backlog.txqs[id].rate.report(now, mode, sent.len() as u32, delivered);
        } else {
            // A Block ACK tells of the whole window.
            originator.frames.iter_mut().for_each(|frame| frame.is_settled |= frame.is_received);
            missing = true;
        }
        if missing {
            sent.iter().for_each(|sequence| self.frame_fails(now, id, *sequence));
        }
        self.answered(id, sent);
        self.advance(now, id);
        self.hold_waiting(now, id);
    }

    /// What became of `sent` is known: no later Block ACK counts its failures again.
    fn answered(&mut self, id: TxqId, mut sent: Vec<u64>) {
        sent.clear();
        self.backlog.txqs[id].originator.sent = sent;
    }

    /// A frame was not received. After too many failures it is given up.
    fn frame_fails(&mut self, now: Instant, id: TxqId, sequence: u64) {
        let most = if self.rules.max_aggregate.is_some() { self.rules.retries.aggregated } else { None };
        let txq = &mut self.backlog.txqs[id];
        let index = sequence.saturating_sub(txq.originator.start) as usize;
        let Some(frame) = txq.originator.frame(sequence) else { return };
        if frame.is_settled {
            return;
        }
        frame.failures = frame.failures.saturating_add(1);
        if most.is_some_and(|most| frame.failures >= most) {
            let from = txq.from;
            self.measurement.counters[from].given_up += self.give_up(now, id, index);
        }
    }

    /// The frame at `index` of the window will not be sent again. Returns how many packets the peer lacks for that, if they count.
    pub(super) fn give_up(&mut self, now: Instant, id: TxqId, index: usize) -> u64 {
        let is_measured = self.measurement.is_on(now);
        let has_agreement = self.rules.max_aggregate.is_some();
        let txq = &mut self.backlog.txqs[id];
        let originator = &mut txq.originator;
        let Some(frame) = originator.frames.get_mut(index) else { return 0 };
        (frame.is_settled, frame.is_given_up) = (true, true);
        if frame.is_received {
            return 0;
        }
        // The peer waits for it: its window must be moved (10.25.6.6.3).
        originator.must_ask |= has_agreement;
        originator.has_gap |= has_agreement;
        if !is_measured {
            return 0;
        }
        self.measurement.turned_away.extend(frame.packets.as_slice().iter().map(Datagram::flow));
        u64::from(frame.packet_count)
    }

    /// The window moves past what is settled.
    pub(super) fn advance(&mut self, now: Instant, id: TxqId) {
        let Txq { originator, hack, .. } = &mut self.backlog.txqs[id];
        let (packets, bytes) = originator.advance(|frame| {
            if let Some(end) = hack {
                end.leaves_window(frame);
            }
        });
        self.backlog.let_go(now, id, packets, bytes, &self.measurement.window);
    }

    /// A Block ACK request has arrived: what lies before the originator's window will not come.
    pub(super) fn moves_window(&mut self, now: Instant, id: TxqId) {
        let txq = &mut self.backlog.txqs[id];
        let start = txq.originator.start;
        txq.recipient.advance(start, &mut goes_up(&mut self.arrivals, &self.distribution, txq.to, &mut txq.hack));
        self.relay(now);
    }

    /// No answer comes, or none that can be read.
    pub(super) fn fails(&mut self, now: Instant, index: usize) {
        let exchange = self.medium.exchanges.swap_remove(index);
        let (id, function_id) = (exchange.txq, exchange.function);
        if let Some(counters) = self.measurement.of(now, self.backlog.txqs[id].from) {
            counters.unanswered += u64::from(exchange.step == Step::Data);
            counters.rts_unanswered += u64::from(exchange.step == Step::Rts);
        }
        let is_behind_rts = exchange.step == Step::Data && exchange.data.wants_rts;
        let retries = self.rules.retries;
        let function = &mut self.backlog.edcafs[function_id];
        function.window.fail();
        let (counter, limit) = if is_behind_rts {
            (&mut function.long_retries, retries.long)
        } else {
            (&mut function.short_retries, retries.short)
        };
        *counter = counter.saturating_add(1);
        let is_too_often = *counter >= limit;
        let txq = &mut self.backlog.txqs[id];
        txq.attempt += 1;
        if matches!(exchange.step, Step::Data | Step::Request) {
            txq.originator.misses(exchange.data.answer == Answer::Ack);
            txq.originator.requests += u8::from(exchange.step == Step::Request);
        }
        if exchange.step == Step::Data {
            let frames = exchange.data.frames;
            self.backlog.txqs[id].rate.report(now, exchange.data.mode, frames, 0);
        }
        if exchange.data.answer == Answer::BlockAck {
            self.aggregate_fails(now, &exchange);
        } else if is_too_often {
            self.single_frame_fails_for_good(now, &exchange);
        } else if exchange.step == Step::Data
            && let Some(frame) = self.backlog.txqs[id].originator.frames.front_mut()
        {
            frame.failures = frame.failures.saturating_add(1);
        }
        self.backlog.make_ready(id, true);
        let waits = match exchange.phase {
            // Something did come, and could not be read.
            Phase::Answer => self.rules.unread_extra(exchange.is_undetected),
            _ => self.rules.response_timeout(self.answer_mode(exchange.mode)),
        };
        self.leave_medium(now, function_id, Some(now + waits));
    }

    /// Nobody knows which frames of an aggregate have arrived.
    fn aggregate_fails(&mut self, now: Instant, exchange: &Exchange) {
        let id = exchange.txq;
        if exchange.step == Step::Rts {
            return;
        }
        let originator = &mut self.backlog.txqs[id].originator;
        let gives_up = self.rules.retries.requests.is_some_and(|most| originator.requests >= most);
        if gives_up {
            (originator.must_ask, originator.requests) = (false, 0);
        }
        match self.rules.after_missed {
            AfterMissed::Request if !gives_up => originator.must_ask = true,
            AfterMissed::Request | AfterMissed::Retransmit => {
                let sent = std::mem::take(&mut self.backlog.txqs[id].originator.sent);
                sent.iter().for_each(|sequence| self.frame_fails(now, id, *sequence));
                self.answered(id, sent);
                self.advance(now, id);
            }
        }
    }

    /// The frame is given up, and the next one starts afresh (10.3.4.4).
    fn single_frame_fails_for_good(&mut self, now: Instant, exchange: &Exchange) {
        let id = exchange.txq;
        let function = &mut self.backlog.edcafs[exchange.function];
        (function.short_retries, function.long_retries) = (0, 0);
        function.window.give_up();
        let txq = &mut self.backlog.txqs[id];
        txq.attempt = 0;
        let index =
            txq.originator.sent.first().map_or(0, |sequence| sequence.saturating_sub(txq.originator.start) as usize);
        let from = txq.from;
        self.measurement.counters[from].given_up += self.give_up(now, id, index);
        self.advance(now, id);
    }

    /// Within its transmission opportunity the function goes on after SIFS; else the exchange is over.
    fn next_or_leave(&mut self, now: Instant, index: usize, exchange: &Exchange) {
        self.backlog.make_ready(exchange.txq, false);
        let begins = now + self.rules.timing.sifs;
        let next = exchange
            .txop_ends
            .filter(|ends| begins < *ends)
            .and_then(|ends| self.next_exchange(now, begins, exchange.function, Some(ends), false));
        match next {
            Some(next) => {
                self.measurement.airtime.book(next.sender, Use::Interframe, begins);
                self.follows(index, next, Phase::BeforeFrame);
            }
            None => {
                self.medium.exchanges.swap_remove(index);
                self.leave_medium(now, exchange.function, None);
            }
        }
    }
}

/// What the time of a frame that ended so was used for.
const fn what_of(fate: Fate, what: Use) -> Use {
    match fate {
        Fate::Received => what,
        Fate::Collided => Use::Collision,
        Fate::Lost => Use::Lost,
    }
}
