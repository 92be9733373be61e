//! What leaves, and when it may.

use super::super::rules::ForcedRetransmission;
use super::{Phase, Sender};
use crate::cc::{CongestionControl, Sent};
use crate::pacing;
use crate::recovery::CongestionState;
use crate::recovery::delivery_rate::Stamp;
use crate::recovery::rto::Restart;
use acklab_base::{Ecn, Instant, Rate};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};
use std::ops::Range;

impl Sender {
    pub(super) fn next_segment(&mut self, now: Instant) -> Option<Segment> {
        match self.phase {
            Phase::SynSent if self.syn_due => {
                self.syn_due = false;
                self.syn_sent_at = now;
                self.rto.start(now, &self.rtt);
                Some(self.syn(now))
            }
            Phase::Established => {
                let goes_before = self.ack_due || self.window_probe_due || self.tail_probe_due;
                if goes_before && let Some(segment) = self.next_of_its_own(now) {
                    return Some(segment);
                }
                self.next_in_stream(now)
            }
            _ => None,
        }
    }

    /// What leaves whatever the congestion window says.
    fn next_of_its_own(&mut self, now: Instant) -> Option<Segment> {
        self.pure_ack(now).or_else(|| self.window_probe(now)).or_else(|| self.tail_probe(now))
    }

    /// The next segment of data, if one may leave.
    fn next_in_stream(&mut self, now: Instant) -> Option<Segment> {
        let forced = self.forced > 0;
        let room = if forced { u64::MAX } else { self.window.cwnd.saturating_sub(self.board.pipe()) };
        (self.window_limited, self.paced_until) = (false, None);
        if let Some(segment) = self.board.next_pending() {
            return self.retransmit(now, segment, room);
        }
        let may_send_new = self.state != CongestionState::Disorder || self.config.limited_transmit;
        if may_send_new && let Some(octets) = self.new_data() {
            if self.board.is_empty() {
                self.wake_from_idleness(now);
            }
            if room < octets.min(self.window.mss) {
                self.window_limited = true;
                return None;
            }
            if self.is_paced(now) {
                return None;
            }
            self.forced = 0;
            let segment = self.transmit(now, octets);
            self.schedule_probe(now);
            return Some(segment);
        }
        // RFC 6675, §4, NextSeg rule 3: nothing new to send, so what may yet turn out lost.
        if self.state == CongestionState::Recovery
            && self.config.sack
            && !self.judges_by_time()
            && let Some(segment) = self.board.next_unjudged()
        {
            return self.retransmit(now, segment, room);
        }
        if forced
            && self.rules.forced_retransmission == ForcedRetransmission::AtLeastHead
            && let Some(head) = self.board.head()
        {
            return self.retransmit(now, head, room);
        }
        self.forced = 0;
        self.note_application_limit(room);
        if self.is_shut_out() {
            // RFC 9293, §3.8.6.1: the first probe after a retransmission timeout, the next ones at growing intervals.
            self.rto.start(now, &self.rtt);
        }
        None
    }

    /// There is room in the window, and nothing is written that could fill it.
    fn note_application_limit(&mut self, room: u64) {
        let unsent = self.unsent();
        let in_flight = self.board.pipe();
        if let Some(sampler) = &mut self.sampler
            && room > 0
            && unsent < self.window.mss
        {
            sampler.on_app_limited(in_flight);
        }
    }

    /// Octets that are written and were never sent; the FIN counts as one.
    fn unsent(&self) -> u64 {
        let with_fin = self.source.end().map_or(0, |end| u64::from(self.source.sendable() == end));
        (self.source.sendable() + with_fin).saturating_sub(self.board.nxt())
    }

    pub(super) fn has_unsent(&self) -> bool {
        self.unsent() > 0
    }

    /// The most that the application and the peer's window let one new segment hold.
    pub(super) fn sendable_octets(&self) -> u64 {
        self.sendable_of(self.unsent(), self.full_payload())
    }

    /// The same, of so much that is unsent, in a segment of so much at the most.
    fn sendable_of(&self, unsent: u64, full: u64) -> u64 {
        let room = self.window_end.saturating_sub(self.board.nxt());
        unsent.min(full).min(room)
    }

    /// The size of the next new segment that the application and the peer's window allow. Less than a full one waits for more room,
    /// unless it is all there is, or nothing is outstanding and it fills half the largest window that the peer has offered (RFC 9293,
    /// §3.8.6.2.1).
    pub(super) fn new_data(&self) -> Option<u64> {
        let (unsent, full) = (self.unsent(), self.full_payload());
        let octets = self.sendable_of(unsent, full);
        let is_worth_it =
            octets == full || octets == unsent || (self.board.is_empty() && octets >= self.largest_window / 2);
        (octets > 0 && is_worth_it).then_some(octets)
    }

    pub(super) fn transmit(&mut self, now: Instant, octets: u64) -> Segment {
        let start = self.board.nxt();
        let stamp = self.stamp(now, octets);
        self.board.send(now, octets, stamp);
        self.load_ratio(start);
        let mut segment = self.data(now, start..start + octets);
        self.marks.stamp(&mut segment);
        self.departed(now, &segment, start + octets, false);
        segment
    }

    fn retransmit(&mut self, now: Instant, segment: Range<u64>, room: u64) -> Option<Segment> {
        let octets = segment.end - segment.start;
        if room < octets || self.is_paced(now) {
            return None;
        }
        self.forced = 0;
        Some(self.resend(now, segment))
    }

