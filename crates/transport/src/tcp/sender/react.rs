//! What congestion control makes of an ACK: from one [`CongestionState`] to the next.

use super::super::rules::{Disorder, DuplicateCount, ExitGrowth, ForcedRetransmission, PartialAck, PrrDelivery};
use super::Sender;
use super::ecn::Echoed;
use crate::cc::{self, Acked, CongestionControl, FlightMeasure, Growth, Signal};
use crate::event::Event;
use crate::recovery::prr::{self, Progress, Prr};
use crate::recovery::rack::RoundTrip;
use crate::recovery::rto::Restart;
use crate::recovery::scoreboard::{Advance, Loss};
use crate::recovery::undo::Before;
use crate::recovery::{self, CongestionState, DUP_THRESH, Detection};
use acklab_base::{Duration, Instant};

/// What one ACK brought.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    pub(super) advance: Advance,
    /// Octets newly acknowledged, cumulatively or selectively.
    pub(super) delivered: u64,
    /// When the first of the segments that SACK newly acknowledges was sent, if it was never sent again.
    pub(super) newly_sacked_at: Option<Instant>,
    /// Octets newly believed lost.
    pub(super) lost: u64,
    /// RFC 6675, §2: it brings new SACK information; without SACK, RFC 5681, §2.
    pub(super) is_duplicate: bool,
    /// D-SACK: something arrived twice.
    pub(super) reports_duplicate: bool,
    /// The timestamp that it echoes.
    pub(super) echo: Option<u32>,
    /// Octets in flight before it.
    pub(super) prior_flight: u64,
    /// What it tells of marks.
    pub(super) echoed: Echoed,
}

impl Sender {
    /// Is loss judged by time (RFC 8985)? That takes SACK.
    pub(super) const fn judges_by_time(&self) -> bool {
        matches!(self.config.detection, Detection::Rack) && self.config.sack
    }

    /// Marks what the scoreboard now shows to be lost, and tells the octets.
    pub(super) fn detect_losses(&mut self, now: Instant, has_sack_news: bool) -> u64 {
        if self.judges_by_time() {
            let delivery = self.board.delivery();
            if let Some((newest, at)) = delivery.plausible {
                let left_at = match self.config.rack_rtt {
                    RoundTrip::Newest => at,
                    RoundTrip::LastEntered => delivery.last_entered.unwrap_or(at),
                };
                self.rack.on_delivery(newest, now.since(left_at), delivery.is_reordered);
            }
            self.detect_by_time(now)
        } else if has_sack_news {
            self.board.detect_losses()
        } else {
            0
        }
    }

    fn detect_by_time(&mut self, now: Instant) -> u64 {
        let Some(newest) = self.rack.newest() else { return 0 };
        let recovers = matches!(self.state, CongestionState::Recovery | CongestionState::Loss);
        let window = self.rack.window(self.rtt.min(), self.rtt.srtt(), recovers, self.board.sacked_segments());
        let (lost, wait) = self.board.detect_by_time(now, newest, self.rack.rtt() + window);
        self.rack.wait(now, wait, self.config.timer_slack);
        if wait.is_some() {
            // One of the two timers at a time: reordering is being waited out (RFC 8985, §7.2).
            self.probe.timeout.set(None);
        }
        lost
    }

    /// The reordering window has passed without an ACK.
    pub(super) fn reordering_timeout(&mut self, now: Instant) {
        let prior_flight = self.board.pipe();
        let lost = self.detect_by_time(now);
        if lost > 0 && !matches!(self.state, CongestionState::Recovery | CongestionState::Loss) {
            self.enter_recovery(now, &News { lost, prior_flight, ..News::default() });
        }
        self.report_losses(now);
    }

    /// Moves congestion control on, and returns by how many acknowledged octets the window may grow.
    pub(super) fn react(&mut self, now: Instant, news: &News) -> u64 {
        let passes_recover = news.advance.bytes > 0 && self.board.una() >= self.recover;
        let ends_recovery =
            passes_recover || (self.config.recovery == recovery::Algorithm::Reno && news.advance.bytes > 0);
        match self.state {
            CongestionState::Recovery if ends_recovery => self.exit_recovery(now, news),
            CongestionState::Recovery => self.continue_recovery(now, news),
            CongestionState::Loss => self.continue_loss(now, news, passes_recover),
            CongestionState::Reduced => self.continue_reduced(now, news, passes_recover),
            CongestionState::Open | CongestionState::Disorder => self.react_in_order(now, news),
        }
    }

