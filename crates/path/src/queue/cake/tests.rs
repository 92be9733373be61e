//! Tests shares of capacity, departures from a shaper, and signals of COBALT.

use super::*;
use crate::link::{Link, LinkConfig};
use crate::queue::sample::{Packet, ack, data, draws};
use crate::server::Server;
use acklab_base::random::Seed;
use acklab_base::{AckHeader, Ecn, FlowKey, Machine, NodeId};

/// A packet between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Between {
    packet: Packet,
    hosts: [u64; 2],
    dscp: u8,
}

impl Datagram for Between {
    fn wire_len(&self) -> Bytes {
        self.packet.wire_len()
    }

    fn flow(&self) -> FlowKey {
        self.packet.flow()
    }

    fn destination(&self) -> NodeId {
        self.packet.destination()
    }

    fn hosts(&self) -> [u64; 2] {
        self.hosts
    }

    fn dscp(&self) -> u8 {
        self.dscp
    }

    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.packet.set_ecn(ecn);
    }

    fn ack_header(&self) -> Option<AckHeader> {
        self.packet.ack_header()
    }
}

fn between(flow: u32, source: u64, destination: u64) -> Between {
    Between { packet: Packet { flow, ..data(1500) }, hosts: [source, destination], dscp: 0 }
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Returns the share of host 1's packets if it sends by eight flows and host 2 by one, all
/// backlogged.
fn share(isolation: Isolation, hosts: fn(u32) -> [u64; 2]) -> f64 {
    let mut queue: Cake<Between> = Config { isolation, ..Config::default() }.discipline(draws());
    let mut tally = Tally::new();
    for flow in 0..9 {
        let [source, destination] = hosts(flow);
        for _ in 0..2000 {
            let verdict = queue.offer(ms(0), between(flow, source, destination), true, &mut tally);
            assert_eq!(verdict, Verdict::Queued);
        }
    }
    let taken: Vec<_> = (0..1800).filter_map(|_| queue.take_head(ms(0), &mut tally)).collect();
    taken.iter().filter(|(_, packet)| packet.packet.flow < 8).count() as f64 / taken.len() as f64
}

#[test]
fn hosts_share_before_flows_do() {
    let senders = |flow| if flow < 8 { [1, 9] } else { [2, 9] };
    let receivers = |flow| if flow < 8 { [9, 1] } else { [9, 2] };
    // Half for each host, for any number of its flows; between flows, eight ninths.
    for (isolation, hosts, expected) in [
        (Isolation::DualSource, senders as fn(u32) -> [u64; 2], 0.5),
        (Isolation::DualDestination, receivers, 0.5),
        (Isolation::DualDestination, senders, 8.0 / 9.0),
        (Isolation::Flows, senders, 8.0 / 9.0),
    ] {
        let share = share(isolation, hosts);
        assert!((share - expected).abs() < 0.02, "{isolation:?}: {share}, expected {expected}");
    }
}

#[test]
fn triple_isolation_divides_by_the_busier_of_the_two_hosts() {
    // All nine flows end at one host, so each is divided by nine, and host isolation has no effect.
    let to_one = share(Isolation::Triple, |flow| if flow < 8 { [1, 9] } else { [2, 9] });
    assert!((to_one - 8.0 / 9.0).abs() < 0.02, "{to_one}");
    let apart = share(Isolation::Triple, |flow| if flow < 8 { [1, 8] } else { [2, 9] });
    assert!((apart - 0.5).abs() < 0.02, "{apart}");
}

#[test]
fn a_hundred_flows_meet_in_no_queue() {
    // A plain hash into 1024 queues would have 100 · 99 / (2 · 1024) = 4.8 collisions in the mean.
    let mut tin: Tin<Packet> =
        Tin::new(Parameters::new(Duration::from_millis(100), None), None, 1024, 5, Isolation::Flows);
    for flow in 0..100 {
        assert_eq!(tin.offer(ms(0), Packet { flow, ..data(100) }, true, None), Verdict::Queued);
    }
    assert_eq!(tin.longest(), Bytes(100));
}

/// Returns the microseconds at which a link without its own rate delivers `packets` that arrive
/// together.
fn departures(queue: Config, packets: &[Packet]) -> Vec<u64> {
    let config = LinkConfig { queue: queue.into(), ..LinkConfig::default() };
    let mut link = Link::new(&config, Server::Unlimited, Seed(1), "shaped");
    for packet in packets {
        link.accept(ms(0), *packet);
    }
    let mut times = Vec::new();
    while let Some(now) = link.deadline() {
        link.wake(now);
        times.extend(std::iter::from_fn(|| link.poll(now)).map(|_| now.as_nanos() / 1000));
    }
    times
}

#[test]
fn the_shaper_spaces_packets_by_its_rate_with_overhead() {
    let rate = Rate::from_bits_per_second(1_000_000);
    let config = Config { rate, overhead: Bytes(18), least_size: Bytes(64), ..Config::default() };
    // 1518 octets take 12.144 ms, and 58 count as 64: 0.512 ms.
    assert_eq!(departures(config, &[data(1500); 4]), [0, 12_144, 24_288, 36_432]);
    assert_eq!(departures(config, &[data(40); 3]), [0, 512, 1024]);
}

#[test]
fn a_slow_class_has_a_longer_target() {
    let parameters = |rate| {
        let Parameters { target, interval, .. } = Parameters::new(Duration::from_millis(100), rate);
        (target.as_nanos() / 1000, interval.as_nanos() / 1000)
    };
    // The output of `tc -s qdisc` for `bandwidth 1mbit`: target 18.2 ms, interval 113 ms; one and a
    // half packets of 1514 octets.
    assert_eq!(parameters(Some(1_000_000)), (18_168, 113_168));
    assert_eq!(parameters(Some(100_000_000)), (5_000, 100_000));
    assert_eq!(parameters(None), (5_000, 100_000));
}

#[test]
fn cobalt_signals_at_intervals_over_the_root_of_their_number() {
    let mut queue: Cake<Packet> = Config::default().discipline(draws());
    let mut drops = Vec::new();
    for at in 0..500 {
        for _ in 0..2 {
            drop(queue.offer(ms(at), data(1500), true, &mut Tally::new()));
        }
        let mut tally = Tally::new();
        assert!(queue.take_head(ms(at), &mut tally).is_some());
        drops.extend((tally.counters.dropped > 0).then_some(at));
    }
    // A packet waits for at/2. The first to wait longer than 5 ms leaves at 11 ms, and the next one
    // is dropped; 100/√2 later the second, and then after 100/√3, … more. `cobalt_should_drop`,
    // compiled, yields the same.
    assert_eq!(drops, [12, 82, 140, 190, 235, 275, 313, 349, 382, 414, 444, 473]);
}

/// A gate of 8 ms through which one packet passes: the first of two packets waits for 8 ms, longer
/// than the target, and only these two follow. RFC 8289 spares queues of at most a packet. COBALT
/// counts every queue, so a signal is always due, and it drops the first packet of each pair.
/// `cobalt_should_drop`, compiled from `sch_cake.c`, does the same with these twelve pairs.
#[test]
fn pairs_that_wait_for_a_gate_lose_their_first_packet_for_ever() {
    let mut queue: Cake<Packet> = Config::default().discipline(draws());
    let mut dropped = Vec::new();
    for pair in 0..12 {
        let (at, mut tally) = (1000 + 400 * pair, Tally::new());
        for _ in 0..2 {
            drop(queue.offer(ms(at), data(1500), true, &mut tally));
        }
        assert!(queue.take_head(ms(at + 8), &mut tally).is_some());
        if queue.len() > 0 {
            assert!(queue.take_head(ms(at + 16), &mut tally).is_some());
        }
        dropped.push(tally.counters.dropped);
    }
    assert_eq!(dropped, [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn the_filter_works_within_the_queue_of_a_flow() {
    let config = Config { ack_filter: Filter::On, ..Config::default() };
    let mut queue: Cake<Packet> = config.discipline(draws());
    let mut tally = Tally::new();
    let verdicts: Vec<_> = (1..=4).map(|number| queue.offer(ms(0), ack(1, number * 10), true, &mut tally)).collect();
    let expected = [Verdict::Queued, Verdict::Queued, Verdict::Replaced(ack(1, 10)), Verdict::Replaced(ack(1, 20))];
    assert_eq!(verdicts, expected, "two of a flow stay ahead of the newest");
    assert_eq!((queue.len(), queue.bytes()), (2, Bytes(2 * 52)));
}

#[test]
fn voice_goes_ahead_while_it_is_within_its_quarter() {
    let rate = Rate::from_bits_per_second(8_000_000);
    let mut queue: Cake<Between> = Config { rate, ..Config::default() }.discipline(draws());
    let mut tally = Tally::new();
    for flow in [1, 2] {
        let packet = Between { dscp: if flow == 2 { 46 } else { 0 }, ..between(flow, 1, 2) };
        for _ in 0..100 {
            drop(queue.offer(ms(0), packet, true, &mut tally));
        }
    }
    let mut flows = Vec::new();
    for _ in 0..40 {
        let now = queue.not_before();
        flows.extend(queue.take_head(now, &mut tally).map(|(_, packet)| packet.packet.flow));
    }
    assert_eq!(flows[0], 2, "voice first");
    let voice = flows.iter().filter(|flow| **flow == 2).count();
    assert!((9..=11).contains(&voice), "a quarter of the rate: {voice} of 40");
}

#[test]
fn the_longest_queue_loses_its_head_when_there_is_no_room() {
    let config = Config { limit: Some(Limit::Bytes(Bytes(15_000))), ..Config::default() };
    let mut queue: Cake<Packet> = config.discipline(draws());
    let mut tally = Tally::new();
    for at in 0..9 {
        drop(queue.offer(ms(at), data(1500), true, &mut tally));
    }
    for at in 9..30 {
        drop(queue.offer(ms(at), Packet { flow: 2, ..data(200) }, true, &mut tally));
    }
    // 13,500 + 21 · 200 octets exceed 15,000 by 2,700: two packets of flow 0.
    assert_eq!((tally.counters.dropped, queue.bytes()), (2, Bytes(13_500 + 4_200 - 3_000)));
    assert_eq!(tally.dropped_flows, [FlowKey(0), FlowKey(0)]);
}
