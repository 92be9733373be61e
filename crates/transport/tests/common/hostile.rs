//! Two ends of a connection with streams, the packets in flight between them, and the invariants of
//! every instant.

use acklab_base::random::{Seed, Stream};
use acklab_base::{Duration, Ecn, Endpoint, Instant, StreamPort};
use acklab_transport::ack::Ranges;
use acklab_transport::streams::StreamOperations;
use acklab_wire::Pdu;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// An end of a connection, with the methods that the network requires.
pub(crate) trait End: Endpoint<Datagram: Pdu + Clone> + StreamPort + StreamOperations + Debug {
    /// Returns `true` if the connection is over.
    fn is_closed(&self) -> bool;
    /// Returns the packet after encoding and decoding.
    fn through_octets(packet: &Self::Datagram) -> Self::Datagram;
}

/// The streams that a test uses exist.
const KNOWN: &str = "the stream is known";

/// The maximum number of packets per input; more indicate an endless loop.
const MAX_AT_ONCE: usize = 100_000;
const MAX_STEPS: usize = 3_000_000;
/// The maximum interval between the reads of a slow reader.
const READ_INTERVAL: Duration = Duration::from_millis(5);

/// One direction of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) delay: Duration,
    /// The maximum additional delay of a packet, which can reorder packets.
    pub(crate) jitter: Duration,
    pub(crate) loss: f64,
    pub(crate) duplicates: f64,
    /// The probability that an ECN-capable packet gets a congestion mark.
    pub(crate) marks: f64,
    /// `true` if packets arrive as if they were not ECN-capable.
    pub(crate) clears_ecn: bool,
    /// The size above which packets are lost silently.
    pub(crate) mtu: u64,
}

impl Path {
    /// A path without losses, jitter or marks.
    pub(crate) const CLEAN: Self = Self {
        delay: Duration::from_millis(20),
        jitter: Duration::ZERO,
        loss: 0.0,
        duplicates: 0.0,
        marks: 0.0,
        clears_ecn: false,
        mtu: u64::MAX,
    };
}

prop_compose! {
    pub(crate) fn path()(
        (delay_us, jitter_us) in (10u64..100_000, 0u64..200_000),
        loss in 0.0..0.4f64,
        duplicates in 0.0..0.2f64,
        (marks, clears_ecn) in (0.0..0.5f64, proptest::bool::weighted(0.1)),
    ) -> Path {
        // Some paths have no jitter, so that they preserve the order.
        let jitter_us = if jitter_us % 3 == 0 { 0 } else { jitter_us };
        let loss = if loss < 0.1 { 0.0 } else { loss };
        Path { delay: Duration::from_micros(delay_us), jitter: Duration::from_micros(jitter_us), loss, duplicates, marks, clears_ecn, ..Path::CLEAN }
    }
}

pub(crate) struct Network<E: End> {
    pub(crate) now: Instant,
    pub(crate) ends: [E; 2],
    paths: [Path; 2],
    /// The packets in flight, by arrival time, with the index of their receiving end.
    wire: BTreeMap<(Instant, u64), (usize, E::Datagram)>,
    count: u64,
    random: Stream,
    /// `true` if packets are encoded as bytes in flight.
    as_octets: bool,
    /// The ranges of each stream that were delivered to each end.
    given: [BTreeMap<u32, Ranges>; 2],
    /// The number of bytes still to be written, by end and stream.
    to_write: [BTreeMap<u32, u64>; 2],
    /// The number of bytes per read of the second end's reader; `None` reads immediately.
    pub(crate) reads: Option<u64>,
    /// The number of packets that each end has sent.
    pub(crate) sent: [u64; 2],
    is_honest: bool,
    /// The number of bytes that each end has written or must write to each stream that it did not
    /// reset.
    promised: [BTreeMap<u32, u64>; 2],
}

