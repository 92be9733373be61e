//! Reports each ACK, transmission and loss to the controller.

use super::Sender;
use crate::cc::{self, CongestionControl, Position};
use crate::limit::Limit;
use crate::pacing;
use crate::recovery::scoreboard::Loss;
use acklab_base::{Duration, Event, Instant, Rate};

/// The report of an ACK to the controller, in addition to the sender's state after the ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckReport {
    /// The newly acknowledged bytes, cumulatively or selectively.
    pub(super) delivered: u64,
    /// The number of newly acknowledged bytes that the receiver reports as marked.
    pub(super) marked: u64,
    /// The bytes in flight before the ACK.
    pub(super) prior_flight: u64,
    /// The round-trip sample of the ACK.
    pub(super) rtt: Option<Duration>,
    /// The bytes by which the window may grow if the window limits sending.
    pub(super) growth: u64,
}

impl Sender {
    /// Reports an ACK.
    #[inline(always)]
    pub(super) fn tell_controller(&mut self, now: Instant, report: AckReport) {
        let AckReport { delivered, marked, prior_flight, rtt, growth } = report;
        let acked = self.congestion.count(self.config.growth, growth, delivered);
        let lost = self.report_losses(now);
        let may_grow = acked.bytes > 0 && (!self.config.validate_window || self.uses_window(now, prior_flight));
        let delivery = self.board.delivery();
        let newest = delivery.newest.as_ref();
        let newest_sent_at = newest.filter(|newest| !newest.is_retransmission).map(|newest| newest.at);
        let min_rtt = self.timing.rtt.min();
        let departure = self.transmission.pacer.holds_until(now).unwrap_or(now);
        let ack = cc::Ack {
            now,
            acked,
            delivered,
            total_delivered: self.counters.delivered,
            lost,
            marked,
            in_flight: self.board.pipe(),
            prior_in_flight: prior_flight,
            acked_to: Position(self.board.una()),
            sent_to: Position(self.board.nxt()),
            rtt,
            newest_rtt: newest_sent_at.map(|sent_at| now.since(sent_at)),
            newest_sent_at,
            srtt: self.timing.rtt.srtt(),
            min_rtt,
            rate: None,
            state: self.congestion.state,
            has_sack: self.connection.has_sack,
            window_limited: self.transmission.limit == Limit::Window,
            departure,
            may_grow,
        };
        let stamped = newest.map(|newest| (newest, &delivery.stamp));
        self.congestion.control.tell_ack(ack, stamped, None, self.board.outcomes());
        self.board.clear_outcomes();
    }

    /// Reports each transmission that was marked lost. Returns the bytes of these transmissions.
    #[inline]
    pub(super) fn report_losses(&mut self, now: Instant) -> u64 {
        if self.board.has_losses() { self.drain_losses(now) } else { 0 }
    }

    #[inline(never)]
    fn drain_losses(&mut self, now: Instant) -> u64 {
        let (mut sum, total_delivered) = (0, self.counters.delivered);
        for Loss { sent_at, start, end, stamp } in self.board.drain_losses() {
            if self.records_losses {
                self.events.push_back(Event::SegmentLost { offset: start });
            }
            sum += end - start;
            self.congestion.control.tell_lost((now, sent_at), end - start, start..end, stamp, total_delivered);
        }
        sum
    }

    /// Reports that `octets` bytes up to the offset `end` were sent.
    #[inline(always)]
    pub(super) fn tell_departure(&mut self, now: Instant, octets: u64, end: u64, is_retransmission: bool) {
        let sent = cc::Sent {
            now,
            bytes: octets,
            in_flight: self.board.pipe(),
            end: Position(end),
            is_retransmission,
            is_app_limited: self.congestion.control.is_app_limited(),
        };
        self.congestion.control.tell_sent(&sent);
        if let Some(rate) = self.pacing_rate() {
            self.transmission.pacer.on_sent(now, octets, rate);
        }
    }

    #[inline]
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        let (controller, window) = (&self.congestion.control.controller, &self.congestion.control.window);
        match self.config.pacing {
            pacing::PacingConfig::Never => None,
            pacing::PacingConfig::Controller => controller.pacing_rate(),
            pacing::PacingConfig::Always => controller.pacing_rate().or_else(|| {
                pacing::rate_of_window(pacing::Spread::LINUX, window.cwnd, window.ssthresh, self.timing.rtt.srtt()?)
            }),
        }
    }
}
