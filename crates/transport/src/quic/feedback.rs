//! What an ACK frame or the loss timer does to the half that sends (RFC 9002, appendix A.7).

use super::acks::MOST_MICROSECONDS;
use super::ask;
use super::connection::Connection;
use super::sent::Content;
use super::space;
use crate::cc::{self, Position};
use crate::congestion::{Change, News};
use crate::recovery::packets::{Progress, persistent};
use crate::recovery::transmission::{Outcome, Transmission};
use acklab_base::{Duration, Event, Instant};
use acklab_wire::quic::{Ack, EcnCounts, TransportError};

/// `ack_delay_exponent` (RFC 9000, §18.2): its default.
pub(super) const ACK_DELAY_EXPONENT: u32 = 3;

impl Connection {
    /// An ACK frame has come in a packet of this space.
    pub(super) fn on_ack(&mut self, now: Instant, id: space::Id, ack: &Ack) -> Result<(), TransportError> {
        let prior_in_flight = self.in_flight();
        let board = &mut self.spaces[id].board;
        let before = board.largest_acknowledged();
        let acked = ack.ranges.iter().cloned();
        let Ok(progress) = board.acknowledge(now, acked, &mut self.acknowledged) else {
            return Err(TransportError::ProtocolViolation);
        };
        let is_newest = ack.largest() > before;
        match id {
            space::Id::Initial => {}
            space::Id::Handshake => self.handshake.is_acknowledged = true,
            // RFC 9001, §4.1.2: the server reads 1-RTT packets only once its handshake is complete.
            space::Id::Application => self.confirm(now),
        }
        if let Some(rtt) = progress.rtt {
            self.sample(now, id, rtt, ack.delay);
        }
        let counts = is_newest && id == space::Id::Application && self.sends_ect;
        let marks = if counts { self.new_marks(ack.ecn.as_ref(), progress.packets) } else { 0 };
        if progress.packets > 0 {
            self.active_at = now;
            if self.peer_has_validated() {
                self.expiries = 0;
            }
        }
        self.conclude(now, id, &progress, prior_in_flight, marks);
        Ok(())
    }

    /// RFC 9002, §5.3: the delay that the peer reports is bounded by its `max_ack_delay` once the handshake is confirmed, and ignored for
    /// the packets of the handshake, which are acknowledged at once.
    fn sample(&mut self, now: Instant, id: space::Id, rtt: Duration, delay: u64) {
        let reported = Duration::from_micros(delay.saturating_mul(1 << ACK_DELAY_EXPONENT).min(MOST_MICROSECONDS));
        let delay = match id {
            space::Id::Application if self.handshake.is_confirmed => reported.min(self.asker.max_ack_delay()),
            space::Id::Application => reported,
            space::Id::Initial | space::Id::Handshake => Duration::ZERO,
        };
        self.estimator.sample_with_delay(rtt, delay);
        self.measured_at.get_or_insert(now);
        if let (Some(round_trip), Some(least)) = (self.acks.acknowledger.round_trip(), self.estimator.min()) {
            round_trip.on_told(least);
        }
    }

    /// CE marks that were not reported before, by an ACK of `packets` that were not acknowledged before, all of which left with ECT(0).
    /// Marking is given up if that cannot be true (RFC 9000, §13.4.2.1): the counts are absent, fall, grow by less than was acknowledged,
    /// exceed what was sent, or name ECT(1).
    fn new_marks(&mut self, counts: Option<&EcnCounts>, packets: u64) -> u64 {
        let next = self.spaces[space::Id::Application].board.next_number();
        let before = self.reported_ecn;
        let is_true = |counts: &&EcnCounts| {
            let (total, least) = (counts.ect0.saturating_add(counts.ce), before.ect0 + before.ce + packets);
            counts.ce >= before.ce && counts.ect0 >= before.ect0 && counts.ect1 == 0 && (least..=next).contains(&total)
        };
        let counts = match counts {
            None if packets == 0 => return 0,
            counts => counts.filter(is_true),
        };
        let Some(counts) = counts else {
            self.sends_ect = false;
            return 0;
        };
        let marks = counts.ce - before.ce;
        self.reported_ecn = *counts;
        self.counters.marked += marks;
        marks
    }

    /// The loss timer of a space has expired.
    pub(super) fn on_loss_timer(&mut self, now: Instant, id: space::Id) {
        let prior_in_flight = self.in_flight();
        self.conclude(now, id, &Progress::default(), prior_in_flight, 0);
    }

