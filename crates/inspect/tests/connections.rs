//! Connections with known properties.

use crate::properties::frames::any_frames_yield_a_sound_report;
use crate::seeds;
use acklab_base::{Ecn, Instant};
use acklab_inspect::report::{Direction, Position, Report};
use acklab_inspect::thinning::Thinning;
use acklab_inspect::{Inspector, LinkType, Options as Bounds};
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};
use acklab_wire::{Endpoints, Pdu};
use proptest::prelude::*;

const MSS: u32 = 1448;
/// The transmission time of a packet of 1500 octets at 12 Mbps.
const PACKET: u64 = 1_000_000;
const RTT: u64 = 50_000_000;

/// A download of `segments` through a bottleneck of 12 Mbps, captured at the sender. The ACK of
/// every `every`-th segment returns after an RTT of 50 ms. `keep` selects the ACKs that reach the
/// sender. Identifications of ACKs begin at a random number, as in Linux.
struct Download {
    inspector: Inspector,
    ends: Endpoints,
    events: Vec<(u64, bool, Segment, u16)>,
}

fn segment(seq: u32, ack: u32, flags: Flags, payload: u32, ms: u64, echo: u64) -> Segment {
    Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(seq),
        ack: SeqNumber(ack),
        flags,
        window: 60_000,
        options: Options {
            timestamps: Some(Timestamps { value: ms as u32 + 1000, echo: echo as u32 + 1000 }),
            ..Options::default()
        },
        payload,
    }
}

impl Download {
    fn new(segments: u32, every: u32, keep: impl Fn(u32) -> bool) -> Self {
        let start = 1_000_000_000_u64;
        let mut events = Vec::new();
        // Sequence numbers wrap in the middle of the download.
        let first = 0_u32.wrapping_sub(100 * MSS);
        for number in 0..segments {
            let at = start + u64::from(number) * PACKET;
            let data = segment(
                first.wrapping_add(number * MSS),
                1,
                Flags::ACK,
                MSS,
                at / 1_000_000,
                (at - RTT / 2) / 1_000_000,
            );
            events.push((at, true, data, 0));
            if (number + 1) % every == 0 && keep(number / every) {
                let ack = segment(
                    1,
                    first.wrapping_add((number + 1) * MSS),
                    Flags::ACK,
                    0,
                    (at + RTT / 2) / 1_000_000,
                    at / 1_000_000,
                );
                events.push((at + RTT, false, ack, 7000 + (number / every) as u16));
            }
        }
        Self { inspector: Inspector::new(Bounds::default()), ends: Endpoints::of_nodes(0, 1, 0), events }
    }

    fn report(mut self) -> Report {
        self.events.sort_by_key(|event| event.0);
        for (at, is_data, segment, identification) in &self.events {
            let ends = if *is_data { self.ends } else { self.ends.reverse() };
            let mut octets = Vec::new();
            let fields = Ipv4Fields { identification: *identification, ..Ipv4Fields::default() };
            segment.encode(ends, fields, Extent::Headers, &mut octets).unwrap();
            let length = segment.wire_len().get() as u32;
            self.inspector.frame(Instant::from_nanos(*at), LinkType::IP, &octets, length);
        }
        self.inspector.finish()
    }

    fn direction(self) -> Direction {
        let mut report = self.report();
        assert_eq!((report.connections.len(), report.connections[0].directions.len()), (1, 1));
        report.connections.remove(0).directions.remove(0)
    }
}

#[test]
fn the_bottleneck_and_the_round_trip_are_those_of_the_path() {
    let direction = Download::new(3000, 2, |_| true).direction();
    assert_eq!(direction.position, Position::Sender);
    let rate = direction.rate.value().unwrap();
    assert!((rate.value - 12.0).abs() < 0.01, "{rate:?}");
    assert!(direction.rate_is_lower_bound, "no round trip is longer than another, so that nothing waited");
    // An ACK covers two segments, and responds to the later one immediately.
    let base = direction.round_trip.base.value().unwrap();
    assert!((base - 50.0).abs() < 1.1, "{base}: the echo of a timestamp has a tick of 1 ms");
    assert!((direction.round_trip.ahead.unwrap() - 50.0).abs() < 0.001);
    let acks = direction.acks.unwrap();
    assert_eq!((acks.count, acks.usual, acks.thinning), (1500, 2, Thinning::None));
    assert_eq!((acks.missing, direction.losses.retransmitted), (Some(0.0), 0));
}

#[test]
fn missing_numbers_show_a_thinner() {
    let direction = Download::new(6000, 2, |ack| ack % 7 == 0 || ack % 3 == 0).direction();
    let acks = direction.acks.unwrap();
    assert_eq!(acks.thinning, Thinning::Thinned);
    // 9 of 21 ACKs are kept: those divisible by 3 or 7.
    assert!((acks.missing.unwrap() - 12.0 / 21.0).abs() < 0.01, "{acks:?}");
}

#[test]
fn a_receiver_that_acknowledges_rarely_is_no_thinner() {
    let acks = Download::new(6000, 10, |_| true).direction().acks.unwrap();
    assert_eq!((acks.usual, acks.thinning), (10, Thinning::SparseReceiver));
}

#[test]
fn a_retransmission_is_distinguished_from_a_spurious_one() {
    let mut download = Download::new(400, 2, |_| true);
    let again = |number: usize, at: u64, events: &mut Vec<(u64, bool, Segment, u16)>| {
        let mut copy = events.iter().filter(|event| event.1).nth(number).copied().unwrap();
        let clocks = copy.2.options.timestamps.unwrap();
        copy.0 += at;
        copy.2.options.timestamps = Some(Timestamps { value: clocks.value + (at / 1_000_000) as u32, ..clocks });
        events.push(copy);
    };
    // Retransmitted after 20 ms, while the ACK of the original, which echoes its timestamp, is in
    // flight.
    again(200, 20_000_000, &mut download.events);
    let direction = download.direction();
    assert_eq!((direction.losses.retransmitted, direction.losses.spurious, direction.losses.lost_behind), (1, 1, 0));
}

#[test]
fn a_late_segment_with_an_old_timestamp_was_reordered() {
    let mut download = Download::new(400, 2, |_| true);
    let late = download.events.iter_mut().filter(|event| event.1).nth(100).unwrap();
    late.0 += 5_500_000;
    let direction = download.direction();
    assert_eq!((direction.losses.reordered, direction.losses.retransmitted), (1, 0));
}

#[test]
fn connections_make_room_for_others() {
    let mut inspector = Inspector::new(Bounds { most_connections: 8, most_reported: 100 });
    for number in 0..40_u32 {
        let ends = Endpoints::of_nodes(number, 200, number);
        let mut octets = Vec::new();
        let data = segment(5, 1, Flags::ACK, MSS, 1, 1);
        data.encode(ends, Ipv4Fields::default(), Extent::Headers, &mut octets).unwrap();
        inspector.frame(Instant::from_nanos(u64::from(number)), LinkType::IP, &octets, 1500);
    }
    let report = inspector.finish();
    assert_eq!((report.counts.connections, report.connections.len()), (40, 40));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_frames(octets in prop::collection::vec(any::<u8>(), 0..4000)) {
        any_frames_yield_a_sound_report(&octets);
    }
}

#[test]
fn the_seeds_of_the_fuzz_target() {
    seeds::replay("inspect", any_frames_yield_a_sound_report);
}