/// The operations of a fuzzer.
#[allow(dead_code, reason = "a fuzz target has no other tests, and some tests have no operations")]
impl<E: End> Network<E> {
    /// Writes `octets` bytes to another stream, if the connection is open and the peer permits it.
    /// The second end has one stream.
    pub(crate) fn write_more(&mut self, end: usize, octets: u64) {
        let is_first = self.promised[end].is_empty() && !self.to_write[end].contains_key(&0);
        if !self.ends[end].is_open() || (end == 1 && !is_first) {
            return;
        }
        let id = if is_first { Some(0) } else { self.ends[end].open_stream().ok() };
        let Some(id) = id else { return };
        self.promised[end].insert(id, octets);
        self.to_write[end].insert(id, octets);
        self.applications();
        self.poll();
    }

    /// Resets one of the streams to which an end writes, unless there are too few.
    pub(crate) fn reset(&mut self, end: usize, place: usize, code: u32) {
        let Some(id) = self.promised[end].keys().nth(place).copied() else { return };
        // After the connection is over, its streams may no longer exist.
        if !self.ends[end].is_open() {
            return;
        }
        self.promised[end].insert(id, 0);
        self.to_write[end].remove(&id);
        self.ends[end].reset_stream(id, code).expect(KNOWN);
        self.poll();
    }

    /// Sets the number of bytes per read of the second end's reader, if it reads on demand.
    pub(crate) fn set_reads(&mut self, most: u64) {
        self.reads = self.reads.map(|_| most);
    }

    /// Replaces one of the packets in flight by the returned packets, each of which arrives later
    /// by the returned time.
    pub(crate) fn with_packet(
        &mut self,
        place: usize,
        replace: impl FnOnce(E::Datagram) -> Vec<(Duration, E::Datagram)>,
    ) {
        let Some(key) = self.place_under_way(place) else { return };
        let Some((to, packet)) = self.wire.remove(&key) else { return };
        for (later, packet) in replace(packet) {
            self.count += 1;
            self.wire.insert((key.0 + later, self.count), (to, packet));
        }
    }

    fn place_under_way(&self, place: usize) -> Option<(Instant, u64)> {
        self.wire.keys().nth(place.checked_rem(self.wire.len())?).copied()
    }

    /// Marks one of the packets in flight with CE, if it is ECN-capable.
    pub(crate) fn mark(&mut self, place: usize) {
        let packet = self.place_under_way(place).and_then(|key| self.wire.get_mut(&key));
        if let Some((_, packet)) = packet.filter(|(_, packet)| packet.ecn() == Ecn::Ect0) {
            packet.set_ecn(Ecn::Ce);
        }
    }

    /// Delivers a changed copy of one of the packets in flight now.
    pub(crate) fn forge(&mut self, place: usize, change: impl FnOnce(&mut E::Datagram)) {
        let found = self.place_under_way(place).and_then(|key| self.wire.get(&key).cloned());
        let Some((to, mut packet)) = found else { return };
        change(&mut packet);
        self.give_wildly(to, packet);
    }

    pub(crate) const fn is_honest(&self) -> bool {
        self.is_honest
    }

    /// Returns `true` if everything written is delivered.
    pub(crate) fn has_delivered(&self) -> bool {
        let mut promised = self.promised.iter().zip(self.ends.iter().rev());
        promised.all(|(promised, peer)| promised.iter().all(|(id, octets)| peer.delivered_of(*id) >= *octets))
    }

    /// Returns a digest of the time, the packets sent and the bytes that have arrived.
    pub(crate) fn digest(&self) -> u64 {
        let mut all = vec![self.now.since(Instant::ZERO).as_nanos(), self.sent[0], self.sent[1]];
        for end in &self.ends {
            all.extend(end.stream_ids().into_iter().map(|id| end.received_of(id)));
        }
        // FNV-1a.
        all.into_iter().fold(0xcbf2_9ce4_8422_2325, |digest: u64, word| (digest ^ word).wrapping_mul(0x0100_0000_01b3))
    }
}

impl<E: End> Network<E> {
    pub(crate) fn of(ends: [E; 2], paths: [Path; 2], reads: Option<u64>, as_octets: bool, seed: Seed) -> Self {
        Self {
            now: Instant::ZERO,
            ends,
            paths,
            wire: BTreeMap::new(),
            count: 0,
            random: seed.stream("network"),
            as_octets,
            given: Default::default(),
            to_write: Default::default(),
            reads,
            sent: [0; 2],
            is_honest: true,
            promised: Default::default(),
        }
    }

