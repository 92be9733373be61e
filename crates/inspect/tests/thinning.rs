//! Tests whether a thinner is identified, with various receivers, counters of identifications,
//! other traffic of the host, and boxes.

use acklab_base::Instant;
use acklab_inspect::report::Direction;
use acklab_inspect::thinning::Thinning;
use acklab_inspect::{Inspector, LinkType, Options as Bounds};
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};
use acklab_wire::{Endpoints, Pdu};
use proptest::prelude::*;

const MSS: u32 = 1448;
const MS: u64 = 1_000_000;
const RTT: u64 = 50 * MS;

/// The counter of the identifications of the receiver's packets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Counter {
    /// A counter of the connection, from a random number on. The SYN-ACK has zero.
    Linux,
    /// A counter of the host, which sends this number of other packets per ACK on average.
    Host(f64),
    /// Like `Host`, in the other byte order.
    Swapped(f64),
    Random,
    Zero,
}

/// The number of segments that the receiver acknowledges together.
#[derive(Clone, Copy, Debug)]
enum Receiver {
    Every(u32),
    /// A varying number from one to this number.
    Batches(u32),
}

/// The effect of a box on ACKs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Path {
    Plain,
    /// Keeps one of this number of ACKs, on average.
    Keeps(u32),
    /// Loses one of this number of ACKs.
    Loses(u32),
}

/// A download over a bottleneck of this number of segments per millisecond, captured at the sender.
#[derive(Clone, Copy, Debug)]
struct Download {
    segments: u32,
    per_ms: u32,
    counter: Counter,
    receiver: Receiver,
    path: Path,
    has_timestamps: bool,
    /// `true` if the receiver echoes the newest timestamp, instead of that of the first segment.
    echoes_newest: bool,
    seed: u64,
}

const PLAIN: Download = Download {
    segments: 3000,
    per_ms: 1,
    counter: Counter::Linux,
    receiver: Receiver::Every(2),
    path: Path::Plain,
    has_timestamps: true,
    echoes_newest: false,
    seed: 1,
};

/// Random numbers (Steele, Lea, Flood, OOPSLA 2014: SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 32) as u32 % limit
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a Poisson-distributed number (Knuth, *The Art of Computer Programming*, 2, §3.4.1).
    fn poisson(&mut self, mean: f64) -> u16 {
        let (limit, mut product, mut count) = (libm::exp(-mean), self.share(), 0);
        while product > limit {
            product *= self.share();
            count += 1;
        }
        count
    }
}

impl Download {
    fn direction(self) -> Direction {
        let mut chance = Chance(self.seed);
        let mut packets = self.data();
        packets.extend(self.acks(&mut chance));
        packets.sort_by_key(|packet| packet.0);
        let client = Endpoints::of_nodes(0, 1, 0);
        let mut inspector = Inspector::new(Bounds::default());
        for (at, is_servers, segment, identification) in packets {
            let ends = if is_servers { client } else { client.reverse() };
            let mut octets = Vec::new();
            let fields = Ipv4Fields { identification, ..Ipv4Fields::default() };
            segment.encode(ends, fields, Extent::Headers, &mut octets).unwrap();
            inspector.frame(Instant::from_nanos(at), LinkType::IP, &octets, segment.wire_len().get() as u32);
        }
        let mut report = inspector.finish();
        report.connections.remove(0).directions.remove(0)
    }

    /// Returns when segment `number` is sent.
    fn sent(self, number: u32) -> u64 {
        2000 * MS + u64::from(number) * MS / u64::from(self.per_ms)
    }

    fn clock(at: u64) -> u32 {
        (at / MS) as u32
    }

    fn options(self, value: u32, echo: u32) -> Options {
        Options { timestamps: self.has_timestamps.then_some(Timestamps { value, echo }), ..Options::default() }
    }

    fn data(self) -> Vec<(u64, bool, Segment, u16)> {
        let syn = Segment {
            seq: SeqNumber(0),
            flags: Flags::SYN,
            options: Options { mss: Some(MSS as u16), ..self.options(1900, 0) },
            ..Segment::default()
        };
        let data = (0..self.segments).map(|number| {
            let at = self.sent(number);
            let segment = Segment {
                seq: SeqNumber(1 + number * MSS),
                ack: SeqNumber(1),
                flags: Flags::ACK,
                payload: MSS,
                options: self.options(Self::clock(at), Self::clock(at - RTT)),
                ..Segment::default()
            };
            (at, true, segment, 0)
        });
        std::iter::once((1900 * MS, true, syn, 0)).chain(data).collect()
    }

