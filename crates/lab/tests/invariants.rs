//! Invariants of all scenarios, checked with random paths, flows and stacks.
//!
//! `ACKLAB_CASES=5000 cargo test -p acklab-lab --test integration invariants` runs more cases. A
//! failure prints its scenario. Put it into `invariants/regressions/` as a `.toml` file, and each
//! test run will run it.

mod scenarios;

use crate::common::tables::Tables;
use acklab_lab::RunOptions;
use acklab_lab::scenario::{Scenario, load};
use acklab_transport::tcp::config::Dialect;
use acklab_transport::{ack, recovery};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use scenarios::{any_transport, anything, cell, in_order, lost_acks};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Cases of each property.
const CASES: u32 = 160;

/// Data in flight are recorded in segments, as floating-point numbers.
const TOLERANCE: f64 = 1e-6;

fn config() -> ProptestConfig {
    let cases = std::env::var("ACKLAB_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    // A failure is kept as a readable scenario, not as a seed.
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() }
}

fn read(text: &str, sets: &[String]) -> Scenario {
    load(text, "the scenario", sets, None).unwrap_or_else(|refusal| panic!("{refusal}\n\n{text}"))
}

fn tables(text: &str, sets: &[String]) -> Tables {
    Tables::of(&read(text, sets), &RunOptions::default())
}

/// Returns the overrides that set the window of measurement to `from` … `until`, in milliseconds.
fn window(from: Option<u64>, until: Option<u64>) -> Vec<String> {
    let from = from.map(|from| format!("measure.from={from}ms"));
    from.into_iter().chain(until.map(|until| format!("measure.until={until}ms"))).collect()
}

/// The columns of the packets and octets that enter a link (through its queue or as duplicates) and
/// of those that leave it (dropped, filtered, lost or delivered).
const EXITS: [([&str; 2], [&str; 4]); 2] = [
    (
        ["total_packets_in_l2", "total_wire_duplicates_l1"],
        ["total_qdisc_drops_l2", "total_filtered_acks_l2", "total_wire_losses_l1", "total_packets_out_l2"],
    ),
    (
        ["total_bytes_in_l2", "total_bytes_duplicated_l1"],
        ["total_bytes_dropped_l2", "total_bytes_filtered_l2", "total_bytes_lost_l1", "total_bytes_out_l2"],
    ),
];

/// Returns the packets and octets that are still in each link direction.
fn inside(tables: &Tables, entered: &[&str], exits: &[&str]) -> Vec<i128> {
    let mut inside = vec![0; tables.rows("links")];
    for way in entered {
        inside.iter_mut().zip(tables.counts("links", way)).for_each(|(there, came)| *there += i128::from(came));
    }
    for exit in exits {
        inside.iter_mut().zip(tables.counts("links", exit)).for_each(|(left, gone)| *left -= i128::from(gone));
    }
    inside
}

/// Checks that packets and octets are conserved. All flows end long before their run, so every link
/// is empty at its end.
fn nothing_is_lost_from_sight(text: &str) -> Result<(), TestCaseError> {
    let whole = tables(text, &[]);
    for (entered, exits) in EXITS {
        prop_assert_eq!(inside(&whole, &entered, &exits), vec![0; whole.rows("links")], "{:?} at the end", entered);
    }
    let early = tables(text, &window(None, Some(137)));
    for (entered, exits) in EXITS {
        prop_assert!(inside(&early, &entered, &exits).iter().all(|left| *left >= 0), "{entered:?} after 137 ms");
    }
    // The links stand in a row and every flow passes all of them. What leaves a link enters the
    // next one; the other direction runs backwards.
    for tables in [&whole, &early] {
        let (packets_in, packets_out) =
            (tables.counts("links", "total_packets_in_l2"), tables.counts("links", "total_packets_out_l2"));
        for (here, next) in (0..packets_in.len()).zip(2..packets_in.len()) {
            let (from, to) = if here % 2 == 0 { (here, next) } else { (next, here) };
            prop_assert_eq!(packets_out[from], packets_in[to], "from link direction {} to {}", from, to);
        }
    }
    Ok(())
}

