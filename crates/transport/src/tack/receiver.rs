//! The receiving half: arrived packets, and the acknowledgments that are due.
//!
//! Acknowledgments concern packets, not streams, so this half processes only packet numbers
//! (PKT.SEQ). An [ACK policy](crate::ack) decides when TACKs are sent. The policy receives every
//! new packet as if it were in order, because IACKs report gaps.

use super::lists::{self, Losses};
use super::loss::LossDetector;
use super::rate::{LossRate, RateMeter};
use super::refusal::Refusal;
use super::settings::Settings;
use super::sweep::Sweep;
use super::timing::DelayFilter;
use crate::ack::tack::Law;
use crate::ack::tack::law::LONGEST_DELAY;
use crate::ack::{AckPolicy, Acknowledger, Arrival, Packet, Policy, Ranges, Reason};
use acklab_base::{Duration, Ecn, Instant};
use acklab_wire::tack::{EcnCounts, PktSeq, Sync, Tack, Timestamp};
use std::ops::Range;

/// Maximum number of packets in flight: the maximum window, 1 GiB, in packets of 1 KiB. A larger
/// number than this belongs to another connection.
const MAX_AHEAD: u64 = 1 << 20;
/// Maximum number of stored ranges of packet numbers, in about 256 KiB (RFC 9000, §13.2.3). To
/// produce so many ranges, a flight needs more than 32,768 packets.
const MAX_RANGES: usize = 1 << 14;
/// The unit of ρ′ in a report is one divided by this number.
const SHARES: f64 = 65_536.0;

/// A packet as it arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) number: u64,
    /// The arrival time. The processing time may be later.
    pub(super) at: Instant,
    /// The departure time by the peer's clock, and the arrival time by the clock of this end.
    pub(super) departed: Timestamp,
    pub(super) arrived: Timestamp,
    /// Number of stream bytes in the packet.
    pub(super) payload: u64,
    pub(super) ecn: Ecn,
}

/// Counts of one receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Ack-eliciting packets that arrived for the first time.
    pub(super) packets: u64,
    /// Ack-eliciting packets that arrived for the first time, after a packet that was sent later.
    pub(super) reordered: u64,
    /// Packets that arrived as ECT(0), and packets that arrived with a CE mark.
    pub(super) ecn: EcnCounts,
    /// TACKs sent.
    pub(super) tacks: u64,
    /// Loss-event-driven IACKs sent.
    pub(super) loss_iacks: u64,
}

#[derive(Debug)]
pub(super) struct Receiver {
    settings: Settings,
    numbers: Ranges,
    /// The lowest accepted packet number.
    floor: u64,
    pub(super) acknowledger: Acknowledger,
    loss: LossDetector,
    sweep: Sweep,
    /// The time of the last TACK that listed all permitted blocks.
    listed_at: Option<Instant>,
    delays: DelayFilter,
    rate: RateMeter,
    loss_rate: LossRate,
    /// RTTmin, as reported by the sender of data.
    rtt_min: Option<Duration>,
    /// ρ′, the fraction of lost ACKs, as reported by the sender of data.
    ack_loss: f64,
    law: Law,
    /// `true` if the sender has requested a TACK.
    is_asked: bool,
    pub(super) counters: Counters,
}

impl Receiver {
    pub(super) fn new(settings: &Settings, policy: Policy) -> Self {
        Self {
            settings: *settings,
            numbers: Ranges::default(),
            floor: 0,
            acknowledger: Acknowledger::new(policy),
            loss: LossDetector::new(settings.settling, settings.adaptive_settling, settings.loss_iacks),
            sweep: Sweep::default(),
            listed_at: None,
            delays: DelayFilter::new(settings.timing),
            rate: RateMeter::default(),
            loss_rate: LossRate::default(),
            rtt_min: None,
            ack_loss: 0.0,
            law: settings.law(),
            is_asked: false,
            counters: Counters::default(),
        }
    }

