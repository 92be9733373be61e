//! Selects and writes the next segment.

use super::super::rules::ForcedRetransmission;
use super::connection::Data;
use super::{Phase, Sender};
use crate::recovery::CongestionState;
use crate::recovery::alarm::Alarm;
use crate::recovery::delivery_rate::Stamp;
use crate::recovery::rto::Restart;
use acklab_base::Instant;
use acklab_wire::tcp::{Flags, Segment};
use std::ops::Range;

/// Stream bytes that are sent next. They are selected and counted before their segment is written.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    range: Range<u64>,
    is_new: bool,
}

impl Sender {
    /// Overwrites `place` with the next segment that is sent now. Returns `false` if no segment can
    /// be sent.
    #[inline]
    pub(super) fn write_next(&mut self, now: Instant, place: &mut Segment) -> bool {
        match self.connection.phase {
            Phase::Established => {
                let due = &self.transmission;
                let goes_before = self.connection.ack_due || due.window_probe_due || due.tail_probe_due;
                if goes_before && self.write_of_its_own(now, place) {
                    return true;
                }
                let Some(leaving) = self.next_in_stream(now) else { return false };
                let is_new = leaving.is_new;
                self.write_data(now, leaving, place);
                if is_new {
                    self.look_ahead(now);
                }
                true
            }
            Phase::SynSent if self.connection.syn_due => {
                *place = self.next_syn(now);
                true
            }
            _ => false,
        }
    }

    fn next_syn(&mut self, now: Instant) -> Segment {
        (self.connection.syn_due, self.connection.syn_sent_at) = (false, now);
        self.timing.start(now);
        self.connection.syn(now, &self.config)
    }

    /// Writes a segment that is sent regardless of the congestion window.
    #[inline(never)]
    fn write_of_its_own(&mut self, now: Instant, place: &mut Segment) -> bool {
        self.write_pure_ack(now, place) || self.write_window_probe(now, place) || self.write_tail_probe(now, place)
    }

    fn write_pure_ack(&mut self, now: Instant, place: &mut Segment) -> bool {
        if !std::mem::take(&mut self.connection.ack_due) {
            return false;
        }
        *place = self.connection.bare(now, self.connection.seq_at(self.board.nxt()));
        place.flags = place.flags | self.marks.first_flags();
        place.ecn = self.marks.codepoint_of_others();
        place.options.accurate_ecn = self.marks.report.of_ack_of_syn_ack();
        true
    }

    /// Returns the stream bytes that are sent next, if any can be sent.
    #[inline]
    fn next_in_stream(&mut self, now: Instant) -> Option<Leaving> {
        let leaving = self.take_from_stream(now);
        if leaving.is_none() {
            self.note_limit(now, self.congestion.room(self.board.pipe()));
        }
        leaving
    }

    #[inline]
    fn take_from_stream(&mut self, now: Instant) -> Option<Leaving> {
        (self.transmission.paced_until, self.transmission.is_spent) = (Alarm::NEVER, false);
        if self.transmission.is_refused {
            self.wait_for_device(now);
            return None;
        }
        let forced = self.transmission.forced;
        let pipe = self.board.pipe();
        let room = if forced { u64::MAX } else { self.congestion.room(pipe) };
        if self.transmission.only_new && self.congestion.tests_timeout {
            self.conclude_without_new_data(room);
        }
        if !self.transmission.only_new
            && let Some(segment) = self.board.next_lost()
        {
            return self.retransmit_if_room(now, segment, room);
        }
        let may_send_new = self.congestion.state != CongestionState::Disorder || self.config.limited_transmit;
        if may_send_new && let Some(octets) = self.new_data() {
            if self.board.is_empty() {
                self.wake_from_idleness(now);
                self.end_timed_hold();
            }
            if room < octets.min(self.congestion.control.window.mss) || self.transmission.is_paced(now) {
                return None;
            }
            self.transmission.forced = false;
            let leaving = self.transmit(now, octets);
            self.arm_probe_timeout(now);
            return Some(leaving);
        }
        self.next_without_new(now, forced, room)
    }

    /// Ends the attempt to send after new data were sent, if no other segment can follow. This is
    /// the usual case, and saves a call without effect.
    #[inline]
    fn look_ahead(&mut self, now: Instant) {
        if self.congestion.state != CongestionState::Open || self.board.has_lost_unsent() {
            return;
        }
        let Some(octets) = self.new_data() else { return };
        let room = self.congestion.room(self.board.pipe());
        if room < octets.min(self.congestion.control.window.mss) || self.transmission.is_paced(now) {
            self.note_limit(now, room);
            self.transmission.is_spent = true;
        }
    }

