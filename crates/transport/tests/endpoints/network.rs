//! Two endpoints, the segments in flight between them, and the invariants of every instant.

use super::driven::Driven;
use super::forgery::LARGEST_FORGED;
use super::setting::Setting;
use acklab_app::Traffic;
use acklab_base::random::Seed;
use acklab_base::{Duration, Instant, Machine};
use acklab_transport::ack;
use acklab_transport::cc::Controller;
use acklab_transport::recovery::CongestionState;
use acklab_transport::tcp::Receiver;
use acklab_transport::tcp::sender::Phase;
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber};
use std::collections::VecDeque;

/// The maximum number of segments per input. It exceeds the size of a window, so more segments
/// indicate an endless loop.
const MAX_AT_ONCE: usize = 200_000;
/// The number of a sender's timers, all of which may be due at once: source, pacing, reordering,
/// probes, retransmission.
const TIMERS: usize = 5;
/// The tolerance for the maximum silence of a sender, which is the maximum timeout plus the maximum
/// lateness of a timer.
const SLACK: Duration = Duration::from_secs(1);
/// The delay of each direction in the network without impairments, and the maximum time of the
/// transfer there.
const FAIR_DELAY: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(24 * 3600);
/// The maximum number of events of the transfer. More events indicate an endless loop, or a setting
/// that makes the property too slow to fuzz.
const MAX_EVENTS: u64 = 2_000_000;

/// A segment in flight, with its arrival time.
#[derive(Clone, Copy)]
pub(crate) struct UnderWay {
    due: Instant,
    pub(crate) segment: Segment,
}

/// The two directions of the network.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Forward,
    Backward,
}

pub(crate) struct Network {
    pub(crate) now: Instant,
    pub(crate) sender: Driven,
    pub(crate) receiver: Receiver,
    forward: VecDeque<UnderWay>,
    backward: VecDeque<UnderWay>,
    mss: u64,
    /// Payload and timestamps of a full-sized segment.
    full_size: u64,
    receive_buffer: u64,
    size: Option<u64>,
    /// The maximum waiting time of an unfinished sender.
    most_wait: Duration,
    /// The maximum waiting time of an ACK.
    most_ack_delay: Duration,
    /// `true` if no forged segment makes a false claim, so that the stream must arrive.
    pub(crate) is_honest: bool,
    /// The first sequence number of the data, once the SYN was sent.
    first: Option<SeqNumber>,
    /// For each byte of the stream, including the FIN: whether it was delivered to the receiver.
    given: Vec<bool>,
    /// The length of the delivered prefix.
    prefix: u64,
    /// The end of the data that the sender has sent.
    sent: u64,
    /// The end of the data that the sender has sent, without the FIN.
    sent_data: u64,
    /// The highest acknowledgment number that the receiver has sent.
    pub(crate) acknowledged: u64,
    delivered: u64,
    /// The right edge of the newest window that the receiver has offered.
    offered_end: u64,
    /// The maximum number of bytes that the receiver may leave unread, if the window field
    /// expresses it exactly.
    buffer: Option<u64>,
    /// The right edge of the largest window offered to the sender.
    window_end: u64,
    window_shift: u8,
    /// A digest of all segments sent.
    digest: u64,
}

impl Network {
    pub(crate) fn new(setting: &Setting) -> Self {
        let (config, seed) = (setting.config, Seed(setting.seed));
        let size = match setting.traffic {
            Traffic::Fixed { size } => Some(size.get()),
            _ => None,
        };
        // A source that writes at a rate may be silent for up to a second.
        let most_wait = config.rto.max.max(config.rto.initial).max(Duration::from_secs(1));
        // TACK waits for a fraction of the round-trip time, whatever the round-trip time is.
        let is_by_round_trip = matches!(config.ack, ack::PolicyConfig::Tack { .. });
        let most_ack_delay = if is_by_round_trip { Duration::MAX } else { Duration::from_millis(500) };
        let built_in = "only what is built in is drawn";
        let controller = Controller::new(&config.congestion, &config.controller_start(seed, "f")).expect(built_in);
        let policy = ack::Policy::new(config.ack).expect(built_in);
        let mut network = Self {
            now: Instant::ZERO,
            sender: Driven::new(config, controller, setting.traffic, setting.stop, seed, "f"),
            receiver: Receiver::new(config, policy, seed, "f").with_reading(setting.reading),
            forward: VecDeque::new(),
            backward: VecDeque::new(),
            mss: config.mss.get(),
            full_size: config.mss.get() + if config.timestamps.is_some() { 12 } else { 0 },
            receive_buffer: config.receive_buffer.get(),
            size,
            most_wait: Duration::from_nanos(most_wait.as_nanos() + SLACK.as_nanos()),
            most_ack_delay,
            is_honest: true,
            first: None,
            given: Vec::new(),
            prefix: 0,
            sent: 0,
            sent_data: 0,
            acknowledged: 0,
            delivered: 0,
            offered_end: 0,
            buffer: None,
            window_end: 0,
            window_shift: 0,
            digest: 0,
        };
        network.wake();
        network
    }

