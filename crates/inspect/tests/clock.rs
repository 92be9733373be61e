//! Captures whose clock steps, is coarse, or has packets out of order.

use crate::misleading::{Captured, MS, MSS, RTT, download, inspect, only};
use acklab_inspect::report::{Direction, Report};
use acklab_wire::tcp::{Options, Timestamps};

const SECOND: i64 = 1000 * MS as i64;
const HOUR: i64 = 3600 * SECOND;
const STARTS: u64 = 1_700_000_000_000 * MS;

/// Returns 1,500 segments at 12 Mbps over 50 ms, captured with `behind` of the round trip between
/// the point and the server.
fn captured(behind: u64) -> Vec<Captured> {
    download(STARTS, 1, 1500, behind)
}

/// Adds a timestamp in milliseconds to each packet, and the echo of the newest one that had arrived
/// at its end. The point is `behind` away from the server.
fn stamp(packets: &mut [Captured], behind: u64) {
    let millis = |nanos: u64| (nanos / MS) as u32;
    let sent: Vec<(u64, bool)> = packets.iter().map(|packet| (packet.at, packet.is_servers)).collect();
    for packet in packets {
        let come = packet.at - if packet.is_servers { behind } else { RTT - behind };
        let newest = sent.iter().rfind(|(at, is_servers)| *at <= come && *is_servers != packet.is_servers);
        let timestamps =
            Some(Timestamps { value: millis(packet.at), echo: newest.map_or(0, |newest| millis(newest.0)) });
        packet.segment.options = Options { timestamps, ..packet.segment.options };
    }
}

/// Steps the clock before the packet at `place`.
fn step(packets: &mut [Captured], place: usize, by: i64) {
    packets[place..].iter_mut().for_each(|packet| packet.at = packet.at.saturating_add_signed(by));
}

fn direction(report: Report) -> Direction {
    only(report).directions.remove(0)
}

/// Checks that a step changes the measured times of a capture by at most the time of a few packets.
fn assert_unchanged(changed: &Report, plain: &Report) {
    assert!((changed.duration - plain.duration).abs() < 0.005, "{} {}", changed.duration, plain.duration);
    let [changed, plain] = [changed, plain].map(|report| direction(report.clone()));
    assert!((changed.duration - plain.duration).abs() < 0.005);
    assert!((changed.goodput / plain.goodput - 1.0).abs() < 0.01);
    let [one, other] = [&changed.rate, &plain.rate].map(|rate| rate.value().unwrap().value);
    assert!((one / other - 1.0).abs() < 0.01, "{one} {other}");
    let [one, other] = [&changed, &plain].map(|direction| *direction.round_trip.base.value().unwrap());
    assert!((one - other).abs() <= 1.0, "{one} {other}: packets of one time may come in another order, a packet apart");
    assert!(changed.round_trip.p95 <= plain.round_trip.p95.map(|late| late + 1.1));
    assert_eq!(changed.losses.retransmitted, plain.losses.retransmitted);
    let applications = [changed.limits, plain.limits].map(|limits| limits.map_or(0.0, |limits| limits.application));
    assert!((applications[0] - applications[1]).abs() < 0.01, "{applications:?}");
}

/// Steps of NTP, at the sender and at the receiver, with and without timestamps. Without them, 2 s
/// ahead may be a pause.
#[test]
fn steps_are_found_and_cut_out() {
    for (behind, is_stamped) in [(0, false), (0, true), (RTT, false), (RTT, true)] {
        let mut packets = captured(behind);
        if is_stamped {
            stamp(&mut packets, behind);
        }
        let plain = inspect(&packets);
        assert_eq!(plain.clock.step_count, 0);
        for by in [-HOUR, HOUR, -2 * SECOND, 2 * SECOND] {
            if by == 2 * SECOND && !is_stamped {
                continue;
            }
            let mut stepped = packets.clone();
            step(&mut stepped, 1000, by);
            let report = inspect(&stepped);
            let [found] = report.clock.steps[..] else { panic!("{by} {:?}", report.clock) };
            assert_eq!(found.packet, 1001);
            assert!((found.size - by as f64 / 1e9).abs() < 0.005, "{found:?}");
            assert_unchanged(&report, &plain);
        }
    }
}

