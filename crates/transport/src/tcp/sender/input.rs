//! What an ACK does.

use super::super::config::{Dialect, RttClock};
use super::{Phase, Sender};
use crate::cc::{self, Acked, CongestionControl, FlightMeasure, Growth, Signal};
use crate::event::Event;
use crate::recovery::delivery_rate::Newest;
use crate::recovery::prr::{self, Progress, Prr};
use crate::recovery::rto::Restart;
use crate::recovery::scoreboard::Advance;
use crate::recovery::{self, CongestionState, DUP_THRESH};
use acklab_base::{Duration, Instant};
use acklab_wire::tcp::{Flags, Segment, SeqNumber};

/// RFC 7323, §2.3: a larger shift is used as 14.
const MAX_WINDOW_SHIFT: u8 = 14;

/// What one ACK brought.
#[derive(Clone, Copy, Debug)]
struct News {
    advance: Advance,
    /// Octets newly acknowledged, cumulatively or selectively.
    delivered: u64,
    /// When the first of the segments that SACK newly acknowledges was sent, if it was never sent again.
    newly_sacked_at: Option<Instant>,
    /// Of what it delivered, the transmission that left last.
    newest: Option<Newest>,
    /// Octets newly believed lost.
    lost: u64,
    /// RFC 6675, §2: it brings new SACK information; without SACK, RFC 5681, §2.
    is_duplicate: bool,
    /// Octets in flight before it.
    prior_flight: u64,
}

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
        self.window_shift = segment.options.window_scale.map_or(0, |shift| shift.min(MAX_WINDOW_SHIFT));
        // RFC 7323, §2.2: the window of a SYN is not scaled.
        self.window_end = u64::from(segment.window);
        self.note_timestamp(segment);
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
        self.events.push(Event::Established);
    }

    fn note_timestamp(&mut self, segment: &Segment) {
        if let Some(timestamps) = segment.options.timestamps {
            self.timestamp_to_echo = timestamps.value;
        }
    }

    fn input_ack(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            // The peer did not get the ACK of its SYN.
            self.ack_due = true;
            return;
        }
        let ack = self.offset_of(segment.ack);
        let una = self.board.una();
        // RFC 9293, §3.10.7.4: neither what was never sent nor what is already known.
        if !segment.flags.contains(Flags::ACK) || ack > self.board.nxt() || ack < una {
            return;
        }
        self.counters.acks += 1;
        self.note_timestamp(segment);
        let window_end = ack + (u64::from(segment.window) << self.window_shift);
        let window_moved = window_end != self.window_end;
        self.window_end = self.window_end.max(window_end);

        let news = self.update_scoreboard(segment, ack, window_moved);
        self.counters.delivered += news.delivered;
        let rtt = self.sample_rtt(now, segment, &news.advance, news.newly_sacked_at);
        let growth = self.react(now, &news);
        self.tell_controller(now, &news, rtt, growth);
        if news.advance.bytes > 0 && self.board.is_empty() {
            self.rto.stop();
            if self.source.end() == Some(ack.saturating_sub(1)) {
                self.phase = Phase::Finished;
                self.events.push(Event::Finished);
            }
        }
        self.source.advance(now, self.board.una());
    }

    fn update_scoreboard(&mut self, segment: &Segment, ack: u64, window_moved: bool) -> News {
        let una = self.board.una();
        let prior_flight = self.board.pipe();
        let (mut newly_sacked, mut newly_sacked_at) = (0, None);
        if !segment.options.sack.is_empty() {
            let first = self.first;
            let blocks = segment.options.sack.as_slice().iter();
            // A block below snd.una is a D-SACK (RFC 2883).
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
        let lost = if newly_sacked > 0 { self.board.detect_losses() } else { 0 };
        News {
            advance,
            delivered: newly_sacked + advance.newly_delivered,
            newly_sacked_at,
            newest: self.board.take_newest(),
            lost,
            is_duplicate,
            prior_flight,
        }
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

    /// The time since what `segment` acknowledges was sent.
    fn measure(&mut self, now: Instant, sent_at: Instant, segment: &Segment) -> Duration {
        match (self.config.rtt_clock, segment.options.timestamps, &mut self.clock) {
            (RttClock::Timestamps, Some(timestamps), Some(clock)) => {
                let ticks = clock.read(now).wrapping_sub(timestamps.echo);
                // Less than a tick is not nothing.
                (clock.tick() * u64::from(ticks)).max(Duration::from_micros(1))
            }
            _ => now.since(sent_at),
        }
    }

    /// Moves congestion control on, and returns by how many acknowledged octets the window may grow.
    fn react(&mut self, now: Instant, news: &News) -> u64 {
        let passes_recover = self.board.una() >= self.recover;
        match self.state {
            CongestionState::Recovery if news.advance.bytes > 0 && passes_recover => self.exit_recovery(now, news),
            CongestionState::Recovery => self.continue_recovery(now, news),
            CongestionState::Loss => self.continue_loss(now, news, passes_recover),
            CongestionState::Open | CongestionState::Disorder | CongestionState::Reduced => {
                self.react_in_order(now, news)
            }
        }
    }

    fn react_in_order(&mut self, now: Instant, news: &News) -> u64 {
        // RFC 6675, §5: an ACK that advances ends the count, also if it brings SACK news.
        if news.advance.bytes > 0 && !(news.is_duplicate && self.config.dialect == Dialect::Ns3) {
            self.duplicates = 0;
        }
        if news.is_duplicate {
            self.duplicates += 1;
        }
        let state = match (news.is_duplicate, news.advance.bytes > 0) {
            (true, _) => CongestionState::Disorder,
            (false, true) => CongestionState::Open,
            (false, false) => self.state,
        };
        if state != self.state {
            self.enter(now, state);
        }
        if self.board.lost() > 0 || self.duplicates >= DUP_THRESH {
            self.enter_recovery(now, news);
            if news.advance.bytes > 0 {
                self.seen_partial_ack = true;
                self.rto.restart(now, &self.rtt);
            }
            return 0;
        }
        let stays_in_disorder = news.is_duplicate && self.config.dialect == Dialect::Ns3;
        if news.advance.bytes == 0 || stays_in_disorder {
            return 0;
        }
        self.rto.restart(now, &self.rtt);
        news.advance.bytes
    }

    fn enter_recovery(&mut self, now: Instant, news: &News) {
        if self.board.lost() == 0 {
            self.board.mark_head_lost();
        }
        let (cwnd, mss) = (self.window.cwnd, self.window.mss);
        let pipe = self.board.pipe();
        let flight = match self.config.halves {
            FlightMeasure::FlightSize => self.board.flight_size() + news.advance.bytes,
            FlightMeasure::Pipe => pipe,
            FlightMeasure::Window => cwnd,
        };
        self.window.ssthresh = self.controller.ssthresh(now, &self.window, flight, Signal::Loss);
        self.enter(now, CongestionState::Recovery);
        self.recover = self.board.nxt();
        self.recovery_began = now;
        self.seen_partial_ack = false;
        let recover_fs = match self.config.prr_basis {
            prr::Basis::FlightSize => self.board.flight_size(),
            prr::Basis::Pipe => {
                (self.board.flight_size() + news.advance.bytes).saturating_sub(self.board.sacked()) + news.delivered
            }
            prr::Basis::Window => cwnd,
        };
        self.prr = Prr::new(self.config.prr_bound, mss, recover_fs);
        self.reduce(news);
        // RFC 6675, §5, (4.3): the first retransmission goes out at once. All that is lost may be out again already, if it lay beyond
        // the recovery point of a recovery that has just ended; only ns-3 sends the head once more then.
        self.forced = u32::from(self.board.has_pending() || self.config.dialect == Dialect::Ns3);
        self.events.push(Event::RecoveryEntered { until: self.board.nxt() });
    }

    /// The window on an ACK of a recovery.
    fn reduce(&mut self, news: &News) {
        let progress = Progress {
            delivered: news.delivered,
            pipe: self.board.pipe(),
            ssthresh: self.window.ssthresh,
            is_safe: news.advance.bytes > 0 && news.lost == 0,
            retransmission_acked: news.advance.retransmission_acked,
        };
        if self.controller.governs_window() {
            return;
        }
        let counts_twice = self.config.dialect == Dialect::Ns3 && news.is_duplicate && news.advance.bytes > 0;
        self.window.cwnd = match self.config.recovery {
            recovery::Algorithm::Classic => self.window.ssthresh,
            recovery::Algorithm::Prr if counts_twice => {
                let _ = self.prr.on_ack(progress);
                self.prr.on_ack(progress)
            }
            recovery::Algorithm::Prr => self.prr.on_ack(progress),
        };
    }

    fn continue_recovery(&mut self, now: Instant, news: &News) -> u64 {
        let is_partial = news.advance.bytes > 0;
        if is_partial && !self.config.sack {
            self.board.mark_head_lost();
        }
        if news.is_duplicate || is_partial {
            self.reduce(news);
        }
        if is_partial {
            if self.config.dialect == Dialect::Ns3 && !self.board.head_resent() {
                self.forced = 1;
            }
            if self.config.rto.restart != Restart::FirstPartialAck || !self.seen_partial_ack {
                self.rto.restart(now, &self.rtt);
            }
            self.seen_partial_ack = true;
        }
        0
    }

    fn exit_recovery(&mut self, now: Instant, news: &News) -> u64 {
        if !self.controller.governs_window() {
            self.window.cwnd = self.window.ssthresh;
        }
        self.duplicates = 0;
        self.note_recovered(now);
        self.rto.restart(now, &self.rtt);
        if self.config.dialect == Dialect::Ns3 { news.advance.bytes } else { 0 }
    }

    pub(super) fn enter(&mut self, now: Instant, state: CongestionState) {
        self.state = state;
        self.controller.on_state(now, &mut self.window, state);
    }

    fn note_recovered(&mut self, now: Instant) {
        self.enter(now, CongestionState::Open);
        self.counters.recoveries += 1;
        self.counters.recovery_time += now.since(self.recovery_began);
        self.events.push(Event::RecoveryExited);
    }

    fn continue_loss(&mut self, now: Instant, news: &News, passes_recover: bool) -> u64 {
        let mut bytes = news.advance.bytes;
        if bytes == 0 {
            return 0;
        }
        self.rto.restart(now, &self.rtt);
        if passes_recover {
            if self.config.dialect == Dialect::Ns3 {
                bytes = self.board.una() - self.recover;
            }
            self.note_recovered(now);
        }
        bytes
    }

    /// The window may grow by `growth` octets if it limits sending.
    fn tell_controller(&mut self, now: Instant, news: &News, rtt: Option<Duration>, growth: u64) {
        let mss = self.window.mss;
        // Linux's tcp_cong_control counts what an ACK that advances delivers, also by SACK, and nothing twice (acked_sacked).
        let counts_delivery = growth > 0 && self.config.growth == Growth::PerSegment;
        let growth = if counts_delivery { news.delivered } else { growth };
        let total = growth + self.acked_remainder;
        self.acked_remainder = total % mss;
        let min_rtt = self.rtt.min();
        let newest = news.newest.filter(|newest| !newest.is_retransmission);
        let rate = self.sampler.as_mut().and_then(|sampler| {
            sampler.on_lost(news.lost);
            sampler.on_ack(now, news.delivered, news.newest.as_ref(), min_rtt)
        });
        let ack = cc::Ack {
            now,
            acked: Acked { bytes: growth, segments: total / mss },
            delivered: news.delivered,
            lost: news.lost,
            marked: 0,
            in_flight: self.board.pipe(),
            prior_in_flight: news.prior_flight,
            una: self.board.una(),
            nxt: self.board.nxt(),
            rtt,
            newest_rtt: newest.map(|newest| now.since(newest.at)),
            srtt: self.rtt.srtt(),
            min_rtt,
            rate,
            state: self.state,
            may_grow: growth > 0 && (!self.config.validate_window || self.is_window_limited(news.prior_flight)),
        };
        self.controller.on_ack(&mut self.window, &ack);
    }

    /// Did the window hold back sending? In slow start, half a window in flight is enough (Linux's `tcp_is_cwnd_limited`).
    fn is_window_limited(&self, prior_flight: u64) -> bool {
        self.window_limited || (self.window.in_slow_start() && self.window.cwnd < 2 * prior_flight)
    }
}
