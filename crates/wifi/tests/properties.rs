//! Tests properties of every cell, under any contention.

use crate::common::octets::Octets;
use crate::common::packet::{Packet, attach_nodes, place_of};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Instant, Machine};
use acklab_wifi::access::Category;
use acklab_wifi::airtime::Use;
use acklab_wifi::counters::Counters;
use acklab_wifi::phy::{Band, Standard};
use acklab_wifi::{Cell, CellConfig};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A flow from one node to another, with the times and sizes of its packets.
#[derive(Clone, Debug)]
struct Flow {
    from: usize,
    to: usize,
    category: Category,
    packets: Vec<(Instant, Bytes)>,
}

/// The octets and packets that left the cell, the counters of the cell, and the time at which it
/// became quiescent.
#[derive(Debug, PartialEq)]
struct Run {
    arrived: Vec<(Instant, Packet)>,
    counters: Vec<Counters>,
    dropped: Vec<u64>,
    silent: Instant,
}

const STATIONS: usize = 4;

fn queue() -> impl Strategy<Value = Value> {
    let limit = prop_oneof![
        2 => Just(Value::Null),
        1 => (1..30_u32).prop_map(|packets| json!(format!("{packets}packets"))),
        1 => (1_500..20_000_u32).prop_map(|octets| json!(format!("{octets}B"))),
    ];
    (limit, any::<bool>())
        .prop_map(|(limit, is_codel)| json!({"discipline": if is_codel { "codel" } else { "fifo" }, "limit": limit}))
}

fn aggregation() -> impl Strategy<Value = Value> {
    let bytes = prop_oneof![2 => Just(Value::Null), 1 => Just(json!("0B")), 1 => Just(json!("8000B"))];
    let frames = prop_oneof![Just(Value::Null), (1..20_u16).prop_map(|frames| json!(frames))];
    let window = prop_oneof![Just(64_u16), 1..64_u16];
    let a_msdu = prop_oneof![Just("0B"), Just("3839B")];
    let after = prop_oneof![Just("request"), Just("retransmit")];
    (bytes, frames, window, a_msdu, after).prop_map(|(bytes, frames, window, a_msdu, after)| {
        json!({"max_bytes": bytes, "max_frames": frames, "window": window, "a_msdu": a_msdu, "after_missed": after})
    })
}

/// Returns a cell without losses or hidden nodes.
fn cell() -> impl Strategy<Value = Value> {
    let standard = prop::sample::select(Standard::ALL);
    let rts = prop_oneof![Just(Value::Null), (0..2_500_u32).prop_map(|octets| json!(format!("{octets}B")))];
    let retries = (1..8_u8, 1..8_u8, prop_oneof![Just(Value::Null), (1..5_u8).prop_map(|maximum| json!(maximum))]);
    let queues = prop_oneof![Just("per-station"), Just("shared")];
    let protection = prop_oneof![2 => Just("none"), 1 => Just("cts-to-self"), 1 => Just("rts-cts")];
    let txop = prop_oneof![Just("0ms"), Just("1ms"), Just("4ms")];
    let lifetime = prop_oneof![2 => Just(Value::Null), 1 => Just(json!("20ms"))];
    let counts = prop_oneof![Just("unacknowledged"), Just("unsent")];
    let settings = (queues, protection, txop, lifetime, (counts, any::<bool>()));
    (standard, rts, retries, settings, aggregation(), queue(), queue()).prop_map(
        |(standard, rts, (short, long, aggregated), settings, aggregation, ap, station)| {
            let (queues, protection, txop, lifetime, (counts, is_low)) = settings;
            json!({
                "name": "cell",
                "standard": standard,
                "band": if is_low && standard.generation().bands.contains(&Band::Ghz2) { json!("2.4GHz") } else { Value::Null },
                "protection": if standard == Standard::G { protection } else { "none" },
                "rts_threshold": rts,
                "retries": {"short": short, "long": long, "aggregated": aggregated},
                "lifetime": lifetime,
                "queue_counts": counts,
                "aggregation": aggregation,
                "access": {"best_effort": {"txop_limit": txop}},
                "ap": {"name": "ap", "queue": ap, "queues": queues},
                "station": [{"name": "sta", "count": STATIONS, "queue": station}],
            })
        },
    )
}