    /// Returns the bytes that are sent if no lost data wait for retransmission and no new data may
    /// be sent.
    #[inline(never)]
    fn next_without_new(&mut self, now: Instant, forced: bool, room: u64) -> Option<Leaving> {
        // RFC 6675, §4, NextSeg rule 3: without new data, retransmit a segment that may later be
        // declared lost.
        if self.congestion.state == CongestionState::Recovery
            && self.connection.has_sack
            && !self.detects_by_time()
            && let Some(segment) = self.board.next_unsacked()
        {
            return self.retransmit_if_room(now, segment, room);
        }
        if forced
            && self.rules.forced_retransmission == ForcedRetransmission::AtLeastHead
            && let Some(head) = self.board.head()
        {
            return self.retransmit_if_room(now, head, room);
        }
        self.transmission.forced = false;
        self.note_application_limit(room);
        if self.is_shut_out() {
            // The first probe is sent after a retransmission timeout, and later probes at growing
            // intervals (RFC 9293, §3.8.6.1).
            self.timing.start(now);
            self.time_hold();
        }
        None
    }

    /// Marks the rate samples as application-limited if the window has room and no data fill it.
    fn note_application_limit(&mut self, room: u64) {
        let unsent = self.unsent_with_fin();
        if let Some(sampler) = &mut self.congestion.control.sampler
            && room > 0
            && unsent < self.congestion.control.window.mss
        {
            sampler.on_app_limited(self.board.pipe());
        }
    }

    /// Returns the number of new bytes that may be sent. The FIN is included as one byte.
    #[inline]
    pub(super) fn unsent_with_fin(&self) -> u64 {
        let sendable = self.buffer.sendable();
        let with_fin = self.buffer.end().map_or(0, |end| u64::from(sendable == end));
        (sendable + with_fin).saturating_sub(self.board.nxt())
    }

    pub(super) fn has_unsent(&self) -> bool {
        self.unsent_with_fin() > 0
    }

    /// Returns the number of new bytes that may be sent, up to the end of the first record.
    #[inline]
    pub(super) fn unsent_of_record(&self) -> u64 {
        self.records.first_of(self.unsent_with_fin(), self.board.nxt(), self.buffer.sendable())
    }

    /// Returns the maximum size that the application and the peer's window permit for a new
    /// segment.
    pub(super) fn sendable_octets(&self) -> u64 {
        self.sendable_of(self.unsent_of_record(), self.full_payload())
    }

    /// Returns the size of one new segment, given `unsent` bytes and at most `full` bytes per
    /// segment.
    #[inline]
    fn sendable_of(&self, unsent: u64, full: u64) -> u64 {
        // A FIN has a sequence number but no payload (RFC 9293, §3.4), so a full segment can carry
        // a FIN (Linux's `tcp_send_fin`).
        let with_fin = full + u64::from(unsent == full + 1 && self.buffer.end() == Some(self.buffer.sendable()));
        unsent.min(with_fin).min(self.peer_window.room(self.board.nxt()))
    }

    /// Returns the size of the next new segment, unless the segment is held for a later write.
    #[inline]
    pub(super) fn new_data(&self) -> Option<u64> {
        self.next_new().filter(|octets| !self.is_held(*octets))
    }

    /// Returns the size of the next new segment that the application and the peer's window permit.
    ///
    /// A partial segment is not sent until it is full, with two exceptions (RFC 9293, §3.8.6.2.1).
    /// The first is a segment with all unsent data of its record. The second applies while nothing
    /// is outstanding: a segment that fills half of the peer's largest window.
    #[inline]
    pub(super) fn next_new(&self) -> Option<u64> {
        let (unsent, full) = (self.unsent_of_record(), self.full_payload());
        let octets = self.sendable_of(unsent, full);
        let is_worth_it =
            octets == full || octets == unsent || (self.board.is_empty() && octets >= self.peer_window.largest() / 2);
        (octets > 0 && is_worth_it).then_some(octets)
    }

    /// Records that `octets` bytes of new data are sent.
    #[inline]
    pub(super) fn transmit(&mut self, now: Instant, octets: u64) -> Leaving {
        let start = self.board.nxt();
        let stamp = self.stamp(now, octets);
        self.board.send(now, octets, stamp);
        self.records.forget(start + octets);
        self.load_request(start);
        self.note_departure(now, start..start + octets, false);
        Leaving { range: start..start + octets, is_new: true }
    }

