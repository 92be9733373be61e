//! Moves random bytes over an endpoint with a driver that stores them. Every byte is read once and
//! in order, whatever the network does to packets. The driver never stores more bytes than the
//! sizes of the buffers.

use acklab_base::random::{Seed, Stream};
use acklab_base::{Duration, Endpoint, Fate, Instant, Port, StreamEvent};
use acklab_transport::octets::{Arrived, Written};
use std::collections::BTreeMap;

pub(crate) const BUFFER: u64 = 60_000;
/// The maximum number of packets per input; more indicate an endless loop.
const MAX_AT_ONCE: usize = 10_000;
const PATIENCE: Duration = Duration::from_secs(3600);
/// The interval and the size of a slow reader's reads.
const READ_INTERVAL: Duration = Duration::from_millis(5);
const READ_OCTETS: u64 = 5000;

/// The operations of applications on the streams of an end.
pub(crate) trait Streams: Endpoint<Datagram: Clone> {
    /// `true` if it distinguishes duplicates from new packets.
    const DETECTS_DUPLICATES: bool = true;

    fn open_another(&mut self) -> Option<u32>;
    fn write(&mut self, now: Instant, stream: u32, octets: u64) -> u64;
    fn end(&mut self, now: Instant, stream: u32);
    fn read(&mut self, now: Instant, stream: u32, most: u64) -> u64;
    fn is_read(&self, stream: u32) -> bool;
}

/// Implements [`Streams`] for an end with one stream per direction, the stream of its
/// [`StreamPort`](acklab_base::StreamPort).
macro_rules! one_stream {
    ($connection:ty, tells_duplicates: $tells:literal) => {
        impl $crate::carried::Streams for $connection {
            const DETECTS_DUPLICATES: bool = $tells;

            fn open_another(&mut self) -> Option<u32> {
                None
            }

            fn write(&mut self, now: Instant, _: u32, octets: u64) -> u64 {
                StreamPort::write(self, now, octets)
            }

            fn end(&mut self, now: Instant, _: u32) {
                self.close(now);
            }

            fn read(&mut self, now: Instant, _: u32, most: u64) -> u64 {
                StreamPort::read(self, now, most)
            }

            fn is_read(&self, _: u32) -> bool {
                self.is_at_end()
            }
        }
    };
}

pub(crate) use one_stream;

/// A packet with its bytes of streams: stream, offset, bytes.
#[derive(Clone, Debug)]
struct Loaded<D> {
    packet: D,
    octets: Vec<(u32, u64, Vec<u8>)>,
}

/// One direction of a stream: the data that its application has to send, and the part that the
/// driver stores.
#[derive(Default)]
struct Outgoing {
    all: Vec<u8>,
    written: Written,
    has_ended: bool,
    is_finished: bool,
}

#[derive(Default)]
struct Incoming {
    arrived: Arrived,
    read: Vec<u8>,
}

/// An endpoint, and the driver that stores its bytes.
struct Host<E: Streams> {
    end: E,
    outgoing: BTreeMap<u32, Outgoing>,
    incoming: BTreeMap<u32, Incoming>,
    /// The number of bytes per [`READ_INTERVAL`] of a slow reader; `None` reads all bytes
    /// immediately.
    reads: Option<u64>,
    duplicates: u64,
    /// Packets that were not readable when they arrived.
    waiting: Vec<Loaded<E::Datagram>>,
}

impl<E: Streams> Host<E> {
    fn new(mut end: E, reads: Option<u64>) -> Self {
        end.record_streams();
        let mut host = Self {
            end,
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            reads,
            duplicates: 0,
            waiting: Vec::new(),
        };
        host.incoming.insert(0, Incoming::default());
        host
    }

    fn is_done(&self) -> bool {
        self.outgoing.values().all(|stream| stream.is_finished)
            && self.incoming.keys().all(|stream| self.end.is_read(*stream))
    }

