//! Sends tail loss probes (RFC 8985, §7) and zero-window probes (RFC 9293, §3.8.6.1).

use super::super::rules::RepeatedProbe;
use super::summary::AckSummary;
use super::{Phase, Sender};
use crate::recovery::CongestionState;
use crate::recovery::rack::{Episode, ProbeTiming};
use acklab_base::{Event, Instant};
use acklab_wire::tcp::{Segment, SeqNumber};

impl Sender {
    /// Schedules or cancels a probe after an ACK has advanced snd.una, or data were sent (RFC 8985,
    /// §7.2).
    #[inline]
    pub(super) fn arm_probe_timeout(&mut self, now: Instant) {
        let is_quiet = matches!(self.congestion.state, CongestionState::Open | CongestionState::Reduced);
        let may_probe = self.config.tail_loss_probe && self.connection.has_sack && self.loss.probe.episode.is_none();
        if !may_probe || !is_quiet || self.board.sacked() > 0 || self.board.is_empty() {
            self.loss.probe.timeout.set(None);
            return;
        }
        let lone = self.board.flight_size() <= self.congestion.control.window.mss;
        let timing = ProbeTiming {
            srtt: self.timing.rtt.srtt(),
            granularity: self.connection.rtt_granularity(),
            lone,
            slack: self.config.timer_slack,
            timeout: self.timing.rto.deadline(),
        };
        self.loss.probe.schedule(now, &timing);
    }

    /// Schedules a tail loss probe regardless of the congestion window: new data or, without new
    /// data, the last segment (§7.3). The retransmission timer then runs, because repeated probes
    /// would prevent the measurement of a longer round-trip time.
    pub(super) fn schedule_tail_probe(&mut self) {
        let must_wait =
            self.rules.repeated_probe == RepeatedProbe::AfterMeasurement && self.loss.probe.awaits_measurement;
        self.transmission.tail_probe_due = !must_wait && !self.board.is_empty();
    }

    /// Writes the due probe. Returns `false` if no probe is due.
    pub(super) fn write_tail_probe(&mut self, now: Instant, place: &mut Segment) -> bool {
        if !std::mem::take(&mut self.transmission.tail_probe_due) || self.transmission.is_refused {
            return false;
        }
        // Linux's `tcp_send_loss_probe` also sends held data (`TCP_NAGLE_OFF`).
        let (leaving, is_retransmission) = match (self.next_new(), self.board.tail()) {
            (Some(octets), _) => (self.transmit(now, octets), false),
            (None, Some(last)) => (self.retransmit(now, last), true),
            (None, None) => return false,
        };
        self.write_data(now, leaving, place);
        self.loss.probe.timeout.set(None);
        self.loss.probe.episode = Some(Episode { until: self.board.nxt(), is_retransmission });
        self.loss.probe.awaits_measurement = true;
        // §7.3: the acknowledgment of the probe has a whole timeout to arrive.
        self.timing.rearm(now);
        self.counters.tail_loss_probes += 1;
        self.events.push_back(Event::TailLossProbe { is_retransmission });
        true
    }

    /// Ends the probe's episode if the ACK determines its result (§7.4). Reduces the window if the
    /// probe has repaired a loss without other evidence.
    #[inline]
    pub(super) fn conclude_probe(&mut self, now: Instant, summary: &AckSummary) {
        let Some(Episode { until, is_retransmission }) = self.loss.probe.episode else { return };
        let una = self.board.una();
        if una < until {
            return;
        }
        let is_plain_duplicate = summary.advance.bytes == 0 && summary.delivered == 0;
        let needs_no_reduction = !is_retransmission || summary.reports_probe || is_plain_duplicate;
        if needs_no_reduction || una > until {
            self.loss.probe.episode = None;
        }
        if !needs_no_reduction && una > until {
            self.reduce_for_repaired_loss(now);
        }
    }

    /// Returns `true` if the peer's window or the device prevents sending, and no outstanding data
    /// could elicit an ACK that opens the window.
    pub(super) fn is_shut_out(&self) -> bool {
        self.connection.phase == Phase::Established
            && self.board.is_empty()
            && self.has_unsent()
            && (self.transmission.is_refused || self.new_data().is_none())
    }

    /// Writes a window probe (RFC 9293, §3.8.6.1) in Linux's form (`tcp_write_wakeup`).
    ///
    /// The probe carries as much data as the window permits, as §3.8.6.2.1 requires after a
    /// timeout. If the window permits no data, the probe is a segment without data, with a sequence
    /// number below the window. The peer must answer with an ACK that reports its window.
    pub(super) fn write_window_probe(&mut self, now: Instant, place: &mut Segment) -> bool {
        if !std::mem::take(&mut self.transmission.window_probe_due) {
            return false;
        }
        if self.transmission.is_refused {
            self.retry_probe(now);
            return false;
        }
        self.events.push_back(Event::WindowProbe);
        let little = self.sendable_octets();
        if little > 0 {
            self.transmission.probes = 0;
            let leaving = self.transmit(now, little);
            self.write_data(now, leaving, place);
            return true;
        }
        self.transmission.probes += 1;
        let before = SeqNumber(self.connection.seq_at(self.board.una()).0.wrapping_sub(1));
        *place = self.connection.bare(now, before);
        (place.flags, place.ecn) = (place.flags | self.marks.flags(), self.marks.codepoint_of_others());
        true
    }
}