/// Checks each flow: acknowledged or delivered data have arrived, arrived data were sent, and the
/// other data were dropped or are in flight. Each retransmission is one of the packets. When a
/// connection has finished, nothing is in flight. `until` ends the window.
fn flows_are_conserved(text: &str, until: Option<u64>) -> Result<(), TestCaseError> {
    let tables = tables(text, &window(None, until));
    let count = |name: &str| tables.counts("flows", name);
    let rate = |name: &str| tables.numbers("flows", name);
    let (sent, arrived) = (rate("mean_sending_rate_l4"), rate("mean_throughput_l4"));
    let (acknowledged, delivered) = (rate("mean_delivery_rate_l4"), rate("mean_throughput_l7"));
    let (packets, again) = (count("total_data_packets_l4"), count("total_retransmissions_l4"));
    let is_open = tables.nulls("flows", "ending");
    let mut endings = tables.texts("flows", "ending").into_iter();
    for (flow, name) in tables.texts("flows", "flow").iter().enumerate() {
        let ending = if is_open[flow] { None } else { endings.next() };
        let of = [sent[flow], arrived[flow], acknowledged[flow], delivered[flow]];
        // The rates have the same active time, so they compare as the octets do. A transport
        // without ACKs has no acknowledged rate.
        let [sent, arrived, acknowledged, delivered] = of.map(|rate| if rate.is_nan() { 0.0 } else { rate });
        prop_assert!(arrived <= sent && acknowledged <= arrived && delivered <= arrived, "{}: {:?}", name, of);
        prop_assert!(again[flow] <= packets[flow], "{}: {} again of {}", name, again[flow], packets[flow]);
        if ending.as_deref() == Some("finished") && of[2].is_finite() {
            prop_assert_eq!((acknowledged, delivered), (arrived, arrived), "{} has finished", name);
        }
    }
    Ok(())
}

/// Checks that all packets that enter the queue of a cell's node leave it: delivered, or dropped by
/// the queue, at the retry limit or at the end of their lifetime. At the end nothing is in flight.
fn cells_are_conserved(text: &str) -> Result<(), TestCaseError> {
    let tables = tables(text, &[]);
    let [drops, filtered, given_up, expired, out] = [
        "total_queue_drops_l2",
        "total_filtered_acks_l2",
        "total_given_up_l2",
        "total_expired_l2",
        "total_packets_out_l2",
    ]
    .map(|column| tables.counts("stations", column));
    let bytes_out = tables.counts("stations", "total_bytes_out_l2");
    let links = |column: &str| tables.counts("links", column);
    // The access point is the first node. Every flow crosses the link.
    let left = drops[0] + filtered[0] + given_up[0] + expired[0] + out[0];
    prop_assert_eq!(links("total_packets_out_l2")[0], left, "to the stations");
    let stations = |counts: &[u64]| counts[1..].iter().sum::<u64>();
    prop_assert_eq!(stations(&out), links("total_packets_in_l2")[1], "packets to the server");
    prop_assert_eq!(stations(&bytes_out), links("total_bytes_in_l2")[1], "octets to the server");
    if left == out[0] {
        prop_assert_eq!(links("total_bytes_out_l2")[0], bytes_out[0], "octets to the stations");
    }
    Ok(())
}

/// Checks that every flow completes, and delivers exactly the written octets.
fn every_transfer_completes(text: &str) -> Result<(), TestCaseError> {
    let (scenario, tables) = (read(text, &[]), tables(text, &["measure.series=[\"packets\", \"events\"]".to_owned()]));
    let delivered = tables.counts("flows", "total_delivered_bytes_l7");
    let ended = tables.texts("events", "flow").into_iter().zip(tables.texts("events", "event"));
    let finished: BTreeSet<String> = ended.filter(|(_, event)| event == "finished").map(|(flow, _)| flow).collect();
    let packets: Vec<(String, String, f64)> = tables
        .texts("packets", "flow")
        .into_iter()
        .zip(tables.texts("packets", "kind"))
        .zip(tables.numbers("packets", "number"))
        .map(|((flow, kind), number)| (flow, kind, number))
        .collect();
    for (flow, delivered) in scenario.flows().iter().zip(delivered) {
        prop_assert!(finished.contains(&flow.name), "{} does not come to its end", flow.name);
        if let acklab_app::Traffic::Fixed { size } = flow.traffic
            && flow.stop.is_none()
        {
            prop_assert_eq!(delivered, size.get(), "{}", &flow.name);
        }
        let of = |wanted: &str| {
            let offsets = packets.iter().filter(move |(name, kind, _)| *name == flow.name && kind == wanted);
            offsets.map(|(.., number)| number.to_bits()).collect::<BTreeSet<u64>>()
        };
        prop_assert_eq!(of("sent"), of("received"), "{}: segments sent and received", &flow.name);
    }
    Ok(())
}

