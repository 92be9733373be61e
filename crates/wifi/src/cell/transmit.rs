//! The start of a frame exchange by an EDCAF that has won the medium.

use super::exchange::{Arrived, Data, Exchange, FrameKind, Phase, Response};
use super::{Cell, TxqId};
use crate::access::EdcafId;
use crate::config::Protection;
use crate::frame;
use crate::packet::Packet;
use crate::phy::Mode;
use acklab_base::{Duration, Instant};

impl<D: Packet> Cell<D> {
    /// Starts a transmission opportunity of an EDCAF that has won the medium. Returns `true` if it
    /// transmits.
    pub(super) fn begin(&mut self, now: Instant, id: EdcafId) -> bool {
        let limit = self.backlog.edcafs[id].parameters.txop_limit;
        let txop_ends = (!limit.is_zero()).then(|| now + limit);
        let Some(exchange) = self.next_exchange(now, now, id, txop_ends, true) else {
            // The queue discipline has dropped the waiting packets.
            self.end_txop(now, id, None);
            return false;
        };
        let edcaf = &self.backlog.edcafs[id];
        let (node, space) = (edcaf.node, self.rules.timing.aifs(edcaf.parameters.aifsn));
        self.measurement.book_gap(now, node, space, self.contenders.since());
        let exchange = self.go_on_air(exchange);
        self.medium.exchanges.push(exchange);
        true
    }

    /// Returns the exchange that the EDCAF starts at `begins`. Returns `None` if it has nothing to
    /// send, or nothing that ends before `txop_ends`. The first exchange of a transmission
    /// opportunity may exceed the limit (10.23.2.9).
    pub(super) fn next_exchange(
        &mut self,
        now: Instant,
        begins: Instant,
        edcaf: EdcafId,
        txop_ends: Option<Instant>,
        is_first: bool,
    ) -> Option<Exchange> {
        loop {
            let txq = self.backlog.edcafs[edcaf].ready.take()?;
            self.backlog.txqs[txq].is_ready = false;
            // Expired frames leave a gap. The peer's window must move past it before other frames
            // are sent.
            self.expire(now, txq);
            if !self.may_send(now, txq) {
                self.backlog.txqs[txq].is_paused = true;
                continue;
            }
            let prepared = if self.backlog.txqs[txq].originator.must_request {
                Some((FrameKind::Request, self.request(now, txq)))
            } else {
                let left = txop_ends.map(|ends| ends.since(begins));
                self.assemble(now, txq, left, is_first).map(|data| (FrameKind::Data, data))
            };
            if let Some((kind, data)) = prepared {
                let exchange = self.exchange(begins, edcaf, txq, kind, data, txop_ends);
                if !is_first && txop_ends.is_some_and(|ends| self.exchange_time(&exchange) > ends.since(begins)) {
                    self.backlog.make_ready(txq, true);
                    return None;
                }
                return Some(exchange);
            }
            if !is_first && self.backlog.has_more(txq) {
                // The exchange does not fit into the rest of the transmission opportunity.
                self.backlog.make_ready(txq, true);
                return None;
            }
            if self.backlog.txqs[txq].originator.has_gap && !self.backlog.has_more(txq) {
                // No request has reached the recipient, and the remaining packets were dropped in
                // the queue.
                self.release_reorder_buffer(now, txq);
            }
        }
    }

    fn exchange(
        &self,
        begins: Instant,
        edcaf: EdcafId,
        txq: TxqId,
        kind: FrameKind,
        data: Data,
        txop_ends: Option<Instant>,
    ) -> Exchange {
        let (from, to) = (self.backlog.txqs[txq].from, self.backlog.txqs[txq].to);
        let exchange = Exchange {
            edcaf,
            txq,
            kind,
            phase: Phase::Frame,
            begins,
            ends: begins + super::airtime(&self.rules, data.mode, data.octets),
            sender: from,
            receiver: Some(to),
            mode: data.mode,
            octets: data.octets,
            response: data.response,
            data,
            number: 0,
            has_collided: false,
            is_undetected: false,
            is_outlasted: false,
            txop_ends,
            arrived: Arrived::default(),
        };
        let ahead = match (kind, self.rules.protection) {
            (FrameKind::Data, Some((Protection::CtsToSelf, mode))) => Some((FrameKind::CtsToSelf, mode)),
            (FrameKind::Data, Some((Protection::RtsCts, mode))) => Some((FrameKind::Rts, mode)),
            (FrameKind::Data, _) if data.needs_rts => Some((FrameKind::Rts, self.rules.control.response_to(data.mode))),
            _ => None,
        };
        let Some((kind, mode)) = ahead else { return exchange };
        let (octets, response, receiver) = match kind {
            FrameKind::Rts => (frame::RTS, Response::Cts, exchange.receiver),
            _ => (frame::ACK, Response::None, None),
        };
        let ends = begins + super::airtime(&self.rules, mode, octets);
        Exchange { kind, mode, octets, response, ends, receiver, ..exchange }
    }

