//! A PPDU is put together when its turn comes, from what waits at that moment.

use super::rules::Answer;
use super::transmit::{Arrived, Data, Exchange, Phase, Step};
use super::{Cell, TxqId};
use crate::access::FunctionId;
use crate::config::Protection;
use crate::frame;
use crate::originator::{Missed, Mpdu};
use crate::packet::Packet;
use crate::payload::Payload;
use crate::phy::Mode;
use acklab_base::{Bytes, Duration, Instant};

impl<D: Packet> Cell<D> {
    /// `function` has won the medium. Tells whether it sends.
    pub(super) fn begin(&mut self, now: Instant, id: FunctionId) -> bool {
        let limit = self.backlog.edcafs[id].parameters.txop_limit;
        let txop_ends = (!limit.is_zero()).then(|| now + limit);
        let Some(exchange) = self.next_exchange(now, now, id, txop_ends, true) else {
            // What was in line has been dropped by its queue.
            self.leave_medium(now, id, None);
            return false;
        };
        let function = &self.backlog.edcafs[id];
        let (node, space) = (function.node, self.rules.timing.aifs(function.parameters.aifsn));
        self.measurement.book_gap(now, node, space, self.contenders.since());
        let exchange = self.go_on_air(exchange);
        self.medium.exchanges.push(exchange);
        true
    }

    /// The exchange that `function` begins at `begins` with what it has now; none if it has nothing, or nothing that ends before
    /// `txop_ends`. The first of a transmission opportunity may exceed it (10.23.2.9).
    pub(super) fn next_exchange(
        &mut self,
        now: Instant,
        begins: Instant,
        function: FunctionId,
        txop_ends: Option<Instant>,
        is_first: bool,
    ) -> Option<Exchange> {
        loop {
            let txq = self.backlog.edcafs[function].ready.take()?;
            self.backlog.txqs[txq].is_ready = false;
            // What is too old leaves a gap, of which the peer must hear first.
            self.expire(now, txq);
            if !self.may_send(now, txq) {
                self.backlog.txqs[txq].rests = true;
                continue;
            }
            let prepared = if self.backlog.txqs[txq].originator.must_ask {
                Some((Step::Request, self.request(now, txq)))
            } else {
                let left = txop_ends.map(|ends| ends.since(begins));
                self.assemble(now, txq, left, is_first).map(|data| (Step::Data, data))
            };
            if let Some((step, data)) = prepared {
                let exchange = self.exchange(begins, function, txq, step, data, txop_ends);
                if !is_first && txop_ends.is_some_and(|ends| self.whole_time(&exchange) > ends.since(begins)) {
                    self.backlog.make_ready(txq, true);
                    return None;
                }
                return Some(exchange);
            }
            if !is_first && self.backlog.has_more(txq) {
                // It does not fit into what is left.
                self.backlog.make_ready(txq, true);
                return None;
            }
        }
    }

    fn exchange(
        &self,
        begins: Instant,
        function: FunctionId,
        txq: TxqId,
        step: Step,
        data: Data,
        txop_ends: Option<Instant>,
    ) -> Exchange {
        let (from, to) = (self.backlog.txqs[txq].from, self.backlog.txqs[txq].to);
        let exchange = Exchange {
            function,
            txq,
            step,
            phase: Phase::Frame,
            begins,
            ends: begins + super::airtime(&self.rules, data.mode, data.octets),
            sender: from,
            receiver: Some(to),
            mode: data.mode,
            octets: data.octets,
            answer: data.answer,
            data,
            number: 0,
            has_collided: false,
            is_undetected: false,
            txop_ends,
            arrived: Arrived::default(),
        };
        let ahead = match (step, self.rules.protection) {
            (Step::Data, Some((Protection::CtsToSelf, mode))) => Some((Step::CtsToSelf, mode)),
            (Step::Data, Some((Protection::RtsCts, mode))) => Some((Step::Rts, mode)),
            (Step::Data, _) if data.wants_rts => Some((Step::Rts, self.rules.control.response_to(data.mode))),
            _ => None,
        };
        match ahead {
            None => exchange,
            Some((Step::Rts, mode)) => self.control(exchange, Step::Rts, mode, frame::RTS, Answer::Cts),
            Some((step, mode)) => self.control(exchange, step, mode, frame::ACK, Answer::None),
        }
    }

