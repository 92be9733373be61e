//! Processes an ACK.

use super::super::refusal::Refusal;
use super::dsack::{Duplicate, Spurious};
use super::ecn::Acknowledged;
use super::inform::AckReport;
use super::summary::AckSummary;
use super::{Phase, Sender};
use crate::cc::CongestionControl;
use crate::recovery::scoreboard::Limits;
use acklab_base::{Event, Fate, Instant};
use acklab_wire::tcp::{Flags, Options, Segment};

/// The effect of an ACK's SACK option.
#[derive(Clone, Debug, Default)]
struct Sacked {
    /// The newly acknowledged bytes.
    newly: u64,
    /// The departure times of the first and the last of those segments that were never
    /// retransmitted.
    sent: Option<(Instant, Instant)>,
    /// The report of a D-SACK.
    duplicate: Option<Duplicate>,
}

/// The contents of an ACK other than SACK and marks.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// The offset below which all data have arrived.
    ack: u64,
    /// `true` if the ACK moved the right edge of the peer's window.
    window_moved: bool,
    /// `true` if the timestamp of the ACK is newer than all earlier timestamps.
    has_newer_timestamp: bool,
}

impl Sender {
    #[inline]
    pub(super) fn input(&mut self, now: Instant, segment: &Segment) -> Fate {
        self.transmission.is_spent = false;
        match self.connection.phase {
            Phase::Established => self.input_ack(now, segment),
            Phase::SynSent => self.input_syn_ack(now, segment),
            Phase::Closed | Phase::Listen | Phase::SynReceived | Phase::Finished | Phase::Aborted => {
                Refusal::Phase.into()
            }
        }
    }

    fn input_syn_ack(&mut self, now: Instant, segment: &Segment) -> Fate {
        if !self.connection.establish(segment) {
            return Refusal::Connection.into();
        }
        self.negotiate_ack_request(segment);
        self.adopt_mss(segment);
        self.peer_window = self.peer_window.establish(segment);
        self.marks.conclude(&self.config, &self.rules, segment);
        self.begin(now, segment, self.syn_sent_at());
        self.timing.rto.reset();
        Fate::Taken
    }

    /// Returns the departure time of the SYN, if the SYN was sent once.
    pub(in crate::tcp) fn syn_sent_at(&self) -> Option<Instant> {
        (!self.timing.rto.has_expired()).then_some(self.connection.syn_sent_at)
    }

    /// Processes `segment`, which acknowledges this end's SYN or SYN-ACK. `sent_at` is the
    /// departure time of that packet, if it was sent once. A repeated SYN yields no sample (RFC
    /// 6298, §3).
    pub(super) fn begin(&mut self, now: Instant, segment: &Segment, sent_at: Option<Instant>) {
        if let Some(sent_at) = sent_at {
            let rtt = self.connection.measure(now, sent_at, segment);
            self.timing.sample(rtt, rtt, 0, 0);
        }
        let congestion = &mut self.congestion;
        congestion.control.controller.on_established(now, &mut congestion.control.window, self.timing.rtt.min());
        self.begin_memory();
        self.note_busy(now);
        self.events.push_back(Event::Established);
    }

    fn input_ack(&mut self, now: Instant, segment: &Segment) -> Fate {
        if segment.flags.contains(Flags::SYN) {
            // The peer did not receive the ACK of its SYN.
            self.marks.repeat(segment);
            self.connection.ack_due = true;
            return Fate::Duplicate;
        }
        let una = self.board.una();
        let ack = self.connection.offset_near(segment.ack, una);
        self.watch_acks(ack, segment);
        // RFC 9293, §3.10.7.4: reject ACKs of data that were never sent.
        if !segment.flags.contains(Flags::ACK) || ack > self.board.nxt() {
            return Refusal::NeverSent.into();
        }
        self.hold.note_ack();
        if ack < una {
            return self.input_old_ack(now, segment, ack);
        }
        self.counters.acks += 1;
        self.transmission.probes = 0;
        let has_newer_timestamp = self.connection.note_timestamp(segment);
        self.transmission.only_new = false;
        let window_moved = self.note_window(ack, segment);
        let report = if self.is_in_order(segment, ack) {
            self.take_in_order(now, segment, ack)
        } else {
            self.take_in(now, segment, Arrived { ack, window_moved, has_newer_timestamp })
        };
        self.tell_controller(now, report);
        if ack > una {
            self.pushes.forget(self.board.una());
            if self.board.is_empty() {
                self.note_all_acknowledged(now, ack);
            }
            self.arm_probe_timeout(now);
        }
        self.check_space(now);
        Fate::Taken
    }

    /// Processes an ACK of any kind that is not below snd.una.
    #[inline(never)]
    fn take_in(&mut self, now: Instant, segment: &Segment, arrived: Arrived) -> AckReport {
        let Arrived { ack, window_moved, has_newer_timestamp } = arrived;
        let mut summary = self.update_scoreboard(now, segment, ack, window_moved);
        summary.echoed = self.marks.on_ack(
            segment,
            Acknowledged {
                octets: summary.delivered,
                packets: self.board.delivery().segments,
                mss: self.congestion.control.window.mss,
                has_newer_timestamp,
            },
        );
        let delivered = self.note_delivered(&summary);
        let rtt = self.sample_rtt(now, segment, &summary.advance, summary.newly_sacked_sent);
        summary.restarts_timer = rtt.is_some() && self.restarts_timer(&summary);
        self.conclude_probe(now, &summary);
        self.counters.marked_bytes += summary.echoed.marked;
        let growth = self.react(now, &mut summary);
        let growth = self.react_to_marks(now, &summary, growth);
        AckReport { rtt, delivered, ..summary.report(growth) }
    }

