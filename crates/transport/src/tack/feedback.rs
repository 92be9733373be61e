//! What a TACK or an IACK does to the half that sends.
//!
//! Feedback is checked as a whole before any of it counts: nothing is acknowledged or lost that was never sent, no time runs backwards,
//! and no rate is zero, infinite or of more than was sent.

use super::close::PROTOCOL_VIOLATION;
use super::connection::Connection;
use super::lists;
use super::rate::{self, RateSource};
use super::refusal::Refusal;
use super::sender::{Content, Control};
use super::timing::RoundTrips;
use crate::cc::{self, Position};
use crate::congestion::{Change, News};
use crate::recovery::packets::{NeverSent, Progress, persistent};
use crate::recovery::transmission::{Outcome, Transmission};
use acklab_base::event::Closing;
use acklab_base::{Duration, Event, Instant};
use acklab_wire::tack::{BELOW, Loss, PktSeq, Run, Tack, Timestamp};
use std::ops::Range;

/// What of a TACK has passed the checks.
#[derive(Clone, Copy, Debug)]
struct Checked {
    next: u64,
    rtt: Duration,
    rate: Option<(u64, Duration)>,
}

/// What feedback says besides what has arrived and what is lost.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    rtt: Option<Duration>,
    rate: Option<(u64, Duration)>,
    /// Packets that were reported lost and have arrived.
    late: u32,
    /// Packets that were newly reported as marked.
    marked: u64,
}

impl Connection {
    /// A TACK has come in the packet of this `number`, which arrived at `arrived` by the clock of this end.
    pub(super) fn on_tack(
        &mut self,
        now: Instant,
        arrived: Timestamp,
        number: u64,
        tack: &Tack,
    ) -> Result<(), Refusal> {
        let Checked { next, rtt, rate } = self.check_tack(arrived, tack)?;
        let sender = &mut self.sender;
        // What an older TACK says of times, rates and marks has been said better.
        let is_newest = sender.newest_tack.is_none_or(|newest| number > newest);
        let marked = if is_newest { sender.ecn.on_tack()? } else { 0 };
        sender.counters.acks += 1;
        let mut measured = Measured::default();
        let prior_in_flight = sender.in_flight();
        if is_newest {
            sender.newest_tack = Some(number);
            let late = tack.late.saturating_sub(std::mem::replace(&mut sender.late, tack.late));
            measured = Measured { rtt: Some(rtt), rate, late, marked };
            sender.sample(now, rtt);
            self.receiver.time_connection(now, rtt);
            if let Some((octets, interval)) = rate {
                let per_second = u128::from(octets) * 1_000_000_000 / u128::from(interval.as_nanos().max(1));
                sender.reported_rate = Some(u64::try_from(per_second).unwrap_or(u64::MAX));
            }
        }
        let acked = std::iter::once(0..next).chain(lists::ranges(next, &tack.acked));
        let Ok(progress) = sender.board.acknowledge(now, acked, &mut sender.acknowledged) else {
            return Err(self.on_guess());
        };
        for range in lists::ranges(next, &tack.lost) {
            sender.board.lose(range, &mut sender.lost);
        }
        sender.board.settle();
        if is_newest {
            sender.note_unlisted(next, tack);
        }
        self.conclude(now, &progress, prior_in_flight, measured);
        self.sender.note_wait(now, next);
        if is_newest {
            let rtt_min = self.sender.round_trips.least();
            self.sender.synced.on_tack(now, rtt_min, self.receiver.expected_and_lost());
        }
        Ok(())
    }

    fn check_tack(&self, arrived: Timestamp, tack: &Tack) -> Result<Checked, Refusal> {
        let sender = &self.sender;
        let sent = sender.board.next_number();
        let next = tack.next.near(sent);
        let reach = |runs: &[Run]| runs.iter().map(|run| u64::from(run.skip) + u64::from(run.length)).sum::<u64>();
        if next > sent || next + reach(&tack.acked).max(reach(&tack.lost)) > sent {
            return Err(Refusal::NeverSent);
        }
        let rtt = RoundTrips::sample_of(arrived, tack.echo, tack.delay)?;
        let rate = rate::check(tack.delivered, tack.interval, sender.counters.bytes)?;
        Ok(Checked { next, rtt, rate })
    }

    /// A loss-event-driven IACK has come.
    pub(super) fn on_loss(&mut self, now: Instant, loss: &Loss) -> Result<(), Refusal> {
        let sender = &mut self.sender;
        let sent = sender.board.next_number();
        let range = PktSeq(loss.after.0.wrapping_add(1)).near(sent)..loss.before.near(sent);
        let arrived = range.end..range.end + u64::from(loss.arrived);
        if range.is_empty() || arrived.is_empty() || arrived.end > sent {
            return Err(Refusal::NeverSent);
        }
        let prior_in_flight = sender.in_flight();
        let Ok(progress) = sender.board.acknowledge(now, std::iter::once(arrived), &mut sender.acknowledged) else {
            return Err(self.on_guess());
        };
        sender.counters.acks += 1;
        sender.board.lose(range, &mut sender.lost);
        sender.board.settle();
        sender.note_listed(progress.octets);
        // It times nothing: rates are those of TACKs.
        let progress = Progress { newest: None, ..progress };
        self.conclude(now, &progress, prior_in_flight, Measured::default());
        self.sender.note_wait(now, 0);
        Ok(())
    }

    /// The peer has acknowledged a number that was skipped: it acknowledges what it has not got.
    fn on_guess(&mut self) -> Refusal {
        self.close_for(Closing::ProtocolViolation, PROTOCOL_VIOLATION);
        Refusal::Skipped
    }

