//! Two connections that carry data in both directions, and the invariants of each direction.

use super::octets::Octets;
use super::setting::Setting;
use acklab_app::{Traffic, Writer};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Ecn, Endpoint, Instant, Machine, StreamPort};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::reading::Reading;
use acklab_transport::tcp::Connection;
use acklab_transport::tcp::connection::State;
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber};
use std::collections::VecDeque;

/// The maximum number of segments per input. It exceeds the sizes of both windows, so more segments
/// indicate an endless loop.
const MAX_AT_ONCE: usize = 200_000;
/// The delay of each direction in the network without impairments, and the maximum time of both
/// transfers there.
const FAIR_DELAY: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(24 * 3600);
/// IPv4 and TCP without options.
const HEADERS: u64 = 40;

/// One end, with the data that it has sent and received.
struct Side {
    connection: Connection,
    writer: Writer,
    /// The segments in flight from this end, with their arrival times.
    under_way: VecDeque<(Instant, Segment)>,
    /// The sequence number of the first byte of data from this end, once the SYN was sent.
    first: SeqNumber,
    /// The end of the data sent from this end, including the FIN.
    sent: u64,
    /// For each byte from this end, whether it has arrived; and the length of the complete prefix.
    given: Vec<bool>,
    prefix: u64,
    /// The unit of the windows that this end offers. The right edge of the last window that it
    /// sent. The largest right edge that it received.
    shift: u8,
    offered: u64,
    allowed: u64,
    /// The highest acknowledgment number sent from here.
    acknowledged: u64,
    delivered: u64,
}

impl Side {
    fn new(connection: Connection, traffic: Traffic, setting: &Setting, name: &str) -> Self {
        let chance = Seed(setting.seed).stream(&format!("flow/{name}/source"));
        Self {
            connection,
            writer: Writer::new(traffic, Instant::ZERO, setting.stop, chance),
            under_way: VecDeque::new(),
            first: SeqNumber::default(),
            sent: 0,
            given: Vec::new(),
            prefix: 0,
            shift: 0,
            offered: 0,
            allowed: 0,
            acknowledged: 0,
            delivered: 0,
        }
    }

    fn run(&mut self, now: Instant) {
        self.writer.run(now, self.connection.port());
    }

    fn deadline(&self) -> Option<Instant> {
        Instant::earliest(self.writer.deadline(), self.connection.deadline())
    }
}

/// Both ends: the opening one and the accepting one.
struct Talk {
    now: Instant,
    sides: [Side; 2],
    mss: u64,
    buffer: u64,
    digest: u64,
}

impl Talk {
    fn new(setting: &Setting, back: Traffic) -> Self {
        let (config, seed) = (setting.config, Seed(setting.seed));
        let controller = |name: &str| {
            Controller::new(&config.congestion, &config.controller_start(seed, name)).expect("only what is built in")
        };
        let policy = || Policy::new(config.ack).expect("only what is built in");
        let active = Connection::active(config, controller("f"), policy(), seed, "f");
        let passive = Connection::passive(config, controller("g"), policy(), seed, "f").with_reading(setting.reading);
        let mut talk = Self {
            now: Instant::ZERO,
            sides: [Side::new(active, setting.traffic, setting, "f"), Side::new(passive, back, setting, "g")],
            mss: config.mss.get(),
            buffer: config.receive_buffer.get(),
            digest: 0,
        };
        talk.wake();
        talk
    }

    fn is_finished(&self) -> bool {
        self.sides.iter().all(|side| side.connection.is_finished())
    }

    fn deadline(&self) -> Option<Instant> {
        Instant::earliest(self.sides[0].deadline(), self.sides[1].deadline())
    }

    fn wake(&mut self) {
        for side in &mut self.sides {
            side.run(self.now);
            side.connection.wake(self.now);
        }
        self.settle();
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.wake();
    }

    /// Delivers the segment at `index` of those from `from`, if there is one.
    fn deliver(&mut self, from: usize, index: usize) {
        if let Some((_, segment)) = self.sides[from].under_way.remove(index) {
            self.give(from, segment);
        }
    }

    fn give(&mut self, from: usize, segment: Segment) {
        self.note_given(from, &segment);
        let to = &mut self.sides[1 - from];
        to.connection.accept(self.now, segment);
        to.run(self.now);
        self.settle();
    }

