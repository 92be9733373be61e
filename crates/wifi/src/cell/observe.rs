//! What is measured of a cell, and what is kept of each PPDU.

use super::rules::Answer;
use super::transmit::{Exchange, Phase, Step};
use super::{Cell, Edcaf, on_the_air};
use crate::access::Category;
use crate::airtime::{Airtime, Use};
use crate::counters::Counters;
use crate::hack;
use crate::packet::Packet;
use crate::ppdu::{Fate, Frame, Mpdu, Ppdu};
use acklab_base::{Duration, FlowKey, Instant};
use std::ops::Range;

/// One access function as the tables know it.
#[derive(Clone, Copy, Debug)]
pub struct QueueView<'a> {
    /// Its node.
    pub node: usize,
    /// Its category.
    pub category: Category,
    /// Mean number of packets that wait or are unacknowledged.
    pub mean_length: f64,
    /// The most there were.
    pub max_length: u64,
    /// Every change of that number, if it was asked for.
    pub log: &'a [(Instant, u64)],
}

impl<D: Packet> Cell<D> {
    /// Count only what happens in `window`; without this, everything counts.
    pub fn measure(&mut self, window: Range<Instant>) {
        self.measurement.airtime.measure(window.clone());
        self.measurement.window = window;
    }

    /// Keep every change of a queue's length from here on.
    pub fn log_queues(&mut self) {
        self.backlog.edcafs.iter_mut().for_each(|function| function.lengths = Some(Vec::new()));
    }

    /// Keep every PPDU from here on, until [`take_log`](Self::take_log) asks for it.
    pub fn log_air(&mut self) {
        self.measurement.log = Some(Vec::new());
    }

