//! Properties of the inspection of any packets. The tests of this crate and the fuzz target
//! `inspect` share them.

use acklab_base::{Ecn, Instant};
use acklab_inspect::report::Estimate;
use acklab_inspect::table::Options as Bounds;
use acklab_inspect::{Inspector, LinkType};
use acklab_wire::Endpoints;
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::tcp::{Flags, Options, SackBlock, Segment, SeqNumber, Timestamps};
use acklab_wire::{Pdu, address_of_node};
use std::net::SocketAddrV4;

/// The limits are so low that some connections must be evicted.
const BOUNDS: Bounds = Bounds { most_connections: 4, most_reported: 6 };

/// Checks that the report of frames made of `octets` has sound numbers. Some frames are segments of
/// connections, others are noise, and their times may step back.
///
/// # Panics
/// If it does not hold.
pub(crate) fn any_frames_yield_a_sound_report(octets: &[u8]) {
    let mut inspector = Inspector::new(BOUNDS);
    let mut at = 1_000_000_000_u64;
    let mut frames = 0;
    for chunk in octets.chunks(20) {
        let [kind, step, ..] = *chunk else { break };
        at = at.saturating_add_signed((i64::from(step) - 16) * 100_000);
        frames += 1;
        let frame = match kind % 8 {
            7 => chunk.to_vec(),
            6 => datagram_of(chunk),
            _ => packet_of(chunk),
        };
        let layer = if kind % 8 == 7 { LinkType::ETHERNET } else { LinkType::IP };
        inspector.frame(Instant::from_nanos(at), layer, &frame, frame.len() as u32);
    }
    let report = inspector.finish();
    assert_eq!(report.counts.packets, frames);
    assert!(report.connections.len() <= BOUNDS.most_reported);
    assert!(report.duration >= 0.0);
    for direction in report.connections.iter().flat_map(|connection| &connection.directions) {
        assert!(direction.losses.spurious <= direction.losses.retransmitted, "{:?}", direction.losses);
        assert!((0.0..=1.0).contains(&direction.losses.share), "{:?}", direction.losses);
        let is_sound = |rate: &Estimate| 0.0 < rate.low && rate.low <= rate.value && rate.value <= rate.high;
        assert!(
            direction.rate.value().is_none_or(|rate| is_sound(rate) && rate.high.is_finite()),
            "{:?}",
            direction.rate
        );
        assert!(direction.goodput.is_finite() && direction.goodput >= 0.0, "{}", direction.goodput);
        let round_trip = &direction.round_trip;
        let sides = round_trip.ahead.zip(round_trip.behind).map(|(one, other)| one + other);
        let is_least = |base: &f64| *base > 0.0 && sides.is_none_or(|sides| *base <= sides + 1e-6);
        assert!(round_trip.base.value().is_none_or(is_least), "{round_trip:?}");
        assert_eq!(sides.is_some(), round_trip.base.value().is_some() || round_trip.base_below.is_some());
        if let Some(limits) = direction.limits {
            assert!(limits.receive_window + limits.application <= 1.0 + 1e-9, "{limits:?}");
        }
    }
}

/// Returns a datagram of QUIC between two of several hosts: with a long header and one of several
/// connection IDs, with a short header and such an ID, or random.
fn datagram_of(chunk: &[u8]) -> Vec<u8> {
    const LENGTH: usize = 64;
    let octet = |place: usize| chunk.get(place).copied().unwrap_or_default();
    let mut payload = [octet(8); LENGTH];
    let id = |place: usize| [octet(place) % 4; 8];
    match octet(6) % 4 {
        0 | 1 => {
            let version = if octet(3) < 200 { [0, 0, 0, octet(3) & 1] } else { [0x1a, 0x2a, 0x3a, 0x4a] };
            payload[0] = 0x80 | octet(2);
            payload[1..5].copy_from_slice(&version);
            payload[5] = 8;
            payload[6..14].copy_from_slice(&id(4));
            payload[14] = 8;
            payload[15..23].copy_from_slice(&id(5));
            // No token, and a Length that fits.
            payload[23..25].copy_from_slice(&[0, 30]);
        }
        2 => {
            payload[0] = 0x40 | octet(2) & 0x3f;
            payload[1..9].copy_from_slice(&id(4));
        }
        _ => {}
    }
    let hosts = [octet(7) & 1, octet(7) >> 1 & 1];
    let mut packet =
        vec![0x45, 0, 0, (28 + LENGTH) as u8, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, hosts[0], 10, 0, 0, hosts[1]];
    packet.extend_from_slice(&[1, hosts[0], 1, hosts[1], 0, (8 + LENGTH) as u8, 0, 0]);
    packet.extend_from_slice(&payload);
    packet
}

/// Returns a segment of one of several connections, whose numbers are near those of its other
/// segments.
fn packet_of(chunk: &[u8]) -> Vec<u8> {
    let octet = |place: usize| chunk.get(place).copied().unwrap_or_default();
    let number = |place: usize| u32::from(octet(place)) << 8 | u32::from(octet(place + 1));
    let mut options = Options::default();
    if octet(0) & 0x10 != 0 {
        options.timestamps = Some(Timestamps { value: number(10), echo: number(12) });
    }
    if octet(0) & 0x20 != 0 {
        let block =
            |start: u32, length: u32| SackBlock { start: SeqNumber(start), end: SeqNumber(start.wrapping_add(length)) };
        options.sack = [block(number(14) * 64, number(16) * 4), block(number(15), number(14))].into_iter().collect();
    }
    let flags = Flags::from_bits(u16::from(octet(9) & 0x17) | if octet(0) & 0x40 != 0 { 0x10 } else { 0 });
    let segment = Segment {
        ecn: Ecn::from_bits(octet(8)),
        // Near the wrap, so that numbers cross it.
        seq: SeqNumber((number(2) * 64).wrapping_sub(1 << 20)),
        ack: SeqNumber((number(4) * 64).wrapping_sub(1 << 20)),
        flags,
        window: number(6) as u16,
        options,
        payload: if octet(0) & 0x80 != 0 { u32::from(octet(8)) * 6 } else { 0 },
    };
    let end = |node: u8| SocketAddrV4::new(address_of_node(u32::from(node % 4)), 9);
    let endpoints = Endpoints { source: end(octet(0) % 8), destination: end(octet(18)) };
    let mut packet = Vec::new();
    let fields = Ipv4Fields { identification: number(18) as u16, ..Ipv4Fields::default() };
    // A segment that cannot be encoded stays empty, which is a frame as well.
    let _ = segment.encode(endpoints, fields, Extent::Headers, &mut packet);
    packet
}