    pub(crate) fn open(&mut self) {
        self.ends[0].open(self.now);
        self.poll();
    }

    pub(crate) fn is_established(&self) -> bool {
        self.ends.iter().all(E::is_open)
    }

    pub(crate) fn are_closed(&self) -> bool {
        self.ends.iter().all(E::is_closed)
    }

    pub(crate) fn under_way(&self) -> usize {
        self.wire.len()
    }

    pub(crate) fn lose_all(&mut self) {
        self.wire.clear();
    }

    pub(crate) fn delivered(&self, end: usize, stream: u32) -> u64 {
        self.ends[end].delivered_of(stream)
    }

    pub(crate) fn state(&self) -> String {
        format!("{:?}: {} under way, {:#?}", self.now, self.wire.len(), self.ends)
    }

    /// Writes `octets` bytes to the end's stream at this index, as fast as the port accepts them,
    /// and closes it. Returns the stream's id.
    pub(crate) fn write(&mut self, end: usize, place: usize, octets: u64) -> u32 {
        let id = if place == 0 { 0 } else { self.ends[end].open_stream().expect("the peer lets it be opened") };
        self.to_write[end].insert(id, octets);
        self.applications();
        self.poll();
        id
    }

    fn applications(&mut self) {
        for (end, streams) in self.ends.iter_mut().zip(&mut self.to_write) {
            // Neither end answers on streams other than the first, so these streams are closed once
            // they have ended.
            let ended: Vec<u32> =
                end.stream_ids().into_iter().filter(|id| *id > 0 && end.is_stream_at_end(*id)).collect();
            ended.into_iter().for_each(|id| end.close_stream(id).expect(KNOWN));
            streams.retain(|id, left| {
                *left -= end.write_to(*id, *left).expect(KNOWN);
                if *left == 0 {
                    end.close_stream(*id).expect(KNOWN);
                }
                *left > 0
            });
        }
    }

    pub(crate) fn read(&mut self) {
        let Some(most) = self.reads else { return };
        for id in self.ends[1].stream_ids() {
            self.ends[1].read_from(self.now, id, most).expect(KNOWN);
        }
    }

    /// Returns when the reader reads next, if there are unread data.
    fn reads_at(&self) -> Option<Instant> {
        self.reads.filter(|most| *most > 0)?;
        let is_readable = self.ends[1].stream_ids().into_iter().any(|id| self.ends[1].readable_of(id) > 0);
        is_readable.then(|| self.now + READ_INTERVAL)
    }

    /// Sends the packets that are due now.
    pub(crate) fn poll(&mut self) {
        for end in 0..2 {
            let mut count = 0;
            while let Some(packet) = self.ends[end].poll(self.now) {
                count += 1;
                assert!(count < MAX_AT_ONCE, "no end of packets: {:#?}", self.ends[end]);
                assert!(packet.wire_len().get() <= 1500, "{packet:?}");
                self.sent[end] += 1;
                self.send(1 - end, packet);
            }
            assert!(self.ends[end].poll(self.now).is_none(), "nothing is nothing");
            let deadline = self.ends[end].deadline();
            assert!(deadline.is_none_or(|at| at > self.now), "{deadline:?} at {:?}: {:#?}", self.now, self.ends[end]);
        }
    }

    fn send(&mut self, to: usize, packet: E::Datagram) {
        let path = self.paths[to];
        let mut packet = packet;
        if packet.ecn() == Ecn::Ect0 && self.random.chance(path.marks) {
            packet.set_ecn(Ecn::Ce);
        }
        if path.clears_ecn {
            packet.set_ecn(Ecn::NotEct);
        }
        let packet = if self.as_octets { E::through_octets(&packet) } else { packet };
        while packet.wire_len().get() <= path.mtu && !self.random.chance(path.loss) {
            let jitter = self.random.below(path.jitter.as_nanos() + 1);
            let at = self.now + path.delay + Duration::from_nanos(jitter);
            self.count += 1;
            self.wire.insert((at, self.count), (to, packet.clone()));
            if !self.random.chance(path.duplicates) {
                break;
            }
        }
    }