    fn accept(&mut self, now: Instant, loaded: &Loaded<E::Datagram>) {
        let fate = self.end.accept_borrowed(now, &loaded.packet);
        self.duplicates += u64::from(fate == Fate::Duplicate);
        if fate == Fate::Waits {
            self.waiting.push(loaded.clone());
        }
        let mut has_arrived = false;
        while let Some((stream, event)) = self.end.take_stream_event() {
            match event {
                StreamEvent::Opened => {
                    assert!(self.incoming.insert(stream, Incoming::default()).is_none(), "it opens once");
                }
                StreamEvent::Arrived(range) => {
                    has_arrived = true;
                    let carries = |(of, start, octets): &&(u32, u64, Vec<u8>)| {
                        *of == stream && *start <= range.start && range.end <= start + octets.len() as u64
                    };
                    let (_, start, octets) = std::iter::once(loaded)
                        .chain(&self.waiting)
                        .flat_map(|loaded| &loaded.octets)
                        .find(carries)
                        .expect("it is in the packet");
                    let [from, to] = [range.start, range.end].map(|offset| (offset - start) as usize);
                    let incoming = self.incoming.get_mut(&stream).expect("it is open");
                    incoming.arrived.put(range.start, &octets[from..to]).expect("there is memory");
                }
                StreamEvent::Acknowledged(below) => {
                    let outgoing = self.outgoing.get_mut(&stream).expect("it was written");
                    outgoing.written.free(below);
                }
                StreamEvent::Finished => {
                    let outgoing = self.outgoing.get_mut(&stream).expect("it was written");
                    assert!(!std::mem::replace(&mut outgoing.is_finished, true), "it ends once");
                    assert_eq!(outgoing.written.kept(), 0, "all is freed");
                }
                StreamEvent::Readable | StreamEvent::Writable => {}
                StreamEvent::Reset { .. } | StreamEvent::Stopped { .. } => panic!("neither end ends {stream}"),
            }
        }
        assert!(matches!(fate, Fate::Taken | Fate::Waits) || !has_arrived, "{fate:?}");
        self.write(now);
        if self.reads.is_none() {
            self.read(now, u64::MAX);
        }
    }

    /// Writes as many bytes as the port accepts.
    fn write(&mut self, now: Instant) {
        for (id, stream) in &mut self.outgoing {
            let from = stream.written.end() as usize;
            let taken = self.end.write(now, *id, (stream.all.len() - from) as u64) as usize;
            stream.written.append(&stream.all[from..from + taken]);
            assert!(stream.written.kept() as u64 <= BUFFER, "the buffer bounds what is kept");
            if from + taken == stream.all.len() && !std::mem::replace(&mut stream.has_ended, true) {
                self.end.end(now, *id);
            }
        }
    }

    fn read(&mut self, now: Instant, most: u64) {
        for (id, stream) in &mut self.incoming {
            let count = self.end.read(now, *id, most);
            stream.arrived.take(count, &mut stream.read);
        }
    }

    /// Returns the packets that are sent now.
    fn poll(&mut self, now: Instant) -> Vec<Loaded<E::Datagram>> {
        let mut leaving = Vec::new();
        loop {
            let may_transmit = self.end.may_transmit();
            let Some(packet) = self.end.poll(now) else { break };
            assert!(may_transmit, "a packet leaves, though none may");
            let (mut octets, outgoing) = (Vec::new(), &mut self.outgoing);
            self.end.report_octets(&packet, &mut |stream, range| {
                let (start, mut copied) = (range.start, Vec::new());
                let is_kept = outgoing.get_mut(&stream).is_some_and(|end| end.written.copy(range, &mut copied));
                assert!(is_kept, "what is sent is kept");
                octets.push((stream, start, copied));
            });
            leaving.push(Loaded { packet, octets });
            assert!(leaving.len() < MAX_AT_ONCE, "an endless loop");
        }
        leaving
    }
}

/// The behaviour of the network.
#[derive(Clone, Copy, Debug)]
struct Weather {
    loss: f64,
    duplicates: f64,
    jitter: Duration,
}

const CLEAN: Weather = Weather { loss: 0.0, duplicates: 0.0, jitter: Duration::ZERO };
const ROUGH: Weather = Weather { loss: 0.05, duplicates: 0.05, jitter: Duration::from_millis(30) };

/// Packets by arrival time, then in the order of sending, with the index of their receiving end.
type UnderWay<D> = BTreeMap<(Instant, u64), (usize, Loaded<D>)>;