    /// Streams and congestion control learn what the board has.
    fn conclude(&mut self, now: Instant, id: space::Id, progress: &Progress, prior_in_flight: u64, marks: u64) {
        let thresholds = &self.config.thresholds;
        let time = thresholds.time_threshold(&self.estimator);
        self.spaces[id].board.detect_losses(now, thresholds.packets, time, &mut self.lost);
        self.settle_acknowledged(now, id);
        self.settle_lost(now, id);
        if self.mtu.is_some() {
            self.settle_mtu();
        }
        if id != space::Id::Application {
            // A window that was never used up by the handshake says nothing about it.
            self.told_lost.clear();
            return;
        }
        self.counters.delivered += progress.octets;
        self.counters.spurious += progress.spuriously_lost;
        let is_persistent = !self.told_lost.is_empty() && self.is_persistent();
        if is_persistent {
            self.counters.persistent += 1;
            self.events.push_back(Event::PersistentCongestion);
        }
        let in_flight = self.in_flight();
        let board = &self.spaces[id].board;
        let news = News {
            now,
            delivered: progress.octets,
            total_delivered: self.counters.delivered,
            lost: &self.told_lost,
            spuriously_lost: if self.config.undo { progress.spuriously_lost } else { 0 },
            in_flight,
            prior_in_flight,
            largest_acknowledged: board.largest_acknowledged(),
            next_number: board.next_number(),
            rtt: progress.rtt,
            srtt: self.estimator.srtt(),
            min_rtt: self.estimator.min(),
            newest: progress.newest.map(|newest| (newest, progress.stamp)),
            reported: None,
            outcomes: &self.outcomes,
            is_persistent,
        };
        let until = self.streams.table.main().outgoing.sent();
        if marks > 0 {
            let (largest, next) = (news.largest_acknowledged.unwrap_or(0), news.next_number);
            self.congestion.note_marked(marks * self.config.datagram);
            if self.congestion.on_mark(now, prior_in_flight, largest, next) {
                self.counters.mark_reductions += 1;
                self.events.push_back(Event::WindowReduced { until });
            }
        }
        for change in self.congestion.on_feedback(&news) {
            self.events.push_back(match change {
                Change::Entered => Event::RecoveryEntered { until },
                Change::Exited => Event::RecoveryExited,
                Change::Undone => Event::Undone,
            });
        }
        self.outcomes.clear();
        self.told_lost.clear();
        self.forget_lost(now, is_persistent);
        self.update_asker(now);
    }

    fn settle_acknowledged(&mut self, now: Instant, id: space::Id) {
        let wants_outcomes = self.congestion.wants_outcomes();
        let mut has_ended = false;
        let mut acknowledged = std::mem::take(&mut self.acknowledged);
        for (number, packet) in acknowledged.drain(..) {
            if id == space::Id::Application
                && let Some(mtu) = &mut self.mtu
            {
                mtu.on_acknowledged(number, packet.octets);
            }
            let Content { crypto, controls, reports, .. } = &packet.content;
            for piece in packet.content.pieces() {
                self.counters.acknowledged += self.streams.table.on_acked(piece);
                has_ended |= piece.is_end;
            }
            if let Some(piece) = crypto {
                self.spaces[id].crypto.on_acked(piece);
            }
            if let Some(largest) = reports {
                self.spaces[id].arrived.on_reported(*largest);
            }
            for control in controls {
                self.on_control_acked(now, *control);
            }
            if wants_outcomes && packet.is_in_flight && id == space::Id::Application {
                let outcome = Outcome::Delivered { was_lost: false };
                self.outcomes.push(Transmission { sent_at: packet.at, outcome });
            }
        }
        self.acknowledged = acknowledged;
        if has_ended {
            // A stream of the peer is over only once the peer has all of the answer.
            self.note_stream_end();
        }
    }

    fn settle_lost(&mut self, now: Instant, id: space::Id) {
        let mut lost = std::mem::take(&mut self.lost);
        for lost in lost.drain(..) {
            let packet = lost.packet;
            if self.records_losses && id == space::Id::Application {
                self.events.push_back(Event::PacketLost { number: lost.number });
            }
            for piece in packet.content.pieces() {
                if let Some(stream) = self.streams.table.get_mut(piece.id) {
                    stream.outgoing.on_lost(piece);
                }
            }
            if let Some(piece) = &packet.content.crypto {
                self.spaces[id].crypto.on_lost(piece);
            }
            for control in packet.content.controls {
                self.on_control_lost(control);
            }
            if self.is_lost_probe(id, lost.number, packet.octets) {
                continue;
            }
            if packet.is_in_flight {
                self.counters.lost += 1;
                self.told_lost.push(cc::Lost {
                    now,
                    sent_at: packet.at,
                    bytes: packet.octets,
                    start: Position(lost.number),
                    end: Position(lost.number + 1),
                    stamp: lost.stamp,
                    total_delivered: 0,
                    total_lost: 0,
                });
            }
        }
        self.lost = lost;
    }

    /// RFC 9002, §7.6.
    fn is_persistent(&self) -> bool {
        let Some(longest) = persistent::duration(&self.estimator, self.asker.max_ack_delay()) else { return false };
        let board = &self.spaces[space::Id::Application].board;
        self.measured_at.is_some_and(|since| board.longest_loss(since) >= longest)
    }

    /// Losses are remembered for as long as they may make up persistent congestion, and until they have.
    fn forget_lost(&mut self, now: Instant, is_persistent: bool) {
        let board = &mut self.spaces[space::Id::Application].board;
        let longest = persistent::duration(&self.estimator, self.asker.max_ack_delay());
        let before = match longest {
            Some(longest) if !is_persistent => now.as_nanos().saturating_sub(2 * longest.as_nanos()),
            _ => u64::MAX,
        };
        board.forget_lost(Instant::from_nanos(before));
    }

    pub(super) fn update_asker(&mut self, now: Instant) {
        if !self.asker.is_active() {
            return;
        }
        let (Some(srtt), Some(min_rtt)) = (self.estimator.srtt(), self.estimator.min()) else { return };
        self.delivery.on_data(now, self.counters.delivered, Some(srtt));
        let numbers = self.spaces[space::Id::Application].arrived.numbers();
        let window = &self.congestion.window;
        let path = ask::Path {
            mss: window.mss,
            cwnd: window.cwnd,
            in_slow_start: window.in_slow_start(),
            is_reno: matches!(self.config.congestion, cc::Config::NewReno(_)),
            srtt,
            min_rtt,
            rate: self.delivery.rate(),
            recoveries: self.congestion.counters.recoveries,
            lost_acks: numbers.end().saturating_sub(numbers.received()),
        };
        self.asker.update(now, &path);
    }
}