    pub(super) fn resend(&mut self, now: Instant, segment: Range<u64>) -> Segment {
        let octets = segment.end - segment.start;
        let stamp = self.stamp(now, octets);
        self.board.resend(now, segment.start, stamp);
        self.counters.retransmissions += 1;
        if segment.start == self.board.una() && self.config.rto.restart == Restart::EveryAckAndHeadRetransmission {
            self.rto.rearm(now, &self.rtt);
        }
        let end = segment.end;
        let segment = self.data(now, segment);
        self.undo.on_retransmission(segment.options.timestamps.map(|timestamps| timestamps.value));
        self.departed(now, &segment, end, true);
        segment
    }

    /// Does pacing hold back what could leave? If so, the sender wants to be woken when it no longer does.
    fn is_paced(&mut self, now: Instant) -> bool {
        self.paced_until = self.pacer.holds_until(now);
        self.paced_until.is_some()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        match self.config.pacing {
            pacing::Config::Never => None,
            pacing::Config::Controller => self.controller.pacing_rate(),
            pacing::Config::Always => self
                .controller
                .pacing_rate()
                .or_else(|| pacing::rate_of_window(self.window.cwnd, self.window.ssthresh, self.rtt.srtt()?)),
        }
    }

    fn stamp(&mut self, now: Instant, octets: u64) -> Stamp {
        let in_flight = self.board.pipe();
        match &mut self.sampler {
            Some(sampler) => sampler.on_sent(now, in_flight + octets, in_flight == 0),
            None => Stamp::default(),
        }
    }

    fn departed(&mut self, now: Instant, segment: &Segment, end: u64, is_retransmission: bool) {
        self.rto.start(now, &self.rtt);
        self.last_sent = Some(now);
        let sent = Sent {
            now,
            bytes: segment.sequence_len(),
            in_flight: self.board.pipe(),
            end,
            is_retransmission,
            is_app_limited: self.sampler.is_some_and(|sampler| sampler.is_app_limited()),
        };
        self.controller.on_sent(&mut self.window, &sent);
        if let Some(rate) = self.pacing_rate() {
            self.pacer.on_sent(now, sent.bytes, rate);
        }
        self.counters.data_segments += u64::from(segment.payload > 0);
        self.counters.data_bytes += u64::from(segment.payload);
        if matches!(self.state, CongestionState::Recovery | CongestionState::Reduced) {
            self.prr.on_sent(segment.sequence_len());
        }
    }

    fn data(&mut self, now: Instant, range: Range<u64>) -> Segment {
        // The FIN takes the octet behind the last.
        let has_fin = self.source.end().is_some_and(|end| range.end > end);
        let payload = (range.end - range.start - u64::from(has_fin)) as u32;
        let last_written = range.end >= self.source.sendable();
        let mut flags = Flags::ACK | self.marks.flags();
        if has_fin {
            flags = flags | Flags::FIN;
        }
        if last_written && payload > 0 {
            flags = flags | Flags::PSH;
        }
        let mut segment = self.empty();
        segment.seq = SeqNumber::at(self.first, range.start);
        segment.flags = flags;
        segment.options.timestamps = self.timestamps(now);
        segment.options.ack_ratio = self.carried_ratio(range.start);
        segment.payload = payload;
        segment
    }

    fn pure_ack(&mut self, now: Instant) -> Option<Segment> {
        if !self.ack_due {
            return None;
        }
        self.ack_due = false;
        Some(Segment {
            seq: SeqNumber::at(self.first, self.board.nxt()),
            flags: Flags::ACK | self.marks.first_flags(),
            options: self.options(now),
            ..self.empty()
        })
    }

    fn syn(&mut self, now: Instant) -> Segment {
        let timestamps = self.clock.as_mut().map(|clock| clock.read(now)).map(|value| Timestamps { value, echo: 0 });
        Segment {
            seq: SeqNumber(self.first.0.wrapping_sub(1)),
            ecn: self.config.ecn.handshake_codepoint(),
            flags: Flags::SYN | self.config.ecn.offer(),
            window: u16::MAX,
            options: Options {
                timestamps,
                mss: Some(announced_mss(self.config.mss.get(), timestamps.is_some())),
                window_scale: self.config.window_scaling.then_some(0),
                sack_permitted: self.config.sack,
                ack_congestion_control: self.offers_ack_ratio(),
                ..Options::default()
            },
            ..self.empty()
        }
    }

    pub(super) fn options(&mut self, now: Instant) -> Options {
        Options { timestamps: self.timestamps(now), ..Options::default() }
    }

    fn timestamps(&mut self, now: Instant) -> Option<Timestamps> {
        let value = self.clock.as_mut()?.read(now);
        Some(Timestamps { value, echo: self.timestamp_to_echo })
    }

    pub(super) fn empty(&self) -> Segment {
        Segment {
            flow: self.flow,
            ecn: Ecn::NotEct,
            seq: self.first,
            ack: self.peer_next,
            flags: Flags::ACK,
            window: u16::MAX,
            options: Options::default(),
            payload: 0,
        }
    }
}

/// RFC 6691: the announced MSS counts no options, so a segment with timestamps carries 12 octets less.
pub(in crate::tcp) fn announced_mss(payload: u64, has_timestamps: bool) -> u16 {
    u16::try_from(payload + if has_timestamps { 12 } else { 0 }).unwrap_or(u16::MAX)
}
