//! Properties of ACKs in response frames, under any losses.

use crate::common::tcp::{Acks, Flow, drive};
use crate::common::typed::Typed;
use acklab_base::Instant;
use acklab_wifi::Cell;
use acklab_wifi::hack::Counters;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const STATIONS: usize = 3;
/// The time after which no frame is lost in tests whose losses stop.
const CALM: u64 = 60_000;

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn hack() -> impl Strategy<Value = Value> {
    let variant = prop_oneof![3 => Just("more-data"), 1 => Just("opportunistic"), 1 => Just("timer")];
    let delay = prop_oneof![Just("0us"), Just("30us"), Just("2ms")];
    let limit = prop_oneof![Just("3ms"), Just("200ms")];
    let checksum = prop_oneof![Just("elided"), Just("carried")];
    (variant, delay, limit, checksum, any::<bool>()).prop_map(|(variant, delay, limit, checksum, split)| {
        json!({"variant": variant, "delay": delay, "hold_limit": limit, "checksum": checksum, "split": split})
    })
}

/// Returns a cell without losses.
fn cell() -> impl Strategy<Value = Value> {
    let standard = prop_oneof![Just("802.11a"), Just("802.11n")];
    let limit = || prop_oneof![2 => Just(Value::Null), 1 => (1..4_u8).prop_map(|maximum| json!(maximum))];
    let frames = prop_oneof![Just(Value::Null), (1..6_u16).prop_map(|frames| json!(frames))];
    let settings = (
        prop_oneof![Just("0B"), Just("3839B")],
        prop_oneof![Just("request"), Just("retransmit")],
        prop_oneof![2 => Just(Value::Null), 1 => Just(json!("0B"))],
        prop_oneof![Just("standard"), Just("ns3")],
        prop_oneof![Just("0ms"), Just("3ms")],
        prop_oneof![3 => Just(Value::Null), 1 => Just(json!("20ms"))],
        prop_oneof![3 => Just(Value::Null), 1 => (2..12_u8).prop_map(|packets| json!(format!("{packets}packets")))],
    );
    (standard, 1..7_u8, limit(), limit(), frames, settings, hack()).prop_map(
        |(standard, short, aggregated, requests, frames, settings, hack)| {
            let (a_msdu, after, rts, dialect, txop, lifetime, limit) = settings;
            json!({
                "name": "cell",
                "standard": standard,
                "dialect": dialect,
                "rts_threshold": rts,
                "lifetime": lifetime,
                "retries": {"short": short, "aggregated": aggregated, "requests": requests},
                "aggregation": {"a_msdu": a_msdu, "after_missed": after, "max_frames": frames},
                "access": {"best_effort": {"txop_limit": txop}},
                "hack": hack,
                "ap": {"name": "ap"},
                "station": [{"name": "sta", "count": STATIONS, "queue": {"discipline": "fifo", "limit": limit}}],
            })
        },
    )
}

/// Returns bursts of segments of one flow.
fn flow() -> impl Strategy<Value = Flow> {
    let ends = prop_oneof![
        3 => (1..=STATIONS).prop_map(|to| (0, to)),
        2 => (1..=STATIONS).prop_map(|from| (from, 0)),
        1 => (1..=STATIONS).prop_map(|from| (from, from % STATIONS + 1)),
    ];
    let bursts = prop::collection::vec((0..CALM, 1..40_usize), 1..6);
    let clock = prop_oneof![Just(None), Just(Some(1)), Just(Some(1_000))];
    (ends, bursts, clock, 1..3_usize).prop_map(|((from, to), bursts, clock, every)| {
        let mut joins: Vec<Instant> =
            bursts.iter().flat_map(|(micros, size)| std::iter::repeat_n(at(*micros), *size)).collect();
        joins.sort_unstable();
        Flow { clock, every, ..Flow::new(from, to, joins) }
    })
}

/// Returns some flows. Each has a few segments at the end that are far enough apart for held ACKs
/// to be released without contention.
fn flows() -> impl Strategy<Value = Vec<Flow>> {
    prop::collection::vec(flow(), 1..6).prop_map(|mut flows| {
        for (flow, place) in flows.iter_mut().zip(1..) {
            flow.joins.extend((1..4).map(|late| at(CALM + 400_000 * late + 30_000 * place)));
        }
        flows
    })
}

/// Returns random losses of frames, and losses between stations that do not sense each other.
fn losses() -> impl Strategy<Value = Value> {
    let hidden = prop::collection::vec((1..=STATIONS).prop_map(|one| [one, one % STATIONS + 1]), 0..3);
    (0.0..0.4, 0.0..0.4, hidden).prop_map(|(data, control, hidden)| {
        let channel = json!({"model": "fixed", "frame_error_rate": data, "control_error_rate": control});
        json!({"channel": channel, "hidden": hidden})
    })
}

/// Returns short absences of nodes until a given time.
fn moments() -> impl Strategy<Value = Value> {
    let moment = (0..=STATIONS, 0..CALM - 1_000, 1..600_u64);
    prop::collection::vec(moment, 0..80).prop_map(|moments| {
        let absences = moments.into_iter().map(
            |(node, from, long)| json!({"node": node, "from": format!("{from}us"), "until": format!("{}us", from + long)}),
        );
        json!({"absences": absences.collect::<Vec<_>>()})
    })
}

/// Returns the sum of a counter over all nodes.
fn sum(cell: &Cell<Typed>, of: fn(&Counters) -> u64) -> u64 {
    cell.hack_counters().iter().map(of).sum()
}

