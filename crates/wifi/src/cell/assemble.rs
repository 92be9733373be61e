//! A PPDU with data is assembled from the waiting packets when its EDCAF has won the medium.

use super::exchange::{Data, Response};
use super::{Cell, TxqId};
use crate::frame;
use crate::originator::{MissedResponse, Mpdu};
use crate::packet::Packet;
use crate::payload::Payload;
use crate::phy::Mode;
use acklab_base::{Bytes, Duration, Instant};

impl<D: Packet> Cell<D> {
    /// Returns the next PPDU of `id`, or `None` if there is nothing to send or no exchange fits
    /// into `left`.
    pub(super) fn assemble(&mut self, now: Instant, id: TxqId, left: Option<Duration>, is_first: bool) -> Option<Data> {
        let txq = &mut self.backlog.txqs[id];
        let mode = txq.rate.choose(now, txq.attempt);
        let needs_rts = txq.rate.needs_rts();
        txq.originator.sent.clear();
        let data = match self.rules.max_aggregate {
            None => self.assemble_one(now, id, mode),
            Some(maximum) => {
                let maximum = maximum.min(self.octets_within(mode, needs_rts, left));
                self.assemble_aggregate(now, id, mode, maximum, is_first)
            }
        }?;
        let is_long = self.rules.rts_threshold.is_some_and(|threshold| data.octets > threshold);
        let txq = &self.backlog.txqs[id];
        let has_more = !txq.buffer.is_empty() || txq.originator.has_other();
        let is_sync = match txq.originator.missed_response {
            MissedResponse::None => false,
            MissedResponse::Single(sequence) => {
                data.response == Response::BlockAck || txq.originator.sent != [sequence]
            }
            MissedResponse::Several => true,
        };
        Some(Data { needs_rts: needs_rts || is_long, has_more, is_sync, ..data })
    }

    /// Returns the number of octets of an aggregate in this mode whose exchange, with protection
    /// and Block ACK, takes at most `left`.
    pub(super) fn octets_within(&self, mode: Mode, needs_rts: bool, left: Option<Duration>) -> Bytes {
        let response = self.rules.response_time(Response::BlockAck, self.response_mode(mode));
        let extension = self.rules.timing.extension(mode) + self.rules.timing.packet_extension(mode);
        let overhead = self.protection_time(mode, needs_rts) + self.rules.response_space + response + extension;
        let in_txop = left.map(|left| Duration::from_nanos(left.as_nanos().saturating_sub(overhead.as_nanos())));
        mode.octets_within(in_txop.map_or(self.rules.max_time, |time| time.min(self.rules.max_time)))
    }

    fn assemble_one(&mut self, now: Instant, id: TxqId, mode: Mode) -> Option<Data> {
        if self.backlog.txqs[id].originator.is_empty() {
            self.next_mpdu(now, id)?;
        }
        let always_delimits = self.rules.always_delimits;
        let originator = &mut self.backlog.txqs[id].originator;
        originator.sent.push(originator.start);
        let frame = originator.frames.front_mut()?;
        frame.first_sent.get_or_insert(now);
        let octets = if always_delimits { frame::a_mpdu_subframe(frame.octets) } else { frame.octets };
        let mut data = Data::none(mode, octets, Response::Ack);
        data.add(frame);
        Some(data)
    }

    /// Assembles an aggregate: frames to retransmit first, then new frames. The aggregate is
    /// limited by the window (10.25.6.5), by `maximum` octets, and by the maximum number of frames.
    fn assemble_aggregate(
        &mut self,
        now: Instant,
        id: TxqId,
        mode: Mode,
        maximum: Bytes,
        is_first: bool,
    ) -> Option<Data> {
        let window = u64::from(self.rules.window);
        // A probe of the rate control is sent as a single frame.
        let max_frames = if self.backlog.txqs[id].rate.is_probe() { 1 } else { self.rules.max_frames };
        let (mut data, mut last) = (Data::none(mode, Bytes::ZERO, Response::BlockAck), Bytes::ZERO);
        let fits = |data: &Data, mpdu: Bytes| {
            u64::from(data.frames) < max_frames
                && (frame::padded(data.octets) + frame::a_mpdu_subframe(mpdu) <= maximum
                    || (data.frames == 0 && is_first))
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
            let next = &mut originator.frames[index];
            if !next.is_settled {
                if !fits(&data, next.octets) {
                    break;
                }
                data.octets = frame::padded(data.octets) + frame::a_mpdu_subframe(next.octets);
                next.first_sent.get_or_insert(now);
                data.add(next);
                last = next.octets;
                originator.sent.push(originator.start + index as u64);
            }
            index += 1;
        }
        match data.frames {
            0 => None,
            // A single frame elicits an ACK (10.25.6.5).
            1 => {
                let octets = if self.rules.always_delimits { data.octets } else { last };
                Some(Data { octets, response: Response::Ack, ..data })
            }
            _ => Some(data),
        }
    }

    /// Assigns the next sequence number to the packet at the head of the queue, or to an A-MSDU of
    /// several packets.
    pub(super) fn next_mpdu(&mut self, now: Instant, id: TxqId) -> Option<()> {
        self.drop_expired(now, id);
        let (arrived, first) = self.take(now, id)?;
        self.note_plain(now, id, &first);
        let bytes = first.wire_len();
        let mut frame = Mpdu {
            octets: self.rules.mpdu(bytes),
            transport_ack_octets: if first.is_transport_ack() { bytes.get() as u32 } else { 0 },
            packets: Payload::One(first),
            packet_count: 1,
            bytes,
            arrived,
            first_sent: None,
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

    /// Adds packets to `frame` as long as the A-MSDU has room.
    fn fill_a_msdu(&mut self, now: Instant, id: TxqId, frame: &mut Mpdu<D>) {
        let mut subframes = frame::a_msdu_subframe(frame.bytes);
        loop {
            self.drop_expired(now, id);
            let Some(head) = self.backlog.txqs[id].buffer.head() else { return };
            if frame::padded(subframes) + frame::a_msdu_subframe(head.wire_len()) > self.rules.a_msdu {
                return;
            }
            let Some((_, packet)) = self.take(now, id) else { return };
            self.note_plain(now, id, &packet);
            let size = packet.wire_len();
            subframes = frame::padded(subframes) + frame::a_msdu_subframe(size);
            frame.bytes += size;
            frame.transport_ack_octets += if packet.is_transport_ack() { size.get() as u32 } else { 0 };
            frame.packets.push(packet);
            frame.packet_count += 1;
            frame.octets = frame::a_msdu(subframes);
        }
    }
}
