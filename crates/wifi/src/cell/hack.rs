//! TCP ACKs that are held for response frames, appended to them, and delivered with them.

use super::exchange::{Exchange, FrameKind, Response};
use super::{Cell, TxqId};
use crate::hack::driver::ReceivedPpdu;
use crate::hack::{Counters, End, Variant};
use crate::packet::Packet;
use crate::phy::Mode;
use acklab_base::{Bytes, Duration, FlowKey, Instant};
use std::collections::VecDeque;

/// The times at which the hold limits of TCP ACKs expire, each with its queue. The earliest is
/// first.
#[derive(Clone, Debug, Default)]
pub(super) struct HoldLimits(VecDeque<(Instant, TxqId)>);

impl HoldLimits {
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.front().map(|(due, _)| *due)
    }

    fn add(&mut self, due: Instant, id: TxqId) {
        let place = self.0.partition_point(|(other, _)| *other <= due);
        self.0.insert(place, (due, id));
    }

    fn take_due(&mut self, now: Instant) -> Option<TxqId> {
        self.0.pop_front_if(|(due, _)| *due <= now).map(|(_, id)| id)
    }
}

impl<D: Packet> Cell<D> {
    /// Pairs the queues of two nodes to each other in a category, so that their response frames can
    /// carry TCP ACKs.
    pub(super) fn pair_for_hack(&mut self, id: TxqId) {
        let Some(config) = self.config.hack else { return };
        let window = self.rules.window;
        let category = |id: TxqId| self.backlog.edcafs[self.backlog.txqs[id].edcaf].category;
        let (from, to) = (self.backlog.txqs[id].from, self.backlog.txqs[id].to);
        let reverse = self.backlog.txqs.ids().find(|other| {
            let txq = &self.backlog.txqs[*other];
            (txq.from, txq.to) == (to, from) && category(*other) == category(id)
        });
        if let Some(reverse) = reverse {
            for (one, other) in [(id, reverse), (reverse, id)] {
                let txq = &mut self.backlog.txqs[one];
                txq.reverse = Some(other);
                txq.hack = Some(Box::new(End::new(config, window)));
            }
        }
    }

    /// Returns the TCP/HACK state of a queue, and the counters of its sender inside the window of
    /// measurement.
    fn end(&mut self, now: Instant, id: TxqId) -> Option<(&mut End<D>, Option<&mut Counters>)> {
        let txq = &mut self.backlog.txqs[id];
        let end = txq.hack.as_deref_mut()?;
        Some((end, self.measurement.hack_of(now, txq.from)))
    }

    /// Holds a TCP ACK for a response frame. Returns the packet if it must be enqueued instead.
    pub(super) fn hold(&mut self, now: Instant, id: TxqId, packet: D) -> Option<D> {
        let txq = &mut self.backlog.txqs[id];
        let Some(end) = txq.hack.as_deref_mut().filter(|end| end.driver.holds_acks()) else { return Some(packet) };
        if !packet.is_pure_ack() {
            return Some(packet);
        }
        let flow = packet.flow();
        // ACKs of a flow must stay in order, whether they are sent uncompressed or held.
        let must_enqueue = txq.originator.has_gap
            || txq.originator.carries_ack_of(flow)
            || txq.buffer.any(|waiting| waiting.flow() == flow && waiting.is_pure_ack());
        let done = if must_enqueue { Err(packet) } else { end.driver.compress(now, packet) };
        if done.is_err() && end.driver.holds_any_of(flow) {
            self.release(now, id);
        } else {
            self.start_hold_timer(id);
        }
        done.err()
    }

    /// Holds the TCP ACKs that wait in the queue, if the variant now permits this.
    pub(super) fn hold_waiting(&mut self, now: Instant, id: TxqId) {
        if self.backlog.txqs[id].hack.as_ref().is_some_and(|end| end.driver.holds_acks()) {
            if self.take_back(now, id, |_| true) {
                self.release(now, id);
            }
            self.start_hold_timer(id);
        }
    }