    /// What was on the air since this was last asked.
    pub fn take_log(&mut self) -> impl Iterator<Item = Ppdu<D>> + '_ {
        self.measurement.log.iter_mut().flat_map(|log| log.drain(..))
    }

    /// Whatever has yet to end on the air began at this instant or later.
    #[must_use]
    pub fn settled(&self) -> Instant {
        self.medium.exchanges.iter().map(|exchange| exchange.begins).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// The flow of a packet that was dropped inside the window and that this has not told yet.
    pub fn take_drop(&mut self) -> Option<FlowKey> {
        self.measurement.turned_away.pop()
    }

    /// What each node has done, the access point first.
    #[must_use]
    pub fn counters(&self) -> &[Counters] {
        &self.measurement.counters
    }

    /// What each node has done by TCP/HACK, the access point first; nothing without it.
    #[must_use]
    pub fn hack_counters(&self) -> &[hack::Counters] {
        &self.measurement.hack
    }

    /// Where the time went up to `until`.
    pub fn airtime(&mut self, until: Instant) -> &Airtime {
        if let Some(exchange) = self.medium.exchanges.iter().min_by_key(|exchange| exchange.begins).copied() {
            self.measurement.airtime.book(exchange.sender, Use::Interframe, exchange.begins.min(until));
            let what = if exchange.phase == Phase::Answer { Use::LinkAck } else { Use::Data };
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

    /// The queues of all nodes.
    pub fn queues(&self) -> impl Iterator<Item = QueueView<'_>> {
        self.backlog.edcafs.iter().map(|function| self.queue(function))
    }

    /// The queues of one node.
    pub fn queues_of(&self, node: usize) -> impl Iterator<Item = QueueView<'_>> {
        self.backlog.edcafs.iter().filter(move |function| function.node == node).map(|function| self.queue(function))
    }

    fn queue<'a>(&self, function: &'a Edcaf) -> QueueView<'a> {
        QueueView {
            node: function.node,
            category: function.category,
            mean_length: function.length.mean(&self.measurement.window),
            max_length: function.length.max,
            log: function.lengths.as_deref().unwrap_or_default(),
        }
    }

    /// Books a frame of an initiator that has just ended, and counts it.
    pub(super) fn book_frame(&mut self, now: Instant, exchange: &Exchange, fate: Fate) {
        let node = exchange.sender;
        self.measurement.airtime.book(node, Use::Interframe, exchange.begins);
        match (fate, exchange.step) {
            (Fate::Collided, _) => self.measurement.airtime.book(node, Use::Collision, now),
            (Fate::Lost, _) => self.measurement.airtime.book(node, Use::Lost, now),
            (_, Step::Data) => {
                // The share of pure ACKs in the octets of the packets is that in the airtime.
                let (acks, all) = (exchange.data.ack_octets.get(), exchange.data.bytes.get().max(1));
                let airtime = now.since(self.measurement.airtime.booked()).as_nanos();
                let of_acks = u128::from(airtime) * u128::from(acks.min(all)) / u128::from(all);
                let until = self.measurement.airtime.booked() + Duration::from_nanos(of_acks as u64);
                self.measurement.airtime.book(node, Use::TransportAck, until);
                self.measurement.airtime.book(node, Use::Data, now);
            }
            _ => self.measurement.airtime.book(node, Use::Control, now),
        }
        let Some(counters) = self.measurement.of(now, node) else { return };
        counters.collisions += u64::from(fate == Fate::Collided);
        match exchange.step {
            Step::Rts => counters.rts += 1,
            Step::Request => counters.requests += 1,
            Step::Data => {
                counters.ppdus += 1;
                counters.mpdus += u64::from(exchange.data.frames);
                counters.first_tries += u64::from(exchange.data.first_tries);
                counters.retries += u64::from(exchange.data.frames - exchange.data.first_tries);
            }
            _ => {}
        }
    }

    /// Keeps a frame of an initiator, if PPDUs are kept.
    pub(super) fn log_frame(&mut self, exchange: &Exchange, fate: Fate, reserved: Duration) {
        if self.measurement.log.is_none() {
            return;
        }
        let frame = match exchange.step {
            Step::Beacon => Frame::Beacon { interval: self.config.beacon_interval.unwrap_or_default() },
            Step::CtsToSelf => Frame::Cts,
            Step::Rts => Frame::Rts,
            Step::Request => Frame::BlockAckRequest {
                start: on_the_air(self.backlog.txqs[exchange.txq].originator.start),
                tid: self.tid(exchange),
            },
            Step::Data => Frame::Data(self.logged_mpdus(exchange)),
        };
        self.keep(exchange, frame, Vec::new(), fate, reserved);
    }

    /// Keeps an answer, if PPDUs are kept.
    pub(super) fn log_answer(&mut self, exchange: &Exchange, fate: Fate, reserved: Duration) {
        if self.measurement.log.is_none() {
            return;
        }
        let frame = match exchange.answer {
            Answer::None => return,
            Answer::Cts => Frame::Cts,
            Answer::Ack => Frame::Ack,
            Answer::BlockAck => {
                let originator = &self.backlog.txqs[exchange.txq].originator;
                let mut bitmap = [0_u64; 4];
                let received = originator.frames.iter().take(256).enumerate().filter(|(_, frame)| frame.is_received);
                received.for_each(|(place, _)| bitmap[place / 64] |= 1 << (place % 64));
                Frame::BlockAck {
                    start: on_the_air(originator.start),
                    bitmap,
                    window: self.rules.window,
                    tid: self.tid(exchange),
                }
            }
        };
        let appended = self.appended(exchange).to_vec();
        self.keep(exchange, frame, appended, fate, reserved);
    }

    fn tid(&self, exchange: &Exchange) -> u8 {
        self.backlog.edcafs[exchange.function].category.tid()
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

    fn keep(&mut self, exchange: &Exchange, frame: Frame<D>, appended: Vec<u8>, fate: Fate, reserved: Duration) {
        let extension = self.rules.timing.extension(exchange.mode);
        let whole = exchange.ends.since(exchange.begins).as_nanos();
        if let Some(log) = &mut self.measurement.log {
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
                fate,
            });
        }
    }
}