fn flow() -> impl Strategy<Value = Flow> {
    let ends = (0..=STATIONS, 1..=STATIONS).prop_map(|(from, step)| (from, (from + step) % (STATIONS + 1)));
    let category = prop::sample::select(Category::ALL.to_vec());
    let packets = prop::collection::vec((0..30_000_u64, 40..1_500_u64), 0..60);
    (ends, category, packets).prop_map(|((from, to), category, packets)| {
        let mut packets: Vec<(Instant, Bytes)> =
            packets.into_iter().map(|(micros, octets)| (Instant::from_nanos(micros * 1_000), Bytes(octets))).collect();
        packets.sort_unstable();
        Flow { from, to, category, packets }
    })
}

fn config(value: &Value) -> CellConfig {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// Drives the cell until it is quiescent, and checks it meanwhile.
fn drive(settings: &Value, flows: &[Flow], keeps_air: bool) -> Result<Run, TestCaseError> {
    let mut cell: Cell<Packet> = Cell::new(&config(settings), Seed(3)).unwrap_or_else(|error| panic!("{error}"));
    let mut joins: Vec<(Instant, usize, Packet)> = Vec::new();
    attach_nodes(&mut cell);
    for (index, Flow { from, to, category, packets }) in flows.iter().enumerate() {
        cell.carry(*from, *to, *category).unwrap_or_else(|error| panic!("{error}"));
        let packet = |size, number| Packet { flow: index, to: *to, category: *category, size, number };
        joins.extend(packets.iter().zip(0..).map(|((at, size), number)| (*at, index, packet(*size, number))));
    }
    if keeps_air {
        cell.log_air();
    }
    joins.sort_by_key(|(at, index, packet)| (*at, *index, packet.number));
    let mut joins = joins.into_iter().peekable();
    let mut run =
        Run { arrived: Vec::new(), counters: Vec::new(), dropped: vec![0; flows.len()], silent: Instant::ZERO };
    let mut now = Instant::ZERO;
    for wakes in 0.. {
        let next = [cell.deadline(), joins.peek().map(|(at, ..)| *at)].into_iter().flatten().min();
        let Some(next) = next else { break };
        prop_assert!(next >= now, "{next:?} comes after {now:?}");
        prop_assert!(wakes < 200_000, "the cell does not fall silent");
        now = next;
        while let Some((_, index, packet)) = joins.next_if(|(at, ..)| *at == now) {
            cell.accept(now, (flows[index].from, packet));
        }
        if cell.deadline().is_some_and(|due| due <= now) {
            cell.wake(now);
            prop_assert!(cell.deadline().is_none_or(|due| due > now), "no progress at {now:?}");
        }
        while let Some((at, packet)) = cell.poll(now) {
            prop_assert_eq!(at, packet.to);
            run.arrived.push((now, packet));
        }
        while let Some(flow) = cell.take_drop() {
            run.dropped[place_of(flow)] += 1;
        }
    }
    let end = now + Duration::from_micros(50);
    let air = cell.airtime(end);
    let all = Use::ALL.iter().fold(Duration::ZERO, |sum, what| sum + air.total(*what));
    prop_assert_eq!(all, end.since(Instant::ZERO), "airtime");
    run.counters = cell.counters().to_vec();
    run.silent = now;
    Ok(run)
}

/// Checks that each packet has arrived once, in order, or was dropped.
fn nothing_is_lost(run: &Run, flows: &[Flow]) -> Result<(), TestCaseError> {
    let mut last: Vec<Option<u64>> = vec![None; flows.len()];
    let mut arrived = vec![0_u64; flows.len()];
    for (at, packet) in &run.arrived {
        let index = packet.flow;
        prop_assert!(
            last[index].is_none_or(|last| last < packet.number),
            "{packet:?} at {at:?} after {:?}",
            last[index]
        );
        last[index] = Some(packet.number);
        arrived[index] += 1;
    }
    for (index, flow) in flows.iter().enumerate() {
        prop_assert_eq!(arrived[index] + run.dropped[index], flow.packets.len() as u64, "flow {} of {:?}", index, run);
    }
    // Packets between two stations are offered twice: the second time if they have arrived at the
    // access point.
    let sum = |of: fn(&Counters) -> u64| run.counters.iter().map(of).sum::<u64>();
    let lost = sum(|counters| counters.dropped + counters.given_up + counters.expired);
    prop_assert_eq!(lost, run.dropped.iter().sum::<u64>());
    let relayed = sum(|counters| counters.delivered) - arrived.iter().sum::<u64>();
    let between: u64 =
        flows.iter().filter(|flow| flow.from > 0 && flow.to > 0).map(|flow| flow.packets.len() as u64).sum();
    prop_assert!(relayed <= between);
    Ok(())
}

/// Checks that counters are consistent.
fn counters_agree(run: &Run) -> Result<(), TestCaseError> {
    for counters in &run.counters {
        prop_assert!(counters.first_successes <= counters.first_tries, "{counters:?}");
        prop_assert_eq!(counters.first_tries + counters.retries, counters.mpdus, "{:?}", counters);
        prop_assert!(counters.unanswered <= counters.ppdus && counters.rts_unanswered <= counters.rts, "{counters:?}");
        prop_assert!(counters.ppdus <= counters.mpdus, "{counters:?}");
    }
    Ok(())
}

/// Returns the losses of a cell: data frames, control frames, and pairs of stations that do not
/// sense each other.
fn losses() -> impl Strategy<Value = Value> {
    let hidden = prop::collection::vec((1..=STATIONS, 1..STATIONS), 0..3);
    (0.0..0.5, 0.0..0.3, hidden).prop_map(|(data, control, hidden)| {
        let hidden: Vec<[usize; 2]> =
            hidden.into_iter().map(|(one, step)| [one, (one + step - 1) % STATIONS + 1]).collect();
        json!({
            "channel": {"model": "fixed", "frame_error_rate": data, "control_error_rate": control},
            "hidden": hidden,
        })
    })
}

/// Checks that a cell with losses becomes quiescent, and that each packet arrives once or is
/// dropped.
fn packets_are_conserved(mut settings: Value, losses: Value, flows: &[Flow]) -> Result<(), TestCaseError> {
    settings["reception"] = losses;
    // Two stations that do not sense each other, with PPDUs longer than their contention windows,
    // collide every time. Aggregates have no retry limit, so only their lifetime ends the
    // collisions.
    if settings["lifetime"].is_null() {
        settings["lifetime"] = json!("500ms");
    }
    let run = drive(&settings, flows, false)?;
    nothing_is_lost(&run, flows)?;
    counters_agree(&run)
}

/// Returns a cell as [`cell`] does, with settings chosen by the octets.
fn cell_of(octets: &mut Octets<'_>) -> Value {
    let queue = |octets: &mut Octets<'_>| {
        let limit = match octets.below(3) {
            0 => Value::Null,
            1 => json!(format!("{}packets", 1 + octets.below(29))),
            _ => json!(format!("{}B", 1_500 + octets.below(18_500))),
        };
        json!({"discipline": octets.one_of(&["fifo", "codel"]), "limit": limit})
    };
    let standard = octets.one_of(&["802.11n", "802.11b", "802.11g", "802.11a", "802.11ac", "802.11ax", "802.11be"]);
    let is_low = matches!(standard, "802.11n" | "802.11ax" | "802.11be") && octets.once_in(2);
    let frames = octets.below(20);
    let aggregated = octets.below(5);
    json!({
        "name": "cell",
        "standard": standard,
        "band": if is_low { json!("2.4GHz") } else { Value::Null },
        "protection": if standard == "802.11g" { octets.one_of(&["none", "cts-to-self", "rts-cts"]) } else { "none" },
        "rts_threshold": if octets.once_in(2) { Value::Null } else { json!(format!("{}B", octets.below(2_500))) },
        "retries": {
            "short": 1 + octets.below(7),
            "long": 1 + octets.below(7),
            "aggregated": if aggregated == 0 { Value::Null } else { json!(aggregated) },
        },
        "lifetime": octets.one_of(&["500ms", "20ms"]),
        "aggregation": {
            "max_bytes": octets.one_of(&[None, Some("0B"), Some("8000B")]),
            "max_frames": if frames == 0 { Value::Null } else { json!(frames) },
            "window": 1 + octets.below(64),
            "a_msdu": octets.one_of(&["0B", "3839B"]),
            "after_missed": octets.one_of(&["request", "retransmit"]),
        },
        "access": {"best_effort": {"txop_limit": octets.one_of(&["0ms", "1ms", "4ms"])}},
        "ap": {"name": "ap", "queue": queue(octets), "queues": octets.one_of(&["per-station", "shared"])},
        "station": [{"name": "sta", "count": STATIONS, "queue": queue(octets)}],
    })
}

