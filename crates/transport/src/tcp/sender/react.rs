//! What congestion control makes of an ACK: from one [`CongestionState`] to the next.

use super::super::rules::{Disorder, DuplicateCount, ExitGrowth, ForcedRetransmission, PartialAck, PrrDelivery};
use super::Sender;
use super::ecn::Echoed;
use crate::cc::Signal;
use crate::recovery::rto::Restart;
use crate::recovery::scoreboard::Advance;
use crate::recovery::{self, CongestionState, Detection};
use acklab_base::{Event, Instant};

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

impl News {
    /// It advances and brings SACK news (without SACK, never).
    const fn is_both(&self) -> bool {
        self.is_duplicate && self.advance.bytes > 0
    }
}

impl Sender {
    /// Is loss judged by time (RFC 8985)? That takes SACK.
    #[inline]
    pub(super) const fn judges_by_time(&self) -> bool {
        matches!(self.config.detection, Detection::Rack) && self.connection.has_sack
    }

    /// Marks what the scoreboard now shows to be lost, and tells the octets.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Instant, has_sack_news: bool) -> u64 {
        if self.judges_by_time() {
            self.loss.on_delivery(now, self.board.delivery(), self.config.rack_rtt);
            self.detect_by_time(now)
        } else if has_sack_news {
            self.board.detect_losses()
        } else {
            0
        }
    }

    #[inline]
    fn detect_by_time(&mut self, now: Instant) -> u64 {
        let rack = &mut self.loss.rack;
        let Some(newest) = rack.newest() else { return 0 };
        if !self.board.may_be_overtaken(newest) {
            rack.patience.set(None);
            return 0;
        }
        let recovers = matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Loss);
        let rtt = &self.timing.rtt;
        let window = rack.window(rtt.min(), rtt.srtt(), recovers, self.board.sacked_segments());
        let (lost, wait) = self.board.detect_by_time(now, newest, rack.rtt() + window);
        rack.wait(now, wait, self.config.timer_slack);
        if wait.is_some() {
            // One of the two timers at a time: reordering is being waited out (RFC 8985, §7.2).
            self.loss.probe.timeout.set(None);
        }
        lost
    }

    /// The reordering window has passed without an ACK.
    pub(super) fn reordering_timeout(&mut self, now: Instant) {
        let prior_flight = self.board.pipe();
        let lost = self.detect_by_time(now);
        if lost > 0 && !matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Loss) {
            self.enter_recovery(now, &News { lost, prior_flight, ..News::default() });
        }
        self.report_losses(now);
    }

    /// Moves congestion control on, and returns by how many acknowledged octets the window may grow.
    pub(super) fn react(&mut self, now: Instant, news: &News) -> u64 {
        let passes_recover = news.advance.bytes > 0 && self.board.una() >= self.congestion.recover;
        let ends_recovery =
            passes_recover || (self.config.recovery == recovery::Algorithm::Reno && news.advance.bytes > 0);
        match self.congestion.state {
            CongestionState::Open | CongestionState::Disorder => self.react_in_order(now, news),
            CongestionState::Recovery if ends_recovery => self.exit_recovery(now, news),
            CongestionState::Recovery => self.continue_recovery(now, news),
            CongestionState::Loss => self.continue_loss(now, news, passes_recover),
            CongestionState::Reduced => self.continue_reduced(now, news, passes_recover),
        }
    }

    #[inline]
    fn react_in_order(&mut self, now: Instant, news: &News) -> u64 {
        if self.config.undo && self.congestion.undo.is_refuted() {
            self.restore(now, false);
        }
        let ends_count = !news.is_duplicate || self.rules.duplicate_count == DuplicateCount::EndsWithAnyAdvance;
        if news.advance.bytes > 0 && ends_count {
            self.loss.duplicates = 0;
        }
        if news.is_duplicate {
            self.loss.duplicates += 1;
        }
        let state = match (news.is_duplicate, news.advance.bytes > 0) {
            (true, _) => CongestionState::Disorder,
            (false, true) => CongestionState::Open,
            (false, false) => self.congestion.state,
        };
        if state != self.congestion.state {
            self.congestion.enter(now, state);
        }
        if self.shows_loss() {
            self.enter_recovery(now, news);
            if news.advance.bytes > 0 {
                self.congestion.seen_partial_ack = true;
                self.timing.restart(now);
            }
            return 0;
        }
        if news.advance.bytes == 0 || (news.is_duplicate && self.rules.disorder == Disorder::Holds) {
            return 0;
        }
        self.timing.restart(now);
        news.advance.bytes
    }

    fn shows_loss(&self) -> bool {
        self.board.lost() > 0 || (!self.judges_by_time() && self.loss.has_enough_duplicates())
    }

    fn enter_recovery(&mut self, now: Instant, news: &News) {
        if self.board.lost() == 0 {
            self.board.mark_head_lost();
        }
        if !self.connection.has_sack && !self.config.limited_transmit {
            // RFC 5681, §3.2, step 3: now the duplicates count that could not be answered with new data.
            self.board.duplicate_without_sack(u64::from(self.loss.duplicates) * self.congestion.window.mss);
        }
        self.remember_window();
        // A reduction that is under way goes on; it is not made twice (Linux's tcp_enter_recovery).
        if self.congestion.state != CongestionState::Reduced {
            self.begin_reduction(now, news, Signal::Loss);
        }
        self.loss.probe.timeout.set(None);
        self.congestion.enter(now, CongestionState::Recovery);
        self.congestion.recover = self.board.nxt();
        self.congestion.recovery_began = now;
        self.congestion.seen_partial_ack = false;
        self.reduce(news);
        // RFC 6675, §5, (4.3): the first retransmission goes out at once. All that is lost may be out again already, if it lay beyond
        // the recovery point of a recovery that has just ended.
        let sends_head = self.rules.forced_retransmission == ForcedRetransmission::AtLeastHead;
        self.transmission.forced = self.board.has_pending() || sends_head;
        self.events.push_back(Event::RecoveryEntered { until: self.board.nxt() });
    }

    /// The window is about to be reduced, which may turn out to be for nothing.
    pub(super) fn remember_window(&mut self) {
        let before = self.congestion.before_reduction(self.board.una());
        self.congestion.undo.begin(before, self.board.has_resent());
    }

    fn begin_reduction(&mut self, now: Instant, news: &News, signal: Signal) {
        self.congestion.begin_reduction(now, &self.config, &self.board, news, signal);
        self.marks.on_reduction(self.board.nxt());
    }

    /// The window on an ACK of a recovery.
    fn reduce(&mut self, news: &News) {
        let counts_twice = news.is_both() && self.rules.prr_delivery == PrrDelivery::Twice;
        self.congestion.reduce(self.config.recovery, self.board.pipe(), news, 1 + u32::from(counts_twice));
    }

    fn continue_recovery(&mut self, now: Instant, news: &News) -> u64 {
        if self.config.undo && self.was_needless(news) {
            self.restore(now, true);
            self.note_recovered(now);
            self.timing.restart(now);
            return 0;
        }
        let is_partial = news.advance.bytes > 0;
        if is_partial && !self.connection.has_sack {
            self.board.mark_head_lost();
        }
        if news.is_duplicate || is_partial {
            self.reduce(news);
        }
        if is_partial {
            if self.rules.partial_ack == PartialAck::SendsHead && !self.board.head_resent() {
                self.transmission.forced = true;
            }
            if self.config.rto.restart != Restart::FirstPartialAck || !self.congestion.seen_partial_ack {
                self.timing.restart(now);
            }
            self.congestion.seen_partial_ack = true;
        }
        0
    }

    /// Linux's `tcp_try_undo_partial` and `tcp_try_undo_dsack`: what filled the hole had only been late, and nothing sent again is
    /// still out; or each retransmission is reported as a duplicate.
    fn was_needless(&self, news: &News) -> bool {
        let undo = &self.congestion.undo;
        let only_late = news.advance.bytes > 0 && !self.board.has_resent() && undo.is_overtaken(news.echo);
        only_late || undo.is_refuted()
    }

    fn exit_recovery(&mut self, now: Instant, news: &News) -> u64 {
        self.congestion.deflate();
        if self.config.recovery == recovery::Algorithm::Reno {
            self.board.forget_duplicates();
        }
        if self.config.undo && self.congestion.is_refuted(news.echo) {
            self.restore(now, false);
        }
        self.note_recovered(now);
        self.timing.restart(now);
        if self.rules.exit_growth == ExitGrowth::Grows { news.advance.bytes } else { 0 }
    }

    fn note_recovered(&mut self, now: Instant) {
        self.loss.duplicates = 0;
        self.transmission.forced = false;
        self.congestion.enter(now, CongestionState::Open);
        self.loss.rack.on_recovered();
        self.counters.recoveries += 1;
        self.counters.recovery_time += now.since(self.congestion.recovery_began);
        self.events.push_back(Event::RecoveryExited);
    }

    /// The reduction was for nothing: window and threshold are again what they were, and with `keep_all` nothing counts as lost.
    fn restore(&mut self, now: Instant, keep_all: bool) {
        if !self.congestion.restore(now) {
            return;
        }
        if keep_all {
            self.board.unmark_lost();
        }
        self.counters.undone += 1;
        self.events.push_back(Event::Undone);
    }

    fn continue_loss(&mut self, now: Instant, news: &News, passes_recover: bool) -> u64 {
        let mut bytes = news.advance.bytes;
        if bytes == 0 {
            return 0;
        }
        self.transmission.forced = false;
        self.timing.restart(now);
        if self.config.undo && self.congestion.is_refuted(news.echo) {
            self.restore(now, true);
            self.note_recovered(now);
            return 0;
        }
        if passes_recover {
            if self.rules.exit_growth == ExitGrowth::Grows {
                bytes = self.board.una() - self.congestion.recover;
            }
            self.note_recovered(now);
        }
        bytes
    }

    /// Congestion without anything to repair: the window is reduced as in a recovery.
    pub(super) fn enter_reduced(&mut self, now: Instant, news: &News, signal: Signal) {
        self.remember_window();
        self.begin_reduction(now, news, signal);
        self.congestion.enter(now, CongestionState::Reduced);
        self.congestion.recover = self.board.nxt();
        self.reduce(news);
        self.events.push_back(Event::WindowReduced { until: self.board.nxt() });
    }

    fn continue_reduced(&mut self, now: Instant, news: &News, passes_recover: bool) -> u64 {
        if news.is_duplicate {
            self.loss.duplicates += 1;
        } else if news.advance.bytes > 0 {
            self.loss.duplicates = 0;
        }
        if self.shows_loss() {
            self.enter_recovery(now, news);
        } else if passes_recover {
            self.congestion.deflate();
            self.congestion.enter(now, CongestionState::Open);
        } else if news.delivered > 0 {
            self.reduce(news);
        }
        if news.advance.bytes > 0 {
            self.timing.restart(now);
        }
        0
    }
}
