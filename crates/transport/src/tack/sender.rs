//! The sending half: outstanding packets, and all state that decides when more may leave.

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

/// The content of a packet that must arrive, or be retransmitted in a packet with a new number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) piece: Option<Piece>,
    pub(super) control: Option<Control>,
}

/// The content of a packet besides data of a stream. A packet carries at most one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// A handshake frame, which its timer repeats.
    Handshake,
    Sync,
    /// The reset of a stream.
    Reset(u32),
    /// A request that the peer reset a stream.
    Stop(u32),
    /// A request for the window of a stream, which its timer repeats.
    Blocked,
    /// The number of streams that the peer may open.
    Streams,
    /// A probe of whether the path carries packets of this size.
    Mtu(u64),
    /// A probe of whether the path carries packets in both directions.
    Challenge,
    /// A request for a TACK.
    Ping,
}

/// Counts of one sender; bytes are those of streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Packets with data of streams.
    pub(super) packets: u64,
    /// Bytes of streams.
    pub(super) bytes: u64,
    /// Packets that the receiver has reported as marked.
    pub(super) marked: u64,
    /// Packets with retransmitted data.
    pub(super) retransmissions: u64,
    /// TACKs and IACKs that arrived.
    pub(super) acks: u64,
    /// The number of times that the path stopped carrying packets of the size in use.
    pub(super) black_holes: u64,
    /// Bytes in packets that were listed as arrived.
    listed: u64,
}

/// The only packet number space.
const SPACE: usize = 0;

#[derive(Debug)]
pub(super) struct Sender {
    settings: Settings,
    /// Bytes of a stream in a full packet.
    mss: u64,
    recovery: Manager<Content, RoundTrips, Congestion, 1>,
    synced: Synced,
    probe: Probe,
    ecn: Validation,
    /// Bytes of arrived packets that the last TACK had no room to list.
    unlisted: u64,
    /// `true` if the last TACK listed all arrived packets.
    lists_all: bool,
    /// Bytes that count as delivered, listed or not.
    believed: u64,
    /// The number of the newest packet whose TACK was processed.
    newest_tack: Option<u64>,
    /// The packet that left last among those that IACKs have acknowledged since that TACK.
    newest_listed: Option<(Newest, Stamp)>,
    /// `true` if a Forget frame is due: the receiver waits for numbers that this end has settled.
    owes_forget: bool,
    /// `true` if the Forget frame may leave in a packet without data.
    may_forget_alone: bool,
    /// The number in the last Forget frame, below which the receiver waits for nothing, and its
    /// departure.
    forgotten: (u64, Instant),
    /// Packets reported lost that arrived later, as counted by the receiver.
    late: u32,
    /// The last delivery rate that the receiver reported, in bytes per second.
    reported_rate: Option<u64>,
    /// The maximum time for feedback: after the timeouts so far, and before any timeout.
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

    /// Sets the law by which the peer sends its TACKs from now on.
    pub(super) fn set_law(&mut self, law: Law) {
        self.synced.set_law(law);
        self.recovery.congestion.on_frequency(law);
    }