    /// Counts the delivery of an ACK. Returns the number of bytes that congestion control uses.
    fn note_delivered(&mut self, summary: &AckSummary) -> u64 {
        let delivered = self.newly_delivered(summary.delivered);
        self.counters.delivered += delivered - summary.delivered_twice;
        self.note_acknowledged();
        delivered
    }

    /// Counts the acknowledged bytes. Bytes that are acknowledged again after reneging are counted
    /// once.
    #[inline]
    pub(super) fn note_acknowledged(&mut self) {
        let acknowledged = self.board.una() + self.board.sacked() - u64::from(self.is_fin_acknowledged());
        self.counters.acknowledged = self.counters.acknowledged.max(acknowledged);
    }

    /// Processes an ACK below snd.una. Only its SACK blocks can be new (RFC 6675, §5; Linux's
    /// `tcp_ack`, `old_ack`).
    #[inline(never)]
    fn input_old_ack(&mut self, now: Instant, segment: &Segment, ack: u64) -> Fate {
        if self.is_too_old(segment) || segment.options.sack.is_empty() || !self.connection.has_sack {
            return Fate::Duplicate;
        }
        self.counters.acks += 1;
        let mut summary = self.update_scoreboard(now, segment, ack, false);
        let delivered = self.note_delivered(&summary);
        let growth = self.react(now, &mut summary);
        self.tell_controller(now, AckReport { delivered, ..summary.report(growth) });
        Fate::Taken
    }

    #[inline(never)]
    fn note_all_acknowledged(&mut self, now: Instant, ack: u64) {
        self.timing.rto.stop();
        self.note_not_busy(now);
        if self.buffer.end() == Some(ack.saturating_sub(1)) {
            self.connection.phase = Phase::Finished;
            self.events.push_back(Event::Finished);
        }
    }

    /// Applies the peer's window. Returns `true` if the right edge of the window moved.
    #[inline]
    fn note_window(&mut self, ack: u64, segment: &Segment) -> bool {
        let moved = self.peer_window.update(ack, segment);
        if moved.forward && self.board.is_empty() {
            // The window was too small for a segment, and the timer scheduled probes of the window.
            self.timing.rto.reset();
        }
        moved.at_all
    }

    #[inline]
    fn update_scoreboard(&mut self, now: Instant, segment: &Segment, ack: u64, window_moved: bool) -> AckSummary {
        let una = self.board.una();
        let prior_flight = self.board.pipe();
        self.begin_ack(now, segment);
        let reports = !segment.options.sack.is_empty() && self.connection.has_sack;
        let Sacked { newly: newly_sacked, sent: newly_sacked_sent, duplicate } =
            if reports { self.take_sack(&segment.options, ack) } else { Sacked::default() };
        let is_duplicate = if self.connection.has_sack {
            newly_sacked > 0
        } else {
            ack == una && segment.sequence_len() == 0 && !window_moved && !self.board.is_empty()
        };
        let is_old = ack < una;
        let advance = self.board.advance(ack.max(una));
        let by_duplicate = if self.connection.has_sack { 0 } else { self.count_without_sack(is_duplicate, &advance) };
        let Spurious { delivered: delivered_twice, is_probe: reports_probe } =
            duplicate.map(|duplicate| self.note_dsack(&duplicate)).unwrap_or_default();
        let delivered = newly_sacked + advance.newly_delivered + by_duplicate + delivered_twice;
        self.note_displacement();
        AckSummary {
            advance,
            delivered,
            delivered_twice,
            newly_sacked_sent,
            newly_sacked,
            is_duplicate,
            is_old,
            reports_probe,
            echo: segment.options.timestamps.map(|timestamps| timestamps.echo),
            prior_flight,
            ..AckSummary::default()
        }
    }

    /// Processes the SACK option of an ACK up to `ack`.
    #[inline(never)]
    fn take_sack(&mut self, options: &Options, ack: u64) -> Sacked {
        let una = self.board.una();
        let duplicate = self.duplicate_reported(options, ack);
        let connection = &self.connection;
        let blocks = options.sack.as_slice().iter();
        let above = blocks
            .map(|block| connection.offset_near(block.start, una)..connection.offset_near(block.end, una))
            .filter(|block| block.start >= ack && block.start > una);
        let (newly, sent) = self.board.sack(above);
        Sacked { newly, sent, duplicate }
    }

    /// Reports to the scoreboard which retransmissions the ACK can acknowledge.
    #[inline]
    pub(super) fn begin_ack(&mut self, now: Instant, segment: &Segment) {
        let min_rtt = self.timing.rtt.min().unwrap_or_default();
        let before = if self.board.is_ambiguous() { self.connection.echoed_before(now, segment) } else { None };
        let latest = now.saturating_sub(min_rtt);
        self.board.begin_ack(Limits { latest, before, recover: self.congestion.recover });
    }
}
