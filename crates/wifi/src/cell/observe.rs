//! Measurement of a cell, and the log of its PPDUs.

use super::backlog::Edcaf;
use super::exchange::{Exchange, FrameKind, Phase, Response};
use super::{Cell, on_the_air};
use crate::access::Category;
use crate::airtime::{Airtime, Use};
use crate::counters::Counters;
use crate::frame::bitmap_octets;
use crate::hack;
use crate::packet::Packet;
use crate::ppdu::{Frame, Mpdu, Outcome, Ppdu};
use acklab_base::{Duration, FlowKey, Instant, mul_div};
use std::ops::Range;

/// The queues of one EDCAF for the tables.
#[derive(Clone, Copy, Debug)]
pub struct QueueView<'a> {
    /// The node of the EDCAF.
    pub node: usize,
    /// The category of the EDCAF.
    pub category: Category,
    /// The number of packets that wait or are unacknowledged now.
    pub length: u64,
    /// The mean of `length` over time.
    pub mean_length: f64,
    /// The maximum of `length`.
    pub max_length: u64,
    /// Every change of `length`, if logging is enabled.
    pub log: &'a [(Instant, u64)],
}

impl<D: Packet> Cell<D> {
    /// Restricts counting to `window`; by default everything is counted.
    pub fn measure(&mut self, window: Range<Instant>) {
        self.measurement.airtime.measure(window.clone());
        self.measurement.window = window;
    }

    /// Logs every change of a queue's length from now on.
    pub fn log_queues(&mut self) {
        self.backlog.edcafs.iter_mut().for_each(|edcaf| edcaf.lengths = Some(Vec::new()));
    }

    /// Logs every PPDU from now on, for [`take_log`](Self::take_log).
    pub fn log_air(&mut self) {
        self.measurement.log = Some(Vec::new());
    }

