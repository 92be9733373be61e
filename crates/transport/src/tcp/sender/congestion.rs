//! The congestion window, its controller, and the state of congestion control.

use super::super::config::TcpConfig;
use super::summary::AckSummary;
use crate::cc::{Acked, CongestionControl, ControlledWindow, Controller, FlightMeasure, Growth, Signal};
use crate::recovery::prr::{self, Progress, Prr};
use crate::recovery::scoreboard::Scoreboard;
use crate::recovery::undo::{Before, Undo};
use crate::recovery::{self, CongestionState};
use acklab_base::Instant;

/// The state of congestion control.
#[derive(Debug)]
pub(super) struct Congestion {
    pub(super) control: ControlledWindow,
    pub(super) state: CongestionState,
    /// The recovery point. Its acknowledgment ends a recovery after a fast retransmit or a timeout.
    pub(super) recover: u64,
    pub(super) recovery_began: Instant,
    pub(super) seen_partial_ack: bool,
    /// `true` while F-RTO tests the last timeout.
    pub(super) tests_timeout: bool,
    pub(super) prr: Prr,
    pub(super) undo: Undo,
}

impl Congestion {
    pub(super) fn new(config: &TcpConfig, controller: Controller) -> Self {
        let mss = config.mss.get();
        Self {
            control: ControlledWindow::new(controller, u64::from(config.initial_window.0) * mss, mss),
            state: CongestionState::Open,
            recover: 0,
            recovery_began: Instant::ZERO,
            seen_partial_ack: false,
            tests_timeout: false,
            prr: Prr::new(config.prr_bound, mss, 0),
            undo: Undo::default(),
        }
    }

    /// Sets `mss` bytes as the payload of a full-sized segment, and sets the initial window to a
    /// multiple of `mss`.
    pub(super) fn adopt_mss(&mut self, config: &TcpConfig, mss: u64) {
        (self.control.window.mss, self.control.window.cwnd) = (mss, u64::from(config.initial_window.0) * mss);
        self.prr = Prr::new(config.prr_bound, mss, 0);
    }

    /// Returns the number of bytes that the window permits beyond `pipe`.
    #[inline]
    pub(super) const fn room(&self, pipe: u64) -> u64 {
        self.control.window.cwnd.saturating_sub(pipe)
    }

    /// Enters `state`.
    pub(super) fn enter(&mut self, now: Instant, state: CongestionState) {
        self.state = state;
        self.control.enter(now, state);
    }

    /// Returns the state before a reduction.
    pub(super) const fn before_reduction(&self, una: u64) -> Before {
        Before { cwnd: self.control.window.cwnd, ssthresh: self.control.window.ssthresh, una }
    }

    /// Returns the flight that is the basis of a reduction, on an ACK that advances snd.una by
    /// `advance` bytes.
    pub(super) fn flight_to_reduce(&self, config: &TcpConfig, board: &Scoreboard, advance: u64) -> u64 {
        match config.halves {
            FlightMeasure::FlightSize => board.flight_size() + advance,
            FlightMeasure::Pipe => board.pipe(),
            FlightMeasure::Window => self.control.window.cwnd,
        }
    }

    /// Lowers the threshold to the value that the controller computes for `flight`.
    pub(super) fn lower_threshold(&mut self, now: Instant, flight: u64, signal: Signal) {
        self.control.lower_threshold(now, flight, signal);
    }

    /// Lowers the threshold, and begins to reduce the window to the threshold.
    pub(super) fn begin_reduction(
        &mut self,
        now: Instant,
        config: &TcpConfig,
        board: &Scoreboard,
        summary: &AckSummary,
        signal: Signal,
    ) {
        let recover_fs = match config.prr_basis {
            prr::Basis::FlightSize => board.flight_size(),
            prr::Basis::Pipe => (board.flight_size() + summary.delivered).saturating_sub(board.reported()),
            prr::Basis::Window => self.control.window.cwnd,
        };
        self.lower_threshold(now, self.flight_to_reduce(config, board, summary.advance.bytes), signal);
        let prr = Prr::new(config.prr_bound, self.control.window.mss, recover_fs);
        self.prr = if config.prr_basis == prr::Basis::Window { prr.in_segments() } else { prr };
    }

    /// Sets the window on an ACK in a reduction. PRR counts the delivery of the ACK `deliveries`
    /// times.
    pub(super) fn reduce(&mut self, algorithm: recovery::Algorithm, pipe: u64, summary: &AckSummary, deliveries: u32) {
        if self.control.controller.governs_window() {
            return;
        }
        if algorithm != recovery::Algorithm::Prr {
            self.control.window.cwnd = self.control.window.ssthresh;
            return;
        }
        let progress = Progress {
            delivered: summary.delivered,
            pipe,
            ssthresh: self.control.window.ssthresh,
            is_safe: summary.advance.bytes > 0 && summary.lost == 0,
            retransmission_acked: summary.advance.retransmission_acked,
        };
        for _ in 0..deliveries {
            self.control.window.cwnd = self.prr.on_ack(progress);
        }
    }

    /// Ends a reduction: sets the window to the threshold.
    pub(super) fn deflate(&mut self) {
        self.control.set(self.control.window.ssthresh);
    }

    /// Limits the window to the threshold.
    pub(super) fn deflate_above_threshold(&mut self) {
        self.control.fall_to_threshold();
    }

    /// Returns `true` if the reduction was spurious, by D-SACK or by the timestamp `echo` of an ACK
    /// that fills the hole.
    pub(super) fn is_refuted(&self, echo: Option<u32>) -> bool {
        self.undo.is_refuted_by_dsack() || self.undo.is_refuted_by_echo(echo)
    }

    /// Restores the window and the threshold before the last reduction. Returns `false` if no
    /// reduction can be undone.
    pub(super) fn undo_reduction(&mut self, now: Instant) -> bool {
        let Some(before) = self.undo.take() else { return false };
        self.control.restore(now, before.cwnd, before.ssthresh);
        true
    }

    /// Returns the bytes and full-sized segments that are used for window growth. The ACK delivers
    /// `delivered` bytes and may increase the window by `growth`. The remainder of a segment is
    /// carried over to the next ACK.
    #[inline]
    pub(super) fn count(&mut self, rule: Growth, growth: u64, delivered: u64) -> Acked {
        // If an ACK advances snd.una, Linux's tcp_cong_control uses all data that it newly
        // delivers, including data that SACK acknowledges (acked_sacked).
        let counts_delivery = growth > 0 && rule == Growth::PerSegment;
        self.control.count(if counts_delivery { delivered } else { growth })
    }
}