    fn control(&self, exchange: Exchange, step: Step, mode: Mode, octets: Bytes, answer: Answer) -> Exchange {
        let ends = exchange.begins + super::airtime(&self.rules, mode, octets);
        let receiver = if answer == Answer::None { None } else { exchange.receiver };
        Exchange { step, mode, octets, answer, ends, receiver, ..exchange }
    }

    /// The mode in which a frame of `exchange` is answered.
    pub(super) fn answer_mode(&self, mode: Mode) -> Mode {
        match self.rules.protection {
            // DSSS is answered in DSSS.
            Some((_, protection)) if protection.format == mode.format => protection,
            _ => self.rules.control.response_to(mode),
        }
    }

    /// From the start of `exchange` to the end of its last answer.
    fn whole_time(&self, exchange: &Exchange) -> Duration {
        exchange.ends.since(exchange.begins) + self.reserved_behind(exchange)
    }

    /// For how long the medium is reserved behind what is on the air: the duration field (9.2.5).
    pub(super) fn reserved_behind(&self, exchange: &Exchange) -> Duration {
        let (sifs, space) = (self.rules.timing.sifs, self.rules.answer_space);
        let data = exchange.data;
        let data_and_answer = || {
            let answer = self.rules.answer_time(data.answer, self.answer_mode(data.mode));
            sifs + super::airtime(&self.rules, data.mode, data.octets) + space + answer
        };
        match (exchange.phase, exchange.step) {
            (Phase::Answer, Step::Rts) | (Phase::Frame, Step::CtsToSelf) => data_and_answer(),
            (Phase::Frame, Step::Rts) => {
                space + self.rules.answer_time(Answer::Cts, self.answer_mode(exchange.mode)) + data_and_answer()
            }
            (Phase::Frame, Step::Data | Step::Request) if exchange.answer != Answer::None => {
                space + self.rules.answer_time(exchange.answer, self.answer_mode(exchange.mode))
            }
            _ => Duration::ZERO,
        }
    }

    /// A Block ACK request.
    fn request(&mut self, now: Instant, id: TxqId) -> Data {
        let txq = &mut self.backlog.txqs[id];
        let mode = self.rules.control.response_to(txq.rate.choose(now, txq.attempt));
        Data::none(mode, frame::BLOCK_ACK_REQUEST, Answer::BlockAck)
    }

    /// What `id` sends next; nothing, if it has nothing or nothing that takes no longer than `left`.
    fn assemble(&mut self, now: Instant, id: TxqId, left: Option<Duration>, is_first: bool) -> Option<Data> {
        let txq = &mut self.backlog.txqs[id];
        let mode = txq.rate.choose(now, txq.attempt);
        let wants_rts = txq.rate.wants_rts();
        txq.originator.sent.clear();
        let data = match self.rules.max_aggregate {
            None => self.assemble_one(now, id, mode),
            Some(most) => {
                let answer = self.rules.answer_time(Answer::BlockAck, self.answer_mode(mode));
                let extension = self.rules.timing.extension(mode);
                let around = self.time_ahead(mode, wants_rts) + self.rules.answer_space + answer + extension;
                let in_txop = left.map(|left| Duration::from_nanos(left.as_nanos().saturating_sub(around.as_nanos())));
                let time = in_txop.map_or(self.rules.max_time, |time| time.min(self.rules.max_time));
                let most = most.min(mode.octets_within(time));
                self.assemble_aggregate(now, id, mode, most, is_first)
            }
        }?;
        let is_long = self.rules.rts_threshold.is_some_and(|threshold| data.octets > threshold);
        let txq = &self.backlog.txqs[id];
        let has_more = !txq.buffer.is_empty() || txq.originator.has_other();
        let is_sync = match txq.originator.missed {
            Missed::Nothing => false,
            Missed::Alone(sequence) => data.answer == Answer::BlockAck || txq.originator.sent != [sequence],
            Missed::Several => true,
        };
        Some(Data { wants_rts: wants_rts || is_long, has_more, is_sync, ..data })
    }

