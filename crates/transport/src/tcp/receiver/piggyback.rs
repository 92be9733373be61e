//! Adds acknowledgments to the segments that the sending half of a connection sends, and to SYN and
//! SYN-ACK.

use super::super::room_beside;
use super::super::rules::SackRoom;
use super::{Agreed, Receiver};
use crate::ack::Reason;
use acklab_base::Instant;
use acklab_wire::tcp::{Flags, Options, SackBlocks, Segment, SeqNumber};
use std::ops::Range;

/// The size of the SACK option without blocks, and of each block (RFC 2018, §3; with two bytes of
/// padding).
const SACK_HEADER: u64 = 4;
const SACK_BLOCK: u64 = 8;

impl Receiver {
    /// Writes this end's receive window to its `syn`, and the scale of later windows.
    pub(in crate::tcp) fn offer_window(&self, syn: &mut Segment) {
        syn.window = self.initial_window();
        syn.options.window_scale = self.config.window_scaling.then_some(self.window_shift);
    }

    /// Processes the peer's `syn_ack`. `sent_at` is the departure time of this end's SYN, if it was
    /// sent once.
    pub(in crate::tcp) fn open_by(&mut self, now: Instant, syn_ack: &Segment, sent_at: Option<Instant>) {
        let offered = self.initial_window();
        self.agree(syn_ack, self.config.ecn.conclude(syn_ack.flags));
        self.open_window(offered);
        self.echo.take_syn_ack(syn_ack);
        self.syn_sent_at = sent_at;
        self.measure_handshake(now);
    }

    /// Processes the peer's `syn_ack`, which follows the peer's SYN in a simultaneous open.
    pub(in crate::tcp) fn note_crossed_syn_ack(&mut self, syn_ack: &Segment) {
        self.echo.take_syn_ack(syn_ack);
    }

    /// Schedules the SYN-ACK again, because its timer has expired.
    pub(in crate::tcp) const fn repeat_syn_ack(&mut self) {
        self.syn_ack_due = true;
        self.syn_ack_timeouts += 1;
    }

    /// Returns `true` if ACKs with the AccECN option do not seem to arrive.
    pub(in crate::tcp) const fn has_blocked_option(&self) -> bool {
        self.echo.report.is_blocked()
    }

    /// Returns the departure time of the SYN-ACK, if it was sent once.
    pub(in crate::tcp) const fn syn_ack_sent_at(&self) -> Option<Instant> {
        self.syn_sent_at
    }

    /// Returns `true` if both ends have agreed on window scaling.
    pub(in crate::tcp) fn has_scaling(&self) -> bool {
        self.agreed.is_some_and(|agreed| agreed.has_scaling)
    }

    /// Sets whether the application of this end may still send.
    pub(in crate::tcp) const fn set_may_send(&mut self, may_send: bool) {
        self.may_send = may_send;
    }

    /// Returns `true` if the FIN and all data before it have arrived.
    pub(in crate::tcp) fn has_all(&self) -> bool {
        self.fin.is_some_and(|fin| self.stream.next() > fin)
    }

    /// Returns `true` if an ACK without data is due. While data are missing, ACKs have no data,
    /// unless data segments have [room for blocks](Self::room_for_blocks).
    pub(in crate::tcp) fn owes_apart(&self) -> bool {
        let is_apart = || self.acknowledger.due().is_some() && self.has_blocks() && !self.makes_room();
        self.syn_ack_due || self.split.is_some() || is_apart()
    }

    /// Returns the number of bytes by which SACK blocks shorten a full-sized segment of this end.
    #[inline]
    pub(in crate::tcp) fn room_for_blocks(&self) -> u64 {
        if self.has_blocks() && self.makes_room() { self.len_of_blocks() } else { 0 }
    }

    fn makes_room(&self) -> bool {
        self.config.dialect.rules().sack_room == SackRoom::Made && self.agreed.is_some_and(|agreed| agreed.has_sack)
    }

    /// Returns the size of the SACK option with as many blocks as fit together with the other
    /// options.
    #[inline(never)]
    fn len_of_blocks(&self) -> u64 {
        let room = Options::ROOM - self.len_of_timestamps() - self.echo.report.reserve() - SACK_HEADER;
        let blocks = self.stream.recent().len() + usize::from(self.duplicate.is_some());
        SACK_HEADER + SACK_BLOCK * (room / SACK_BLOCK).min(blocks as u64)
    }

    /// Returns `false` if `segment` lies outside the receive window. Its data and its
    /// acknowledgment are then ignored (RFC 9293, §3.10.7.4, first; Linux's `tcp_sequence`).
    pub(in crate::tcp) fn is_acceptable(&self, segment: &Segment) -> bool {
        let Some((start, limit)) = self.place(segment) else { return true };
        let end = start + u64::from(segment.payload);
        start <= limit && (end <= limit || self.window.cuts() || self.window.takes_whole(self.stream.next()))
    }

    /// Returns `true` if `segment` has the next expected sequence number.
    pub(in crate::tcp) fn is_next(&self, segment: &Segment) -> bool {
        self.agreed.is_some_and(|agreed| segment.seq == SeqNumber::at(agreed.first, self.stream.next()))
    }