    /// Removes TCP ACKs from the queue and compresses them, if they arrived in time and no frame
    /// with an ACK of their flow is unacknowledged. Returns `true` if later ACKs of one of these
    /// flows remain in the queue.
    fn take_back(&mut self, now: Instant, id: TxqId, is_in_time: impl Fn(Instant) -> bool) -> bool {
        let txq = &mut self.backlog.txqs[id];
        let Some(end) = txq.hack.as_deref_mut() else { return false };
        if txq.buffer.is_empty() || txq.originator.has_gap {
            return false;
        }
        let (driver, originator) = (&mut end.driver, &txq.originator);
        let mut room = driver.msns_left();
        let mut stay: Vec<FlowKey> = Vec::new();
        let taken = txq.buffer.take_out(now, |arrived, packet| {
            if !packet.is_pure_ack() || stay.contains(&packet.flow()) {
                return false;
            }
            let goes = room > 0
                && is_in_time(arrived)
                && !originator.carries_ack_of(packet.flow())
                && driver.can_compress(packet);
            if goes {
                room -= 1;
            } else {
                stay.push(packet.flow());
            }
            goes
        });
        let divides = taken.iter().any(|(_, packet)| stay.contains(&packet.flow()));
        let (packets, bytes) = sum_of(&taken);
        let left: Vec<D> =
            taken.into_iter().filter_map(|(since, packet)| driver.compress(since, packet).err()).collect();
        self.backlog.let_go(now, id, packets, bytes, &self.measurement.window);
        left.into_iter().for_each(|packet| self.enqueue(now, id, packet));
        divides
    }

    /// Starts the hold timer if ACKs are held and the timer is not running.
    fn start_hold_timer(&mut self, id: TxqId) {
        let Some(end) = self.backlog.txqs[id].hack.as_deref_mut() else { return };
        let Some(since) = end.driver.held_since().filter(|_| !end.is_timed) else { return };
        end.is_timed = true;
        self.timers.hold_limits.add(since + end.driver.config().hold_limit, id);
        self.update_deadline();
    }

    /// Enqueues the ACKs whose hold limit has expired.
    pub(super) fn release_overdue(&mut self, now: Instant) {
        while let Some(id) = self.timers.hold_limits.take_due(now) {
            let Some(end) = self.backlog.txqs[id].hack.as_deref_mut() else { continue };
            end.is_timed = false;
            let limit = end.driver.config().hold_limit;
            if end.driver.held_since().is_some_and(|since| since + limit <= now) {
                end.driver.latch(false);
                let released = self.release(now, id);
                if let Some((_, Some(counters))) = self.end(now, id) {
                    counters.released += released;
                }
            }
            self.start_hold_timer(id);
        }
    }

    /// Enqueues held ACKs that no response frame has carried, before later ACKs of their flows.
    /// Returns their number.
    fn release(&mut self, now: Instant, id: TxqId) -> u64 {
        let txq = &mut self.backlog.txqs[id];
        let Some(end) = txq.hack.as_deref_mut() else { return 0 };
        let released = end.driver.release();
        let count = released.len() as u64;
        let is_later =
            |packet: &D| packet.is_pure_ack() && released.iter().any(|earlier| earlier.flow() == packet.flow());
        if count > 0 && txq.buffer.any(is_later) {
            let later = txq.buffer.take_out(now, |_, packet| is_later(packet));
            let (packets, bytes) = sum_of(&later);
            self.backlog.let_go(now, id, packets, bytes, &self.measurement.window);
            released
                .into_iter()
                .chain(later.into_iter().map(|(_, packet)| packet))
                .for_each(|packet| self.enqueue(now, id, packet));
        } else {
            released.into_iter().for_each(|packet| self.enqueue(now, id, packet));
        }
        count
    }

    /// Records that a packet is put into a data frame. An uncompressed ACK supersedes compressed
    /// ACKs of its flow.
    #[inline]
    pub(super) fn note_plain(&mut self, now: Instant, id: TxqId, packet: &D) {
        if self.config.hack.is_some() && packet.is_pure_ack() {
            self.note_plain_ack(now, id, packet);
        }
    }

    #[inline(never)]
    fn note_plain_ack(&mut self, now: Instant, id: TxqId, packet: &D) {
        let Some((end, counters)) = self.end(now, id) else { return };
        let (cleared, released) = end.driver.overtakes(packet.flow());
        if let Some(counters) = counters {
            counters.plain += 1;
            counters.plain_bytes += packet.wire_len().get();
            counters.cleared += cleared as u64;
        }
        released.into_iter().for_each(|packet| self.enqueue(now, id, packet));
    }

