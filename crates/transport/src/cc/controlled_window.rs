//! A congestion window with its controller, which every transport uses.

use super::{Ack, Acked, CongestionControl, Controller, Lost, Position, Sent, Signal, Window};
use crate::recovery::CongestionState;
use crate::recovery::alarm::Alarm;
use crate::recovery::delivery_rate::{Newest, Sampler, Stamp};
use crate::recovery::transmission::Transmission;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// A window, the controller that governs it, and the delivery rate if the controller reads it.
/// Sizes are bytes.
#[derive(Debug)]
pub(crate) struct ControlledWindow {
    pub(crate) window: Window,
    pub(crate) controller: Controller,
    pub(crate) sampler: Option<Sampler>,
    keeps_time: bool,
    /// The number of acknowledged bytes that do not fill a packet.
    acked_remainder: u64,
}

impl ControlledWindow {
    /// Creates a window of `cwnd` bytes; a full-sized packet has `mss` bytes.
    pub(crate) fn new(controller: Controller, cwnd: u64, mss: u64) -> Self {
        Self {
            window: Window { cwnd, ssthresh: u64::MAX, mss },
            sampler: controller.wants_delivery_rate().then(Sampler::default),
            keeps_time: controller.keeps_time(),
            controller,
            acked_remainder: 0,
        }
    }

    /// Enters `state`.
    pub(crate) fn enter(&mut self, now: Instant, state: CongestionState) {
        self.controller.on_state(now, &mut self.window, state);
    }

    /// Lowers the threshold to the controller's result for `flight`.
    pub(crate) fn lower_threshold(&mut self, now: Instant, flight: u64, signal: Signal) {
        self.window.ssthresh = self.controller.ssthresh(now, &self.window, flight, signal);
    }

    /// Sets the window to `cwnd`, unless the controller governs it.
    pub(crate) fn set(&mut self, cwnd: u64) {
        if !self.controller.governs_window() {
            self.window.cwnd = cwnd;
        }
    }

    /// Lowers the window to the threshold, unless it is smaller.
    pub(crate) fn fall_to_threshold(&mut self) {
        self.set(self.window.cwnd.min(self.window.ssthresh));
    }

    /// Restores window and threshold to at least their values before the last reduction, which was
    /// spurious.
    pub(crate) fn restore(&mut self, now: Instant, cwnd: u64, ssthresh: u64) {
        self.set(self.window.cwnd.max(cwnd));
        self.window.ssthresh = self.window.ssthresh.max(ssthresh);
        self.controller.on_undo(now, &mut self.window);
    }

    /// Returns when the controller must be woken.
    #[inline]
    pub(crate) fn alarm(&self) -> Alarm {
        if self.keeps_time { self.controller.deadline().into() } else { Alarm::NEVER }
    }

    /// Wakes the controller if it is due, with `in_flight` bytes in flight. Returns `true` if it
    /// was.
    pub(crate) fn wake(&mut self, now: Instant, in_flight: u64) -> bool {
        let is_due = self.alarm().expire(now);
        if is_due {
            self.controller.on_deadline(now, &mut self.window, in_flight);
        }
        is_due
    }

    /// Returns the number of bytes and full-sized packets in `bytes`, which were acknowledged. The
    /// remainder of a packet is carried over to the next call.
    #[inline]
    pub(crate) const fn count(&mut self, bytes: u64) -> Acked {
        let (total, mss) = (bytes + self.acked_remainder, self.window.mss);
        self.acked_remainder = total % mss;
        Acked { bytes, segments: total / mss }
    }

    /// Returns `true` if sending is application-limited at present.
    #[inline]
    pub(crate) fn is_app_limited(&self) -> bool {
        self.sampler.as_ref().is_some_and(Sampler::is_app_limited)
    }

    /// Reports to the controller that a transmission was sent.
    #[inline]
    pub(crate) fn tell_sent(&mut self, sent: &Sent) {
        self.controller.on_sent(&mut self.window, sent);
    }

    /// Reports to the controller that a transmission was lost, with `total_delivered` bytes
    /// delivered so far.
    pub(crate) fn tell_lost(
        &mut self,
        (now, sent_at): (Instant, Instant),
        bytes: u64,
        range: Range<u64>,
        stamp: Stamp,
        total_delivered: u64,
    ) {
        let total_lost = self.sampler.as_mut().map_or(0, |sampler| {
            sampler.on_lost(bytes);
            sampler.lost()
        });
        let (start, end) = (Position(range.start), Position(range.end));
        let lost = Lost { now, sent_at, bytes, start, end, stamp, total_delivered, total_lost };
        self.controller.on_lost(&self.window, &lost);
    }

    /// Reports an ACK to the controller, with the `newest` transmission that it acknowledges and
    /// the outcomes of transmissions. If the receiver reports a rate, `reported` replaces the
    /// sender's sample.
    #[inline(always)]
    pub(crate) fn tell_ack(
        &mut self,
        mut ack: Ack,
        newest: Option<(&Newest, &Stamp)>,
        reported: Option<(u64, Duration)>,
        outcomes: &[Transmission],
    ) {
        if let Some(sampler) = &mut self.sampler {
            let sample = sampler.on_ack(ack.now, ack.delivered, newest, ack.min_rtt);
            ack.rate = sample.map(|sample| match reported {
                Some((delivered, interval)) => sample.reported(delivered, interval, ack.min_rtt.unwrap_or_default()),
                None => sample,
            });
        }
        if !outcomes.is_empty() {
            self.controller.on_outcomes(outcomes);
        }
        self.controller.on_ack(&mut self.window, &ack);
        if let Some(sampler) = &mut self.sampler
            && self.controller.limits_itself()
        {
            sampler.on_app_limited(ack.in_flight);
        }
    }
}