    /// Returns `true` if `segment` starts within the receive window.
    pub(in crate::tcp) fn is_in_window(&self, segment: &Segment) -> bool {
        let is_old = |agreed: Agreed| SeqNumber::at(agreed.first, self.stream.next()).is_after(segment.seq);
        !self.agreed.is_some_and(is_old) && self.place(segment).is_some_and(|(start, limit)| start < limit)
    }

    /// Returns `true` if `segment` ends beyond rcv.nxt.
    pub(in crate::tcp) fn brings_data(&self, segment: &Segment) -> bool {
        let end = |(start, _)| start + u64::from(segment.payload);
        segment.payload > 0 && self.place(segment).map(end).is_some_and(|end| end > self.stream.next())
    }

    /// Returns the bytes of `segment` that are within the window and have not arrived.
    pub(in crate::tcp) fn missing_of(&self, segment: &Segment) -> Vec<Range<u64>> {
        let next = self.stream.next();
        let Some((start, _)) = self.place(segment).filter(|_| segment.payload > 0) else { return Vec::new() };
        let end = start + u64::from(segment.payload);
        self.stream.missing_in(start..self.window.cut(next, start, end, false).min(end)).collect()
    }

    /// Returns the offset of the start of `segment`, and the right edge of the receive window.
    fn place(&self, segment: &Segment) -> Option<(u64, u64)> {
        let next = self.stream.next();
        self.agreed.map(|agreed| (segment.seq.offset_near(agreed.first, next), next + self.window.left(next)))
    }

    /// Answers an unacceptable segment with an ACK (RFC 9293, §3.10.7.4).
    pub(in crate::tcp) fn answer(&mut self, now: Instant) {
        self.acknowledger.demand(now, Reason::Duplicate);
    }

    /// Stores the timestamp of a segment that carries no stream bytes (RFC 7323, §4.3).
    pub(in crate::tcp) fn note_timestamp(&mut self, segment: &Segment) {
        if let (Some(agreed), Some(timestamps)) = (self.agreed, segment.options.timestamps)
            && !segment.seq.is_after(SeqNumber::at(agreed.first, self.last_ack_sent))
        {
            self.timestamp_to_echo = timestamps.value;
        }
    }

    /// Writes this end's window to `segment`, the ACK that ends the handshake. The sending half
    /// sends that ACK.
    pub(in crate::tcp) fn finish_handshake(&mut self, segment: &mut Segment) {
        if let Some(agreed) = self.agreed {
            self.number(segment, agreed);
            segment.options.accurate_ecn = self.echo.report.of_ack_of_syn_ack();
            self.acknowledger.count(Reason::Handshake);
        }
    }

    /// Adds the acknowledgment to a `segment` of the sending half, as far as options fit. All
    /// arrived data are then acknowledged (RFC 9293, §3.8.6.3), unless SACK blocks remain.
    pub(in crate::tcp) fn ride_on(&mut self, now: Instant, segment: &mut Segment) {
        let Some(agreed) = self.agreed else { return };
        self.number(segment, agreed);
        segment.flags = self.echo.flags_beside(segment.flags);
        let room = room_beside(segment, self.config.mss.get());
        let has_blocks = self.has_blocks();
        let duplicate = self.duplicate.as_ref().map(|duplicate| duplicate.start);
        segment.options.accurate_ecn = None;
        if has_blocks && agreed.has_sack {
            let reserve = if segment.payload > 0 { self.echo.report.reserve() } else { 0 };
            let free = room.saturating_sub(segment.options.wire_len() + SACK_HEADER + reserve);
            let most = usize::try_from(free / SACK_BLOCK).unwrap_or(SackBlocks::MAX).min(SackBlocks::MAX);
            if most > 0 {
                segment.options.sack = self.sack_blocks(agreed.first, most);
            }
        }
        if self.echo.report.is_sent() {
            self.echo.report.fit(&mut segment.options, room, duplicate);
        }
        let reports_all = !has_blocks || !segment.options.sack.is_empty();
        if reports_all && self.acknowledger.has_unreported() {
            self.acknowledger.sent(now, Reason::Piggyback);
        }
        if segment.payload > 0 {
            self.tell_policy(|policy| policy.on_data_sent(now));
        }
    }

    /// Writes the acknowledgment number and the window to `segment`, once the peer's SYN has
    /// arrived.
    pub(in crate::tcp) fn acknowledge_on(&mut self, segment: &mut Segment) {
        if let Some(agreed) = self.agreed {
            self.number(segment, agreed);
        }
    }

    fn number(&mut self, segment: &mut Segment, agreed: Agreed) {
        let next = self.stream.next();
        self.last_ack_sent = next;
        segment.ack = SeqNumber::at(agreed.first, next);
        segment.flags = segment.flags | Flags::ACK;
        segment.window = self.window_field();
        if let Some(timestamps) = &mut segment.options.timestamps {
            timestamps.echo = self.timestamp_to_echo;
        }
    }
}