    /// Appends the held ACKs to the response frame of `exchange`, which is sent in `mode`. Returns
    /// the number of their octets.
    pub(super) fn append_acks(&mut self, now: Instant, exchange: &Exchange, mode: Mode) -> Bytes {
        let Some(id) = self.backlog.txqs[exchange.txq].reverse else { return Bytes::ZERO };
        let single = match (exchange.kind, exchange.response) {
            (FrameKind::Data, Response::Ack) => self.backlog.txqs[exchange.txq].originator.sent.first().copied(),
            (FrameKind::Data | FrameKind::Request, Response::BlockAck) => None,
            _ => return Bytes::ZERO,
        };
        self.confirm_last_response(now, exchange, id, single);

        let plain = self.rules.response_octets(exchange.response);
        let aifs = self.aifs(id);
        let Some((end, counters)) = self.end(now, id) else { return Bytes::ZERO };
        let config = end.driver.config();
        let maximum = config.split.then(|| mode.octets_within(mode.duration(plain) + aifs) - plain);
        end.appended.clear();
        let carried = end.driver.append_to_response(exchange.begins, single, maximum, &mut end.appended);
        let octets = Bytes(end.appended.len() as u64);
        if let Some(counters) = counters
            && carried.acks > 0
        {
            counters.augmented += 1;
            counters.augmented_within_aifs += u64::from(mode.duration(plain + octets) <= mode.duration(plain) + aifs);
            counters.compressed += carried.fresh as u64;
            counters.compressed_bytes += carried.fresh_octets as u64;
            counters.repeated += (carried.acks - carried.fresh) as u64;
        }
        if exchange.kind == FrameKind::Data {
            self.update_latch(now, id, exchange.data.has_more);
        }
        octets
    }

    /// Infers from the received PPDU whether the last response frame arrived.
    fn confirm_last_response(&mut self, now: Instant, exchange: &Exchange, id: TxqId, single: Option<u64>) {
        let txq = &mut self.backlog.txqs[id];
        let Some(end) = txq.hack.as_deref_mut() else { return };
        let is_request = exchange.kind == FrameKind::Request;
        let mut again = if is_request {
            end.driver.request_received()
        } else {
            end.driver.ppdu_received(ReceivedPpdu { single, is_sync: exchange.data.is_sync })
        };
        // A newer ACK of the flow in the queue supersedes the held ACK.
        again.retain(|old| !txq.buffer.any(|new| new.flow() == old.flow() && new.is_pure_ack()));
        let config = end.driver.config();
        if let Some((_, Some(counters))) = self.end(now, id) {
            counters.reissued += again.len() as u64;
        }
        again.into_iter().for_each(|packet| self.enqueue(now, id, packet));
        if !is_request && config.variant == Variant::Opportunistic {
            self.take_back(now, id, |arrived| arrived + config.delay <= exchange.begins);
        }
    }

    /// Updates the latch from MORE DATA of the PPDU to which the node responds.
    fn update_latch(&mut self, now: Instant, id: TxqId, has_more: bool) {
        let Some((end, _)) = self.end(now, id) else { return };
        end.driver.latch(has_more);
        match end.driver.config().variant {
            Variant::MoreData if has_more => self.hold_waiting(now, id),
            Variant::MoreData => {
                let is_missed = self.release(now, id) > 0;
                if let Some((_, Some(counters))) = self.end(now, id) {
                    counters.missed += u64::from(is_missed);
                }
            }
            // ACKs that did not fit are sent uncompressed.
            Variant::Opportunistic => _ = self.release(now, id),
            Variant::Timer => {}
        }
    }

    fn aifs(&self, id: TxqId) -> Duration {
        let edcaf = &self.backlog.edcafs[self.backlog.txqs[id].edcaf];
        self.rules.timing.aifs(edcaf.parameters.aifsn)
    }

    /// Returns the octets appended to the response frame on the air.
    pub(super) fn appended(&self, exchange: &Exchange) -> &[u8] {
        let end = self.backlog.txqs[exchange.txq].reverse.and_then(|id| self.backlog.txqs[id].hack.as_ref());
        end.filter(|_| exchange.response != Response::Cts).map_or(&[], |end| &end.appended)
    }

    /// Delivers the TCP ACKs of a response frame that was received.
    pub(super) fn appended_acks_arrive(&mut self, now: Instant, exchange: &Exchange) {
        let Some(id) = self.backlog.txqs[exchange.txq].reverse else { return };
        let (distribution, arrivals) = (&self.distribution, &mut self.arrivals);
        let txq = &mut self.backlog.txqs[id];
        let Some(end) = txq.hack.as_deref_mut().filter(|end| !end.appended.is_empty()) else { return };
        let (to, driver) = (txq.to, &mut end.driver);
        let done = end.decompressor.decompress(&end.appended, |msn, ack| {
            if let Some(packet) = driver.rebuild(msn, ack) {
                arrivals.add(packet, distribution, to);
            }
        });
        if let Some(counters) = self.measurement.hack_of(now, to) {
            match done {
                Ok(done) => {
                    counters.decompressed += done.acks as u64;
                    counters.duplicates += done.duplicates as u64;
                }
                Err(_) => counters.failures += 1,
            }
        }
        self.relay(now);
    }
}

/// Returns the number of packets and the sum of their octets.
fn sum_of<D: Packet>(packets: &[(Instant, D)]) -> (u64, Bytes) {
    let bytes = packets.iter().map(|(_, packet)| packet.wire_len()).fold(Bytes::ZERO, |sum, size| sum + size);
    (packets.len() as u64, bytes)
}
