//! Capacity on demand between endpoints: the capacity that ACKs need on the return channel of a
//! satellite terminal.

use crate::common::tables::Tables;
use acklab_lab::scenario::load;

const TERMINAL: &str = include_str!("scenario/terminal.toml");

fn run(sets: &[&str]) -> Tables {
    Tables::run(TERMINAL, &[&["pep="], sets].concat(), None)
}

fn of_return(tables: &Tables, column: &str) -> u64 {
    tables.counts("links", column)[3]
}

/// The SYN-ACK waits for the next superframe, for twelve superframes and for the end of its slot.
/// The propagation of SYN and SYN-ACK is added.
#[test]
fn the_handshake_waits_for_an_assignment() {
    let tables =
        run(&["duration=3s", "flow.0.traffic={ model = \"fixed\", size = \"1B\" }", "measure.series=[\"packets\"]"]);
    let first = tables.numbers("packets", "time")[0];
    // The SYN of 60 octets arrives at 265.06 ms. Its answer is requested at 300 ms, and sent from
    // 900 to 900.5 ms.
    assert!((first - 1.1655).abs() < 1e-4, "the first data leave at {first} s");
}

/// Constant capacity, just enough for the SYN-ACK: it is sent in the slot that each superframe
/// contains.
#[test]
fn constant_capacity_spares_the_wait() {
    let sets = ["duration=3s", "flow.0.traffic={ model = \"fixed\", size = \"1B\" }", "measure.series=[\"packets\"]"];
    let constant = "link.geo.reverse.demand.constant=20kbps";
    let first = run(&[&sets[..], &[constant]].concat()).numbers("packets", "time")[0];
    assert!((first - 0.5655).abs() < 1e-4, "the first data leave at {first} s");
}

/// Assigned capacity is used or counted as unused; links without demand have no such counters.
#[test]
fn the_table_of_links_counts_requests_and_slots() {
    let tables = run(&["flow.0.traffic={ model = \"fixed\", size = \"10MB\" }"]);
    assert!(of_return(&tables, "total_capacity_requests_l2") > 100);
    let (assigned, unused) =
        (of_return(&tables, "total_bytes_assigned_l1"), of_return(&tables, "total_bytes_unused_l1"));
    assert_eq!(assigned - unused, of_return(&tables, "total_bytes_out_l2"));
    assert_eq!(tables.nulls("links", "total_bytes_assigned_l1"), [true, true, true, false]);
}

/// Fewer ACKs need fewer slots. The transfer is not slower with an ACK for ten segments.
#[test]
fn fewer_acks_take_less_of_the_return_channel() {
    let of = |segments: u32| {
        let ack = format!("flow.0.ack={{ policy = \"byte-counting\", segments = {segments}, timer = \"25ms\" }}");
        run(&["flow.0.traffic={ model = \"fixed\", size = \"10MB\" }", &ack])
    };
    let (two, ten) = (of(2), of(10));
    let ratio = of_return(&ten, "total_bytes_assigned_l1") as f64 / of_return(&two, "total_bytes_assigned_l1") as f64;
    assert!(ratio < 0.4, "{ratio} of the capacity");
}

#[test]
fn a_terminal_is_deterministic() {
    assert!(run(&["duration=20s"]) == run(&["duration=20s"]));
}

#[test]
fn the_scenario_in_full_is_the_same_scenario() {
    let full = load(TERMINAL, "terminal.toml", &[], None).unwrap().canonical_json();
    let again = load(&full.to_string(), "full", &[], None).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(again.canonical_json(), full);
    assert_eq!(full["link"][1]["reverse"]["demand"]["persistence"], 5);
    assert_eq!(full["pep"][0]["side"][0]["transport"]["congestion"]["algorithm"], "cubic");
}

#[test]
fn refusals_say_what_is_expected() {
    let refusal = |set: &str| {
        let set = format!("link.geo.reverse.{set}");
        load(TERMINAL, "terminal.toml", &[set], None).expect_err("a refusal").to_string()
    };
    let cases = [
        ("rate=", "slots need the rate of the carrier; expected `rate` in a direction with `demand`"),
        (
            "gate={ interval = \"5ms\", quota = 1 }",
            "packets leave in assigned slots; expected no `gate` in a direction with `demand`",
        ),
        ("device_queue=1", "expected no `device_queue` in a direction with `demand`"),
        ("demand.superframe=0ms", "expected a duration from 1ms to 10s"),
        ("demand.assignment=11s", "expected at most 10s"),
        ("demand.slot=20kB", "expected from 1B to what a carrier of 2Mbps sends in a superframe of 50ms"),
        ("demand.persistence=300", "expected at most 255"),
        ("demand.volume_based=", "nothing would ever be assigned; expected `constant`, `rate_based` or `volume_based`"),
        ("demand.volume_based=0B", "expected a size from 1B to"),
        ("demand.constant=3Mbps", "together need more slots than the carrier has"),
        ("demand.background=2Mbps", "leave nothing to request"),
        ("demand.slots=3", "unknown key; did you mean `slot`?"),
    ];
    for (set, expected) in cases {
        let found = refusal(set);
        assert!(found.contains(expected), "{set}: {found}\nexpected: {expected}");
    }
}
