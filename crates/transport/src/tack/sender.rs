//! The half that sends: what is outstanding, and all that decides when more may leave.

use super::ecn::Validation;
use super::lists;
use super::probe::{Probe, tack_delay};
use super::settings::Settings;
use super::sync::Synced;
use super::timing::RoundTrips;
use crate::ack::tack::Law;
use crate::cc::{self, Controller};
use crate::congestion::Congestion;
use crate::recovery::packets::{Lost, Packet, Packets};
use crate::recovery::transmission::Transmission;
use crate::streams::Piece;
use acklab_base::{Duration, Instant};
use acklab_wire::tack::{Frame, PktSeq, Tack};

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
    /// It asked for the window of a stream, which its timer repeats.
    Blocked,
    /// It told how many streams the peer may open.
    Streams,
    /// It showed whether the path carries packets of this size.
    Mtu(u64),
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
    /// Reductions of the window for those.
    pub(super) mark_reductions: u64,
    /// Packets whose octets had left before.
    pub(super) retransmissions: u64,
    /// TACKs and IACKs that arrived.
    pub(super) acks: u64,
    /// Times that the path no longer carried the size of packets.
    pub(super) black_holes: u64,
    /// Octets that congestion control was told of as delivered.
    pub(super) delivered: u64,
    /// Octets in packets that were listed as arrived.
    listed: u64,
}

#[derive(Debug)]
pub(super) struct Sender {
    pub(super) settings: Settings,
    pub(super) board: Packets<Content>,
    pub(super) congestion: Congestion,
    pub(super) round_trips: RoundTrips,
    pub(super) synced: Synced,
    pub(super) probe: Probe,
    pub(super) ecn: Validation,
    /// Octets of packets that have arrived and that the last TACK had no room to list.
    pub(super) unlisted: u64,
    /// The last TACK listed all that has arrived.
    lists_all: bool,
    /// Octets that are believed to have arrived.
    believed: u64,
    /// The number of the newest packet whose TACK was taken.
    pub(super) newest_tack: Option<u64>,
    /// The receiver waits for numbers that nothing is expected of any more.
    pub(super) owes_forget: bool,
    /// It may be told so in a packet of its own.
    pub(super) may_forget_alone: bool,
    /// It was told so of all numbers below this, and when.
    forgotten: (u64, Instant),
    /// Packets that it has reported lost and that have arrived.
    pub(super) late: u32,
    /// The delivery rate that the receiver has reported last, in octets a second.
    pub(super) reported_rate: Option<u64>,
    /// How long feedback may take.
    timeout: Duration,
    /// When the round-trip time was first measured.
    pub(super) measured_at: Option<Instant>,
    pub(super) counters: Counters,
    /// Memory that each feedback uses again.
    pub(super) acknowledged: Vec<(u64, Packet<Content>)>,
    pub(super) lost: Vec<Lost<Content>>,
    pub(super) told_lost: Vec<cc::Lost>,
    pub(super) outcomes: Vec<Transmission>,
}

impl Sender {
    pub(super) fn new(settings: &Settings, controller: Controller) -> Self {
        let congestion =
            Congestion::new(controller, u64::from(settings.initial_window.0) * settings.mss(), settings.mss())
                .with_burst(settings.burst);
        let mut sender = Self {
            settings: *settings,
            board: Packets::default().keeping_stamps(congestion.wants_stamps()),
            congestion,
            round_trips: RoundTrips::new(settings.rtt_window),
            synced: Synced::new(settings.law()),
            probe: Probe::default(),
            ecn: Validation::new(settings.uses_ecn()),
            unlisted: 0,
            lists_all: false,
            believed: 0,
            newest_tack: None,
            owes_forget: false,
            may_forget_alone: false,
            forgotten: (0, Instant::ZERO),
            late: 0,
            reported_rate: None,
            timeout: Duration::ZERO,
            measured_at: None,
            counters: Counters::default(),
            acknowledged: Vec::new(),
            lost: Vec::new(),
            told_lost: Vec::new(),
            outcomes: Vec::new(),
        };
        sender.congestion.on_frequency(settings.law());
        sender.refresh_timeout();
        sender
    }

    /// From now on, TACKs shall come by this law.
    pub(super) fn set_law(&mut self, law: Law) {
        self.synced.set_law(law);
        self.congestion.on_frequency(law);
    }

    /// Octets in flight: sent and neither acknowledged nor lost, less those that have arrived and are not listed.
    #[inline]
    pub(super) const fn in_flight(&self) -> u64 {
        self.board.in_flight().saturating_sub(self.unlisted)
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.round_trips.estimator().srtt()
    }

