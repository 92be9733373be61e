//! Realistic captures of TCP connections: coalesced and truncated, duplicated and out of order,
//! with clocks that step.

use crate::properties::soundness::assert_sound;
use acklab_base::{Ecn, Instant};
use acklab_inspect::{Inspector, LinkType, Options as Bounds};
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::tcp::{Flags, Options, SackBlock, Segment, SeqNumber, Timestamps};
use acklab_wire::{Endpoints, Pdu};
use proptest::collection::vec;
use proptest::prelude::*;

const MSS: u32 = 1448;

/// The next action of an end of a connection.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Opens a new connection on the same ports: SYN, SYN-ACK and ACK, with other numbers.
    Open { number: u32, mss: Option<u16>, scale: Option<u8> },
    /// Sends new data: this number of octets in one packet, as a NIC coalesces them.
    Data { octets: u32 },
    /// Sends data that the capture lacks.
    Skip { octets: u32 },
    /// Retransmits earlier octets.
    Repeat { back: u32, octets: u32 },
    /// Sends an ACK of all octets except this number, with blocks beyond it.
    Ack { lag: u32, block: Option<(u32, u32)> },
    /// Sends an ACK of data that the capture lacks.
    AckAhead { octets: u32 },
    /// Sends the last octet again, or an empty segment with its sequence number.
    KeepAlive { is_empty: bool },
    /// Ends one direction, or both.
    Finish { is_reset: bool },
    /// Repeats the previous packet, as a mirror port does.
    Double,
}

/// The time until the next packet passes.
#[derive(Clone, Copy, Debug)]
enum Clock {
    Step(u64),
    /// A whole number of ticks.
    Tick(u64),
    Back(u64),
    Jump(u64),
}

#[derive(Clone, Copy, Debug)]
struct Step {
    connection: u8,
    is_server: bool,
    act: Act,
    clock: Clock,
    has_timestamps: bool,
    identification: u16,
    window: u16,
    /// `true` if the packet precedes the previous one in the file.
    overtakes: bool,
}

fn acts() -> impl Strategy<Value = Act> {
    let block = prop::option::of((0..20 * MSS, 1..4 * MSS));
    prop_oneof![
        1 => (any::<u32>(), prop::option::of(500..9000_u16), prop::option::of(0..=14_u8))
            .prop_map(|(number, mss, scale)| Act::Open { number, mss, scale }),
        12 => prop_oneof![Just(MSS), 1..=4 * MSS].prop_map(|octets| Act::Data { octets }),
        1 => (1..8 * MSS).prop_map(|octets| Act::Skip { octets }),
        2 => (1..8 * MSS, 1..=2 * MSS).prop_map(|(back, octets)| Act::Repeat { back, octets }),
        4 => (prop_oneof![Just(0), 0..8 * MSS], block).prop_map(|(lag, block)| Act::Ack { lag, block }),
        1 => (1..8 * MSS).prop_map(|octets| Act::AckAhead { octets }),
        1 => any::<bool>().prop_map(|is_empty| Act::KeepAlive { is_empty }),
        1 => any::<bool>().prop_map(|is_reset| Act::Finish { is_reset }),
        1 => Just(Act::Double),
    ]
}