/// Returns losses as [`losses`] does, chosen by the octets.
fn losses_of(octets: &mut Octets<'_>) -> Value {
    let station = |octets: &mut Octets<'_>| 1 + octets.below(STATIONS as u64);
    let hidden: Vec<[u64; 2]> = (0..octets.below(3)).map(|_| [station(octets), station(octets)]).collect();
    json!({
        "channel": {
            "model": "fixed",
            "frame_error_rate": octets.below(128) as f64 / 256.0,
            "control_error_rate": octets.below(77) as f64 / 256.0,
        },
        "hidden": hidden.into_iter().filter(|[one, other]| one != other).collect::<Vec<_>>(),
    })
}

/// Returns a flow as [`flow`] does, chosen by the octets.
fn flow_of(octets: &mut Octets<'_>) -> Flow {
    let (from, step) = (octets.below(STATIONS as u64 + 1) as usize, 1 + octets.below(STATIONS as u64) as usize);
    let category = octets.one_of(&Category::ALL);
    let count = octets.below(60);
    let packet = |_| (Instant::from_nanos(octets.below(30_000) * 1_000), Bytes(40 + octets.below(1_460)));
    let mut packets: Vec<_> = (0..count).map(packet).collect();
    packets.sort_unstable();
    Flow { from, to: (from + step) % (STATIONS + 1), category, packets }
}