    fn read(&mut self, octets: u64) {
        let now = self.now;
        self.sides[1].connection.read(now, octets);
        self.settle();
    }

    fn wake_early(&mut self) {
        let before = self.deadline();
        if before.is_some_and(|deadline| deadline > self.now) {
            for side in &mut self.sides {
                side.connection.wake(self.now);
                let left = side.connection.poll(self.now);
                assert!(left.is_none(), "woken early, {left:?} leaves");
            }
        }
    }

    /// Polls both ends until neither sends a segment.
    fn settle(&mut self) {
        for left in 0.. {
            assert!(left < MAX_AT_ONCE, "segments leave without end");
            let now = self.now;
            let polled = [0, 1].map(|side| self.sides[side].connection.poll(now));
            for (from, segment) in polled.into_iter().enumerate() {
                if let Some(segment) = segment {
                    self.note_sent(from, &segment);
                    self.sides[from].under_way.push_back((now + FAIR_DELAY, segment));
                }
            }
            if polled == [None, None] {
                break;
            }
        }
        for from in 0..2 {
            self.sides[from].connection.drain_events().for_each(drop);
            let prefix = self.sides[from].prefix;
            let to = &mut self.sides[1 - from];
            let receiving = to.connection.receiving();
            let (delivered, readable) = (receiving.delivered(), receiving.readable());
            assert!(to.delivered <= delivered && delivered <= prefix, "{delivered} delivered, {prefix} arrived");
            assert!(readable <= self.buffer.next_multiple_of(1 << to.shift), "{readable} unread of {}", self.buffer);
            to.delivered = delivered;
        }
    }

    fn note_sent(&mut self, from: usize, segment: &Segment) {
        let options = segment.options;
        self.digest =
            [u64::from(segment.seq.0), u64::from(segment.ack.0), segment.wire_len().get(), self.now.as_nanos()]
                .into_iter()
                .fold(self.digest, |digest, word| (digest ^ word).wrapping_mul(0x0100_0000_01b3));
        let [one, other] = &mut self.sides;
        let (side, peer) = if from == 0 { (one, other) } else { (other, one) };
        if segment.flags.contains(Flags::RST) {
            let state = side.connection.state();
            assert_eq!(state, State::Closed, "nothing but a finished connection answers with {segment:?}");
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            side.first = SeqNumber::at(segment.seq, 1);
            return;
        }
        let timestamps = Options { timestamps: options.timestamps, ..Options::default() };
        // A segment contains at least one byte, even if the ACK Ratio option takes space (RFC 5690,
        // §4.2).
        let full = HEADERS + timestamps.wire_len() + self.mss.max(1 + 8);
        assert!(segment.payload == 0 || segment.wire_len().get() <= full, "{segment:?} is longer than a full segment");
        if segment.sequence_len() > 0 {
            let start = segment.seq.offset_near(side.first, side.sent);
            let end = start + segment.sequence_len();
            assert!(start == side.sent || end <= side.sent, "{segment:?} leaves a gap or overlaps {}", side.sent);
            assert!(end <= side.allowed, "{segment:?} exceeds a window that ends at {}", side.allowed);
            side.sent = side.sent.max(end);
        }
        let ack = segment.ack.offset_near(peer.first, peer.prefix);
        assert!(ack <= peer.prefix, "{segment:?} acknowledges {ack}, and only {} has come", peer.prefix);
        assert!(ack >= side.acknowledged, "{segment:?} takes back what was acknowledged");
        side.acknowledged = ack;
        let edge = ack + (u64::from(segment.window) << side.shift);
        assert!(edge >= side.offered, "{segment:?} takes back a window up to {}", side.offered);
        side.offered = edge;
        for block in options.sack.as_slice() {
            let [start, end] = [block.start, block.end].map(|edge| edge.offset_near(peer.first, peer.prefix) as usize);
            assert!(start < end && peer.given[start..end].iter().all(|given| *given), "{segment:?}");
        }
    }