fn clocks() -> impl Strategy<Value = Clock> {
    prop_oneof![
        10 => (0..2_000_000_u64).prop_map(Clock::Step),
        4 => (0..3_u64).prop_map(Clock::Tick),
        1 => (1..5_000_000_u64).prop_map(Clock::Back),
        // A pause of the sender, or a step by NTP of up to an hour.
        1 => (0..10_000_000_000_u64).prop_map(Clock::Jump),
        1 => Just(Clock::Jump(3_600_000_000_000)),
        1 => Just(Clock::Back(2_000_000_000)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // One connection has most of the packets, because intervals need 256 in a direction.
    let connection = prop_oneof![8 => Just(0_u8), 1 => Just(1), 1 => Just(2)];
    let flags = (prop::bool::weighted(0.8), any::<bool>(), prop::bool::weighted(0.1));
    let step = (connection, acts(), clocks(), any::<u16>(), any::<u16>(), flags);
    let step = step.prop_map(|(connection, act, clock, identification, window, flags)| {
        let (is_server, has_timestamps, overtakes) = flags;
        Step { connection, is_server, act, clock, has_timestamps, identification, window, overtakes }
    });
    vec(step, 0..1500)
}

/// The state of both ends of a connection: the next octet that each sends.
#[derive(Clone, Copy, Debug)]
struct Ends {
    next: [u32; 2],
}

/// A packet of the capture.
#[derive(Clone, Debug)]
struct Packet {
    at: u64,
    connection: u8,
    is_server: bool,
    identification: u16,
    segment: Segment,
}

impl Step {
    /// Returns the segments that the step sends.
    fn segments(&self, ends: &mut Ends, millis: u32) -> Vec<(bool, Segment)> {
        let (own, other) = (usize::from(self.is_server), usize::from(!self.is_server));
        let plain = |seq: u32, ack: u32, flags: Flags, payload: u32| Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber(seq),
            ack: SeqNumber(ack),
            flags,
            window: self.window,
            options: Options {
                timestamps: self.has_timestamps.then_some(Timestamps { value: millis, echo: millis.wrapping_sub(20) }),
                ..Options::default()
            },
            payload,
        };
        let [seq, ack] = [ends.next[own], ends.next[other]];
        let segment = match self.act {
            Act::Open { number, mss, scale } => {
                ends.next = [number.wrapping_add(1), number.wrapping_mul(3).wrapping_add(1)];
                let [client, server] = ends.next;
                let options = Options { mss, window_scale: scale, sack_permitted: true, ..Options::default() };
                let opening = |segment: Segment| Segment { options, ..segment };
                return vec![
                    (false, opening(plain(client.wrapping_sub(1), 0, Flags::SYN, 0))),
                    (true, opening(plain(server.wrapping_sub(1), client, Flags::SYN | Flags::ACK, 0))),
                    (false, plain(client, server, Flags::ACK, 0)),
                ];
            }
            Act::Data { octets } => {
                ends.next[own] = seq.wrapping_add(octets);
                plain(seq, ack, Flags::ACK, octets)
            }
            Act::Skip { octets } => {
                ends.next[own] = seq.wrapping_add(octets);
                return Vec::new();
            }
            Act::Repeat { back, octets } => plain(seq.wrapping_sub(back), ack, Flags::ACK, octets.min(back)),
            Act::Ack { lag, block } => {
                let mut segment = plain(seq, ack.wrapping_sub(lag), Flags::ACK, 0);
                let held = |(skipped, length): (u32, u32)| {
                    let start = segment.ack.0.wrapping_add(skipped);
                    SackBlock { start: SeqNumber(start), end: SeqNumber(start.wrapping_add(length)) }
                };
                segment.options.sack = block.map(held).into_iter().collect();
                segment
            }
            Act::AckAhead { octets } => plain(seq, ack.wrapping_add(octets), Flags::ACK, 0),
            Act::KeepAlive { is_empty } => plain(seq.wrapping_sub(1), ack, Flags::ACK, u32::from(!is_empty)),
            Act::Finish { is_reset } => plain(seq, ack, if is_reset { Flags::RST } else { Flags::FIN | Flags::ACK }, 0),
            Act::Double => return Vec::new(),
        };
        vec![(self.is_server, segment)]
    }
}

/// Returns the packets of a capture in the order of the file.
fn capture(steps: &[Step]) -> Vec<Packet> {
    const TICK: u64 = 1_000_000;
    let mut ends = [Ends { next: [u32::MAX - 20 * MSS, 7] }; 3];
    let mut at = 1_700_000_000_000_000_000_u64;
    let mut packets: Vec<Packet> = Vec::new();
    for step in steps {
        at = match step.clock {
            Clock::Step(nanos) | Clock::Jump(nanos) => at + nanos,
            Clock::Tick(ticks) => (at / TICK + ticks) * TICK,
            Clock::Back(nanos) => at - nanos,
        };
        if let (Act::Double, Some(last)) = (step.act, packets.last().cloned()) {
            packets.push(Packet { at: last.at + 3000, ..last });
        }
        let segments = step.segments(&mut ends[usize::from(step.connection)], (at / 1_000_000) as u32);
        for (is_server, segment) in segments {
            let Step { connection, identification, .. } = *step;
            packets.push(Packet { at, connection, is_server, identification, segment });
        }
        let last = packets.len().wrapping_sub(1);
        if step.overtakes && last != 0 && last < packets.len() {
            packets.swap(last - 1, last);
        }
    }
    packets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Captures of real hosts have all of these features. In any combination, the numbers of a
    /// report are within their ranges.
    #[test]
    fn any_plausible_capture_yields_a_sound_report(steps in steps()) {
        let packets = capture(&steps);
        let mut inspector = Inspector::new(Bounds::default());
        for packet in &packets {
            let ends = Endpoints::of_nodes(0, 1, packet.connection.into());
            let ends = if packet.is_server { ends.reverse() } else { ends };
            let fields = Ipv4Fields { identification: packet.identification, ..Ipv4Fields::default() };
            let mut octets = Vec::new();
            packet.segment.encode(ends, fields, Extent::Headers, &mut octets).unwrap();
            let length = packet.segment.wire_len().get() as u32;
            inspector.frame(Instant::from_nanos(packet.at), LinkType::IP, &octets, length);
        }
        let report = inspector.finish();
        prop_assert_eq!(report.counts.packets, packets.len() as u64);
        prop_assert_eq!(report.counts.malformed, 0);
        assert_sound(&report);
    }
}