    /// Returns the mode of the response frame to a frame in `mode`.
    pub(super) fn response_mode(&self, mode: Mode) -> Mode {
        match self.rules.protection {
            // The response to DSSS is DSSS.
            Some((_, protection)) if protection.format == mode.format => protection,
            _ => self.rules.control.response_to(mode),
        }
    }

    /// Returns the time from the start of `exchange` to the end of its last response frame.
    fn exchange_time(&self, exchange: &Exchange) -> Duration {
        exchange.ends.since(exchange.begins) + self.duration_field(exchange)
    }

    /// Returns the time after its end for which the PPDU on the air reserves the medium: its
    /// duration field (9.2.5).
    pub(super) fn duration_field(&self, exchange: &Exchange) -> Duration {
        let (sifs, space) = (self.rules.timing.sifs, self.rules.announced_space);
        let data = exchange.data;
        let data_and_response = || {
            let response = self.rules.response_time(data.response, self.response_mode(data.mode));
            sifs + super::airtime(&self.rules, data.mode, data.octets) + space + response
        };
        let reserved = match (exchange.phase, exchange.kind) {
            (Phase::Response, FrameKind::Rts) | (Phase::Frame, FrameKind::CtsToSelf) => data_and_response(),
            (Phase::Frame, FrameKind::Rts) => {
                space + self.rules.response_time(Response::Cts, self.response_mode(exchange.mode)) + data_and_response()
            }
            (Phase::Frame, FrameKind::Data | FrameKind::Request) if exchange.response != Response::None => {
                space + self.rules.response_time(exchange.response, self.response_mode(exchange.mode))
            }
            _ => Duration::ZERO,
        };
        self.rules.duration_field(reserved)
    }

    /// Returns the duration of RTS and CTS, or CTS-to-self, before data in this mode.
    pub(super) fn protection_time(&self, mode: Mode, needs_rts: bool) -> Duration {
        let sifs = self.rules.timing.sifs;
        let rts = |mode| {
            let cts = self.rules.response_time(Response::Cts, self.response_mode(mode));
            super::airtime(&self.rules, mode, frame::RTS) + self.rules.response_space + cts + sifs
        };
        match self.rules.protection {
            Some((Protection::CtsToSelf, mode)) => super::airtime(&self.rules, mode, frame::ACK) + sifs,
            Some((Protection::RtsCts, mode)) => rts(mode),
            _ if needs_rts || self.rules.rts_threshold.is_some() => rts(self.rules.control.response_to(mode)),
            _ => Duration::ZERO,
        }
    }

    /// Returns a Block ACK request.
    fn request(&mut self, now: Instant, id: TxqId) -> Data {
        let txq = &mut self.backlog.txqs[id];
        let mode = self.rules.control.response_to(txq.rate.choose(now, txq.attempt));
        Data::none(mode, frame::BLOCK_ACK_REQUEST, Response::BlockAck)
    }

    /// Starts the PPDU of `exchange`.
    pub(super) fn go_on_air(&mut self, mut exchange: Exchange) -> Exchange {
        exchange.arrived = Arrived::default();
        if self.rules.passes_up_each_mpdu && exchange.kind == FrameKind::Data && exchange.phase == Phase::Frame {
            self.schedule_next_mpdu(&mut exchange);
        }
        self.medium.go_on_air(exchange)
    }
}