    fn react_in_order(&mut self, now: Instant, news: &News) -> u64 {
        if self.config.undo && self.undo.is_refuted() {
            self.restore(now, false);
        }
        let ends_count = !news.is_duplicate || self.rules.duplicate_count == DuplicateCount::EndsWithAnyAdvance;
        if news.advance.bytes > 0 && ends_count {
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
        if self.shows_loss() {
            self.enter_recovery(now, news);
            if news.advance.bytes > 0 {
                self.seen_partial_ack = true;
                self.rto.restart(now, &self.rtt);
            }
            return 0;
        }
        let holds = news.is_duplicate && self.rules.disorder == Disorder::Holds;
        if news.advance.bytes == 0 || holds {
            return 0;
        }
        self.rto.restart(now, &self.rtt);
        news.advance.bytes
    }

    fn shows_loss(&self) -> bool {
        self.board.lost() > 0 || (!self.judges_by_time() && self.duplicates >= DUP_THRESH)
    }

    fn enter_recovery(&mut self, now: Instant, news: &News) {
        if self.board.lost() == 0 {
            self.board.mark_head_lost();
        }
        if !self.config.sack && !self.config.limited_transmit {
            // RFC 5681, §3.2, step 3: now the duplicates count that could not be answered with new data.
            self.board.duplicate_without_sack(u64::from(self.duplicates) * self.window.mss);
        }
        self.undo.begin(self.before_reduction(), self.board.has_resent());
        // A reduction that is under way goes on; it is not made twice (Linux's tcp_enter_recovery).
        if self.state != CongestionState::Reduced {
            self.begin_reduction(now, news, Signal::Loss);
        }
        self.probe.timeout.set(None);
        self.enter(now, CongestionState::Recovery);
        self.recover = self.board.nxt();
        self.recovery_began = now;
        self.seen_partial_ack = false;
        self.reduce(news);
        // RFC 6675, §5, (4.3): the first retransmission goes out at once. All that is lost may be out again already, if it lay beyond
        // the recovery point of a recovery that has just ended.
        let sends_head = self.rules.forced_retransmission == ForcedRetransmission::AtLeastHead;
        self.forced = u32::from(self.board.has_pending() || sends_head);
        self.events.push(Event::RecoveryEntered { until: self.board.nxt() });
    }

    pub(super) fn before_reduction(&self) -> Before {
        Before { cwnd: self.window.cwnd, ssthresh: self.window.ssthresh, una: self.board.una() }
    }

    /// What congestion control takes a part of, on an ACK that advances by so much.
    pub(super) fn flight_to_reduce(&self, advance: u64) -> u64 {
        match self.config.halves {
            FlightMeasure::FlightSize => self.board.flight_size() + advance,
            FlightMeasure::Pipe => self.board.pipe(),
            FlightMeasure::Window => self.window.cwnd,
        }
    }

    /// The threshold falls, and the window begins to follow.
    fn begin_reduction(&mut self, now: Instant, news: &News, signal: Signal) {
        let flight_size = self.board.flight_size();
        let flight = self.flight_to_reduce(news.advance.bytes);
        let recover_fs = match self.config.prr_basis {
            prr::Basis::FlightSize => flight_size,
            prr::Basis::Pipe => (flight_size + news.delivered).saturating_sub(self.board.sacked()),
            prr::Basis::Window => self.window.cwnd,
        };
        self.window.ssthresh = self.controller.ssthresh(now, &self.window, flight, signal);
        self.prr = Prr::new(self.config.prr_bound, self.window.mss, recover_fs);
        self.marks.on_reduction(self.board.nxt());
    }

    /// The window on an ACK of a recovery.
    fn reduce(&mut self, news: &News) {
        if self.controller.governs_window() {
            return;
        }
        let progress = Progress {
            delivered: news.delivered,
            pipe: self.board.pipe(),
            ssthresh: self.window.ssthresh,
            is_safe: news.advance.bytes > 0 && news.lost == 0,
            retransmission_acked: news.advance.retransmission_acked,
        };
        let is_both = news.is_duplicate && news.advance.bytes > 0;
        let counts_twice = is_both && self.rules.prr_delivery == PrrDelivery::Twice;
        self.window.cwnd = match self.config.recovery {
            recovery::Algorithm::Classic | recovery::Algorithm::Reno => self.window.ssthresh,
            recovery::Algorithm::Prr if counts_twice => {
                let _ = self.prr.on_ack(progress);
                self.prr.on_ack(progress)
            }
            recovery::Algorithm::Prr => self.prr.on_ack(progress),
        };
    }

    fn continue_recovery(&mut self, now: Instant, news: &News) -> u64 {
        if self.config.undo && self.was_needless(news) {
            self.restore(now, true);
            self.note_recovered(now);
            self.rto.restart(now, &self.rtt);
            return 0;
        }
        let is_partial = news.advance.bytes > 0;
        if is_partial && !self.config.sack {
            self.board.mark_head_lost();
        }
        if news.is_duplicate || is_partial {
            self.reduce(news);
        }
        if is_partial {
            if self.rules.partial_ack == PartialAck::SendsHead && !self.board.head_resent() {
                self.forced = 1;
            }
            if self.config.rto.restart != Restart::FirstPartialAck || !self.seen_partial_ack {
                self.rto.restart(now, &self.rtt);
            }
            self.seen_partial_ack = true;
        }
        0
    }

    /// Linux's `tcp_try_undo_partial` and `tcp_try_undo_dsack`: what filled the hole had only been late, and nothing sent again is
    /// still out; or each retransmission is reported as a duplicate.
    fn was_needless(&self, news: &News) -> bool {
        let only_late = news.advance.bytes > 0 && !self.board.has_resent() && self.undo.is_overtaken(news.echo);
        only_late || self.undo.is_refuted()
    }

    fn exit_recovery(&mut self, now: Instant, news: &News) -> u64 {
        if !self.controller.governs_window() {
            self.window.cwnd = self.window.ssthresh;
        }
        if self.config.recovery == recovery::Algorithm::Reno {
            self.board.forget_duplicates();
        }
        if self.config.undo && (self.undo.is_refuted() || self.undo.is_overtaken(news.echo)) {
            self.restore(now, false);
        }
        self.note_recovered(now);
        self.rto.restart(now, &self.rtt);
        if self.rules.exit_growth == ExitGrowth::Grows { news.advance.bytes } else { 0 }
    }

    pub(super) fn enter(&mut self, now: Instant, state: CongestionState) {
        self.state = state;
        self.controller.on_state(now, &mut self.window, state);
    }

    fn note_recovered(&mut self, now: Instant) {
        self.duplicates = 0;
        self.forced = 0;
        self.enter(now, CongestionState::Open);
        self.rack.on_recovered();
        self.counters.recoveries += 1;
        self.counters.recovery_time += now.since(self.recovery_began);
        self.events.push(Event::RecoveryExited);
    }

    /// The reduction was for nothing: window and threshold are again what they were.
    fn restore(&mut self, now: Instant, keep_all: bool) {
        let Some(before) = self.undo.take() else { return };
        if keep_all {
            self.board.unmark_lost();
        }
        if !self.controller.governs_window() {
            self.window.cwnd = self.window.cwnd.max(before.cwnd);
        }
        self.window.ssthresh = self.window.ssthresh.max(before.ssthresh);
        self.controller.on_undo(now, &mut self.window);
        self.counters.undone += 1;
        self.events.push(Event::Undone);
    }

    fn continue_loss(&mut self, now: Instant, news: &News, passes_recover: bool) -> u64 {
        let mut bytes = news.advance.bytes;
        if bytes == 0 {
            return 0;
        }
        self.forced = 0;
        self.rto.restart(now, &self.rtt);
        if self.config.undo && (self.undo.is_refuted() || self.undo.is_overtaken(news.echo)) {
            self.restore(now, true);
            self.note_recovered(now);
            return 0;
        }
        if passes_recover {
            if self.rules.exit_growth == ExitGrowth::Grows {
                bytes = self.board.una() - self.recover;
            }
            self.note_recovered(now);
        }
        bytes
    }

    /// Congestion without anything to repair: the window is reduced as in a recovery.
    pub(super) fn enter_reduced(&mut self, now: Instant, news: &News, signal: Signal) {
        self.undo.begin(self.before_reduction(), self.board.has_resent());
        self.begin_reduction(now, news, signal);
        self.enter(now, CongestionState::Reduced);
        self.recover = self.board.nxt();
        self.reduce(news);
        self.events.push(Event::WindowReduced { until: self.board.nxt() });
    }

    fn continue_reduced(&mut self, now: Instant, news: &News, passes_recover: bool) -> u64 {
        if news.is_duplicate {
            self.duplicates += 1;
        } else if news.advance.bytes > 0 {
            self.duplicates = 0;
        }
        if self.shows_loss() {
            self.enter_recovery(now, news);
        } else if passes_recover {
            if !self.controller.governs_window() {
                self.window.cwnd = self.window.ssthresh;
            }
            self.enter(now, CongestionState::Open);
        } else if news.delivered > 0 {
            self.reduce(news);
        }
        if news.advance.bytes > 0 {
            self.rto.restart(now, &self.rtt);
        }
        0
    }

    /// The window may grow by `growth` octets if it limits sending.
    pub(super) fn tell_controller(&mut self, now: Instant, news: &News, rtt: Option<Duration>, growth: u64) {
        let mss = self.window.mss;
        // Linux's tcp_cong_control counts what an ACK that advances delivers, also by SACK, and nothing twice (acked_sacked).
        let counts_delivery = growth > 0 && self.config.growth == Growth::PerSegment;
        let growth = if counts_delivery { news.delivered } else { growth };
        let total = growth + self.acked_remainder;
        self.acked_remainder = total % mss;
        let min_rtt = self.rtt.min();
        let lost = self.report_losses(now);
        let delivery = self.board.delivery();
        let newest = delivery.newest.as_ref();
        let newest_rtt = newest.filter(|newest| !newest.is_retransmission).map(|newest| now.since(newest.at));
        let mut ack = cc::Ack {
            now,
            acked: Acked { bytes: growth, segments: total / mss },
            delivered: news.delivered,
            total_delivered: self.counters.delivered,
            lost,
            marked: news.echoed.marked,
            in_flight: self.board.pipe(),
            prior_in_flight: news.prior_flight,
            una: self.board.una(),
            nxt: self.board.nxt(),
            rtt,
            newest_rtt,
            srtt: self.rtt.srtt(),
            min_rtt,
            rate: None,
            state: self.state,
            has_sack: self.config.sack,
            window_limited: self.window_limited,
            departure: self.pacer.holds_until(now).unwrap_or(now),
            may_grow: growth > 0 && (!self.config.validate_window || self.is_window_limited(news.prior_flight)),
        };
        if let Some(sampler) = &mut self.sampler {
            let stamped = newest.map(|newest| (newest, &delivery.stamp));
            ack.rate = sampler.on_ack(now, news.delivered, stamped, min_rtt);
        }
        if !self.board.fates().is_empty() {
            self.controller.on_fates(self.board.fates());
            self.board.clear_fates();
        }
        self.controller.on_ack(&mut self.window, &ack);
        if self.controller.limits_itself()
            && let Some(sampler) = &mut self.sampler
        {
            sampler.on_app_limited(ack.in_flight);
        }
    }

    /// Tells the controller of each transmission that was marked lost, and returns their octets.
    pub(super) fn report_losses(&mut self, now: Instant) -> u64 {
        if !self.board.has_losses() {
            return 0;
        }
        let (mut sum, mut total_lost) = (0, 0);
        for Loss { sent_at, start, end, stamp } in self.board.drain_losses() {
            sum += end - start;
            if let Some(sampler) = &mut self.sampler {
                sampler.on_lost(end - start);
                total_lost = sampler.lost();
            }
            let total_delivered = self.counters.delivered;
            let lost = cc::Lost { now, sent_at, start, end, stamp, total_delivered, total_lost };
            self.controller.on_lost(&self.window, &lost);
        }
        sum
    }

    /// Did the window hold back sending? In slow start, half a window in flight is enough (Linux's `tcp_is_cwnd_limited`).
    fn is_window_limited(&self, prior_flight: u64) -> bool {
        self.window_limited || (self.window.in_slow_start() && self.window.cwnd < 2 * prior_flight)
    }
}