    /// Returns the SYN-ACK, and the ACKs that the path passes.
    fn acks(self, chance: &mut Chance) -> Vec<(u64, bool, Segment, u16)> {
        let mut next = chance.next() as u16;
        let mut number = |chance: &mut Chance, is_syn_ack: bool| {
            next = next.wrapping_add(1);
            match self.counter {
                Counter::Linux => next * u16::from(!is_syn_ack),
                Counter::Host(others) | Counter::Swapped(others) => {
                    next = next.wrapping_add(chance.poisson(others));
                    if matches!(self.counter, Counter::Host(_)) { next } else { next.swap_bytes() }
                }
                Counter::Random => chance.next() as u16,
                Counter::Zero => 0,
            }
        };
        let opening = Segment {
            seq: SeqNumber(0),
            ack: SeqNumber(1),
            flags: Flags::SYN | Flags::ACK,
            options: Options { mss: Some(MSS as u16), ..self.options(1925, 1900) },
            ..Segment::default()
        };
        let mut packets = vec![(1900 * MS + RTT, false, opening, number(chance, true))];
        let mut acknowledged = 0;
        while acknowledged < self.segments {
            // At first each segment is acknowledged immediately, as in Linux.
            let count = match self.receiver {
                _ if acknowledged < 20 => 1,
                Receiver::Every(count) => count,
                Receiver::Batches(maximum) => 1 + chance.below(maximum),
            };
            let count = count.min(self.segments - acknowledged);
            let echoed = if self.echoes_newest { acknowledged + count - 1 } else { acknowledged };
            acknowledged += count;
            let identification = number(chance, false);
            let is_left = match self.path {
                _ if acknowledged < 60 => true,
                Path::Plain => true,
                Path::Keeps(of) => chance.below(of) == 0,
                Path::Loses(of) => chance.below(of) > 0,
            };
            let arrived = self.sent(acknowledged - 1) + RTT / 2;
            let segment = Segment {
                seq: SeqNumber(1),
                ack: SeqNumber(1 + acknowledged * MSS),
                flags: Flags::ACK,
                window: 60_000,
                options: self.options(Self::clock(arrived), Self::clock(self.sent(echoed))),
                ..Segment::default()
            };
            if is_left {
                packets.push((arrived + RTT / 2, false, segment, identification));
            }
        }
        packets
    }
}

#[test]
fn a_box_is_found_by_numbers_of_the_connection() {
    for of in [2, 4, 8] {
        let direction = Download { path: Path::Keeps(of), has_timestamps: false, ..PLAIN }.direction();
        assert_eq!(direction.acks.unwrap().thinning, Thinning::Thinned, "{:?}", direction.statements);
        // The first 60 segments have 40 ACKs. After that, one ACK in this number remains.
        let missing = direction.acks.unwrap().missing.unwrap();
        assert!((missing - (1.0 - 1.0 / f64::from(of))).abs() < 0.06, "{missing}");
    }
}

/// With IPv6, or if the counter is that of the host, timestamps show the box. Their ticks are 1 ms,
/// with one segment per tick or five.
#[test]
fn a_box_is_found_by_echoed_timestamps() {
    for (counter, per_ms) in [(Counter::Zero, 1), (Counter::Host(20.0), 1), (Counter::Random, 5)] {
        let direction = Download { path: Path::Keeps(4), counter, per_ms, segments: 9000, ..PLAIN }.direction();
        assert_eq!(direction.acks.unwrap().thinning, Thinning::Thinned, "{counter:?} {:?}", direction.statements);
        assert!(direction.statements.evidence["thinning"].contains("echo"));
    }
}

#[test]
fn without_numbers_and_timestamps_a_box_is_not_known() {
    let direction =
        Download { path: Path::Keeps(4), counter: Counter::Zero, has_timestamps: false, ..PLAIN }.direction();
    assert_eq!(direction.acks.unwrap().thinning, Thinning::Unknown);
    assert!(direction.statements.not_known.contains_key("thinning"));
}

#[test]
fn ordinary_delayed_acks_are_none() {
    for counter in [Counter::Linux, Counter::Host(19.0), Counter::Host(0.3), Counter::Swapped(3.0), Counter::Zero] {
        for has_timestamps in [true, false] {
            let direction = Download { counter, has_timestamps, ..PLAIN }.direction();
            assert_eq!(direction.acks.unwrap().thinning, Thinning::None, "{counter:?} {:?}", direction.statements);
        }
    }
}

#[test]
fn batches_are_the_receivers() {
    let direction = Download { receiver: Receiver::Batches(20), segments: 9000, ..PLAIN }.direction();
    assert_eq!(direction.acks.unwrap().thinning, Thinning::SparseReceiver, "{:?}", direction.statements);
    assert!(direction.statements.evidence["thinning"].contains("batches of up to"));
}

fn receivers() -> impl Strategy<Value = Receiver> {
    prop_oneof![(1..12_u32).prop_map(Receiver::Every), (2..40_u32).prop_map(Receiver::Batches)]
}

fn counters() -> impl Strategy<Value = Counter> {
    prop_oneof![
        Just(Counter::Linux),
        (0.02..60.0_f64).prop_map(Counter::Host),
        (0.02..60.0_f64).prop_map(Counter::Swapped),
        Just(Counter::Random),
        Just(Counter::Zero),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// For any receiver, host and stack: if no ACK is removed, or if one in 20 or more is lost, no
    /// thinner is identified.
    #[test]
    fn no_thinner_is_named_where_none_is(
        counter in counters(),
        receiver in receivers(),
        lost in prop_oneof![Just(None), (20..200_u32).prop_map(Some)],
        has_timestamps in any::<bool>(),
        echoes_newest in any::<bool>(),
        per_ms in 1..30_u32,
        segments in 200..4000_u32,
        seed in any::<u64>(),
    ) {
        let path = lost.map_or(Path::Plain, Path::Loses);
        let download = Download { segments, per_ms, counter, receiver, path, has_timestamps, echoes_newest, seed };
        let direction = download.direction();
        prop_assert_ne!(direction.acks.unwrap().thinning, Thinning::Thinned, "{:?}: {:?}", download, direction.statements);
    }
}