    pub(crate) fn under_way(&mut self, way: Way) -> &mut VecDeque<UnderWay> {
        match way {
            Way::Forward => &mut self.forward,
            Way::Backward => &mut self.backward,
        }
    }

    /// Returns the sequence number of the stream's first byte.
    pub(crate) fn first(&self) -> SeqNumber {
        self.first.unwrap_or_default()
    }

    /// Returns the bytes of data that the sender has sent, without its FIN.
    pub(crate) const fn sent_data(&self) -> u64 {
        self.sent_data
    }

    pub(crate) const fn digest(&self) -> u64 {
        self.digest
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.sender.phase() == Phase::Finished
    }

    /// Delivers the segment at `index`, if there is one.
    pub(crate) fn deliver(&mut self, way: Way, index: usize) {
        if let Some(UnderWay { segment, .. }) = self.under_way(way).remove(index) {
            self.give(way, segment);
        }
    }

    pub(crate) fn give(&mut self, way: Way, segment: Segment) {
        match way {
            Way::Forward => {
                self.note_given(&segment);
                self.receiver.accept(self.now, segment);
            }
            Way::Backward => {
                self.note_offer(&segment);
                self.sender.accept(self.now, segment);
            }
        }
        self.settle();
    }

    /// Wakes a machine repeatedly, because a machine that is woken late may have several deadlines
    /// to process. Checks that the machine stops.
    pub(crate) fn wake(&mut self) {
        for _ in 0..=TIMERS {
            self.sender.wake(self.now);
            self.receiver.wake(self.now);
            self.settle();
            if self.deadline().is_none_or(|deadline| deadline > self.now) {
                return;
            }
        }
        panic!("woken again and again: {:#?}", self.sender);
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now += time;
        self.wake();
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        Instant::earliest(self.sender.deadline(), self.receiver.deadline())
    }

    /// Wakes a machine before its deadline, which must have no effect.
    pub(crate) fn wake_early(&mut self) {
        let before = self.deadline();
        if before.is_some_and(|deadline| deadline > self.now) {
            self.sender.wake(self.now);
            self.receiver.wake(self.now);
            let (data, ack) = (self.sender.poll(self.now), self.receiver.poll(self.now));
            assert!(data.is_none() && ack.is_none(), "woken early, {data:?} and {ack:?} leave");
            assert_eq!(self.deadline(), before, "woken early");
        }
    }

    /// Lets the application read at most `octets` bytes.
    pub(crate) fn read(&mut self, octets: u64) {
        let (readable, delivered) = (self.receiver.readable(), self.receiver.delivered());
        let read = self.receiver.read(self.now, octets);
        assert_eq!(read, octets.min(readable));
        assert_eq!((self.receiver.readable(), self.receiver.delivered()), (readable - read, delivered + read));
        self.settle();
    }