    /// How long it takes to reserve the medium for data in this mode, if they are long or `wants_rts`.
    fn time_ahead(&self, mode: Mode, wants_rts: bool) -> Duration {
        let sifs = self.rules.timing.sifs;
        let rts = |mode| {
            let cts = self.rules.answer_time(Answer::Cts, self.answer_mode(mode));
            super::airtime(&self.rules, mode, frame::RTS) + self.rules.answer_space + cts + sifs
        };
        match self.rules.protection {
            Some((Protection::CtsToSelf, mode)) => super::airtime(&self.rules, mode, frame::ACK) + sifs,
            Some((Protection::RtsCts, mode)) => rts(mode),
            _ if wants_rts || self.rules.rts_threshold.is_some() => rts(self.rules.control.response_to(mode)),
            _ => Duration::ZERO,
        }
    }

    fn assemble_one(&mut self, now: Instant, id: TxqId, mode: Mode) -> Option<Data> {
        if self.backlog.txqs[id].originator.is_empty() {
            self.next_mpdu(now, id)?;
        }
        let always_delimits = self.rules.always_delimits;
        let originator = &mut self.backlog.txqs[id].originator;
        originator.sent.push(originator.start);
        let frame = originator.frames.front()?;
        let octets = if always_delimits { frame::a_mpdu_subframe(frame.octets) } else { frame.octets };
        let mut data = Data::none(mode, octets, Answer::Ack);
        data.add(frame);
        Some(data)
    }

    /// First what was sent before and is missing, then what is new, within the window (10.25.6.5), `most` octets and the limit of frames.
    fn assemble_aggregate(&mut self, now: Instant, id: TxqId, mode: Mode, most: Bytes, is_first: bool) -> Option<Data> {
        let window = u64::from(self.rules.window);
        // A probe of the rate control goes alone.
        let max_frames = if self.backlog.txqs[id].rate.is_probe() { 1 } else { self.rules.max_frames };
        let (mut data, mut last) = (Data::none(mode, Bytes::ZERO, Answer::BlockAck), Bytes::ZERO);
        let fits = |data: &Data, mpdu: Bytes| {
            u64::from(data.frames) < max_frames
                && (frame::padded(data.octets) + frame::a_mpdu_subframe(mpdu) <= most || (data.frames == 0 && is_first))
        };
        let mut index = 0;
        loop {
            if index == self.backlog.txqs[id].originator.len() {
                let is_full = index as u64 >= window || u64::from(data.frames) >= max_frames;
                if is_full || self.next_mpdu(now, id).is_none() {
                    break;
                }
            }
            let originator = &mut self.backlog.txqs[id].originator;
            let next = &originator.frames[index];
            if !next.is_settled {
                if !fits(&data, next.octets) {
                    break;
                }
                data.octets = frame::padded(data.octets) + frame::a_mpdu_subframe(next.octets);
                data.add(next);
                last = next.octets;
                originator.sent.push(originator.start + index as u64);
            }
            index += 1;
        }
        match data.frames {
            0 => None,
            // A frame by itself is acknowledged by itself (10.25.6.5).
            1 => {
                let octets = if self.rules.always_delimits { data.octets } else { last };
                Some(Data { octets, answer: Answer::Ack, ..data })
            }
            _ => Some(data),
        }
    }

    /// The next packet, or packets, from the queue get a sequence number.
    fn next_mpdu(&mut self, now: Instant, id: TxqId) -> Option<()> {
        self.drop_expired(now, id);
        let (arrived, first) = self.take(now, id)?;
        self.sends_plain(now, id, &first);
        let bytes = first.wire_len();
        let mut frame = Mpdu {
            octets: frame::mpdu(bytes, self.rules.has_qos),
            pure_ack_octets: if first.is_pure_ack() { bytes.get() as u32 } else { 0 },
            packets: Payload::One(first),
            packet_count: 1,
            bytes,
            arrived,
            failures: 0,
            is_received: false,
            is_settled: false,
            is_given_up: false,
        };
        if self.rules.a_msdu > Bytes::ZERO {
            self.fill_a_msdu(now, id, &mut frame);
        }
        self.backlog.txqs[id].originator.append(frame);
        Some(())
    }