    /// Returns RTTmin, as reported by the sender of data.
    pub(super) const fn rtt_min(&self) -> Option<Duration> {
        self.rtt_min
    }

    pub(super) const fn loss(&self) -> &LossDetector {
        &self.loss
    }

    /// Returns the full number of a packet, or `None` if the packet has arrived before.
    #[inline]
    pub(super) fn check_number(&self, number: PktSeq) -> Result<u64, Refusal> {
        let end = self.numbers.end();
        let number = number.near(end);
        if number >= end {
            return if number > end + MAX_AHEAD { Err(Refusal::Ahead) } else { Ok(number) };
        }
        let is_new = number >= self.floor && self.numbers.first_duplicate(number..number + 1).is_none();
        if is_new { Ok(number) } else { Err(Refusal::Replayed) }
    }

    /// Handles a packet that elicits no acknowledgment.
    pub(super) fn pass(&mut self, number: u64) {
        self.insert(number);
    }

    /// Records a packet number that has arrived. If there are too many ranges, the oldest range is
    /// removed. The sender then retransmits the data of the packets in that range.
    #[inline]
    fn insert(&mut self, number: u64) {
        let _ = self.numbers.insert(number..number + 1);
        if self.numbers.beyond().len() > MAX_RANGES {
            self.floor = self.numbers.forget_first().map_or(self.floor, |range| range.end);
        }
    }

    /// Sets the packet of the handshake to which the times in the first TACK refer.
    pub(super) fn time_handshake(&mut self, departed: Timestamp, arrived: Timestamp) {
        self.delays.on_arrival(departed, arrived);
    }

    /// Handles an ack-eliciting packet.
    #[inline]
    pub(super) fn take(&mut self, now: Instant, packet: &Arrived) {
        let Arrived { number, at, departed, arrived, payload, ecn } = *packet;
        self.counters.packets += 1;
        match ecn {
            Ecn::Ect0 => self.counters.ecn.ect0 = self.counters.ecn.ect0.saturating_add(1),
            Ecn::Ce => self.counters.ecn.ce = self.counters.ecn.ce.saturating_add(1),
            Ecn::NotEct | Ecn::Ect1 => {}
        }
        self.counters.reordered += u64::from(number < self.numbers.end());
        self.insert(number);
        self.loss.on_arrival(now, number, &self.numbers, self.rtt_min);
        self.delays.on_arrival(departed, arrived);
        self.acknowledger.enter(at, Packet::numbered(number, payload).stamped(Some(departed.0)));
        self.acknowledger.measure_delivery(at);
        self.acknowledger.decide(now, Arrival::InOrder, self.numbers.held(true));
        // The policy may schedule an ACK for the present time.
        self.acknowledger.wake(now);
    }

    /// Records `sample`, the round-trip time that this end measured in the handshake.
    pub(super) fn on_handshake(&mut self, now: Instant, sample: Duration) {
        self.rtt_min.get_or_insert(sample);
        if let Some(round_trip) = self.acknowledger.round_trip() {
            round_trip.on_handshake(now, sample);
        }
    }

    /// Records a round-trip time, which replaces the sample of the handshake. The handshake has no
    /// sample if the Accept was repeated.
    #[inline]
    pub(super) fn time_connection(&mut self, now: Instant, sample: Duration) {
        if self.rtt_min.is_none() {
            self.on_handshake(now, sample);
        }
    }

    /// Handles the parameters that the sender of data reports.
    pub(super) fn on_sync(&mut self, sync: &Sync) -> Result<(), Refusal> {
        if sync.rtt_min == 0 || sync.packets == 0 || sync.beta == 0 {
            return Err(Refusal::Time);
        }
        let rtt_min = super::clock::of_micros(sync.rtt_min);
        (self.rtt_min, self.ack_loss) = (Some(rtt_min), f64::from(sync.ack_loss) / SHARES);
        self.law = Law { packets: sync.packets, beta: sync.beta };
        if let Some(round_trip) = self.acknowledger.round_trip() {
            round_trip.on_told(rtt_min);
        }
        self.acknowledger.policy().on_frequency(self.law);
        Ok(())
    }