/// Moves bytes in both directions: `size` bytes on each of `streams` streams that the first end
/// opens, and an answer on each.
fn carry<E: Streams>(ends: [E; 2], streams: usize, size: usize, weather: Weather, reads: Option<u64>) -> [Host<E>; 2] {
    let mut chance = Seed(9).stream("carry");
    let [client, server] = ends;
    let mut hosts = [Host::new(client, reads), Host::new(server, reads)];
    let mut under_way: UnderWay<E::Datagram> = BTreeMap::new();
    let (mut now, mut count, mut reads_at) = (Instant::ZERO, 0, Instant::ZERO);
    if let Port::Stream(port) = hosts[0].end.port() {
        port.open(now);
    }
    loop {
        for (index, host) in hosts.iter_mut().enumerate() {
            let is_open = matches!(host.end.port(), Port::Stream(port) if port.is_open());
            if is_open && host.outgoing.is_empty() {
                begin(host, index == 0, streams, size, &mut chance);
            }
            answer(host, size, &mut chance);
            host.write(now);
            for loaded in host.poll(now) {
                let copies = 1 + usize::from(chance.chance(weather.duplicates));
                for _ in 0..copies {
                    if !chance.chance(weather.loss) {
                        let jitter = chance.below(weather.jitter.as_nanos() + 1);
                        let arrives = now + Duration::from_millis(10) + Duration::from_nanos(jitter);
                        under_way.insert((arrives, count), (1 - index, loaded.clone()));
                    }
                    count += 1;
                }
            }
        }
        if hosts.iter().all(Host::is_done) {
            return hosts;
        }
        let deadline = hosts.iter().filter_map(|host| host.end.deadline()).min();
        let arrival = under_way.first_key_value().map(|((at, _), _)| *at);
        let next = [deadline, arrival, reads.map(|_| reads_at)].into_iter().flatten().min();
        let Some(next) = next else { panic!("nothing is left to do at {now}, and not all has been carried") };
        now = now.max(next);
        assert!(now < Instant::ZERO + PATIENCE, "it comes to an end");
        if arrival == Some(next) {
            let (_, (host, loaded)) = under_way.pop_first().expect("one arrives");
            hosts[host].accept(now, &loaded);
        } else if reads.is_some() && next == reads_at {
            hosts.iter_mut().for_each(|host| host.read(now, reads.unwrap_or(0)));
            reads_at += READ_INTERVAL;
        } else {
            hosts.iter_mut().filter(|host| host.end.deadline() == Some(next)).for_each(|host| host.end.wake(now));
        }
    }
}

fn random(size: usize, chance: &mut Stream) -> Outgoing {
    Outgoing { all: (0..size).map(|_| chance.below(256) as u8).collect(), ..Outgoing::default() }
}

/// Starts the application of an end whose connection is open.
fn begin<E: Streams>(host: &mut Host<E>, is_client: bool, streams: usize, size: usize, chance: &mut Stream) {
    host.outgoing.insert(0, random(size, chance));
    while is_client && host.outgoing.len() < streams {
        let id = host.end.open_another().expect("the peer lets it");
        host.outgoing.insert(id, random(size, chance));
        host.incoming.insert(id, Incoming::default());
    }
}

/// Answers the streams that the peer has opened.
fn answer<E: Streams>(host: &mut Host<E>, size: usize, chance: &mut Stream) {
    let new: Vec<u32> = host.incoming.keys().copied().filter(|id| *id > 0 && !host.outgoing.contains_key(id)).collect();
    for id in new {
        host.outgoing.insert(id, random(size, chance));
    }
}

/// Tests a path without and a path with impairments, with applications that read immediately and
/// slowly.
pub(crate) fn carries<E: Streams>(ends: impl Fn() -> [E; 2], streams: usize) {
    for (weather, reads) in [(CLEAN, None), (ROUGH, None), (CLEAN, Some(READ_OCTETS)), (ROUGH, Some(READ_OCTETS))] {
        let hosts = carry(ends(), streams, 300_000, weather, reads);
        for (from, to) in [(0, 1), (1, 0)] {
            assert_eq!(hosts[from].outgoing.len(), streams);
            for (id, sent) in &hosts[from].outgoing {
                assert_eq!(sent.all.len(), hosts[to].incoming[id].read.len(), "{weather:?}: all of stream {id}");
                assert!(sent.all == hosts[to].incoming[id].read, "{weather:?}: as it was sent");
            }
        }
        let duplicates: u64 = hosts.iter().map(|host| host.duplicates).sum();
        assert_eq!(
            duplicates > 0,
            E::DETECTS_DUPLICATES && weather.duplicates > 0.0,
            "{duplicates} of {weather:?} are reported"
        );
    }
}