/// Checks that a sender's estimate of data in flight does not exceed its outstanding data, with
/// retransmitted data counted twice.
fn flights_are_what_was_sent(text: &str) -> Result<(), TestCaseError> {
    let tables = tables(text, &["measure.series=[\"packets\", \"operating_point\"]".to_owned()]);
    let mut flights: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (flow, in_flight) in
        tables.texts("operating_point", "flow").into_iter().zip(tables.numbers("operating_point", "in_flight"))
    {
        flights.entry(flow).or_default().push(in_flight);
    }
    let mut flights: BTreeMap<String, _> =
        flights.into_iter().map(|(flow, flights)| (flow, flights.into_iter())).collect();
    // By flow: the end of the data sent, and the number of retransmissions.
    let mut sent: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let kinds = tables.texts("packets", "flow").into_iter().zip(tables.texts("packets", "kind"));
    for ((flow, kind), number) in kinds.zip(tables.numbers("packets", "number")) {
        let (end, again) = sent.entry(flow.clone()).or_default();
        match kind.as_str() {
            "sent" => *end = end.max(number + 1.0),
            "retransmitted" => *again += 1.0,
            "acked" => {
                let in_flight = flights.get_mut(&flow).and_then(Iterator::next).unwrap_or(f64::NAN);
                // The FIN counts as an octet, and this may add a segment. This series does not show
                // its retransmissions.
                let outstanding = (*end - number + 1.0).max(0.0);
                prop_assert!(
                    in_flight <= outstanding + (*again + 1.0).min(outstanding) + TOLERANCE,
                    "{flow}: {in_flight} in flight of {outstanding} outstanding"
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// The counts of two adjacent windows add up to those of both together.
fn windows_add_up(text: &str, split: u64) -> Result<(), TestCaseError> {
    let whole = tables(text, &[]);
    let parts = [tables(text, &window(None, Some(split))), tables(text, &window(Some(split), None))];
    for table in ["flows", "links", "network"] {
        let columns = whole.count_columns(table);
        for column in columns.iter().filter(|column| !column.starts_with("max_") && *column != "flows") {
            let sums: Vec<u64> = parts[0]
                .counts(table, column)
                .iter()
                .zip(parts[1].counts(table, column))
                .map(|(one, other)| one + other)
                .collect();
            prop_assert_eq!(whole.counts(table, column), sums, "{}.{} split at {} ms", table, column, split);
        }
    }
    let acks = |tables: &[&Tables]| {
        let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
        for tables in tables {
            let keys = tables.texts("acks", "flow").into_iter().zip(tables.texts("acks", "reason"));
            keys.zip(tables.counts("acks", "count")).for_each(|(key, count)| *sums.entry(key).or_default() += count);
        }
        sums
    };
    prop_assert_eq!(acks(&[&whole]), acks(&[&parts[0], &parts[1]]), "acks split at {} ms", split);
    Ok(())
}

/// Checks that each retransmission follows a drop or is spurious, if packets are only dropped by a
/// queue and never reordered. None is spurious unless a timer expired.
fn retransmissions_are_drops(text: &str) -> Result<(), TestCaseError> {
    let tables = tables(text, &["measure.series=[\"packets\"]".to_owned()]);
    let of = |column: &str| tables.counts("flows", column)[0];
    let mut seen = BTreeSet::new();
    let received = tables.texts("packets", "kind").into_iter().zip(tables.numbers("packets", "number"));
    let in_vain =
        received.filter(|(kind, _)| kind == "received").filter(|(_, number)| !seen.insert(number.to_bits())).count()
            as u64;
    let (retransmissions, drops) = (of("total_retransmissions_l4"), of("total_drops_l2"));
    prop_assert_eq!(retransmissions, drops + in_vain, "{} drops, {} spurious", drops, in_vain);
    // Some policies answer several segments beyond a gap by one ACK, as Linux does when it
    // compresses SACKs. If an ACK has no room for all blocks, the sender declares too much lost.
    let answers_disorder = matches!(
        read(text, &[]).flow[0].tcp().unwrap().ack,
        ack::PolicyConfig::PerPacket { .. }
            | ack::PolicyConfig::Delayed { .. }
            | ack::PolicyConfig::ByteCounting { .. }
            | ack::PolicyConfig::Daass { .. }
    );
    let tcp = read(text, &[]).flow[0].tcp().unwrap();
    let timers = of("total_rtos_l4") + of("total_tail_loss_probes_l4");
    // Tahoe continues as after a timeout: it retransmits from the head, including data that have
    // arrived.
    let knows_what_arrived = tcp.sack && tcp.recovery != recovery::Algorithm::Tahoe;
    if timers == 0 && knows_what_arrived && tcp.dialect == Dialect::Rfc && answers_disorder {
        prop_assert_eq!(in_vain, 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn packets_and_octets_are_conserved(text in anything()) {
        nothing_is_lost_from_sight(&text.0)?;
    }

    #[test]
    fn packets_and_octets_of_all_transports_are_conserved(text in any_transport(), until in 1u64..1000) {
        nothing_is_lost_from_sight(&text.0)?;
        flows_are_conserved(&text.0, Some(until))?;
        flows_are_conserved(&text.0, None)?;
    }

    #[test]
    fn cells_conserve_packets_and_octets(text in cell(), until in 1u64..1000) {
        cells_are_conserved(&text.0)?;
        flows_are_conserved(&text.0, Some(until))?;
        flows_are_conserved(&text.0, None)?;
    }

    #[test]
    fn transfers_complete_in_order_and_once(text in anything()) {
        every_transfer_completes(&text.0)?;
    }

    #[test]
    fn transfers_complete_though_acks_are_lost(text in lost_acks()) {
        every_transfer_completes(&text.0)?;
        flights_are_what_was_sent(&text.0)?;
        nothing_is_lost_from_sight(&text.0)?;
    }

    #[test]
    fn in_flight_is_bounded_by_what_was_sent(text in anything()) {
        flights_are_what_was_sent(&text.0)?;
    }

    #[test]
    fn counts_of_windows_add_up(text in anything(), split in 1u64..3000) {
        windows_add_up(&text.0, split)?;
    }

    #[test]
    fn each_retransmission_has_a_reason(text in in_order()) {
        retransmissions_are_drops(&text.0)?;
    }
}

/// Runs the scenarios that failed once.
#[test]
fn regressions_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invariants/regressions");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let holds = |outcome: Result<(), TestCaseError>| outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        holds(nothing_is_lost_from_sight(&text));
        holds(every_transfer_completes(&text));
        holds(flows_are_conserved(&text, None));
        holds(flights_are_what_was_sent(&text));
        for split in [1, 50, 333, 1000] {
            holds(windows_add_up(&text, split));
        }
        if text.contains("# in order") {
            holds(retransmissions_are_drops(&text));
        }
    }
}

/// Checks that delayed packets are overtaken. Otherwise the generator of reordering would have no
/// effect.
#[test]
fn packets_that_are_held_back_are_overtaken() {
    let link = |reorder: &str| {
        format!(
            "duration = \"60s\"\nseed = 1\n[[link]]\nname = \"l0\"\nfrom = \"n0\"\nto = \"n1\"\n\
             forward = {{ rate = \"10Mbps\", delay = \"5ms\"{reorder} }}\nreverse = {{ delay = \"5ms\" }}\n\
             [[flow]]\nfrom = \"n0\"\nto = \"n1\"\npreset = \"rfc\"\ntraffic = {{ model = \"fixed\", size = \"300kB\" }}\n\
             [measure]\nseries = [\"packets\"]\n"
        )
    };
    let is_in_order = |text: &str| {
        let tables = tables(text, &[]);
        let kinds = tables.texts("packets", "kind").into_iter().zip(tables.numbers("packets", "number"));
        kinds.filter(|(kind, _)| kind == "received").map(|(_, number)| number).is_sorted()
    };
    assert!(is_in_order(&link("")));
    assert!(!is_in_order(&link(", reorder = { probability = 0.1, by = \"5ms\" }")));
}