    /// Completes the transfer in a network without losses, with an application that reads a segment
    /// at a time.
    pub(crate) fn behave(&mut self) {
        let began = self.now;
        for under_way in self.forward.iter_mut().chain(&mut self.backward) {
            under_way.due = began;
        }
        let mut events = 0;
        while !self.is_finished() {
            events += 1;
            assert!(events < MAX_EVENTS, "not finished after {MAX_EVENTS} events");
            let due = |queue: &VecDeque<UnderWay>| queue.front().map(|front| front.due);
            let arrival = Instant::earliest(due(&self.forward), due(&self.backward));
            let next = Instant::earliest(arrival, self.deadline()).expect("nothing is under way, and no one waits");
            self.read(self.mss);
            assert!(next.since(began) < PATIENCE, "not finished after {PATIENCE:?}: {:#?}", self.sender);
            self.now = self.now.max(next);
            if due(&self.forward).is_some_and(|due| due <= self.now) {
                self.deliver(Way::Forward, 0);
            } else if due(&self.backward).is_some_and(|due| due <= self.now) {
                self.deliver(Way::Backward, 0);
            } else {
                self.wake();
            }
        }
        self.read(u64::MAX);
        assert_eq!(self.receiver.delivered() + 1, self.sent, "the FIN takes one");
        if let Some(size) = self.size {
            assert!(self.receiver.delivered() <= size);
        }
    }

    /// Polls both ends until neither sends a segment, and checks their states.
    fn settle(&mut self) {
        let mut left = 0;
        loop {
            let (data, ack) = (self.sender.poll(self.now), self.receiver.poll(self.now));
            if let Some(segment) = data {
                self.note_sent(&segment);
                self.forward.push_back(UnderWay { due: self.now + FAIR_DELAY, segment });
            }
            if let Some(segment) = ack {
                self.note_acknowledged(&segment);
                self.backward.push_back(UnderWay { due: self.now + FAIR_DELAY, segment });
            }
            if data.is_none() && ack.is_none() {
                break;
            }
            left += 1;
            assert!(left < MAX_AT_ONCE, "segments leave without end");
        }
        self.sender.drain_events().for_each(drop);
        // A window of one segment may be paced over a round-trip time, which is at most the age of
        // the connection. Probes may be sent earlier.
        let round_trip = self.sender.rtt().srtt().unwrap_or_default().max(self.now.since(Instant::ZERO));
        self.most_wait = self.most_wait.max(round_trip * 4);
        self.look_at_the_sender();
        let delivered = self.receiver.delivered();
        let readable = self.receiver.readable();
        // Linux accepts a whole segment that begins within the window, and a forged segment may end
        // beyond it.
        let most = self.buffer.map(|buffer| buffer + u64::from(LARGEST_FORGED));
        assert!(most.is_none_or(|most| readable <= most), "{readable} unread of {most:?}");
        assert!(delivered >= self.delivered, "{delivered} delivered after {}", self.delivered);
        self.delivered = delivered;
        assert!(!self.is_honest || delivered <= self.prefix, "{delivered} delivered, {} arrived", self.prefix);
        let wait = self.receiver.deadline().map(|deadline| deadline.since(self.now));
        assert!(wait.is_none_or(|wait| wait <= self.most_ack_delay), "{wait:?} to an ACK");
    }

    fn look_at_the_sender(&self) {
        let (sender, board) = (&self.sender, self.sender.scoreboard());
        assert!(board.una() <= board.nxt() && board.nxt() == self.sent);
        assert!(sender.in_flight() <= 2 * board.flight_size(), "more in flight than was sent, even twice");
        assert!(board.sacked() <= board.flight_size() && board.lost() <= board.flight_size());
        if sender.counters().retransmissions == 0 {
            assert!(sender.in_flight() <= board.flight_size(), "nothing was sent twice");
        }
        assert!(!board.is_empty() || (sender.in_flight(), board.sacked(), board.lost()) == (0, 0, 0));
        assert!(!self.is_honest || board.una() <= self.acknowledged);
        if sender.congestion_state() == CongestionState::Open {
            assert!(
                sender.window().cwnd >= sender.window().mss,
                "a window of {} of {}: {sender:#?}",
                sender.window().cwnd,
                sender.window().mss
            );
        }
        let deadline = sender.deadline();
        if sender.phase() == Phase::Finished {
            assert_eq!(deadline, None, "finished");
            return;
        }
        let Some(deadline) = deadline else { panic!("unfinished, and waits for nothing: {sender:#?}") };
        assert!(deadline.since(self.now) <= self.most_wait, "waits for {:?}: {sender:#?}", deadline.since(self.now));
    }