    /// The peer has accepted the connection, or all that opened it is void.
    pub(super) fn acknowledge_all(&mut self, now: Instant) {
        let sender = &mut self.sender;
        let all: Range<u64> = 0..sender.board.next_number();
        let acknowledged: Result<_, NeverSent> =
            sender.board.acknowledge(now, std::iter::once(all), &mut sender.acknowledged);
        debug_assert!(acknowledged.is_ok(), "no number was left out");
        sender.acknowledged.clear();
        sender.board.settle();
        sender.probe.on_progress();
    }

    /// Streams and congestion control learn what the board has.
    fn conclude(
        &mut self,
        now: Instant,
        progress: &Progress,
        prior_in_flight: u64,
        Measured { rtt, rate, late, marked }: Measured,
    ) {
        let sender = &mut self.sender;
        let wants_outcomes = sender.congestion.wants_outcomes();
        let delivered = sender.count_delivered(progress.octets);
        if progress.packets > 0 || delivered > 0 {
            sender.probe.on_progress();
        }
        for (number, packet) in sender.acknowledged.drain(..) {
            let Content { piece, control } = packet.content;
            if let Some(piece) = piece {
                self.streams.table.on_acked(&piece);
                sender.ecn.on_acknowledged();
                if wants_outcomes {
                    let outcome = Outcome::Delivered { was_lost: false };
                    sender.outcomes.push(Transmission { sent_at: packet.at, outcome });
                }
            }
            match control {
                Some(Control::Reset(id)) => {
                    if let Some(stream) = self.streams.table.get_mut(id) {
                        stream.outgoing.on_reset_acked();
                    }
                }
                Some(Control::Mtu(size)) => {
                    self.mtu.on_acknowledged(number, size);
                    self.events.push_back(Event::DatagramSize { octets: self.mtu.size() - BELOW });
                }
                _ => {}
            }
        }
        for lost in sender.lost.drain(..) {
            let Content { piece, control } = lost.packet.content;
            if let Some(piece) = piece
                && let Some(stream) = self.streams.table.get_mut(piece.id)
            {
                stream.outgoing.on_lost(&piece);
            }
            match control {
                Some(Control::Sync) => sender.synced.on_lost(),
                Some(Control::Reset(id)) => {
                    if let Some(stream) = self.streams.table.get_mut(id) {
                        stream.outgoing.on_reset_lost();
                    }
                }
                Some(Control::Streams) => self.streams.owe_offer(),
                Some(Control::Mtu(size)) => {
                    self.mtu.on_lost(lost.number, size);
                }
                Some(Control::Handshake | Control::Blocked | Control::Ping) | None => {}
            }
            if piece.is_some() {
                if self.records_losses {
                    self.events.push_back(Event::PacketLost { number: lost.number });
                }
                sender.told_lost.push(cc::Lost {
                    now,
                    sent_at: lost.packet.at,
                    bytes: lost.packet.octets,
                    start: Position(lost.number),
                    end: Position(lost.number + 1),
                    stamp: lost.stamp,
                    total_delivered: 0,
                    total_lost: 0,
                });
            }
        }
        self.answer_marks(now, marked);
        let sender = &self.sender;
        let is_persistent = !sender.told_lost.is_empty() && self.is_persistent();
        let sender = &mut self.sender;
        let in_flight = sender.in_flight();
        let news = News {
            now,
            delivered,
            total_delivered: sender.counters.delivered,
            lost: &sender.told_lost,
            spuriously_lost: late.into(),
            in_flight,
            prior_in_flight,
            largest_acknowledged: sender.board.largest_acknowledged(),
            next_number: sender.board.next_number(),
            rtt,
            srtt: sender.round_trips.estimator().srtt(),
            min_rtt: sender.round_trips.least(),
            newest: progress.newest.map(|newest| (newest, progress.stamp)),
            reported: rate.filter(|_| sender.settings.rate == RateSource::Receiver),
            outcomes: &sender.outcomes,
            is_persistent,
        };
        for change in sender.congestion.on_feedback(&news) {
            let event = match change {
                Change::Entered => Event::RecoveryEntered { until: self.streams.table.main().outgoing.sent() },
                Change::Exited => Event::RecoveryExited,
                Change::Undone => Event::Undone,
            };
            self.events.push_back(event);
        }
        sender.outcomes.clear();
        sender.told_lost.clear();
        // What is settled cannot be refuted by numbers: the receiver counts what arrives late.
        self.sender.board.forget_lost(Instant::FAR_FUTURE);
        self.sender.refresh_timeout();
        self.note_finished();
    }

    /// The controller answers marks as it answers losses, once a round trip (RFC 9002, §7.1).
    fn answer_marks(&mut self, now: Instant, marked: u64) {
        if marked == 0 {
            return;
        }
        let sender = &mut self.sender;
        sender.counters.marked += marked;
        sender.congestion.note_marked(marked * sender.settings.mss());
        let (largest, in_flight) = (sender.board.largest_acknowledged().unwrap_or(0), sender.in_flight());
        if sender.congestion.on_mark(now, in_flight, largest, sender.board.next_number()) {
            sender.counters.mark_reductions += 1;
            self.events.push_back(Event::WindowReduced { until: self.streams.table.main().outgoing.sent() });
        }
    }

    /// RFC 9002, §7.6.
    fn is_persistent(&self) -> bool {
        let sender = &self.sender;
        let (Some(since), Some(longest)) =
            (sender.measured_at, persistent::duration(sender.round_trips.estimator(), sender.tack_delay()))
        else {
            return false;
        };
        sender.board.longest_loss(since) >= longest
    }
}
