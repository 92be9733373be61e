//! The end of a PPDU: reception, and the response frame.

use super::arrivals::pass_up;
use super::exchange::{Exchange, FrameKind, Phase, Response};
use super::{Cell, Txq};
use crate::airtime::Use;
use crate::frame;
use crate::packet::Packet;
use crate::ppdu::Outcome;
use crate::reception;
use acklab_base::Instant;

impl<D: Packet> Cell<D> {
    /// Advances an exchange at the end of its PPDU, or at the end of the space before its next
    /// PPDU.
    pub(super) fn advance_exchange(&mut self, now: Instant, index: usize) {
        match self.medium.exchanges[index].phase {
            Phase::Frame => self.frame_ends(now, index),
            Phase::BeforeResponse | Phase::BeforeFrame => self.space_ends(index),
            Phase::Response => self.response_ends(now, index),
        }
    }

    fn frame_ends(&mut self, now: Instant, index: usize) {
        let mut exchange = self.medium.exchanges[index];
        let is_read = self.is_read(now, &mut exchange);
        let outcome = self.outcome(&exchange, is_read);
        let reserved = self.duration_field(&exchange);
        self.book_frame(now, &exchange, outcome);
        self.log_frame(&exchange, outcome, reserved);
        let withholds_cts = self.medium.withholds_cts(now, &exchange);
        self.medium.go_off_air(now, &self.rules, &exchange, reserved, is_read);
        self.medium.forget_overlaps(&exchange);
        match exchange.response {
            Response::None => self.continue_without_response(now, index),
            _ if is_read && !withholds_cts => self.respond(now, index),
            _ => self.fails(now, index),
        }
    }

    pub(super) const fn outcome(&self, exchange: &Exchange, is_read: bool) -> Outcome {
        match (is_read, exchange.has_collided) {
            (true, _) => Outcome::Received,
            (_, true) => Outcome::Collided,
            _ => Outcome::Lost,
        }
    }

    /// Returns `true` if the receiver decodes the PPDU. One MPDU of an aggregate is enough; the
    /// receiver passes up the MPDUs that it decodes.
    fn is_read(&mut self, now: Instant, exchange: &mut Exchange) -> bool {
        let Some(receiver) = exchange.receiver else { return !exchange.has_collided };
        match exchange.kind {
            FrameKind::Data => {
                self.receive_data(now, exchange, receiver, usize::MAX);
                exchange.arrived.is_any_read
            }
            _ => self.medium.is_control_read(now, exchange, receiver),
        }
    }

    /// Returns `true` if the initiator decodes the response frame.
    pub(super) fn is_response_read(&mut self, now: Instant, exchange: &Exchange) -> bool {
        self.medium.is_control_read(now, exchange, exchange.receiver.unwrap_or(super::ACCESS_POINT))
    }

    /// Receives the next `maximum` MPDUs of a PPDU.
    fn receive_data(&mut self, now: Instant, exchange: &mut Exchange, receiver: usize, maximum: usize) {
        let mut link = self.medium.link(now, exchange, receiver, reception::Kind::Data);
        let arrived = &mut exchange.arrived;
        if arrived.mpdus == 0 {
            arrived.is_header_read = self.medium.draw(link.header());
        }
        if !arrived.is_header_read {
            return;
        }
        let keeps = self.measurement.log.is_some();
        let has_agreement = self.rules.max_aggregate.is_some();
        let Txq { from, to, originator, recipient, hack, .. } = &mut self.backlog.txqs[exchange.txq];
        for place in arrived.mpdus..originator.sent.len().min(arrived.mpdus.saturating_add(maximum)) {
            let sequence = originator.sent[place];
            let Some(frame) = originator.frame(sequence) else { continue };
            if !self.medium.draw(link.success(frame.octets)) {
                continue;
            }
            arrived.is_any_read = true;
            if std::mem::replace(&mut frame.is_received, true) {
                continue;
            }
            self.measurement.count_delivery(now, *from, frame);
            // The sender's compressor observes its own pure ACKs once they are acknowledged.
            let keeps = keeps || (hack.is_some() && frame.transport_ack_octets > 0);
            let packets = if keeps { frame.packets.clone() } else { std::mem::take(&mut frame.packets) };
            // Packets in order are passed up, or relayed.
            let mut up = pass_up(&mut self.arrivals, &self.distribution, *to, hack);
            if has_agreement {
                recipient.receive(sequence, packets, &mut up);
            } else {
                recipient.receive_alone(sequence, packets, &mut up);
            }
        }
        self.relay(now);
    }