    #[inline(never)]
    fn retransmit_if_room(&mut self, now: Instant, segment: Range<u64>, room: u64) -> Option<Leaving> {
        // A FIN has no payload, neither in this segment nor in a segment in flight. The scoreboard
        // nevertheless counts it as a byte.
        let payload = segment.end - segment.start - u64::from(self.holds_fin(&segment));
        let octets = payload.min(self.congestion.control.window.mss);
        let fin_in_flight = u64::from(self.has_sent_fin() && self.board.is_tail_in_flight());
        let room = room.saturating_add(fin_in_flight);
        let waits = !self.transmission.forced && self.is_loss_window_used(fin_in_flight);
        if room < octets || waits || self.transmission.is_paced(now) {
            return None;
        }
        self.transmission.forced = false;
        Some(self.retransmit(now, segment))
    }

    /// Returns `true` if the loss window of one segment is used.
    ///
    /// After a timeout, the earliest segment is retransmitted (RFC 6298, §5.4). The window of one
    /// segment (RFC 5681, §3.1) is for that segment, even if it is short. Several short segments
    /// would overflow the same queue repeatedly. Other stacks merge data that fit into one segment
    /// (Linux's `tcp_retrans_try_collapse`, ns-3's `TcpTxBuffer::GetTransmittedSegment`), or count
    /// segments.
    fn is_loss_window_used(&self, fin_in_flight: u64) -> bool {
        let window = &self.congestion.control.window;
        self.congestion.state == CongestionState::Loss && window.cwnd <= window.mss && self.board.pipe() > fin_in_flight
    }

    pub(super) fn retransmit(&mut self, now: Instant, segment: Range<u64>) -> Leaving {
        let stamp = self.stamp(now, segment.end - segment.start);
        self.board.retransmit(now, segment.start, stamp);
        self.counters.retransmissions += 1;
        if segment.start == self.board.una() && self.config.rto.restart == Restart::EveryAckAndHeadRetransmission {
            self.timing.rearm(now);
        }
        self.remember_retransmission(segment.clone());
        self.congestion.undo.on_retransmission(self.connection.timestamps(now).map(|timestamps| timestamps.value));
        self.note_departure(now, segment.clone(), true);
        Leaving { range: segment, is_new: false }
    }

    #[inline]
    fn stamp(&mut self, now: Instant, octets: u64) -> Stamp {
        let Some(sampler) = &mut self.congestion.control.sampler else { return Stamp::default() };
        let in_flight = self.board.pipe();
        sampler.on_sent(now, in_flight + octets, in_flight == 0)
    }

    /// The FIN has the sequence number after the last byte.
    #[inline]
    fn holds_fin(&self, range: &Range<u64>) -> bool {
        self.buffer.end().is_some_and(|end| range.end > end)
    }

    #[inline(always)]
    fn note_departure(&mut self, now: Instant, range: Range<u64>, is_retransmission: bool) {
        self.timing.start(now);
        self.transmission.last_sent = Some(now);
        let octets = range.end - range.start;
        self.tell_departure(now, octets, range.end, is_retransmission);
        let payload = octets - u64::from(self.holds_fin(&range));
        self.counters.data_segments += u64::from(payload > 0);
        self.counters.data_retransmissions += u64::from(is_retransmission && payload > 0);
        self.counters.data_bytes += payload;
        if matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Reduced) {
            self.congestion.prr.on_sent(octets);
        }
    }

    /// Writes the segment with these stream bytes, for the first time or as a retransmission.
    #[inline]
    pub(super) fn write_data(&mut self, now: Instant, Leaving { range, is_new }: Leaving, place: &mut Segment) {
        let has_fin = self.holds_fin(&range);
        let payload = (range.end - range.start - u64::from(has_fin)) as u32;
        let (mut flags, mut ecn) = (Flags::ACK | self.marks.flags(), self.marks.codepoint_of_others());
        if has_fin {
            flags = flags | Flags::FIN;
        }
        if payload > 0 {
            if self.is_pushed(&range, is_new) {
                flags = flags | Flags::PSH;
            }
            if is_new {
                ecn = self.marks.codepoint();
                flags = flags | self.marks.take_reduced();
            }
        }
        let requests = self.requests(range.start, u64::from(payload), is_new);
        self.connection.write_data(now, range.start, Data { payload, flags, ecn, requests }, place);
        if self.marks.report.reserve() > 0 {
            self.add_option(place);
        }
    }
}
