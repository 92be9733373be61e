//! What was on the air ends: it is read or not, and answered or not.

use super::arrivals::goes_up;
use super::rules::Answer;
use super::transmit::{Exchange, Phase, Step};
use super::{Cell, TxqId};
use crate::airtime::Use;
use crate::frame;
use crate::packet::Packet;
use crate::ppdu::Fate;
use crate::reception::Kind;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// What `index` has on the air ends, or the space before the next.
    pub(super) fn step(&mut self, now: Instant, index: usize) {
        match self.medium.exchanges[index].phase {
            Phase::Frame => self.frame_ends(now, index),
            Phase::BeforeAnswer | Phase::BeforeFrame => self.space_ends(now, index),
            Phase::Answer => self.answer_ends(now, index),
        }
    }

    fn frame_ends(&mut self, now: Instant, index: usize) {
        let mut exchange = self.medium.exchanges[index];
        let is_read = self.is_read(now, &mut exchange);
        let fate = self.fate(&exchange, is_read);
        let reserved = self.reserved_behind(&exchange);
        self.book_frame(now, &exchange, fate);
        self.log_frame(&exchange, fate, reserved);
        self.medium.go_off_air(now, &self.rules, &exchange, reserved, is_read);
        self.medium.forget_overlaps(&exchange);
        match exchange.answer {
            Answer::None => self.goes_on(now, index),
            _ if is_read => self.answers(now, index),
            _ => self.fails(now, index),
        }
    }

    /// How a frame ended that was read or not.
    pub(super) const fn fate(&self, exchange: &Exchange, is_read: bool) -> Fate {
        match (is_read, exchange.has_collided) {
            (true, _) => Fate::Received,
            (_, true) => Fate::Collided,
            _ => Fate::Lost,
        }
    }

    /// Can the receiver read what has ended? Of an aggregate, any of it: what it can read goes up.
    fn is_read(&mut self, now: Instant, exchange: &mut Exchange) -> bool {
        let Some(receiver) = exchange.receiver else { return !exchange.has_collided };
        match exchange.step {
            Step::Data => {
                self.receive_data(now, exchange, receiver, usize::MAX);
                exchange.arrived.is_any_read
            }
            _ => self.medium.is_control_read(now, exchange, receiver),
        }
    }

    /// Can the initiator read the answer?
    pub(super) fn is_answer_read(&mut self, now: Instant, exchange: &Exchange) -> bool {
        self.medium.is_control_read(now, exchange, exchange.receiver.unwrap_or(super::ACCESS_POINT))
    }

    /// The next MPDUs of a PPDU arrive, `most` of them.
    fn receive_data(&mut self, now: Instant, exchange: &mut Exchange, receiver: usize, most: usize) {
        let mut link = self.medium.link(now, exchange, receiver, Kind::Data);
        let arrived = &mut exchange.arrived;
        if arrived.mpdus == 0 {
            arrived.is_heard = self.medium.happens(link.header());
        }
        if !arrived.is_heard {
            return;
        }
        let id = exchange.txq;
        let sent = std::mem::take(&mut self.backlog.txqs[id].originator.sent);
        for sequence in sent.iter().skip(arrived.mpdus).take(most) {
            let Some(frame) = self.backlog.txqs[id].originator.frame(*sequence) else { continue };
            let octets = frame.octets;
            if self.medium.happens(link.success(octets)) {
                arrived.is_any_read = true;
                self.receive_mpdu(now, id, *sequence);
            }
        }
        self.backlog.txqs[id].originator.sent = sent;
        self.relay(now);
    }

    /// An MPDU ends whose aggregate goes on. ns-3 passes it up at once (`PhyEntity::EndOfMpdu`).
    pub(super) fn mpdu_ends(&mut self, now: Instant, index: usize) {
        let mut exchange = self.medium.exchanges[index];
        if let Some(receiver) = exchange.receiver {
            self.receive_data(now, &mut exchange, receiver, 1);
        }
        exchange.arrived.mpdus += 1;
        self.next_mpdu_goes_up(&mut exchange);
        self.medium.exchanges[index] = exchange;
    }

    /// Finds out when the next MPDU ends: with the symbol that carries the last of it. The last one ends with its PPDU.
    pub(super) fn next_mpdu_goes_up(&self, exchange: &mut Exchange) {
        let originator = &self.backlog.txqs[exchange.txq].originator;
        let arrived = &mut exchange.arrived;
        arrived.next = Instant::FAR_FUTURE;
        if arrived.mpdus + 1 < originator.sent.len()
            && let Some(frame) = originator.sent_frame(arrived.mpdus)
        {
            arrived.octets = frame::padded(arrived.octets) + frame::a_mpdu_subframe(frame.octets);
            arrived.next = exchange.begins + exchange.mode.duration(arrived.octets);
        }
    }

    /// The peer has one more frame. What it has in order goes up, or on to where it is bound.
    fn receive_mpdu(&mut self, now: Instant, id: TxqId, sequence: u64) {
        let keeps = self.measurement.log.is_some();
        let has_agreement = self.rules.max_aggregate.is_some();
        let txq = &mut self.backlog.txqs[id];
        let Some(frame) = txq.originator.frame(sequence) else { return };
        if frame.is_received {
            return;
        }
        frame.is_received = true;
        if let Some(counters) = self.measurement.of(now, txq.from) {
            counters.first_successes += u64::from(frame.failures == 0);
            counters.delivered += u64::from(frame.packet_count);
            counters.delivered_bytes += frame.bytes.get();
            counters.delay += now.since(frame.arrived) * u64::from(frame.packet_count);
        }
        // Of a pure ACK the sender's own compressor is told, once it is acknowledged.
        let keeps = keeps || (txq.hack.is_some() && frame.pure_ack_octets > 0);
        let packets = if keeps { frame.packets.clone() } else { std::mem::take(&mut frame.packets) };
        let mut up = goes_up(&mut self.arrivals, &self.distribution, txq.to, &mut txq.hack);
        if has_agreement {
            txq.recipient.receive(sequence, packets, &mut up);
        } else {
            txq.recipient.receive_alone(sequence, packets, &mut up);
        }
    }

    /// The receiver answers.
    fn answers(&mut self, now: Instant, index: usize) {
        if self.medium.exchanges[index].step == Step::Request {
            self.moves_window(now, self.medium.exchanges[index].txq);
        }
        let exchange = self.medium.exchanges[index];
        let mode = self.answer_mode(exchange.mode);
        let octets = self.rules.answer_octets(exchange.answer) + self.append_acks(now, &exchange, mode);
        let begins = now + self.rules.answer_space;
        let answer = Exchange {
            phase: Phase::Answer,
            begins,
            ends: begins + super::airtime(&self.rules, mode, octets),
            sender: exchange.receiver.unwrap_or(super::ACCESS_POINT),
            receiver: Some(exchange.sender),
            mode,
            octets,
            ..exchange
        };
        self.follows(index, answer, Phase::BeforeAnswer);
    }

    /// `next` takes the place of what has ended at `index`, a space later.
    pub(super) fn follows(&mut self, index: usize, next: Exchange, space: Phase) {
        if self.medium.has_one_view {
            // Nobody can come between: the space is shorter than any other. What else is on the air overlaps with it or not.
            self.medium.exchanges[index].phase = space;
            self.medium.exchanges[index] = self.go_on_air(next);
        } else {
            self.medium.exchanges[index] = Exchange { phase: space, ends: next.begins, ..next };
        }
    }

    fn space_ends(&mut self, _now: Instant, index: usize) {
        let waiting = self.medium.exchanges[index];
        let phase = if waiting.phase == Phase::BeforeAnswer { Phase::Answer } else { Phase::Frame };
        let ends = waiting.begins + super::airtime(&self.rules, waiting.mode, waiting.octets);
        let begins = Exchange { phase, ends, ..waiting };
        self.medium.exchanges[index] = self.go_on_air(begins);
    }

    /// Nothing answers what has ended: data follow a CTS to oneself, nothing follows a beacon.
    fn goes_on(&mut self, now: Instant, index: usize) {
        if self.medium.exchanges[index].step == Step::Beacon {
            self.medium.exchanges.swap_remove(index);
            return;
        }
        self.sends_data(now, index);
    }

    /// The medium is reserved: data follow after SIFS.
    pub(super) fn sends_data(&mut self, now: Instant, index: usize) {
        let exchange = self.medium.exchanges[index];
        let (txq, data) = (&self.backlog.txqs[exchange.txq], exchange.data);
        let begins = now + self.rules.timing.sifs;
        let next = Exchange {
            step: Step::Data,
            phase: Phase::Frame,
            begins,
            ends: begins + super::airtime(&self.rules, data.mode, data.octets),
            sender: txq.from,
            receiver: Some(txq.to),
            mode: data.mode,
            octets: data.octets,
            answer: data.answer,
            ..exchange
        };
        self.measurement.airtime.book(next.sender, Use::Interframe, begins);
        self.follows(index, next, Phase::BeforeFrame);
    }
}