    /// Returns the bytes in flight: sent and neither acknowledged nor lost, minus those that have
    /// arrived but are not listed.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.recovery.in_flight()
    }

    /// Returns the number of the next packet.
    #[inline]
    pub(super) fn next_number(&self) -> u64 {
        self.recovery.space(SPACE).next_number()
    }

    /// Skips the next number.
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

    /// Assigns a number to a packet that elicits no acknowledgment. Returns the number.
    pub(super) fn pass(&mut self) -> u64 {
        self.recovery.space_mut(SPACE).pass()
    }

    /// Records that an ack-eliciting packet leaves. Returns its number.
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

    /// Removes all outstanding packets, because the connection has ended.
    pub(super) fn abandon(&mut self) {
        self.recovery.abandon(SPACE);
    }

    /// Marks all packets as acknowledged: the peer has accepted the connection, or all packets that
    /// opened it are void.
    pub(super) fn acknowledge_all(&mut self, now: Instant) {
        self.recovery.acknowledge_all(now, SPACE);
        self.on_progress();
    }

    fn on_progress(&mut self) {
        self.recovery.expiries.reset();
        self.probe.on_progress();
    }

    /// Resets the state of the path after a change.
    pub(super) fn on_path_change(&mut self, now: Instant, controller: Controller) {
        let Self { settings, recovery, synced, .. } = self;
        *recovery.round_trips_at(now) = RoundTrips::new(settings.rtt_window);
        let initial_window = u64::from(settings.initial_window.0) * self.mss;
        recovery.congestion.restart(now, controller, initial_window);
        recovery.congestion.on_frequency(synced.law());
        recovery.congestion.on_established(now, None);
        self.refresh_timeout();
    }

    /// Sets the bytes of a stream in a full packet.
    pub(super) const fn set_mss(&mut self, mss: u64) {
        self.mss = mss;
        self.recovery.congestion.set_packet_size(mss);
    }

    /// Returns the bytes of a stream in a full packet.
    pub(super) const fn mss(&self) -> u64 {
        self.mss
    }

    /// Records that the handshake is complete.
    pub(super) fn on_established(&mut self, now: Instant) {
        self.refresh_timeout();
        let least = self.rtt_min();
        self.recovery.congestion.on_established(now, least);
    }

    /// Returns the congestion window and the slow-start threshold.
    #[inline]
    pub(super) const fn window(&self) -> &Window {
        self.recovery.congestion.window()
    }

    /// Returns `true` if the window has room for a full packet beside those in flight.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.has_room_beside(self.in_flight())
    }

    /// Returns `true` if the window has room for a full packet beside `in_flight` bytes.
    #[inline]
    pub(super) fn has_room_beside(&self, in_flight: u64) -> bool {
        self.recovery.congestion.has_room(in_flight, self.mss)
    }

    /// Returns when pacing permits the next packet, if not now.
    #[inline]
    pub(super) fn holds_until(&self, now: Instant) -> Option<Instant> {
        self.recovery.congestion.holds_until(now)
    }

    /// Returns when the controller has to be woken.
    #[inline]
    pub(super) fn controller_at(&self) -> Option<Instant> {
        self.recovery.congestion.deadline()
    }

    /// Wakes the controller if it is due.
    pub(super) fn wake_controller(&mut self, now: Instant) {
        let in_flight = self.in_flight();
        self.recovery.congestion.wake(now, in_flight);
    }

    /// Records that nothing leaves for now, with `delayed` bytes that only pacing delays.
    pub(super) fn note_limit(&mut self, delayed: u64) {
        let in_flight = self.in_flight();
        self.recovery.congestion.note_limit(in_flight, self.mss, delayed);
    }

    /// Records that the application has no more data to send, although the window has room.
    pub(super) fn on_app_limited(&mut self) {
        let in_flight = self.in_flight();
        self.recovery.congestion.on_app_limited(in_flight);
    }

    /// Returns the pacing rate.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.recovery.congestion.pacing_rate(self.srtt())
    }

    /// Returns the counters of congestion control.
    pub(super) const fn recoveries(&self) -> &congestion::Counters {
        &self.recovery.congestion.counters
    }

    /// Returns the number of reductions of the window in response to marks.
    pub(super) const fn mark_reductions(&self) -> u64 {
        self.recovery.counters().mark_reductions
    }

    /// Returns the probe timeouts so far.
    pub(super) const fn expiries(&self) -> &Expiries {
        &self.recovery.expiries
    }

    pub(super) const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts a path that stopped carrying packets of the size in use.
    pub(super) const fn count_black_hole(&mut self) {
        self.counters.black_holes += 1;
    }

    /// Returns the estimator of the round-trip time.
    #[inline]
    pub(super) const fn round_trips(&self) -> &RoundTrips {
        self.recovery.round_trips()
    }

    /// Returns RTTmin.
    #[inline]
    pub(super) fn rtt_min(&self) -> Option<Duration> {
        self.round_trips().least()
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.round_trips().estimator().srtt()
    }

    /// Records a round-trip time.
    pub(super) fn sample(&mut self, now: Instant, sample: Duration) {
        self.recovery.round_trips_at(now).take(now, sample);
    }

    /// Returns the law by which the peer sends its TACKs.
    pub(super) const fn law(&self) -> Law {
        self.synced.law()
    }

    /// Returns ρ′.
    pub(super) fn ack_loss(&self) -> f64 {
        self.synced.ack_loss()
    }

    /// Handles the newest TACK, with these counts of the peer's packets that were expected and
    /// lost.
    pub(super) fn on_packets_of_peer(&mut self, now: Instant, expected_and_lost: (u64, u64)) {
        let rtt_min = self.rtt_min();
        self.synced.on_tack(now, rtt_min, expected_and_lost);
    }

    /// Returns the Sync frame with RTTmin, the law and ρ′, if it is due.
    pub(super) fn take_sync(&mut self, now: Instant) -> Option<Sync> {
        let rtt_min = self.rtt_min();
        self.synced.take(now, rtt_min)
    }

    /// Reads the peer's counts of marks.
    pub(super) fn read_counts(&mut self, counts: EcnCounts) -> Result<(), Refusal> {
        self.ecn.read(counts)
    }

    /// Records that a packet with data of a stream leaves. Returns its codepoint.
    #[inline]
    pub(super) fn mark_capable(&mut self) -> Ecn {
        self.ecn.on_sent()
    }

    /// Returns the timers that expire if no feedback arrives.
    #[inline]
    pub(super) const fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Returns the timers that expire if no feedback arrives.
    #[inline]
    pub(super) const fn probe_mut(&mut self) -> &mut Probe {
        &mut self.probe
    }

    /// Returns the maximum time that the receiver may delay a TACK.
    pub(super) fn tack_delay(&self) -> Duration {
        tack_delay(&self.settings, self.synced.law(), self.reported_rate, self.rtt_min())
    }

    /// Records the bytes that have arrived but that a TACK does not list. The TACK lists packets
    /// beyond `next`, and reports how many others have arrived.
    ///
    /// Of these others, two kinds do not count: those that an earlier TACK listed, and those below
    /// the lowest number that this end tracks, which are not in flight. The receiver counts losses
    /// there as arrived until it receives a Forget frame for them.
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

    /// Subtracts the bytes that an IACK reports as arrived, which the last TACK may have omitted.
    const fn note_listed(&mut self, octets: u64) {
        self.unlisted = self.unlisted.saturating_sub(octets);
        self.recovery.set_arrived(self.unlisted);
    }

    /// Returns the bytes in packets that have arrived, each packet counted once, whether or not
    /// they were listed.
    fn arrived(&self) -> u64 {
        // Unlisted bytes are computed from a number of packets, not all of which are full.
        (self.counters.listed + self.unlisted).min(self.counters.bytes)
    }

    /// Records that `listed` bytes of packets are newly listed. Returns how many were not yet
    /// counted as arrived.
    fn count_delivered(&mut self, listed: u64) -> u64 {
        self.counters.listed += listed;
        let arrived = self.arrived();
        let delivered = arrived.saturating_sub(self.believed);
        // The number of unlisted packets also contains those whose fate this end has settled, so
        // the count may be too high. The excess must not reduce the count of later arrivals.
        self.believed = if self.lists_all { arrived } else { self.believed + delivered };
        delivered
    }

    /// Returns a Forget frame: the number below which the receiver need not wait.
    pub(super) fn forget(&mut self, now: Instant) -> Frame {
        let below = self.recovery.space(SPACE).lowest_remembered();
        (self.owes_forget, self.forgotten) = (false, (below, now));
        Frame::Forget { below: PktSeq::of(below) }
    }

    /// Handles a report that the receiver waits for `next`. A Forget frame is due if it need not
    /// wait, and due again after a round trip.
    pub(super) fn note_wait(&mut self, now: Instant, next: u64) {
        let (below, at) = self.forgotten;
        let lowest = self.recovery.space(SPACE).lowest_remembered();
        let was_told = lowest <= below && now < at + self.srtt().unwrap_or_default();
        self.owes_forget |= lowest > next && !was_told;
        // Forget frames are at most as frequent as TACKs by the law, whatever the losses.
        self.may_forget_alone = now >= at + self.synced.law().period(self.rtt_min());
    }

    /// Returns `true` if a Forget frame is due.
    #[inline]
    pub(super) const fn owes_forget(&self) -> bool {
        self.owes_forget
    }

    /// Schedules a Forget frame.
    pub(super) const fn owe_forget(&mut self) {
        self.owes_forget = true;
    }

    /// Returns `true` if a Forget frame may be sent without new data: the receiver may have more of
    /// the outstanding data than it had room to report.
    #[inline]
    pub(super) const fn may_forget_alone(&self) -> bool {
        self.owes_forget && self.may_forget_alone && self.unlisted > 0
    }

    /// Returns the maximum time for feedback.
    pub(super) const fn probe_timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the maximum time for feedback before any timeout.
    pub(super) const fn base_timeout(&self) -> Duration {
        self.base_timeout
    }

    /// Handles the expiry of the probe timeout.
    pub(super) fn on_probe_timeout(&mut self) {
        self.recovery.expiries.on_timeout();
        self.probe.on_timeout(self.recovery.expiries.in_a_row());
        self.refresh_timeout();
    }

    /// Returns the event of the last probe timeout. `is_open`: the handshake is over; `repeats`:
    /// the probe has no new data to carry.
    pub(super) const fn timeout_event(&self, is_open: bool, repeats: bool) -> Event {
        self.recovery.expiries.event(is_open, repeats)
    }

    /// Recomputes the timeout after a change of its inputs.
    fn refresh_timeout(&mut self) {
        // Before the first round-trip sample, the timeout includes no TACK delay (RFC 9002,
        // §6.2.1).
        let delay = if self.srtt().is_some() { self.tack_delay() } else { Duration::ZERO };
        self.base_timeout = self.timeout_after(0, delay);
        self.timeout = match self.recovery.expiries.in_a_row() {
            0 => self.base_timeout,
            // Probes request an immediate TACK, and max_ack_delay is the time by which a receiver
            // may delay one (RFC 9002, §6.2.1).
            expiries => self.timeout_after(expiries.min(MAX_DOUBLINGS), Duration::ZERO),
        };
    }

    fn timeout_after(&self, doublings: u32, tack_delay: Duration) -> Duration {
        probe_timeout(self.round_trips().estimator(), Thresholds::RFC.initial_rtt, tack_delay, doublings)
    }

    /// Returns when to probe.
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

    /// A packet that left at 1 ms waits for 10 ms at the receiver, whose TACK arrives at 51 ms.
    #[test]
    fn a_round_trip_is_without_the_time_that_its_packet_waited() {
        let mut sender = sender();
        let now = Instant::ZERO + Duration::from_millis(51);
        let waited = Tack { echo: Timestamp(1000), delay: 10_000, ..Tack::default() };
        let progress = sender.on_tack(now, Timestamp(51_000), 0, &waited).unwrap().report.progress;
        assert_eq!((progress.rtt, progress.waited), (Some(Duration::from_millis(40)), Duration::from_millis(10)));
    }

    /// Of ten packets, number 3 is lost. An IACK reports the packets after it, and TACKs have no
    /// list.
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
        assert!(told.report.progress.newest.is_none(), "an IACK reports no rate");
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
