//! What an ACK does.

use super::super::config::RttClock;
use super::react::News;
use super::{Phase, Sender};
use crate::cc::CongestionControl;
use crate::recovery::CongestionState;
use crate::recovery::scoreboard::Advance;
use acklab_base::{Duration, Event, Instant};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber};
use std::ops::Range;

/// RFC 7323, §2.3: a larger shift is used as 14.
const MAX_WINDOW_SHIFT: u8 = 14;

impl Sender {
    pub(super) fn input(&mut self, now: Instant, segment: &Segment) {
        match self.phase {
            Phase::SynSent => self.input_syn_ack(now, segment),
            Phase::Established => self.input_ack(now, segment),
            Phase::Closed | Phase::Finished => {}
        }
    }

    fn input_syn_ack(&mut self, now: Instant, segment: &Segment) {
        if !segment.flags.contains(Flags::SYN | Flags::ACK) || segment.ack != self.first {
            return;
        }
        self.phase = Phase::Established;
        self.peer_next = SeqNumber::at(segment.seq, 1);
        if segment.options.timestamps.is_none() {
            self.clock = None;
        }
        self.config.sack &= segment.options.sack_permitted;
        self.negotiate_ack_ratio(segment);
        self.window_shift = segment.options.window_scale.map_or(0, |shift| shift.min(MAX_WINDOW_SHIFT));
        // RFC 7323, §2.2: the window of a SYN is not scaled.
        self.window_end = u64::from(segment.window);
        self.largest_window = self.window_end;
        self.note_timestamp(segment);
        self.marks.conclude(self.config.ecn, segment);
        // RFC 6298, §3: a SYN that was sent twice gives no sample.
        if !self.rto.is_backed_off() {
            let rtt = self.measure(now, self.syn_sent_at, segment);
            self.rtt.sample(rtt);
        }
        self.controller.on_established(now, &mut self.window, self.rtt.min());
        self.rto.stop();
        self.source.begin(now);
        self.source.advance(now, 0);
        self.ack_due = true;
        self.events.push_back(Event::Established);
    }

    fn note_timestamp(&mut self, segment: &Segment) {
        if let Some(timestamps) = segment.options.timestamps {
            self.timestamp_to_echo = timestamps.value;
        }
    }