/// Checks that no ACK is invented, changed or reordered, and that only deliberately repeated ACKs
/// are delivered twice.
fn acks_arrive_as_they_were_sent(cell: &Cell<Typed>, flows: &[Flow], acks: &[Acks]) -> Result<(), TestCaseError> {
    let mut twice = 0;
    for acks in acks {
        let mut last = 0;
        for (at, packet) in &acks.arrived {
            let sent = acks.sent[packet.number - 1].1;
            prop_assert_eq!(packet, &sent, "at {:?}", at);
            let octets = |packet: &Typed| acklab_wifi::Packet::ack(packet).and_then(|ack| ack.headers().ok());
            prop_assert_eq!(octets(packet), octets(&sent));
            prop_assert!(packet.number >= last, "{} after {} at {:?}", packet.number, last, at);
            twice += u64::from(packet.number == last);
            last = packet.number;
        }
    }
    prop_assert!(twice <= sum(cell, |counters| counters.reissued), "{twice} twice");
    let mut ends = BTreeSet::new();
    let has_one_a_peer = flows.iter().all(|flow| ends.insert((flow.from, flow.to)) && (flow.from == 0 || flow.to == 0));
    if has_one_a_peer {
        prop_assert_eq!(twice, 0);
    }
    prop_assert_eq!(sum(cell, |counters| counters.failures), 0);
    // Appended ACKs have arrived, have been cleared, or wait for another response frame.
    let (compressed, decompressed) =
        (sum(cell, |counters| counters.compressed), sum(cell, |counters| counters.decompressed));
    prop_assert!(decompressed <= compressed, "{decompressed} of {compressed}");
    prop_assert!(sum(cell, |counters| counters.duplicates) <= sum(cell, |counters| counters.repeated));
    prop_assert!(sum(cell, |counters| counters.augmented_within_aifs) <= sum(cell, |counters| counters.augmented));
    Ok(())
}

/// Checks that the last ACK of each flow has arrived, and that other ACKs are missing only for a
/// known reason.
fn nothing_is_lost_for_good(cell: &Cell<Typed>, acks: &[Acks]) -> Result<(), TestCaseError> {
    let mut missing = 0;
    for acks in acks {
        let (sent, arrived) = (acks.sent.last(), acks.arrived.last());
        prop_assert_eq!(arrived.map(|(_, ack)| ack.number), sent.map(|(_, ack)| ack.number));
        let numbers: BTreeSet<usize> = acks.arrived.iter().map(|(_, ack)| ack.number).collect();
        // Some of the dropped ACKs had arrived before.
        missing += ((acks.sent.len() - numbers.len()) as u64).saturating_sub(acks.dropped);
    }
    let cleared = sum(cell, |counters| counters.cleared);
    prop_assert!(missing <= cleared, "{missing} are missing, {cleared} cleared");
    let (compressed, decompressed) =
        (sum(cell, |counters| counters.compressed), sum(cell, |counters| counters.decompressed));
    prop_assert!(compressed <= decompressed + cleared, "{compressed}: {decompressed}, {cleared}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn acks_arrive_once_in_order_and_unchanged(
        mut settings in cell(),
        flows in flows(),
        losses in losses(),
    ) {
        // Hidden stations may collide every time; only the lifetime ends this.
        if settings["lifetime"].is_null() && losses["hidden"] != json!([]) {
            settings["lifetime"] = json!("500ms");
        }
        settings["reception"] = losses;
        let (cell, acks) = drive(&settings, &flows, false);
        acks_arrive_as_they_were_sent(&cell, &flows, &acks)?;
    }

    #[test]
    fn no_ack_is_lost_for_good(
        mut settings in cell(),
        flows in flows(),
        moments in moments(),
    ) {
        settings["reception"] = moments;
        let (cell, acks) = drive(&settings, &flows, false);
        acks_arrive_as_they_were_sent(&cell, &flows, &acks)?;
        nothing_is_lost_for_good(&cell, &acks)?;
    }
}

/// Checks that all cases occur. Otherwise, the properties would prove nothing.
#[test]
fn every_case_of_an_ack_occurs() {
    let settings = json!({
        "name": "cell",
        "standard": "802.11n",
        "retries": {"short": 3, "requests": 2},
        "reception": {"channel": {"model": "fixed", "frame_error_rate": 0.2, "control_error_rate": 0.3}},
        "aggregation": {"max_frames": 5},
        "hack": {"hold_limit": "10ms", "delay": "200us", "split": true},
        "ap": {"name": "ap"},
        "station": [{"name": "sta", "count": STATIONS}],
    });
    let bursts = |from: u64| (0..400).map(move |number| at(from + number / 8 * 12_000)).collect();
    let ends = [(0, 1, 0), (0, 1, 300), (2, 0, 600), (2, 0, 900), (1, 2, 1_200)];
    let flows: Vec<Flow> = ends.into_iter().map(|(from, to, late)| Flow::new(from, to, bursts(late))).collect();
    let (cell, acks) = drive(&settings, &flows, false);
    acks_arrive_as_they_were_sent(&cell, &flows, &acks).unwrap_or_else(|error| panic!("{error}"));
    let counts: [fn(&Counters) -> u64; 9] = [
        |counters| counters.compressed,
        |counters| counters.repeated,
        |counters| counters.plain,
        |counters| counters.released,
        |counters| counters.missed,
        |counters| counters.cleared,
        |counters| counters.reissued,
        |counters| counters.decompressed,
        |counters| counters.duplicates,
    ];
    let counts = counts.map(|of| sum(&cell, of));
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}