#[test]
fn several_steps_are_found() {
    let mut packets = captured(0);
    let plain = inspect(&packets);
    step(&mut packets, 600, HOUR);
    step(&mut packets, 1200, -HOUR);
    let report = inspect(&packets);
    assert_eq!(report.clock.steps.iter().map(|step| step.packet).collect::<Vec<_>>(), [601, 1201]);
    assert_unchanged(&report, &plain);
}

/// The ACKs of a NIC's other queue are 2 ms late in the file.
#[test]
fn packets_out_of_order_are_ordered_by_time() {
    let mut packets = captured(0);
    stamp(&mut packets, 0);
    let plain = inspect(&packets);
    packets.sort_by_key(|packet| packet.at + if packet.is_servers { 0 } else { 2 * MS });
    let report = inspect(&packets);
    assert!(report.clock.out_of_order > 500 && report.clock.step_count == 0, "{:?}", report.clock);
    assert!(report.clock.out_of_order_by.unwrap() < 2.001);
    assert_unchanged(&report, &plain);
}

#[test]
fn a_single_wrong_time_is_no_step() {
    for wrong in [1_000_000 * MS, STARTS + 10 * HOUR as u64] {
        let mut packets = captured(RTT);
        let plain = inspect(&packets);
        packets[700].at = wrong;
        let report = inspect(&packets);
        assert_eq!((report.clock.step_count, report.clock.out_of_order), (0, 1));
        assert_unchanged(&report, &plain);
    }
}

/// A minute in which the server sends nothing and its clock continues.
#[test]
fn a_pause_is_no_step() {
    let mut packets = captured(0);
    step(&mut packets, 1000, 60 * SECOND);
    stamp(&mut packets, 0);
    let report = inspect(&packets);
    assert_eq!((report.clock.step_count, report.clock.gap), (0, None));
    assert!(report.duration > 60.0);
}

/// A message every two seconds, with an immediate reply of the receiver. The timestamps determine
/// the size of the step, and the pause before it counts.
#[test]
fn a_pause_within_a_step_counts() {
    let mut packets = captured(RTT);
    packets.truncate(203);
    for (place, packet) in packets[3..].iter_mut().enumerate() {
        packet.at = STARTS + (place as u64 / 3 + 1) * 2000 * MS + place as u64 % 3 * MS;
    }
    packets.iter_mut().filter(|packet| packet.segment.payload > 0).for_each(|packet| {
        packet.segment.flags = packet.segment.flags | acklab_wire::tcp::Flags::PSH;
    });
    stamp(&mut packets, RTT);
    let plain = inspect(&packets);
    step(&mut packets, 102, HOUR);
    let report = inspect(&packets);
    let [found] = report.clock.steps[..] else { panic!("{:?}", report.clock) };
    assert!((found.size - 3600.0).abs() < 0.01, "{found:?}");
    assert!((report.duration - plain.duration).abs() < 0.01, "{} {}", report.duration, plain.duration);
}

/// A clock of 10 ms: twelve segments have the same time.
#[test]
fn a_coarse_clock_is_named_and_its_rate_has_the_truth() {
    let mut packets = download(STARTS, 1, 12_000, RTT);
    packets.iter_mut().for_each(|packet| packet.at = packet.at / (10 * MS) * (10 * MS));
    let report = inspect(&packets);
    assert!((report.clock.tick - 10.0).abs() < 1e-9);
    let direction = direction(report);
    // 1448 bytes and 40 of headers per millisecond.
    let rate = direction.rate.value().unwrap();
    assert!((rate.low..=rate.high).contains(&(f64::from(MSS + 40) * 8e-3)) && rate.high < 13.0, "{rate:?}");
}

/// In a network with a round trip below the tick, 0 is not the round trip.
#[test]
fn a_round_trip_below_the_tick_is_not_zero() {
    let mut packets = captured(0);
    packets.iter_mut().for_each(|packet| packet.at = packet.at / (100 * MS) * (100 * MS));
    packets.sort_by_key(|packet| packet.at);
    let round_trip = direction(inspect(&packets)).round_trip;
    assert_eq!((round_trip.base.value(), round_trip.base_below), (None, Some(100.0)));
    assert_eq!(round_trip.base.reason(), Some("below the tick of the capture's clock of 100 ms"));
}