    fn input_ack(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            // The peer did not get the ACK of its SYN.
            self.marks.repeat(segment);
            self.ack_due = true;
            return;
        }
        let ack = self.offset_of(segment.ack);
        let una = self.board.una();
        self.watch_acks(ack, segment);
        // RFC 9293, §3.10.7.4: neither what was never sent nor what is already known.
        if !segment.flags.contains(Flags::ACK) || ack > self.board.nxt() || ack < una {
            return;
        }
        self.counters.acks += 1;
        self.note_timestamp(segment);
        let window_moved = self.note_window(ack, segment.window);
        let news = self.update_scoreboard(now, segment, ack, window_moved);
        self.counters.delivered += news.delivered;
        let rtt = self.sample_rtt(now, segment, &news.advance, news.newly_sacked_at);
        self.answer_probe(now, &news);
        self.counters.marked_bytes += news.echoed.marked;
        let growth = self.react(now, &news);
        let growth = self.react_to_marks(now, &news, growth);
        self.tell_controller(now, &news, rtt, growth);
        if news.advance.bytes > 0 {
            if self.board.is_empty() {
                self.rto.stop();
                if self.source.end() == Some(ack.saturating_sub(1)) {
                    self.phase = Phase::Finished;
                    self.events.push_back(Event::Finished);
                }
            }
            self.schedule_probe(now);
        }
        self.source.advance(now, self.board.una());
    }

    /// Takes over the peer's window, and tells whether it moved.
    fn note_window(&mut self, ack: u64, field: u16) -> bool {
        let window = u64::from(field) << self.window_shift;
        let end = ack + window;
        let moved = end != self.window_end;
        self.largest_window = self.largest_window.max(window);
        if end > self.window_end {
            self.window_end = end;
            if self.board.is_empty() {
                // The window had been too small to send, and no longer is: the timer had been probing it.
                self.rto.stop();
            }
        }
        moved
    }

    fn update_scoreboard(&mut self, now: Instant, segment: &Segment, ack: u64, window_moved: bool) -> News {
        let una = self.board.una();
        let prior_flight = self.board.pipe();
        let min_rtt = self.rtt.min().unwrap_or_default();
        self.board.begin_ack(Instant::from_nanos(now.as_nanos().saturating_sub(min_rtt.as_nanos())));
        let (mut newly_sacked, mut newly_sacked_at) = (0, None);
        let duplicate = self.duplicate_reported(&segment.options, ack);
        if !segment.options.sack.is_empty() {
            let first = self.first;
            let blocks = segment.options.sack.as_slice().iter();
            let above = blocks
                .map(|block| block.start.offset_near(first, una)..block.end.offset_near(first, una))
                .filter(|block| block.start >= ack && block.start > una);
            (newly_sacked, newly_sacked_at) = self.board.sack(above);
        }
        let is_duplicate = if self.config.sack {
            newly_sacked > 0
        } else {
            ack == una && segment.payload == 0 && !window_moved && !self.board.is_empty()
        };
        let advance = self.board.advance(ack);
        if is_duplicate && !self.config.sack && self.counts_duplicates() {
            self.board.duplicate_without_sack(self.window.mss);
        }
        if let Some(duplicate) = &duplicate {
            self.note_needless(duplicate);
        }
        let lost = self.detect_losses(now, newly_sacked > 0);
        let delivered = newly_sacked + advance.newly_delivered;
        let packets = self.board.delivery().segments;
        News {
            advance,
            delivered,
            newly_sacked_at,
            lost,
            is_duplicate,
            reports_duplicate: duplicate.is_some(),
            echo: segment.options.timestamps.map(|timestamps| timestamps.echo),
            prior_flight,
            echoed: self.marks.on_ack(segment, delivered, packets),
        }
    }

    /// RFC 2883, §4: the first block reports a duplicate if it lies below the acknowledgment number or within the second block.
    fn duplicate_reported(&self, options: &Options, ack: u64) -> Option<Range<u64>> {
        let una = self.board.una();
        let offsets = |index: usize| {
            let block = options.sack.as_slice().get(index)?;
            Some(block.start.offset_near(self.first, una)..block.end.offset_near(self.first, una))
        };
        let first = offsets(0)?;
        let is_within = |outer: Range<u64>| outer.start <= first.start && first.end <= outer.end;
        (first.start < first.end && (first.end <= ack || offsets(1).is_some_and(is_within))).then_some(first)
    }

    /// Retransmissions were not needed: the reordering window widens, and the reduction may be undone.
    fn note_needless(&mut self, duplicate: &Range<u64>) {
        self.rack.on_dsack(self.board.una(), self.board.nxt());
        self.undo.on_dsack(duplicate, (duplicate.end - duplicate.start).div_ceil(self.window.mss));
    }

    /// Without SACK, duplicates after a timeout may come from its own retransmissions, and the first two may only be counted if
    /// they may send (RFC 3042).
    fn counts_duplicates(&self) -> bool {
        match self.state {
            CongestionState::Loss => false,
            CongestionState::Recovery => true,
            CongestionState::Open | CongestionState::Disorder | CongestionState::Reduced => {
                self.config.limited_transmit
            }
        }
    }

    /// Karn: only if the oldest segment that this acknowledges was never sent again.
    fn sample_rtt(
        &mut self,
        now: Instant,
        segment: &Segment,
        advance: &Advance,
        newly_sacked_at: Option<Instant>,
    ) -> Option<Duration> {
        let rtt = match (advance.sent_at, newly_sacked_at) {
            (Some(sent_at), _) => self.measure(now, sent_at, segment),
            // Linux's tcp_ack_update_rtt: while only SACKs come, they keep the estimate alive.
            (None, Some(sent_at)) if self.config.rtt_clock == RttClock::SendTimes => now.since(sent_at),
            _ => return None,
        };
        self.rtt.sample(rtt);
        Some(rtt)
    }

    /// The time since what `segment` acknowledges was sent. An echo of what this connection's clock has never shown measures nothing.
    fn measure(&mut self, now: Instant, sent_at: Instant, segment: &Segment) -> Duration {
        if self.config.rtt_clock == RttClock::Timestamps
            && let Some(timestamps) = segment.options.timestamps
            && let Some(clock) = &mut self.clock
        {
            let ticks = u64::from(clock.read(now).wrapping_sub(timestamps.echo));
            if clock.tick().saturating_mul(ticks) <= now.since(self.start) + clock.tick() {
                // Less than a tick is not nothing.
                return (clock.tick() * ticks).max(Duration::from_micros(1));
            }
        }
        now.since(sent_at)
    }
}
