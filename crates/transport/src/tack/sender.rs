//! The sending half: outstanding packets, and the state that determines when packets may be sent.

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

/// The content of a packet that must arrive. Lost content is retransmitted in a packet with a new
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) piece: Option<Piece>,
    pub(super) control: Option<Control>,
}

/// The content of a packet apart from stream data. A packet carries at most one control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// A handshake frame. The probe timeout repeats it.
    Handshake,
    Sync,
    /// The reset of the stream with this ID.
    Reset(u32),
    /// A request that the peer reset the stream with this ID.
    Stop(u32),
    /// A request for the window of a stream. The persist timer repeats it.
    Blocked,
    /// The number of streams that the peer may open.
    Streams,
    /// A probe of the MTU: a packet of this size in bytes.
    Mtu(u64),
    /// A probe that validates the path in both directions.
    Challenge,
    /// A request for a TACK.
    Ping,
}

/// Counts of one sender. Bytes are bytes of stream data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Packets with stream data.
    pub(super) packets: u64,
    /// Bytes of stream data.
    pub(super) bytes: u64,
    /// Packets that the receiver has reported with a CE mark.
    pub(super) marked: u64,
    /// Packets with retransmitted data.
    pub(super) retransmissions: u64,
    /// TACKs and IACKs that arrived.
    pub(super) acks: u64,
    /// The number of times that the path stopped carrying packets of the size in use.
    pub(super) black_holes: u64,
    /// Bytes of stream data in packets that reports have listed as arrived.
    listed: u64,
}

/// The packet number space: TACK uses only one.
const SPACE: usize = 0;

#[derive(Debug)]
pub(super) struct Sender {
    settings: Settings,
    /// Bytes of stream data in a full packet.
    mss: u64,
    recovery: Manager<Content, RoundTrips, Congestion, 1>,
    synced: Synced,
    probe: Probe,
    ecn: Validation,
    /// Bytes of stream data that have arrived, but for which the last TACK had no room.
    unlisted: u64,
    /// `true` if the last TACK listed all arrived packets.
    lists_all: bool,
    /// Bytes of stream data that are assumed to be delivered, whether listed or not.
    believed: u64,
    /// The number of the packet with the newest TACK that was processed.
    newest_tack: Option<u64>,
    /// The packet that was sent last among the packets that IACKs have acknowledged since the
    /// newest TACK.
    newest_listed: Option<(Newest, Stamp)>,
    /// `true` if a Forget frame is due, because the receiver still waits for packets that this end
    /// has declared acknowledged or lost.
    owes_forget: bool,
    /// `true` if the Forget frame may be sent in a packet without data.
    may_forget_alone: bool,
    /// The packet number in the last Forget frame, and the departure time of that frame. The
    /// receiver waits for no packet below that number.
    forgotten: (u64, Instant),
    /// Packets reported lost that arrived later, as counted by the receiver.
    late: u32,
    /// The last delivery rate that the receiver reported, in bytes per second.
    reported_rate: Option<u64>,
    /// The probe timeout: with the backoff of the timeouts so far, and without backoff.
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

    /// Sets TACK's law, the formula for the frequency of the peer's TACKs.
    pub(super) fn set_law(&mut self, law: Law) {
        self.synced.set_law(law);
        self.recovery.congestion.on_frequency(law);
    }