    /// Handles the end of an MPDU within its aggregate. ns-3 passes it up immediately
    /// (`PhyEntity::EndOfMpdu`).
    pub(super) fn mpdu_ends(&mut self, now: Instant, index: usize) {
        let mut exchange = self.medium.exchanges[index];
        if let Some(receiver) = exchange.receiver {
            self.receive_data(now, &mut exchange, receiver, 1);
        }
        exchange.arrived.mpdus += 1;
        self.schedule_next_mpdu(&mut exchange);
        self.medium.exchanges[index] = exchange;
    }

    /// Computes when the next MPDU ends: with the symbol that carries its last bit. The last MPDU
    /// ends with the PPDU.
    pub(super) fn schedule_next_mpdu(&self, exchange: &mut Exchange) {
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

    /// Sends the response frame of the receiver.
    fn respond(&mut self, now: Instant, index: usize) {
        if self.medium.exchanges[index].kind == FrameKind::Request {
            self.move_window(now, self.medium.exchanges[index].txq);
        }
        let exchange = self.medium.exchanges[index];
        let mode = self.response_mode(exchange.mode);
        let octets = self.rules.response_octets(exchange.response) + self.append_acks(now, &exchange, mode);
        let begins = now + self.rules.response_space;
        let response = Exchange {
            phase: Phase::Response,
            begins,
            ends: begins + super::airtime(&self.rules, mode, octets),
            sender: exchange.receiver.unwrap_or(super::ACCESS_POINT),
            receiver: Some(exchange.sender),
            mode,
            octets,
            ..exchange
        };
        self.follow(index, response, Phase::BeforeResponse);
    }

    /// Schedules the PPDU of `next` one space after the PPDU at `index`, which has ended.
    pub(super) fn follow(&mut self, index: usize, next: Exchange, space: Phase) {
        if self.medium.has_one_view {
            // No node can begin to transmit within the space, because SIFS is shorter than any
            // AIFS. Other PPDUs on the air are already known.
            self.medium.exchanges[index].phase = space;
            self.medium.exchanges[index] = self.go_on_air(next);
        } else {
            self.medium.exchanges[index] = Exchange { phase: space, ends: next.begins, ..next };
        }
    }

    fn space_ends(&mut self, index: usize) {
        let waiting = self.medium.exchanges[index];
        let phase = if waiting.phase == Phase::BeforeResponse { Phase::Response } else { Phase::Frame };
        let ends = waiting.begins + super::airtime(&self.rules, waiting.mode, waiting.octets);
        let begins = Exchange { phase, ends, ..waiting };
        self.medium.exchanges[index] = self.go_on_air(begins);
    }

    /// Continues after a frame without a response: data follow a CTS-to-self, and nothing follows a
    /// beacon.
    fn continue_without_response(&mut self, now: Instant, index: usize) {
        if self.medium.exchanges[index].kind == FrameKind::Beacon {
            self.medium.exchanges.swap_remove(index);
            return;
        }
        self.send_data(now, index);
    }

    /// Sends data after SIFS, once the medium is reserved.
    pub(super) fn send_data(&mut self, now: Instant, index: usize) {
        let exchange = self.medium.exchanges[index];
        let (txq, data) = (&self.backlog.txqs[exchange.txq], exchange.data);
        let begins = now + self.rules.timing.sifs;
        let next = Exchange {
            kind: FrameKind::Data,
            phase: Phase::Frame,
            begins,
            ends: begins + super::airtime(&self.rules, data.mode, data.octets),
            sender: txq.from,
            receiver: Some(txq.to),
            mode: data.mode,
            octets: data.octets,
            response: data.response,
            ..exchange
        };
        self.measurement.airtime.book(next.sender, Use::Interframe, begins);
        self.follow(index, next, Phase::BeforeFrame);
    }
}
