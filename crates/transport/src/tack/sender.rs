//! The half that sends: what is outstanding, and all that decides when more may leave.

mod feedback;

use super::ecn::Validation;
use super::lists;
use super::probe::{MAX_DOUBLINGS, Probe, tack_delay};
use super::refusal::Refusal;
use super::settings::Settings;
use super::sync::Synced;
use super::timing::RoundTrips;
use crate::ack::tack::Law;
use crate::cc::{Controller, Window};
use crate::congestion::{self, Congestion};
use crate::recovery::delivery_rate::{Newest, Stamp};
use crate::recovery::manager::Manager;
use crate::recovery::packets::timeout::{Expiries, probe_timeout};
use crate::recovery::packets::{Packet, Thresholds};
use crate::streams::Piece;
use acklab_base::{Duration, Ecn, Event, Instant, Rate};
use acklab_wire::tack::{EcnCounts, Frame, PktSeq, Sync, Tack};

/// What a packet held that must arrive, or be sent again under a new number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) piece: Option<Piece>,
    pub(super) control: Option<Control>,
}

/// What a packet held besides octets of a stream. At most one of these leaves with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// It belonged to the handshake, which its timer repeats.
    Handshake,
    Sync,
    /// The reset of a stream.
    Reset(u32),
    /// It asked the peer to reset a stream.
    Stop(u32),
    /// It asked for the window of a stream, which its timer repeats.
    Blocked,
    /// It told how many streams the peer may open.
    Streams,
    /// It showed whether the path carries packets of this size.
    Mtu(u64),
    /// It asked whether the path carries packets both ways.
    Challenge,
    /// It asked for a TACK.
    Ping,
}

/// Counts of one sender; octets are of streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Packets with octets of streams.
    pub(super) packets: u64,
    /// Octets of those.
    pub(super) bytes: u64,
    /// Packets that the receiver has reported as marked.
    pub(super) marked: u64,
    /// Packets whose octets had left before.
    pub(super) retransmissions: u64,
    /// TACKs and IACKs that arrived.
    pub(super) acks: u64,
    /// Times that the path no longer carried the size of packets.
    pub(super) black_holes: u64,
    /// Octets in packets that were listed as arrived.
    listed: u64,
}

/// The only packet number space.
const SPACE: usize = 0;

#[derive(Debug)]
pub(super) struct Sender {
    settings: Settings,
    /// Octets of a stream in a full packet.
    mss: u64,
    recovery: Manager<Content, RoundTrips, Congestion, 1>,
    synced: Synced,
    probe: Probe,
    ecn: Validation,
    /// Octets of packets that have arrived, but that the last TACK had no room to list.
    unlisted: u64,
    /// The last TACK listed all that has arrived.
    lists_all: bool,
    /// Octets that count as delivered, listed or not.
    believed: u64,
    /// The number of the newest packet whose TACK was taken.
    newest_tack: Option<u64>,
    /// Of the packets that IACKs have acknowledged since that TACK, the one that left last.
    newest_listed: Option<(Newest, Stamp)>,
    /// The receiver waits for numbers that this end has settled: it is owed a Forget frame.
    owes_forget: bool,
    /// The Forget frame may leave in a packet without data.
    may_forget_alone: bool,
    /// The number of the last Forget frame, below which the receiver waits for nothing, and when it
    /// left.
    forgotten: (u64, Instant),
    /// Packets that the receiver has reported lost and that arrived later, by its count.
    late: u32,
    /// The delivery rate that the receiver has reported last, in octets a second.
    reported_rate: Option<u64>,
    /// How long feedback may take, and before any timeout.
    timeout: Duration,
    base_timeout: Duration,
    counters: Counters,
}

impl Sender {
    pub(super) fn new(settings: &Settings, controller: Controller) -> Self {
        let congestion =
            Congestion::new(controller, u64::from(settings.initial_window.0) * settings.mss(), settings.mss())
                .with_burst(settings.burst);
        let mut sender = Self {
            settings: *settings,
            mss: settings.mss(),
            recovery: Manager::new(RoundTrips::new(settings.rtt_window), congestion),
            synced: Synced::new(settings.law()),
            probe: Probe::default(),
            ecn: Validation::new(settings.uses_ecn()),
            unlisted: 0,
            lists_all: false,
            believed: 0,
            newest_tack: None,
            newest_listed: None,
            owes_forget: false,
            may_forget_alone: false,
            forgotten: (0, Instant::ZERO),
            late: 0,
            reported_rate: None,
            timeout: Duration::ZERO,
            base_timeout: Duration::ZERO,
            counters: Counters::default(),
        };
        sender.recovery.congestion.on_frequency(settings.law());
        sender.refresh_timeout();
        sender
    }