    /// Returns the bytes in flight: sent and neither acknowledged nor lost, minus unlisted bytes
    /// that have arrived.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.recovery.in_flight()
    }

    /// Returns the number of the next packet.
    #[inline]
    pub(super) fn next_number(&self) -> u64 {
        self.recovery.space(SPACE).next_number()
    }

    /// Skips the next packet number.
    pub(super) fn skip_number(&mut self) {
        self.recovery.space_mut(SPACE).skip();
    }

    /// Returns the stream data that a probe retransmits: the oldest outstanding data. A second
    /// probe retransmits the data that follow.
    pub(super) fn piece_for_probe(&self) -> Option<Piece> {
        let mut pieces = self.recovery.space(SPACE).outstanding().filter_map(|(_, packet)| packet.content.piece);
        let oldest = pieces.next()?;
        let is_other = |piece: &Piece| (piece.id, piece.start) != (oldest.id, oldest.start);
        let other = if self.probe.is_second() { pieces.find(is_other) } else { None };
        Some(other.unwrap_or(oldest))
    }

    /// Assigns a packet number to a packet that elicits no acknowledgment. Returns the number.
    pub(super) fn pass(&mut self) -> u64 {
        self.recovery.space_mut(SPACE).pass()
    }

    /// Records that an ack-eliciting packet is sent. Returns its number.
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

    /// Marks all packets as acknowledged. Either the peer has accepted the connection, or all
    /// packets that opened the connection are void.
    pub(super) fn acknowledge_all(&mut self, now: Instant) {
        self.recovery.acknowledge_all(now, SPACE);
        self.on_progress();
    }

    fn on_progress(&mut self) {
        self.recovery.expiries.reset();
        self.probe.on_progress();
    }

    /// Resets the state of the path after a change of the path.
    pub(super) fn on_path_change(&mut self, now: Instant, controller: Controller) {
        let Self { settings, recovery, synced, .. } = self;
        *recovery.round_trips_at(now) = RoundTrips::new(settings.rtt_window);
        let initial_window = u64::from(settings.initial_window.0) * self.mss;
        recovery.congestion.restart(now, controller, initial_window);
        recovery.congestion.on_frequency(synced.law());
        recovery.congestion.on_established(now, None);
        self.refresh_timeout();
    }

    /// Sets the bytes of stream data in a full packet.
    pub(super) const fn set_mss(&mut self, mss: u64) {
        self.mss = mss;
        self.recovery.congestion.set_packet_size(mss);
    }

    /// Returns the bytes of stream data in a full packet.
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

    /// Returns `true` if the congestion window has room for a full packet in addition to the bytes
    /// in flight.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.has_room_beside(self.in_flight())
    }

    /// Returns `true` if the congestion window has room for a full packet in addition to
    /// `in_flight` bytes.
    #[inline]
    pub(super) fn has_room_beside(&self, in_flight: u64) -> bool {
        self.recovery.congestion.has_room(in_flight, self.mss)
    }

    /// Returns when pacing permits the next packet, or `None` if pacing permits it now.
    #[inline]
    pub(super) fn holds_until(&self, now: Instant) -> Option<Instant> {
        self.recovery.congestion.holds_until(now)
    }

    /// Returns when the next timer of the controller expires.
    #[inline]
    pub(super) fn controller_at(&self) -> Option<Instant> {
        self.recovery.congestion.deadline()
    }

    /// Runs the controller's timer if it has expired.
    pub(super) fn wake_controller(&mut self, now: Instant) {
        let in_flight = self.in_flight();
        self.recovery.congestion.wake(now, in_flight);
    }

    /// Records that no packet can be sent now. Pacing alone delays `delayed` bytes.
    pub(super) fn note_limit(&mut self, delayed: u64) {
        let in_flight = self.in_flight();
        self.recovery.congestion.note_limit(in_flight, self.mss, delayed);
    }

    /// Records that the application has no more data to send, although the congestion window has
    /// room.
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

    /// Returns the counts of probe timeouts.
    pub(super) const fn expiries(&self) -> &Expiries {
        &self.recovery.expiries
    }

    pub(super) const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Increments the count of black holes: the path stopped carrying packets of the size in use.
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

    /// Returns TACK's law, the formula for the frequency of the peer's TACKs.
    pub(super) const fn law(&self) -> Law {
        self.synced.law()
    }

    /// Returns ρ′, the fraction of lost ACKs.
    pub(super) fn ack_loss(&self) -> f64 {
        self.synced.ack_loss()
    }

    /// Handles the newest TACK. `expected_and_lost` counts the peer's packets that were expected
    /// and lost.
    pub(super) fn on_packets_of_peer(&mut self, now: Instant, expected_and_lost: (u64, u64)) {
        let rtt_min = self.rtt_min();
        self.synced.on_tack(now, rtt_min, expected_and_lost);
    }

    /// Returns the Sync frame with RTTmin, L, β and ρ′, or `None` if no Sync frame is due.
    pub(super) fn take_sync(&mut self, now: Instant) -> Option<Sync> {
        let rtt_min = self.rtt_min();
        self.synced.take(now, rtt_min)
    }

    /// Reads the peer's ECN counts.
    pub(super) fn read_counts(&mut self, counts: EcnCounts) -> Result<(), Refusal> {
        self.ecn.read(counts)
    }

    /// Records that a packet with stream data is sent. Returns its codepoint.
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

    /// Records the bytes that have arrived but that the TACK had no room to list. The TACK lists
    /// packets beyond `next`, and reports the number of unlisted packets that have arrived.
    ///
    /// Two kinds of unlisted packets are subtracted. Packets that an earlier TACK listed are
    /// already acknowledged. Packets below the lowest number that this end tracks are not in
    /// flight. Until a Forget frame arrives, the receiver includes losses below that number in its
    /// count of arrived packets.
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

    /// Subtracts bytes that an IACK reports as arrived. The last TACK may have omitted them.
    const fn note_listed(&mut self, octets: u64) {
        self.unlisted = self.unlisted.saturating_sub(octets);
        self.recovery.set_arrived(self.unlisted);
    }

    /// Returns the bytes of stream data that have arrived, whether listed or not.
    fn arrived(&self) -> u64 {
        // Unlisted bytes are the number of packets times the full size, so they may exceed the
        // bytes sent.
        (self.counters.listed + self.unlisted).min(self.counters.bytes)
    }

    /// Records `listed` bytes of newly listed packets. Returns the number of bytes that were not
    /// yet included in the delivered bytes.
    fn count_delivered(&mut self, listed: u64) -> u64 {
        self.counters.listed += listed;
        let arrived = self.arrived();
        let delivered = arrived.saturating_sub(self.believed);
        // The number of unlisted packets also includes packets that this end has declared
        // acknowledged or lost. The count of delivered bytes may therefore be too high. The excess
        // must not reduce the count of later arrivals.
        self.believed = if self.lists_all { arrived } else { self.believed + delivered };
        delivered
    }

    /// Returns a Forget frame, with the number below which the receiver must not wait for packets.
    pub(super) fn forget(&mut self, now: Instant) -> Frame {
        let below = self.recovery.space(SPACE).lowest_remembered();
        (self.owes_forget, self.forgotten) = (false, (below, now));
        Frame::Forget { below: PktSeq::of(below) }
    }

    /// Handles a report that the receiver waits for the packet `next`. If this end no longer tracks
    /// that packet, a Forget frame is due, and due again after a round trip.
    pub(super) fn note_wait(&mut self, now: Instant, next: u64) {
        let (below, at) = self.forgotten;
        let lowest = self.recovery.space(SPACE).lowest_remembered();
        let was_told = lowest <= below && now < at + self.srtt().unwrap_or_default();
        self.owes_forget |= lowest > next && !was_told;
        // Forget frames without data are at most as frequent as TACKs by TACK's law, whatever the
        // losses.
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

    /// Returns `true` if a Forget frame may be sent without new data. The receiver may have
    /// received more of the outstanding data than its reports had room for.
    #[inline]
    pub(super) const fn may_forget_alone(&self) -> bool {
        self.owes_forget && self.may_forget_alone && self.unlisted > 0
    }

    /// Returns the probe timeout, with backoff.
    pub(super) const fn probe_timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the probe timeout, without backoff.
    pub(super) const fn base_timeout(&self) -> Duration {
        self.base_timeout
    }

    /// Handles the expiry of the probe timeout.
    pub(super) fn on_probe_timeout(&mut self) {
        self.recovery.expiries.on_timeout();
        self.probe.on_timeout(self.recovery.expiries.in_a_row());
        self.refresh_timeout();
    }

    /// Returns the event of the last probe timeout. `is_open` is `true` if the handshake is
    /// complete. `repeats` is `true` if the probe carries no new data.
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
            // A probe requests an immediate TACK, so no TACK delay is added. max_ack_delay only
            // limits intentional delays (RFC 9002, §6.2.1).
            expiries => self.timeout_after(expiries.min(MAX_DOUBLINGS), Duration::ZERO),
        };
    }

    fn timeout_after(&self, doublings: u32, tack_delay: Duration) -> Duration {
        probe_timeout(self.round_trips().estimator(), Thresholds::RFC.initial_rtt, tack_delay, doublings)
    }

    /// Returns when the probe timeout expires.
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

    /// A packet is sent at 1 ms and waits for 10 ms at the receiver, whose TACK arrives at 51 ms.
    #[test]
    fn a_round_trip_is_without_the_time_that_its_packet_waited() {
        let mut sender = sender();
        let now = Instant::ZERO + Duration::from_millis(51);
        let waited = Tack { echo: Timestamp(1000), delay: 10_000, ..Tack::default() };
        let progress = sender.on_tack(now, Timestamp(51_000), 0, &waited).unwrap().report.progress;
        assert_eq!((progress.rtt, progress.waited), (Some(Duration::from_millis(40)), Duration::from_millis(10)));
    }

    /// Packet 3 of ten packets is lost. An IACK reports the packets after the loss, and the TACKs
    /// contain no list.
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