    /// Advances time until `done` returns `true`, at most to `until`. Returns `true` if `done` did.
    pub(crate) fn run(&mut self, until: Instant, done: impl Fn(&Self) -> bool) -> bool {
        for _ in 0..MAX_STEPS {
            if done(self) {
                return true;
            }
            let arrival = self.wire.first_key_value().map(|((at, _), _)| *at);
            let deadline = self.ends.iter().filter_map(|end| end.deadline()).min();
            let deadline = Instant::earliest(deadline, self.reads_at());
            let Some(next) = Instant::earliest(arrival, deadline).filter(|next| *next <= until) else {
                self.now = until;
                return done(self);
            };
            self.now = next;
            if arrival == Some(next)
                && let Some((_, (to, packet))) = self.wire.pop_first()
            {
                self.give(to, packet);
            }
            self.ends.iter_mut().for_each(|end| end.wake(next));
            self.read();
            self.applications();
            self.poll();
            self.check();
        }
        panic!("it does not end: {}", self.state());
    }

    pub(crate) fn give(&mut self, to: usize, packet: E::Datagram) {
        let given = &mut self.given[to];
        self.ends[to].report_octets(&packet, &mut |stream, range| {
            let _ = given.entry(stream).or_default().insert(range);
        });
        self.ends[to].accept(self.now, packet);
    }

    /// Returns the last packet in flight to this end.
    pub(crate) fn last_to(&self, end: usize) -> Option<E::Datagram> {
        self.wire.values().rev().find(|(to, _)| *to == end).map(|(_, packet)| packet.clone())
    }

    /// Delivers a packet to an end that neither end has sent. Later deliveries to that end are not
    /// checked.
    pub(crate) fn give_wildly(&mut self, to: usize, packet: E::Datagram) {
        self.is_honest = false;
        self.give(to, packet);
        self.poll();
    }

    /// Checks that only sent data are delivered, and in order.
    fn check(&self) {
        if !self.is_honest {
            return;
        }
        for (end, given) in self.ends.iter().zip(&self.given) {
            for (id, given) in given {
                let delivered = end.delivered_of(*id);
                assert!(delivered <= given.next(), "stream {id}: {delivered} of {} in order", given.next());
                assert!(end.received_of(*id) <= given.received(), "stream {id}");
            }
        }
    }
}

/// The maximum time for the network to deliver the written data: a day.
pub(crate) const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// Writes `sizes` to one stream each at the first end, and `back` to the first of these streams at
/// the second. Checks that all data are delivered, and that `is_over` then returns `true`.
pub(crate) fn transfer<E: End>(
    network: &mut Network<E>,
    sizes: &[u64],
    back: u64,
    is_over: impl Fn(&Network<E>) -> bool,
) -> Result<(), TestCaseError> {
    let until = Instant::ZERO + PATIENCE;
    network.open();
    prop_assert!(network.run(until, Network::is_established), "no handshake: {}", network.state());
    let streams: Vec<u32> = sizes.iter().enumerate().map(|(index, size)| network.write(0, index, *size)).collect();
    network.write(1, 0, back);
    let is_done = |network: &Network<E>| {
        let there = streams.iter().zip(sizes).all(|(id, size)| network.delivered(1, *id) == *size);
        there && network.delivered(0, 0) == back && is_over(network)
    };
    prop_assert!(network.run(until, is_done), "it does not end: {}", network.state());
    Ok(())
}

/// Returns the number of transfers for which `ACKLAB_STEPS` packets suffice.
#[expect(clippy::disallowed_methods, reason = "how long to look is not a part of what is tested")]
pub(crate) fn cases() -> u32 {
    let steps: u64 = std::env::var_os("ACKLAB_STEPS").and_then(|steps| steps.to_str()?.parse().ok()).unwrap_or(0);
    (steps / 400).max(200) as u32
}