    fn note_given(&mut self, from: usize, segment: &Segment) {
        let [one, other] = &mut self.sides;
        let (side, peer) = if from == 0 { (one, other) } else { (other, one) };
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            if peer.allowed == 0 {
                peer.allowed = u64::from(segment.window);
                // Both ends have the same settings, so each accepts the other's offers.
                side.shift = segment.options.window_scale.unwrap_or(0);
            }
            return;
        }
        if segment.sequence_len() > 0 {
            let start = segment.seq.offset_near(side.first, side.prefix) as usize;
            let end = start + segment.sequence_len() as usize;
            side.given.resize(side.given.len().max(end), false);
            side.given[start..end].fill(true);
            while side.given.get(side.prefix as usize) == Some(&true) {
                side.prefix += 1;
            }
        }
        let ack = segment.ack.offset_near(peer.first, peer.prefix);
        peer.allowed = peer.allowed.max(ack + (u64::from(segment.window) << side.shift));
    }

    /// Completes both transfers in a network without losses, with an application that reads a
    /// segment at a time.
    fn behave(&mut self) {
        let began = self.now;
        for (due, _) in self.sides.iter_mut().flat_map(|side| &mut side.under_way) {
            *due = began;
        }
        while !self.is_finished() {
            let due = |side: &Side| side.under_way.front().map(|(due, _)| *due);
            let dues = [due(&self.sides[0]), due(&self.sides[1])];
            let next = Instant::earliest(Instant::earliest(dues[0], dues[1]), self.deadline());
            let next = next.unwrap_or_else(|| {
                let states = [0, 1].map(|side| self.sides[side].connection.state());
                panic!("nothing is under way, and no one waits: {states:?}")
            });
            self.read(self.mss);
            assert!(next.since(began) < PATIENCE, "not finished after {PATIENCE:?}");
            self.now = self.now.max(next);
            match dues.iter().position(|due| due.is_some_and(|due| due <= self.now)) {
                Some(from) => self.deliver(from, 0),
                None => self.wake(),
            }
        }
        self.read(u64::MAX);
        for from in 0..2 {
            let delivered = self.sides[1 - from].connection.receiving().delivered();
            assert_eq!(delivered + 1, self.sides[from].sent, "the FIN takes one");
        }
    }
}

/// As for endpoints with data in one direction, the bytes determine the settings and a list of
/// operations. At every instant, for each direction:
///
/// * delivered data have arrived, in order and once; acknowledged data have arrived; and neither
///   delivery nor acknowledgment is withdrawn;
/// * no window is exceeded, and none is withdrawn;
/// * a segment with any options is no longer than a full-sized one.
///
/// Afterwards the network has no impairments, and both streams arrive completely. Returns the
/// number of operations and a digest of all segments sent.
///
/// # Panics
/// If an invariant fails.
pub(crate) fn connections_keep_their_promises(octets: &[u8]) -> (u64, u64) {
    let mut octets = Octets::new(octets);
    let setting = Setting::of(&mut octets);
    let back = Traffic::Fixed {
        size: Bytes(1 + octets.below(100 * setting.config.mss.get().min(setting.config.receive_buffer.get()))),
    };
    let mut talk = Talk::new(&setting, back);
    let harm = octets.one_of(&[32, 64, 128, 255]);
    let mut steps = 0;
    while !octets.is_empty() && !talk.is_finished() {
        let kind = octets.octet();
        let from = usize::from(kind & 1);
        let is_harm = octets.octet() < harm;
        let waiting = talk.sides[from].under_way.len();
        let index = octets.below(waiting as u64) as usize;
        match kind / 2 % 8 {
            0 if is_harm => drop(talk.sides[from].under_way.remove(index)),
            1 if is_harm => drop(talk.sides[from].under_way.drain(index..)),
            2 if is_harm && waiting > 0 => {
                let (_, segment) = talk.sides[from].under_way[index];
                talk.give(from, segment);
            }
            3 if is_harm => talk.deliver(from, index),
            4 if is_harm => {
                let waiting = talk.sides[from].under_way.iter_mut().skip(index);
                waiting.filter(|(_, segment)| segment.ecn.is_capable()).for_each(|(_, segment)| segment.ecn = Ecn::Ce);
            }
            5 if is_harm => talk.pass(Duration::from_micros(1 << octets.below(25))),
            6 if setting.reading == Reading::OnDemand => talk.read(octets.below(1 << 14)),
            6 if is_harm => talk.wake_early(),
            7 => {
                if let Some(deadline) = talk.deadline() {
                    talk.pass(deadline.since(talk.now));
                }
            }
            _ => {
                for _ in 0..waiting.min(1 + usize::from(kind / 16)) {
                    talk.deliver(from, 0);
                    talk.pass(Duration::from_micros(100));
                }
            }
        }
        steps += 1;
    }
    talk.behave();
    (steps, talk.digest)
}