    /// Removes and returns the PPDUs that have ended since the last call.
    pub fn take_log(&mut self) -> impl Iterator<Item = Ppdu<D>> + '_ {
        self.measurement.log.iter_mut().flat_map(|log| log.drain(..))
    }

    /// Returns an instant. All PPDUs that began before it have ended.
    #[must_use]
    pub fn settled(&self) -> Instant {
        self.medium.exchanges.iter().map(|exchange| exchange.begins).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Returns the flow of a packet that was dropped inside the window and not reported yet.
    pub fn take_drop(&mut self) -> Option<FlowKey> {
        self.measurement.dropped_flows.pop()
    }

    /// Returns the counters of all nodes, the access point first.
    #[must_use]
    pub fn counters(&self) -> &[Counters] {
        &self.measurement.counters
    }

    /// Returns the TCP/HACK counters of all nodes, the access point first; empty without TCP/HACK.
    #[must_use]
    pub fn hack_counters(&self) -> &[hack::Counters] {
        &self.measurement.hack
    }

    /// Returns the use of the airtime up to `until`.
    pub fn airtime(&mut self, until: Instant) -> &Airtime {
        if let Some(exchange) = self.medium.exchanges.iter().min_by_key(|exchange| exchange.begins).copied() {
            self.measurement.airtime.book(exchange.sender, Use::Interframe, exchange.begins.min(until));
            let what = if exchange.phase == Phase::Response { Use::LinkAck } else { Use::Data };
            self.measurement.airtime.book(exchange.sender, what, until);
        } else {
            let waits_from = if self.contenders.is_any() {
                self.contenders.since().max(self.measurement.airtime.booked())
            } else {
                until
            };
            self.measurement.airtime.book(super::ACCESS_POINT, Use::Idle, waits_from.min(until));
            self.measurement.airtime.book(super::ACCESS_POINT, Use::Backoff, until);
        }
        &self.measurement.airtime
    }

    /// Returns the use of the airtime up to the end of the last exchange. The use after this end is
    /// not yet determined.
    #[must_use]
    pub const fn decided_airtime(&self) -> &Airtime {
        &self.measurement.airtime
    }

    /// Returns the queues of all nodes.
    pub fn queues(&self) -> impl Iterator<Item = QueueView<'_>> {
        self.backlog.edcafs.iter().map(|edcaf| self.queue(edcaf))
    }

    /// Returns the queues of one node.
    pub fn queues_of(&self, node: usize) -> impl Iterator<Item = QueueView<'_>> {
        self.backlog.edcafs.iter().filter(move |edcaf| edcaf.node == node).map(|edcaf| self.queue(edcaf))
    }

    fn queue<'a>(&self, edcaf: &'a Edcaf) -> QueueView<'a> {
        QueueView {
            node: edcaf.node,
            category: edcaf.category,
            length: edcaf.length.current(),
            mean_length: edcaf.length.mean(&self.measurement.window),
            max_length: edcaf.length.max,
            log: edcaf.lengths.as_deref().unwrap_or_default(),
        }
    }

    /// Accounts for a frame of an initiator that has just ended.
    pub(super) fn book_frame(&mut self, now: Instant, exchange: &Exchange, outcome: Outcome) {
        let node = exchange.sender;
        self.measurement.airtime.book(node, Use::Interframe, exchange.begins);
        match (outcome, exchange.kind) {
            (Outcome::Collided, _) => self.measurement.airtime.book(node, Use::Collision, now),
            (Outcome::Lost, _) => self.measurement.airtime.book(node, Use::Lost, now),
            (_, FrameKind::Data) => {
                // Airtime is divided between TCP ACKs and data by their octets.
                let (acks, all) = (exchange.data.ack_octets.get(), exchange.data.bytes.get().max(1));
                let airtime = now.since(self.measurement.airtime.booked()).as_nanos();
                let of_acks = Duration::from_nanos(mul_div(airtime, acks.min(all), all));
                let until = self.measurement.airtime.booked() + of_acks;
                self.measurement.airtime.book(node, Use::TransportAck, until);
                self.measurement.airtime.book(node, Use::Data, now);
            }
            _ => self.measurement.airtime.book(node, Use::Control, now),
        }
        let Some(counters) = self.measurement.of(now, node) else { return };
        counters.collisions += u64::from(outcome == Outcome::Collided);
        match exchange.kind {
            FrameKind::Rts => counters.rts += 1,
            FrameKind::Request => counters.requests += 1,
            FrameKind::Data => {
                counters.ppdus += 1;
                counters.mpdus += u64::from(exchange.data.frames);
                counters.first_tries += u64::from(exchange.data.first_tries);
                counters.retries += u64::from(exchange.data.frames - exchange.data.first_tries);
            }
            _ => {}
        }
    }

    /// Logs a frame of an initiator.
    pub(super) fn log_frame(&mut self, exchange: &Exchange, outcome: Outcome, reserved: Duration) {
        if self.measurement.log.is_none() {
            return;
        }
        let frame = match exchange.kind {
            FrameKind::Beacon => Frame::Beacon { interval: self.config.beacon_interval.unwrap_or_default() },
            FrameKind::CtsToSelf => Frame::Cts,
            FrameKind::Rts => Frame::Rts,
            FrameKind::Request => Frame::BlockAckRequest {
                start: on_the_air(self.backlog.txqs[exchange.txq].originator.start),
                tid: self.tid(exchange),
            },
            FrameKind::Data => Frame::Data(self.logged_mpdus(exchange)),
        };
        self.log(exchange, frame, Vec::new(), outcome, reserved);
    }

    /// Logs a response frame.
    pub(super) fn log_response(&mut self, exchange: &Exchange, outcome: Outcome, reserved: Duration) {
        if self.measurement.log.is_none() {
            return;
        }
        let frame = match exchange.response {
            Response::None => return,
            Response::Cts => Frame::Cts,
            Response::Ack => Frame::Ack,
            Response::BlockAck => {
                let originator = &self.backlog.txqs[exchange.txq].originator;
                let mut bitmap = vec![0_u64; bitmap_octets(self.rules.window) / size_of::<u64>()];
                let window = originator.frames.iter().take(usize::from(self.rules.window)).enumerate();
                let received = window.filter(|(_, frame)| frame.is_received);
                received.for_each(|(place, _)| bitmap[place / 64] |= 1 << (place % 64));
                Frame::BlockAck { start: on_the_air(originator.start), bitmap, tid: self.tid(exchange) }
            }
        };
        let appended = self.appended(exchange).to_vec();
        self.log(exchange, frame, appended, outcome, reserved);
    }

    fn tid(&self, exchange: &Exchange) -> u8 {
        self.backlog.edcafs[exchange.edcaf].category.tid()
    }

    fn logged_mpdus(&self, exchange: &Exchange) -> Vec<Mpdu<D>> {
        let txq = &self.backlog.txqs[exchange.txq];
        let tid = self.rules.has_qos.then(|| self.tid(exchange));
        let sent = txq.originator.sent.iter().enumerate();
        sent.filter_map(|(place, sequence)| Some((sequence, txq.originator.sent_frame(place)?)))
            .map(|(sequence, frame)| Mpdu {
                sequence: on_the_air(*sequence),
                tid,
                is_retry: frame.failures > 0,
                has_more: exchange.data.has_more,
                is_sync: exchange.data.is_sync,
                octets: frame.octets,
                packets: frame.packets.as_slice().to_vec(),
                is_a_msdu: frame.packet_count > 1,
                is_received: frame.is_received && !exchange.has_collided,
            })
            .collect()
    }

    fn log(&mut self, exchange: &Exchange, frame: Frame<D>, appended: Vec<u8>, outcome: Outcome, reserved: Duration) {
        let extension = self.rules.timing.extension(exchange.mode);
        let whole = exchange.ends.since(exchange.begins).as_nanos();
        let reception = &self.medium.reception;
        if let Some(log) = &mut self.measurement.log {
            let level = |to| reception.signal(exchange.begins, exchange.sender, to, exchange.mode);
            let signal = exchange.receiver.and_then(level);
            log.push(Ppdu {
                at: exchange.begins,
                duration: Duration::from_nanos(whole - extension.as_nanos()),
                from: exchange.sender,
                to: exchange.receiver,
                mode: exchange.mode,
                octets: exchange.octets,
                reserved,
                frame,
                appended,
                outcome,
                signal,
            });
        }
    }
}
