//! A carrier of 160 kbit/s: ten slots of 100 octets, 5 ms each, in a superframe of 50 ms. An
//! assignment can be used twelve superframes after its request: 560 ms are 11.2.

use super::{DemandConfig, Standard, Terminal};
use crate::Link;
use crate::counters::{Counters, Tally};
use crate::link;
use crate::queue::sample::{Packet, data};
use crate::queue::{QueueConfig, cake};
use crate::server::Server;
use acklab_base::random::Seed;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Duration, Instant, Machine, Rate};
use proptest::collection::vec;
use proptest::prelude::*;

fn kbps(rate: u64) -> Option<Rate> {
    Rate::from_bits_per_second(1000 * rate)
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

const NOTHING: DemandConfig = DemandConfig {
    standard: Standard::DvbRcs2,
    superframe: Duration::from_millis(50),
    assignment: Duration::from_millis(560),
    slot: Bytes(100),
    constant: None,
    rate_based: None,
    volume_based: None,
    persistence: 5,
    background: None,
};

fn by_volume() -> DemandConfig {
    DemandConfig { volume_based: Some(Bytes(100_000)), ..NOTHING }
}

fn by_rate() -> DemandConfig {
    DemandConfig { rate_based: kbps(160), ..NOTHING }
}

fn link(demand: DemandConfig) -> Link<Packet> {
    let config = link::LinkConfig { rate: kbps(160), demand: Some(demand), ..link::LinkConfig::default() };
    Link::new(&config, Server::Unlimited, Seed(1), "return")
}

/// Sends packets of these sizes at these milliseconds, and returns size and time of each departure
/// until `end`.
fn run(link: &mut Link<Packet>, arrivals: &[(u64, u64)], end: Instant) -> Vec<(Instant, u64)> {
    let mut out = Vec::new();
    for (at, size) in arrivals {
        drain(link, ms(*at), &mut out);
        link.accept(ms(*at), data(*size));
    }
    drain(link, end, &mut out);
    out
}

fn drain(link: &mut Link<Packet>, until: Instant, out: &mut Vec<(Instant, u64)>) {
    while let Some(now) = link.deadline().filter(|at| *at <= until) {
        link.wake(now);
        while let Some(packet) = link.poll(now) {
            out.push((now, packet.size));
        }
    }
}

/// Runs for four seconds. Returns the milliseconds of the departures, and the counters.
fn times(demand: DemandConfig, arrivals: &[(u64, u64)]) -> (Vec<u64>, Counters) {
    let mut link = link(demand);
    let out = run(&mut link, arrivals, ms(4000));
    (out.into_iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect(), link.counters(ms(4000)))
}

fn capacity(counters: &Counters) -> (u64, u64, u64) {
    (counters.capacity_requests, counters.bytes_assigned.get(), counters.bytes_unused.get())
}

#[test]
fn a_lone_packet_waits_for_a_superframe_and_an_assignment() {
    let (times, counters) = times(by_volume(), &[(10, 40)]);
    assert_eq!(times, [50 + 12 * 50 + 5], "requested at 50 ms, sent in the first slot of the superframe at 650 ms");
    assert_eq!(capacity(&counters), (1, 100, 60));
}

#[test]
fn a_packet_that_arrives_with_a_superframe_is_in_the_next_request() {
    assert_eq!(times(by_volume(), &[(50, 40)]).0, [100 + 12 * 50 + 5]);
}

#[test]
fn a_volume_is_spread_over_superframes() {
    let burst = [(10, 500); 5];
    let (times, counters) = times(by_volume(), &burst);
    assert_eq!(times, [675, 700, 725, 750, 775], "ten slots in a superframe, five for each packet");
    assert_eq!(capacity(&counters), (1, 2600, 100), "2500 octets are requested as 2504, which take 26 slots");
}

#[test]
fn what_was_requested_is_not_requested_again() {
    let (times, counters) = times(by_volume(), &[(10, 100), (60, 100), (110, 100)]);
    assert_eq!(times, [655, 705, 755]);
    assert_eq!(capacity(&counters), (3, 300, 0));
}

#[test]
fn a_packet_spans_slots_and_slots_hold_several_packets() {
    let (times, _) = times(by_volume(), &[(10, 150), (10, 20), (10, 130)]);
    assert_eq!(times, [660, 660, 665]);
}

/// 2,500 octets are 625 units of four, so that 25 slots of 100 octets are assigned. The rounding of
/// DVB-RCS2 requires 26.
#[test]
fn docsis_requests_multiples_of_four_octets() {
    let (times, counters) = times(DemandConfig { standard: Standard::Docsis, ..by_volume() }, &[(10, 500); 5]);
    assert_eq!(times, [675, 700, 725, 750, 775]);
    assert_eq!(capacity(&counters), (1, 2500, 0));
}

/// A MAP every 2 ms grants the waiting octets: a carrier of 12 Mbps sends 3,000 octets in it, as
/// slots of ten octets. A saturated queue gets all of them, and a shaper at half of the rate leaves
/// half of them unused.
#[test]
fn grants_carry_the_rate_of_the_carrier_or_of_the_shaper() {
    let map = DemandConfig {
        standard: Standard::Docsis,
        superframe: Duration::from_millis(2),
        assignment: Duration::from_millis(4),
        slot: Bytes(10),
        volume_based: Some(Bytes(256_000)),
        ..NOTHING
    };
    let carried = |queue: QueueConfig| {
        let config = link::LinkConfig { rate: kbps(12_000), demand: Some(map), queue, ..link::LinkConfig::default() };
        let mut link = Link::new(&config, Server::Unlimited, Seed(1), "upstream");
        let arrivals: Vec<(u64, u64)> = (0..1000).flat_map(|at| [(at, 1000), (at, 1000)]).collect();
        let out = run(&mut link, &arrivals, ms(1000));
        out.iter().filter(|(at, _)| *at >= ms(500)).map(|(_, size)| size * 8).sum::<u64>()
    };
    let whole = carried(QueueConfig::default());
    // The first packet may have begun before the half second.
    assert!((5_980_000..=6_008_000).contains(&whole), "{whole} of 6 Mbit in half a second");
    let unshaped =
        carried(QueueConfig::Cake(cake::Config { limit: Some(Limit::Packets(2000)), ..cake::Config::default() }));
    assert!(
        (5_950_000..=6_008_000).contains(&unshaped),
        "{unshaped} of 6 Mbit: CAKE drops at the head, and leaves enough"
    );
    let shaped = cake::Config { rate: kbps(6_000), limit: Some(Limit::Packets(2000)), ..cake::Config::default() };
    let half = carried(QueueConfig::Cake(shaped));
    assert!((2_970_000..=3_010_000).contains(&half), "{half} of 3 Mbit in half a second");
}

/// Packets of 1,000 octets every 2 ms are a third of the carrier. Each waits for at most one MAP in
/// CAKE's queue, and then 8 ms for its grant. A delay of 9 ms in the queue would always be above
/// CoDel's target of 5 ms, and CoDel would drop packets.
#[test]
fn the_time_to_a_grant_is_no_standing_queue() {
    let map = DemandConfig {
        standard: Standard::Docsis,
        superframe: Duration::from_millis(2),
        assignment: Duration::from_millis(8),
        slot: Bytes(10),
        volume_based: Some(Bytes(256_000)),
        ..NOTHING
    };
    let queue = QueueConfig::Cake(cake::Config { limit: Some(Limit::Packets(2000)), ..cake::Config::default() });
    let config = link::LinkConfig { rate: kbps(12_000), demand: Some(map), queue, ..link::LinkConfig::default() };
    let mut link = Link::new(&config, Server::Unlimited, Seed(1), "upstream");
    let arrivals: Vec<(u64, u64)> = (0..1000).map(|at| (2 * at + 1, 1000)).collect();
    assert_eq!(run(&mut link, &arrivals, ms(3000)).len(), 1000);
}

#[test]
fn constant_capacity_needs_no_request() {
    let constant = DemandConfig { constant: kbps(16), ..NOTHING };
    let (times, counters) = times(constant, &[(10, 40), (10, 100)]);
    assert_eq!(times, [55, 105], "one slot in each superframe; the first 60 octets of the second packet share a slot");
    assert_eq!(capacity(&counters), (0, 80 * 100, 80 * 100 - 140), "80 superframes ended by 4 s");
}

#[test]
fn a_rate_persists_for_five_superframes() {
    let (times, counters) = times(by_rate(), &[(10, 100)]);
    assert_eq!(times, [655]);
    assert_eq!(
        capacity(&counters),
        (1, 500, 400),
        "100 octets in 50 ms are 16 kbit/s: a slot in each of five superframes"
    );
}

#[test]
fn a_rate_that_lasts_is_carried_after_the_first_assignment() {
    let arrivals: Vec<(u64, u64)> = (0..300).map(|packet| (5 + 10 * packet, 100)).collect();
    let mut link = link(by_rate());
    let out = run(&mut link, &arrivals, ms(4000));
    let last = out.iter().filter(|(at, _)| (ms(2000)..ms(3000)).contains(at)).map(|(_, size)| size).sum::<u64>();
    assert_eq!(last * 8, 80_000, "80 kbit/s arrive");
    let waited: Vec<u64> =
        out.iter().zip(&arrivals).map(|((at, _), (from, _))| at.since(ms(*from)).as_millis()).collect();
    assert!(waited.iter().all(|waited| (600..=700).contains(waited)), "{waited:?}");
}

#[test]
fn requests_are_limited() {
    let saturated: Vec<(u64, u64)> = (0..400).map(|packet| (5 + 5 * packet, 100)).collect();
    let carried = |demand: DemandConfig| {
        let out = run(&mut link(demand), &saturated, ms(2000));
        out.iter().filter(|(at, _)| *at >= ms(1000)).map(|(_, size)| size * 8).sum::<u64>()
    };
    assert_eq!(carried(DemandConfig { rate_based: kbps(48), ..NOTHING }), 48_000, "three slots in each superframe");
    assert_eq!(
        carried(DemandConfig { background: kbps(64), ..by_volume() }),
        96_000,
        "what others leave of 160 kbit/s"
    );
    assert_eq!(
        carried(DemandConfig { constant: kbps(16), ..DemandConfig { rate_based: kbps(48), ..NOTHING } }),
        64_000
    );
}

#[test]
fn a_volume_beyond_the_limit_is_requested_when_earlier_volume_is_assigned() {
    let (times, counters) = times(DemandConfig { volume_based: Some(Bytes(200)), ..NOTHING }, &[(10, 500)]);
    assert_eq!(times, [650 + 2 * 650 + 5], "200 octets at a time, and the next request when the first is assigned");
    assert_eq!(counters.capacity_requests, 3);
}

#[test]
fn a_long_idle_time_takes_no_steps_and_is_counted() {
    let mut link = link(DemandConfig { constant: kbps(24), ..by_volume() });
    run(&mut link, &[(10, 40)], ms(100));
    assert_eq!(link.deadline(), None, "nothing waits");
    let counters = link.counters(ms(86_400_000 * 365));
    let superframes = 365 * 86_400 * 20;
    assert_eq!(counters.bytes_assigned.get(), superframes * 3 / 2 * 100, "three slots in two superframes");
}

#[test]
fn only_superframes_that_end_in_the_window_count() {
    let mut link = link(DemandConfig { constant: kbps(16), ..NOTHING });
    link.measure(ms(1001)..ms(1999));
    run(&mut link, &[(10, 40), (1500, 40), (3000, 40)], ms(4000));
    assert_eq!(capacity(&link.counters(ms(4000))), (0, 1900, 1860), "those that ended from 1050 to 1950 ms");
}

fn config() -> impl Strategy<Value = DemandConfig> {
    let constant = prop::option::of(1u64..80);
    let kinds = (any::<bool>(), any::<bool>(), prop::option::of(1u64..60));
    (10u64..100, 0u64..700, 20u64..200, constant, kinds, 1u32..8).prop_map(
        |(superframe, assignment, slot, constant, (rate, volume, background), persistence)| DemandConfig {
            standard: Standard::DvbRcs2,
            superframe: Duration::from_millis(superframe),
            assignment: Duration::from_millis(assignment),
            slot: Bytes(slot),
            constant: constant.and_then(kbps),
            rate_based: kbps(100).filter(|_| rate || !volume),
            volume_based: volume.then_some(Bytes(3000)),
            persistence,
            background: background.and_then(kbps),
        },
    )
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, u64)>> {
    vec((0u64..400, 1u64..1500), 1..40).prop_map(|gaps| {
        let mut at = 0;
        let mut sum = |(gap, size): (u64, u64)| {
            at += gap;
            (at, size)
        };
        gaps.into_iter().map(&mut sum).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// All packets arrive, in order. Assigned capacity is used or counted as unused, and reading
    /// the counters has no side effect.
    #[test]
    fn packets_and_octets_are_conserved(config in config(), arrivals in arrivals()) {
        let end = ms(1_000_000);
        let mut link = link(config);
        let out = run(&mut link, &arrivals, end);
        let sizes: Vec<u64> = out.iter().map(|(_, size)| *size).collect();
        let sent: Vec<u64> = arrivals.iter().map(|(_, size)| *size).collect();
        prop_assert_eq!(&sizes, &sent);
        let counters = link.counters(end);
        // The last superframe has not ended, but nothing is sent in it.
        prop_assert_eq!(counters.bytes_assigned, counters.bytes_unused + counters.bytes_on_wire);

        let mut watched = self::link(config);
        let mut again = Vec::new();
        for (at, size) in &arrivals {
            drain(&mut watched, ms(*at), &mut again);
            watched.counters(ms(*at));
            watched.accept(ms(*at), data(*size));
        }
        drain(&mut watched, end, &mut again);
        prop_assert_eq!(again, out);
        prop_assert_eq!(watched.counters(end), counters);
    }

    /// A superframe has no more slots for the terminal than the carrier has, and constant capacity
    /// is always among them.
    #[test]
    fn assignments_fit_the_carrier(config in config(), waiting in vec(0u64..5000, 1..60)) {
        let rate = kbps(160).unwrap();
        let mut terminal = Terminal::new(config, rate);
        let mut tally = Tally::new();
        for waiting in waiting {
            terminal.joins(waiting / 2);
            terminal.begin_superframe(waiting, &mut tally);
            let constant = terminal.assignment.constant_slots(terminal.superframe..terminal.superframe + 1);
            prop_assert!(terminal.assigned >= constant);
            prop_assert!(terminal.assigned <= config.slots_at(rate).max(constant));
        }
    }
}