    /// Handles the sender's request for an immediate TACK.
    pub(super) fn on_ping(&mut self, now: Instant) {
        self.is_asked = true;
        self.acknowledger.demand(now, Reason::Asked);
    }

    /// Handles a Forget frame in the packet `number`: the sender no longer waits for
    /// acknowledgments of packet numbers below `below`.
    pub(super) fn on_forget(&mut self, below: PktSeq, number: u64) -> Result<(), Refusal> {
        let below = below.near(number);
        if below > number {
            return Err(Refusal::NeverSent);
        }
        self.numbers.abandon_below(below);
        self.loss.forget_below(below);
        Ok(())
    }

    /// Returns the numbers of expected and of lost packets of the peer, derived from their packet
    /// numbers. The sender of data uses them to compute ρ′.
    pub(super) fn expected_and_lost(&self) -> (u64, u64) {
        let (expected, received) = (self.numbers.end(), self.numbers.received());
        (expected, expected.saturating_sub(received))
    }

    /// Returns when the next timer of the receiver expires.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        Instant::earliest(Instant::earliest(self.acknowledger.deadline(), self.loss.deadline()), self.sweep.deadline())
    }

    /// Handles the expiry of timers.
    pub(super) fn wake(&mut self, now: Instant) {
        self.acknowledger.wake(now);
        self.loss.wake(now, &self.numbers);
        if self.sweep.expire(now) {
            self.acknowledger.demand(now, Reason::Periodic);
        }
    }

    /// Returns the next loss that an IACK reports, and counts the IACK.
    pub(super) fn take_loss(&mut self) -> Option<Range<u64>> {
        let range = self.loss.take_unreported();
        self.counters.loss_iacks += u64::from(range.is_some());
        range
    }

    /// Returns how many consecutive packet numbers have arrived, counted from `number`.
    pub(super) fn arrived_from(&self, number: u64) -> u32 {
        let missing = self.numbers.held(true).first_missing_from(number);
        u32::try_from(missing - number).unwrap_or(u32::MAX)
    }

    /// Returns the TACK that is sent now, with lists of at most `room` bytes. A TACK that the
    /// sender requested lists as many blocks as fit, because the sender has no better information.
    pub(super) fn tack(&mut self, now: Instant, stamp: Timestamp, room: u64) -> Tack {
        self.counters.tacks += 1;
        let next = self.numbers.next();
        let least = self.law.period(self.rtt_min);
        let ledger = self.acknowledger.ledger();
        let (delivered, interval) = self.rate.on_tack(ledger.newest, ledger.total.octets, least);
        self.loss_rate.on_interval(self.numbers.end(), self.loss.counters().lost);
        let (echo, delay) = self.delays.on_tack(stamp);
        let late = u32::try_from(self.loss.counters().late).unwrap_or(u32::MAX);
        let mut tack = Tack { next: PktSeq::of(next), late, echo, delay, delivered, interval, ..Tack::default() };
        if self.numbers.beyond().is_empty() {
            self.sweep.on_whole(self.counters.packets);
        } else {
            self.list(now, next, room, &mut tack);
        }
        tack
    }

    /// Adds the lists of packet numbers beyond the first missing packet to the TACK.
    #[inline(never)]
    fn list(&mut self, now: Instant, next: u64, room: u64, tack: &mut Tack) {
        let arrived = self.counters.packets;
        let is_asked = std::mem::take(&mut self.is_asked);
        let period = self.law.period(self.rtt_min);
        if let Some(due) = self.listed_at.map(|at| at + period).filter(|due| now < *due && !is_asked)
            && self.numbers.beyond().len() > 1
        {
            self.list_ends(next, room, tack);
            self.sweep.on_ends(due);
            return;
        }
        self.listed_at = Some(now);
        if is_asked {
            self.sweep.restart(arrived);
        }
        let most = if is_asked { usize::MAX } else { self.settings.lists.blocks(&self.losses(tack)) };
        // The bytes for each of the two lists, minus the bytes by which a first run may become
        // longer.
        let room = room.saturating_sub(lists::GROWTH) / 2;
        let newest = if self.sweep.is_quiet(arrived) { 0 } else { room / 2 };
        let from = self.sweep.from(next);
        let beyond = self.numbers.beyond();
        let acked = if is_asked || self.settings.lists.fills_acked() {
            lists::acked(next, from, beyond, room, newest)
        } else {
            lists::last_acked(next, beyond)
        };
        tack.unlisted = u32::try_from(acked.unlisted).unwrap_or(u32::MAX);
        tack.acked = acked.runs;
        // With a limit Q, the unacked list starts at the lowest number. Without a limit, both lists
        // start at the same number, so that they cover the range together.
        let lost_from = if most == usize::MAX && acked.unlisted > 0 { from } else { next };
        let lost = self.loss.lost(&self.numbers, lost_from);
        let (lost, left_from) = lists::lost(next, lost, most, room);
        tack.lost = lost;
        let lists_all = acked.unlisted == 0 || (acked.upto.is_none() && from == next);
        if lists_all && left_from.is_none() {
            self.sweep.on_whole(arrived);
            return;
        }
        let upto = acked.upto.into_iter().chain(left_from).min();
        self.sweep.on_part(now, upto, arrived, self.rtt_min.map_or(LONGEST_DELAY, |_| period));
    }

    /// Lists only the first gap and the acked block with the largest numbers. This applies to a
    /// TACK that is sent before the period of TACK's law has passed, in Startup or by another
    /// policy. All blocks in each TACK would fill a narrow return path.
    fn list_ends(&self, next: u64, room: u64, tack: &mut Tack) {
        let acked = lists::last_acked(next, self.numbers.beyond());
        tack.unlisted = u32::try_from(acked.unlisted).unwrap_or(u32::MAX);
        tack.acked = acked.runs;
        tack.lost = lists::lost(next, self.loss.lost(&self.numbers, next), 1, room).0;
    }

    /// Returns ρ, ρ′ and the number of packets between two TACKs.
    fn losses(&self, tack: &Tack) -> Losses {
        let seconds = f64::from(tack.interval) / 1e6;
        let rate = if tack.interval > 0 { f64::from(tack.delivered) / seconds } else { 0.0 };
        let bdp = self.rtt_min.map_or(0.0, |rtt| rate * rtt.as_secs_f64() / self.settings.mss() as f64);
        let packets = f64::from(self.law.packets);
        let periodic = packets * f64::from(self.law.beta);
        Losses {
            data: self.loss_rate.share(),
            acks: self.ack_loss,
            packets: if bdp >= periodic { bdp } else { packets },
        }
    }
}

/// Returns ρ′ as a Sync frame encodes it.
pub(super) fn share_of(loss: f64) -> u16 {
    (loss * SHARES).min(f64::from(u16::MAX)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every second packet arrives, so that each packet number forms a separate range.
    #[test]
    fn the_oldest_of_too_many_ranges_is_forgotten() {
        let settings = Settings::default();
        let policy = Policy::new(settings.ack).expect("it is built in");
        let mut receiver = Receiver::new(&settings, policy);
        let most = MAX_RANGES as u64;
        (0..most + 10).for_each(|place| receiver.pass(2 * place + 1));
        assert_eq!(receiver.numbers.beyond().len(), MAX_RANGES);
        let check = |number: u64| receiver.check_number(PktSeq::of(number));
        assert_eq!([check(0), check(19), check(20)], [Err(Refusal::Replayed), Err(Refusal::Replayed), Ok(20)]);
        assert_eq!(receiver.numbers.next(), 0, "what is forgotten is not acknowledged");
    }
}