    fn note_sent(&mut self, segment: &Segment) {
        self.digest = mix(self.digest, self.now, segment);
        if segment.flags.contains(Flags::SYN) {
            self.first = Some(SeqNumber::at(segment.seq, 1));
            return;
        }
        let (length, board) = (segment.sequence_len(), self.sender.scoreboard());
        // Without the offered timestamps, a segment has more space for payload.
        let timestamps = Options { timestamps: segment.options.timestamps, ..Options::default() }.wire_len();
        assert!(
            u64::from(segment.payload) + timestamps <= self.full_size,
            "{segment:?} is larger than {}",
            self.full_size
        );
        if length == 0 {
            return;
        }
        let start = segment.seq.offset_near(self.first(), board.una());
        let end = start + length;
        assert!(start == self.sent || end <= self.sent, "{segment:?} leaves a gap or overlaps {}", self.sent);
        assert!(start >= board.una(), "{segment:?} is acknowledged up to {}", board.una());
        assert!(end <= self.window_end, "{segment:?} exceeds a window that ends at {}", self.window_end);
        assert!(self.size.is_none_or(|size| end <= size + 1), "{segment:?} is longer than the stream");
        self.sent = self.sent.max(end);
        self.sent_data = self.sent_data.max(start + u64::from(segment.payload));
    }

    fn note_given(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) || segment.sequence_len() == 0 {
            return;
        }
        let start = segment.seq.offset_near(self.first(), self.prefix);
        let end = start.saturating_add(segment.sequence_len());
        // Forged data far beyond any window are not recorded.
        if end < 1 << 24 {
            self.given.resize(self.given.len().max(end as usize), false);
            self.given[start as usize..end as usize].fill(true);
            while self.given.get(self.prefix as usize).copied() == Some(true) {
                self.prefix += 1;
            }
        }
    }

    fn note_offer(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            if self.sender.phase() == Phase::SynSent {
                self.window_shift = segment.options.window_scale.unwrap_or(0).min(14);
                self.buffer = (self.window_shift == 0).then_some(self.receive_buffer);
                self.window_end = u64::from(segment.window);
            }
            return;
        }
        let ack = self.sender.offset_of(segment.ack);
        let end = ack.saturating_add(u64::from(segment.window) << self.window_shift);
        self.window_end = self.window_end.max(end);
    }

    fn note_acknowledged(&mut self, segment: &Segment) {
        self.digest = mix(self.digest, self.now, segment);
        if segment.flags.contains(Flags::SYN) || !self.is_honest {
            return;
        }
        let ack = segment.ack.offset_near(self.first(), self.prefix);
        let end = ack + (u64::from(segment.window) << self.window_shift);
        assert!(end >= self.offered_end, "{segment:?} takes back a window up to {}", self.offered_end);
        self.offered_end = end;
        assert!(ack <= self.prefix, "{segment:?} acknowledges {ack}, and only {} has come", self.prefix);
        assert!(ack >= self.acknowledged, "{segment:?} takes back what was acknowledged");
        self.acknowledged = ack;
        for block in segment.options.sack.as_slice() {
            let offsets = [block.start, block.end].map(|edge| edge.offset_near(self.first(), self.prefix) as usize);
            assert!(offsets[0] < offsets[1] && self.given[offsets[0]..offsets[1]].iter().all(|given| *given));
        }
    }
}

/// Mixes the properties of a segment into an FNV-1a digest that distinguishes runs.
fn mix(digest: u64, now: Instant, segment: &Segment) -> u64 {
    let timestamps = segment
        .options
        .timestamps
        .map_or(0, |timestamps| u64::from(timestamps.echo) << 32 | u64::from(timestamps.value));
    let words = [
        now.as_nanos(),
        u64::from(segment.seq.0) << 32 | u64::from(segment.ack.0),
        u64::from(segment.payload) << 32 | u64::from(segment.window) << 16 | u64::from(segment.flags.bits()),
        timestamps,
        segment.options.sack.as_slice().len() as u64,
    ];
    words
        .into_iter()
        .fold(digest ^ 0xcbf2_9ce4_8422_2325, |digest, word| (digest ^ word).wrapping_mul(0x0100_0000_01b3))
}