    /// A round trip was measured.
    pub(super) fn sample(&mut self, now: Instant, sample: Duration) {
        self.round_trips.take(now, sample);
        self.measured_at.get_or_insert(now);
    }

    /// The longest that the receiver may wait with a TACK.
    pub(super) fn tack_delay(&self) -> Duration {
        tack_delay(&self.settings, self.synced.law(), self.reported_rate, self.round_trips.least())
    }

    /// A TACK lists some packets beyond `next`, and tells how many it does not list. Those that an earlier one listed are known. What this end
    /// has settled is nothing that is in flight, though a receiver that has not yet been told to forget the losses there counts it: so many
    /// are left out as may have arrived of that.
    pub(super) fn note_unlisted(&mut self, next: u64, tack: &Tack) {
        (self.unlisted, self.lists_all) = (0, tack.unlisted == 0);
        if tack.unlisted > 0 {
            let first = self.board.lowest_remembered();
            let (mut listed, mut settled) = (0, first.saturating_sub(next));
            for range in lists::ranges(next, &tack.acked) {
                listed += range.end.saturating_sub(range.start.max(first));
                settled -= range.end.min(first).saturating_sub(range.start);
            }
            let known = self.board.remembered_acknowledged().saturating_sub(listed);
            self.unlisted = u64::from(tack.unlisted).saturating_sub(known + settled) * self.settings.mss();
        }
    }

    /// An IACK tells how many octets have arrived, which the last TACK may have left out.
    pub(super) const fn note_listed(&mut self, octets: u64) {
        self.unlisted = self.unlisted.saturating_sub(octets);
    }

    /// Octets in packets that have arrived, each packet counted once, whether or not they were listed.
    pub(super) fn arrived(&self) -> u64 {
        // What is unlisted is counted in packets, not all of which are full.
        (self.counters.listed + self.unlisted).min(self.counters.bytes)
    }

    /// `listed` octets of packets are newly listed. Returns how many were not known to have arrived.
    pub(super) fn count_delivered(&mut self, listed: u64) -> u64 {
        self.counters.listed += listed;
        let arrived = self.arrived();
        let delivered = arrived.saturating_sub(self.believed);
        // The number of unlisted packets also counts those whose fate this end has settled, so too much may have been believed. It must
        // not count against what arrives after that.
        self.believed = if self.lists_all { arrived } else { self.believed + delivered };
        self.counters.delivered += delivered;
        delivered
    }

    /// Tells the receiver what it need not wait for.
    pub(super) fn forget(&mut self, now: Instant) -> Frame {
        let below = self.board.lowest_remembered();
        (self.owes_forget, self.forgotten) = (false, (below, now));
        Frame::Forget { below: PktSeq::of(below) }
    }

    /// The receiver waits for `next`. It is told what it need not wait for, and after a round trip told again.
    pub(super) fn note_wait(&mut self, now: Instant, next: u64) {
        let (below, at) = self.forgotten;
        let lowest = self.board.lowest_remembered();
        let was_told = lowest <= below && now < at + self.srtt().unwrap_or_default();
        self.owes_forget |= lowest > next && !was_told;
        // No more often than TACKs come by the law, whatever losses report.
        self.may_forget_alone = now >= at + self.synced.law().period(self.round_trips.least());
    }

    /// How long feedback may take.
    pub(super) const fn probe_timeout(&self) -> Duration {
        self.timeout
    }

    /// The same before it was doubled for what nobody has answered.
    pub(super) fn base_timeout(&self) -> Duration {
        self.timeout / u64::from(self.probe.factor())
    }

    /// What the timeout follows from has changed.
    pub(super) fn refresh_timeout(&mut self) {
        // Before the round trip is known, no TACK is waited for (RFC 9002, §6.2.1).
        let delay = if self.srtt().is_some() { self.tack_delay() } else { Duration::ZERO };
        self.timeout = self.probe.timeout(self.round_trips.estimator(), delay);
    }

    /// When to probe.
    #[inline]
    pub(super) fn probe_at(&self) -> Option<Instant> {
        self.board.probe_at(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;

    #[test]
    fn too_many_unlisted_packets_do_not_count_against_later_ones() {
        let settings = Settings::default();
        let controller = Controller::new(&settings.congestion, &settings.controller_start(Seed(1), "f"));
        let mut sender = Sender::new(&settings, controller.expect("it is built in"));
        (sender.counters.bytes, sender.unlisted) = (100_000, 50_000);
        assert_eq!(sender.count_delivered(10_000), 60_000);
        sender.note_unlisted(0, &Tack::default());
        let delivered = [5000; 2].map(|listed| sender.count_delivered(listed));
        assert_eq!((delivered, sender.arrived()), ([0, 5000], 20_000), "the TACK after it lists all");
    }
}