/// Checks a cell whose settings, losses and arrivals are chosen by the octets. The fuzz target
/// `wifi_cell` also calls this function.
///
/// # Panics
/// If a property is violated.
pub(crate) fn a_cell_of_octets_conserves_packets(octets: &[u8]) {
    let mut octets = Octets::new(octets);
    let (settings, losses) = (cell_of(&mut octets), losses_of(&mut octets));
    let flows: Vec<Flow> = (0..=octets.below(5)).map(|_| flow_of(&mut octets)).collect();
    if let Err(error) = packets_are_conserved(settings.clone(), losses.clone(), &flows) {
        panic!("{error}: {settings} {losses} {flows:?}");
    }
}

#[test]
fn cells_of_octets_conserve_packets() {
    let mut stream = Seed(7).stream("octets");
    for _ in 0..50 {
        let octets: Vec<u8> = (0..4096).map(|_| stream.below(256) as u8).collect();
        a_cell_of_octets_conserves_packets(&octets);
    }
}

#[test]
fn cells_of_the_seeds_of_the_fuzz_target_conserve_packets() {
    crate::seeds::replay("wifi_cell", a_cell_of_octets_conserves_packets);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_arrive_once_and_in_order(settings in cell(), flows in prop::collection::vec(flow(), 1..8)) {
        let run = drive(&settings, &flows, false)?;
        nothing_is_lost(&run, &flows)?;
        counters_agree(&run)?;
        let last = flows.iter().flat_map(|flow| flow.packets.last()).map(|(at, _)| *at).max().unwrap_or(Instant::ZERO);
        prop_assert!(run.silent <= last + Duration::from_secs(60));
    }

    #[test]
    fn the_same_seed_brings_the_same(settings in cell(), flows in prop::collection::vec(flow(), 1..5)) {
        prop_assert_eq!(drive(&settings, &flows, false)?, drive(&settings, &flows, false)?);
    }

    #[test]
    fn who_listens_changes_nothing(settings in cell(), flows in prop::collection::vec(flow(), 1..5)) {
        prop_assert_eq!(drive(&settings, &flows, false)?, drive(&settings, &flows, true)?);
    }

    #[test]
    fn frames_that_get_lost_or_meet_hidden_ones_are_sent_again(
        settings in cell(),
        losses in losses(),
        flows in prop::collection::vec(flow(), 1..6),
    ) {
        packets_are_conserved(settings, losses, &flows)?;
    }
}