    /// More packets join the first of `frame`, as long as an A-MSDU has room.
    fn fill_a_msdu(&mut self, now: Instant, id: TxqId, frame: &mut Mpdu<D>) {
        let mut subframes = frame::a_msdu_subframe(frame.bytes);
        loop {
            self.drop_expired(now, id);
            let Some(head) = self.backlog.txqs[id].buffer.head() else { return };
            if frame::padded(subframes) + frame::a_msdu_subframe(head.wire_len()) > self.rules.a_msdu {
                return;
            }
            let Some((_, packet)) = self.take(now, id) else { return };
            self.sends_plain(now, id, &packet);
            let size = packet.wire_len();
            subframes = frame::padded(subframes) + frame::a_msdu_subframe(size);
            frame.bytes += size;
            frame.pure_ack_octets += if packet.is_pure_ack() { size.get() as u32 } else { 0 };
            frame.packets.push(packet);
            frame.packet_count += 1;
            frame.octets = frame::a_msdu(subframes);
        }
    }

    /// Takes a packet from the queue. What `CoDel` drops on the way is told to its flow.
    fn take(&mut self, now: Instant, id: TxqId) -> Option<(Instant, D)> {
        let txq = &mut self.backlog.txqs[id];
        let (before, before_bytes) = (txq.buffer.len(), txq.buffer.bytes());
        let taken = txq.buffer.take(now);
        let gone = before - txq.buffer.len() - usize::from(taken.is_some());
        if gone > 0 {
            let given = taken.as_ref().map_or(Bytes::ZERO, |(_, packet)| packet.wire_len());
            let gone_bytes = before_bytes - txq.buffer.bytes() - given;
            self.dropped_at_head(now, id, gone as u64, gone_bytes);
        }
        taken
    }

    fn dropped_at_head(&mut self, now: Instant, id: TxqId, packets: u64, bytes: Bytes) {
        let txq = &mut self.backlog.txqs[id];
        let is_measured = self.measurement.is_on(now);
        let gone = std::iter::from_fn(|| txq.buffer.take_drop()).filter(|_| is_measured);
        self.measurement.turned_away.extend(gone);
        if let Some(counters) = self.measurement.of(now, txq.from) {
            counters.dropped += packets;
        }
        self.backlog.let_go(now, id, packets, bytes, &self.measurement.window);
    }

    /// Gives up what waits first and is too old.
    fn drop_expired(&mut self, now: Instant, id: TxqId) {
        let Some(lifetime) = self.rules.lifetime else { return };
        while let Some(arrived) = self.backlog.txqs[id].buffer.head_arrived()
            && now.since(arrived) > lifetime
            && let Some((_, packet)) = self.take(now, id)
        {
            if let Some(counters) = self.measurement.of(now, self.backlog.txqs[id].from) {
                counters.expired += 1;
                self.measurement.turned_away.push(packet.flow());
            }
            self.backlog.let_go(now, id, 1, packet.wire_len(), &self.measurement.window);
        }
    }

    /// Gives up what has a sequence number and is too old.
    fn expire(&mut self, now: Instant, id: TxqId) {
        let Some(lifetime) = self.rules.lifetime else { return };
        let mut is_any = false;
        for index in 0..self.backlog.txqs[id].originator.len() {
            let frame = &self.backlog.txqs[id].originator.frames[index];
            if !frame.is_settled && now.since(frame.arrived) > lifetime {
                let from = self.backlog.txqs[id].from;
                self.measurement.counters[from].expired += self.give_up(now, id, index);
                is_any = true;
            }
        }
        if is_any {
            self.advance(now, id);
        }
    }
}