    /// From now on, TACKs shall come by this law.
    pub(super) fn set_law(&mut self, law: Law) {
        self.synced.set_law(law);
        self.recovery.congestion.on_frequency(law);
    }

    /// Octets in flight: sent and neither acknowledged nor lost, less those that have arrived and
    /// are not listed.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.recovery.in_flight()
    }

    /// The number of the next packet.
    #[inline]
    pub(super) fn next_number(&self) -> u64 {
        self.recovery.space(SPACE).next_number()
    }

    /// The next number is skipped.
    pub(super) fn skip_number(&mut self) {
        self.recovery.space_mut(SPACE).skip();
    }

    /// Returns the bytes of a stream that a probe repeats: the oldest that are outstanding, and for
    /// a second probe the oldest after them.
    pub(super) fn piece_for_probe(&self) -> Option<Piece> {
        let mut pieces = self.recovery.space(SPACE).outstanding().filter_map(|(_, packet)| packet.content.piece);
        let oldest = pieces.next()?;
        let is_other = |piece: &Piece| (piece.id, piece.start) != (oldest.id, oldest.start);
        let other = if self.probe.is_second() { pieces.find(is_other) } else { None };
        Some(other.unwrap_or(oldest))
    }

    /// A packet leaves that need not be acknowledged. Returns its number.
    pub(super) fn pass(&mut self) -> u64 {
        self.recovery.space_mut(SPACE).pass()
    }

    /// A packet leaves that must be acknowledged. Returns its number.
    #[inline]
    pub(super) fn send(&mut self, now: Instant, content: Content) -> u64 {
        let octets = content.piece.map_or(0, |piece| u64::from(piece.length));
        let is_again = content.piece.is_some_and(|piece| piece.is_again);
        if octets > 0 {
            self.counters.packets += 1;
            self.counters.bytes += octets;
            self.counters.retransmissions += u64::from(is_again);
        }
        let packet = Packet { at: now, octets, is_ack_eliciting: true, is_in_flight: octets > 0, content };
        self.recovery.send(SPACE, packet, is_again)
    }

    /// The connection is over, and nothing is outstanding any more.
    pub(super) fn abandon(&mut self) {
        self.recovery.abandon(SPACE);
    }

    /// The peer has accepted the connection, or all that opened it is void.
    pub(super) fn acknowledge_all(&mut self, now: Instant) {
        self.recovery.acknowledge_all(now, SPACE);
        self.on_progress();
    }

    fn on_progress(&mut self) {
        self.recovery.expiries.reset();
        self.probe.on_progress();
    }

    /// The path is another one.
    pub(super) fn on_path_change(&mut self, now: Instant, controller: Controller) {
        let Self { settings, recovery, synced, .. } = self;
        *recovery.round_trips_at(now) = RoundTrips::new(settings.rtt_window);
        let initial_window = u64::from(settings.initial_window.0) * self.mss;
        recovery.congestion.restart(now, controller, initial_window);
        recovery.congestion.on_frequency(synced.law());
        recovery.congestion.on_established(now, None);
        self.refresh_timeout();
    }

    /// A full packet has `mss` octets of a stream from now on.
    pub(super) const fn set_mss(&mut self, mss: u64) {
        self.mss = mss;
        self.recovery.congestion.set_packet_size(mss);
    }

    /// Octets of a stream in a full packet.
    pub(super) const fn mss(&self) -> u64 {
        self.mss
    }

    /// The handshake is complete.
    pub(super) fn on_established(&mut self, now: Instant) {
        self.refresh_timeout();
        let least = self.rtt_min();
        self.recovery.congestion.on_established(now, least);
    }

    /// Congestion window and threshold.
    #[inline]
    pub(super) const fn window(&self) -> &Window {
        self.recovery.congestion.window()
    }

    /// Returns `true` if the window has room for a full packet beside those in flight.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.has_room_beside(self.in_flight())
    }

    /// Returns `true` if the window has room for a full packet beside `in_flight` octets.
    #[inline]
    pub(super) fn has_room_beside(&self, in_flight: u64) -> bool {
        self.recovery.congestion.has_room(in_flight, self.mss)
    }

    /// When pacing lets the next packet leave, if not now.
    #[inline]
    pub(super) fn holds_until(&self, now: Instant) -> Option<Instant> {
        self.recovery.congestion.holds_until(now)
    }

    /// When the controller wants to be woken.
    #[inline]
    pub(super) fn controller_at(&self) -> Option<Instant> {
        self.recovery.congestion.deadline()
    }

    /// Wakes the controller if it is due.
    pub(super) fn wake_controller(&mut self, now: Instant) {
        let in_flight = self.in_flight();
        self.recovery.congestion.wake(now, in_flight);
    }

    /// Nothing leaves for now, with `delayed` octets that only pacing keeps back.
    pub(super) fn note_limit(&mut self, delayed: u64) {
        let in_flight = self.in_flight();
        self.recovery.congestion.note_limit(in_flight, self.mss, delayed);
    }

    /// The application has nothing more to send, and the window would let it.
    pub(super) fn on_app_limited(&mut self) {
        let in_flight = self.in_flight();
        self.recovery.congestion.on_app_limited(in_flight);
    }

    /// The rate of sending.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.recovery.congestion.pacing_rate(self.srtt())
    }

    /// What congestion control counts.
    pub(super) const fn recoveries(&self) -> &congestion::Counters {
        &self.recovery.congestion.counters
    }

    /// Reductions of the window in response to marks.
    pub(super) const fn mark_reductions(&self) -> u64 {
        self.recovery.counters().mark_reductions
    }

    /// Probe timeouts.
    pub(super) const fn expiries(&self) -> &Expiries {
        &self.recovery.expiries
    }

    pub(super) const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The path no longer carries the size of packets.
    pub(super) const fn count_black_hole(&mut self) {
        self.counters.black_holes += 1;
    }

    /// Round-trip times.
    #[inline]
    pub(super) const fn round_trips(&self) -> &RoundTrips {
        self.recovery.round_trips()
    }

    /// RTTmin.
    #[inline]
    pub(super) fn rtt_min(&self) -> Option<Duration> {
        self.round_trips().least()
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.round_trips().estimator().srtt()
    }

    /// A round trip was measured.
    pub(super) fn sample(&mut self, now: Instant, sample: Duration) {
        self.recovery.round_trips_at(now).take(now, sample);
    }

    /// The law that TACKs shall come by.
    pub(super) const fn law(&self) -> Law {
        self.synced.law()
    }

    /// ρ′.
    pub(super) fn ack_loss(&self) -> f64 {
        self.synced.ack_loss()
    }

    /// The newest TACK has come, with these counts of the peer's packets that were expected and
    /// lost.
    pub(super) fn on_packets_of_peer(&mut self, now: Instant, expected_and_lost: (u64, u64)) {
        let rtt_min = self.rtt_min();
        self.synced.on_tack(now, rtt_min, expected_and_lost);
    }

    /// What is to be told of RTTmin, the law and ρ′, if anything is.
    pub(super) fn take_sync(&mut self, now: Instant) -> Option<Sync> {
        let rtt_min = self.rtt_min();
        self.synced.take(now, rtt_min)
    }

    /// Marks have been counted by the peer.
    pub(super) fn read_counts(&mut self, counts: EcnCounts) -> Result<(), Refusal> {
        self.ecn.read(counts)
    }

    /// A packet with octets of a stream leaves. Returns its codepoint.
    #[inline]
    pub(super) fn mark_capable(&mut self) -> Ecn {
        self.ecn.on_sent()
    }

    /// The timers of a silent peer.
    #[inline]
    pub(super) const fn probe(&self) -> &Probe {
        &self.probe
    }

    /// The timers of a silent peer.
    #[inline]
    pub(super) const fn probe_mut(&mut self) -> &mut Probe {
        &mut self.probe
    }

    /// The longest that the receiver may wait with a TACK.
    pub(super) fn tack_delay(&self) -> Duration {
        tack_delay(&self.settings, self.synced.law(), self.reported_rate, self.rtt_min())
    }

    /// A TACK lists packets beyond `next`, and tells how many that have arrived it does not list.
    /// Of these, two kinds do not count: those that an earlier TACK listed, and those below the
    /// lowest number that this end remembers, which are not in flight. A receiver that has not yet
    /// been told to forget the losses there counts them as arrived.
    fn note_unlisted(&mut self, next: u64, tack: &Tack) {
        (self.unlisted, self.lists_all) = (0, tack.unlisted == 0);
        if tack.unlisted > 0 {
            let board = self.recovery.space(SPACE);
            let first = board.lowest_remembered();
            let (mut listed, mut settled) = (0, first.saturating_sub(next));
            for range in lists::ranges(next, &tack.acked) {
                listed += range.end.saturating_sub(range.start.max(first));
                settled -= range.end.min(first).saturating_sub(range.start);
            }
            let known = board.remembered_acknowledged().saturating_sub(listed);
            self.unlisted = u64::from(tack.unlisted).saturating_sub(known + settled) * self.mss;
        }
        self.recovery.set_arrived(self.unlisted);
    }

    /// An IACK tells how many octets have arrived, which the last TACK may have left out.
    const fn note_listed(&mut self, octets: u64) {
        self.unlisted = self.unlisted.saturating_sub(octets);
        self.recovery.set_arrived(self.unlisted);
    }

    /// Octets in packets that have arrived, each packet counted once, whether or not they were
    /// listed.
    fn arrived(&self) -> u64 {
        // What is unlisted is counted in packets, not all of which are full.
        (self.counters.listed + self.unlisted).min(self.counters.bytes)
    }

    /// `listed` octets of packets are newly listed. Returns how many were not known to have
    /// arrived.
    fn count_delivered(&mut self, listed: u64) -> u64 {
        self.counters.listed += listed;
        let arrived = self.arrived();
        let delivered = arrived.saturating_sub(self.believed);
        // The number of unlisted packets also counts those whose fate this end has settled, so too
        // much may have been believed. It must not count against what arrives after that.
        self.believed = if self.lists_all { arrived } else { self.believed + delivered };
        delivered
    }

    /// Tells the receiver what it need not wait for.
    pub(super) fn forget(&mut self, now: Instant) -> Frame {
        let below = self.recovery.space(SPACE).lowest_remembered();
        (self.owes_forget, self.forgotten) = (false, (below, now));
        Frame::Forget { below: PktSeq::of(below) }
    }

    /// The receiver waits for `next`. It is told what it need not wait for, and after a round trip
    /// told again.
    pub(super) fn note_wait(&mut self, now: Instant, next: u64) {
        let (below, at) = self.forgotten;
        let lowest = self.recovery.space(SPACE).lowest_remembered();
        let was_told = lowest <= below && now < at + self.srtt().unwrap_or_default();
        self.owes_forget |= lowest > next && !was_told;
        // No more often than TACKs come by the law, whatever losses report.
        self.may_forget_alone = now >= at + self.synced.law().period(self.rtt_min());
    }

    /// Returns `true` if the receiver is to be told what it need not wait for.
    #[inline]
    pub(super) const fn owes_forget(&self) -> bool {
        self.owes_forget
    }

    /// The receiver is to be told what it need not wait for.
    pub(super) const fn owe_forget(&mut self) {
        self.owes_forget = true;
    }

    /// Returns `true` if the receiver may be told alone what it need not wait for: it may know more
    /// of what is outstanding than it had room to tell.
    #[inline]
    pub(super) const fn may_forget_alone(&self) -> bool {
        self.owes_forget && self.may_forget_alone && self.unlisted > 0
    }

    /// How long feedback may take.
    pub(super) const fn probe_timeout(&self) -> Duration {
        self.timeout
    }

    /// The same before any timeout.
    pub(super) const fn base_timeout(&self) -> Duration {
        self.base_timeout
    }

    /// The probe timeout has passed.
    pub(super) fn on_probe_timeout(&mut self) {
        self.recovery.expiries.on_timeout();
        self.probe.on_timeout(self.recovery.expiries.in_a_row());
        self.refresh_timeout();
    }

    /// The event of the last probe timeout. `is_open`: the handshake is over; `repeats`: the probe
    /// has no new data to carry.
    pub(super) const fn timeout_event(&self, is_open: bool, repeats: bool) -> Event {
        self.recovery.expiries.event(is_open, repeats)
    }

    /// What the timeout follows from has changed.
    fn refresh_timeout(&mut self) {
        // Before the round trip is known, no TACK is waited for (RFC 9002, §6.2.1).
        let delay = if self.srtt().is_some() { self.tack_delay() } else { Duration::ZERO };
        self.base_timeout = self.timeout_after(0, delay);
        self.timeout = match self.recovery.expiries.in_a_row() {
            0 => self.base_timeout,
            // Probes request a TACK at once, and max_ack_delay is the time that a receiver may
            // delay one by (RFC 9002, §6.2.1).
            expiries => self.timeout_after(expiries.min(MAX_DOUBLINGS), Duration::ZERO),
        };
    }

    fn timeout_after(&self, doublings: u32, tack_delay: Duration) -> Duration {
        probe_timeout(self.round_trips().estimator(), Thresholds::RFC.initial_rtt, tack_delay, doublings)
    }

    /// When to probe.
    #[inline]
    pub(super) fn probe_at(&self) -> Option<Instant> {
        self.recovery.space(SPACE).probe_at(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;
    use acklab_wire::tack::{Loss, Timestamp};

    fn sender() -> Sender {
        let settings = Settings::default();
        let controller = Controller::new(&settings.congestion, &settings.controller_start(Seed(1), "f"));
        Sender::new(&settings, controller.expect("it is built in"))
    }

    #[test]
    fn too_many_unlisted_packets_do_not_count_against_later_ones() {
        let mut sender = sender();
        (sender.counters.bytes, sender.unlisted) = (100_000, 50_000);
        assert_eq!(sender.count_delivered(10_000), 60_000);
        sender.note_unlisted(0, &Tack::default());
        let delivered = [5000; 2].map(|listed| sender.count_delivered(listed));
        assert_eq!((delivered, sender.arrived()), ([0, 5000], 20_000), "the TACK after it lists all");
    }

    /// A packet that left at 1 ms has waited for 10 ms at the receiver, whose TACK comes at 51 ms.
    #[test]
    fn a_round_trip_is_without_the_time_that_its_packet_waited() {
        let mut sender = sender();
        let now = Instant::ZERO + Duration::from_millis(51);
        let waited = Tack { echo: Timestamp(1000), delay: 10_000, ..Tack::default() };
        let progress = sender.on_tack(now, Timestamp(51_000), 0, &waited).unwrap().report.progress;
        assert_eq!((progress.rtt, progress.waited), (Some(Duration::from_millis(40)), Duration::from_millis(10)));
    }

    /// Of ten packets number 3 is lost. An IACK tells of those after it, and TACKs have no list.
    #[test]
    fn a_rate_is_of_the_newest_packet_that_iacks_have_acknowledged() {
        let mut sender = sender();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let content = Content {
            piece: Some(Piece { id: 0, start: 0, length: 1000, is_end: false, is_again: false }),
            control: None,
        };
        for ms in 0..10 {
            sender.send(at(ms), content);
        }
        let tack = |next, unlisted| Tack { next: PktSeq(next), unlisted, ..Tack::default() };
        let told = sender.on_tack(at(40), Timestamp(40_000), 0, &tack(3, 4)).unwrap();
        assert_eq!(told.report.progress.newest.map(|(newest, _)| newest.number), Some(2), "its own");
        let loss = Loss { after: PktSeq(2), before: PktSeq(4), arrived: 4 };
        let told = sender.on_loss(at(45), &loss).unwrap();
        assert!(told.report.progress.newest.is_none(), "an IACK tells no rate");
        let overtaken = Tack { next: PktSeq(2), ..Tack::default() };
        let mut newest = |number, tack: &Tack| {
            let told = sender.on_tack(at(50), Timestamp(50_000), number, tack).unwrap();
            told.report.progress.newest.map(|(newest, _)| newest.number)
        };
        assert_eq!(newest(2, &tack(3, 6)), Some(7), "that of the IACK");
        assert_eq!([newest(1, &overtaken), newest(3, &tack(3, 6))], [None; 2], "once");
        assert_eq!(newest(4, &tack(10, 0)), Some(9));
    }
}
