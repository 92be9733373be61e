//! Connections with data in both directions: closed forms, and their metrics.

use crate::common::tables::Tables;
use acklab_lab::scenario::load;

/// A full segment is 1448 octets of payload in 1500.
const SCENARIO: &str = r#"
duration = "20s"
seed = 7

[[link]]
name = "btl"
from = "a"
to = "b"
[link.forward]
rate = "10Mbps"
delay = "10ms"
queue = { discipline = "fifo", limit = "50packets" }
[link.reverse]
rate = "10Mbps"
delay = "10ms"
queue = { discipline = "fifo", limit = "50packets" }

[[flow]]
name = "talk"
from = "a"
to = "b"
preset = "linux"
back = { model = "greedy" }

[measure]
from = "5s"
"#;

/// The share of payload in packets of 1500 octets.
const PAYLOAD: f64 = 1448.0 / 1500.0;

fn tables(sets: &[&str]) -> Tables {
    Tables::run(SCENARIO, sets, None)
}

#[test]
fn a_row_for_each_direction() {
    let tables = tables(&["duration=6s"]);
    assert_eq!(tables.texts("flows", "flow"), ["talk", "talk_back"]);
    assert_eq!(tables.texts("flows", "src"), ["a", "b"]);
    assert_eq!(tables.texts("flows", "dst"), ["b", "a"]);
    assert_eq!(tables.counts("network", "flows"), [2]);
}

/// The windows exceed the bandwidth-delay product, the queues exceed the windows, and data do not
/// leave in clusters. Clusters of data would meet clusters of ACKs, and leave gaps (Zhang, Shenker
/// and Clark, "Observations on the dynamics of a congestion control algorithm: the effects of
/// two-way traffic", SIGCOMM 1991).
const FULL: [&str; 4] = [
    "link.btl.forward.queue.limit=400packets",
    "link.btl.reverse.queue.limit=400packets",
    "flow.0.receive_buffer=64kB",
    "flow.0.pacing=always",
];

/// Acknowledgments that are piggybacked on data use no capacity. Each direction carries payload at
/// the rate of the link minus the headers, and no pure ACK is sent.
#[test]
fn each_direction_fills_the_link() {
    for preset in ["linux", "rfc", "ns3"] {
        let preset = format!("flow.0.preset={preset}");
        let tables = tables(&[&[preset.as_str()], &FULL[..]].concat());
        for (row, throughput) in tables.numbers("flows", "mean_throughput_l4").into_iter().enumerate() {
            let share = throughput / (10.0 * PAYLOAD);
            assert!((0.999..=1.001).contains(&share), "{preset}: direction {row} has {share} of what the link carries");
        }
        assert_eq!(tables.counts("flows", "total_acks_sent_l4"), [0, 0], "{preset}");
        assert_eq!(tables.texts("acks", "flow"), ["talk", "talk_back"]);
        assert_eq!(tables.texts("acks", "reason"), ["piggyback", "piggyback"]);
    }
}

/// A window smaller than the bandwidth-delay product is sent once per RTT. The RTT is that of the
/// path plus the transmission of a segment in each direction.
#[test]
fn each_direction_has_a_window_a_round_trip() {
    let tables = tables(&["flow.0.receive_buffer=13032B", "flow.0.window_scaling=false"]);
    let (window, throughput) = (13_032.0 * 8.0 / 1e6, tables.numbers("flows", "mean_throughput_l4"));
    let round_trip = tables.numbers("flows", "mean_srtt_l4");
    for row in 0..2 {
        assert!((0.020..0.026).contains(&(round_trip[row] / 1e3)), "{round_trip:?}");
        let expected = window / (round_trip[row] / 1e3);
        assert!((throughput[row] / expected - 1.0).abs() < 0.05, "{throughput:?}, expected {expected}");
    }
}

/// Both transfers end, each with its own FIN. The first flight of ten segments carries all data of
/// each direction, so the data of `a` are acknowledged little more than an RTT after its SYN.
#[test]
fn a_request_and_its_answer_complete() {
    let sets = [
        "measure.from=0s",
        "flow.0.traffic={ model = \"fixed\", size = \"300B\" }",
        "flow.0.back={ model = \"fixed\", size = \"14480B\" }",
    ];
    let tables = tables(&sets);
    assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [300, 14480]);
    let times = tables.numbers("flows", "flow_completion_time_l4");
    assert!((0.04..0.07).contains(&times[0]) && (0.05..0.10).contains(&times[1]), "{times:?}");
    assert_eq!(tables.counts("flows", "total_retransmissions_l4"), [0, 0]);
}

/// The application at `b` reads at 2 Mbps and writes greedily: one receive window closes, and the
/// other does not.
#[test]
fn a_slow_reader_holds_back_one_direction_alone() {
    let sets =
        ["flow.0.receive_buffer=64kB", "flow.0.reading={ model = \"constant\", rate = \"2Mbps\", read = \"1448B\" }"];
    let throughput = tables(&sets).numbers("flows", "mean_throughput_l4");
    assert!((1.95..2.05).contains(&throughput[0]), "{throughput:?}");
    assert!(throughput[1] > 0.9 * 10.0 * PAYLOAD, "{throughput:?}");
}

#[test]
fn series_show_both_directions() {
    let tables = tables(&["duration=6s", r#"measure.series=["operating_point","throughput","packets","events"]"#]);
    for table in ["operating_point", "throughput", "packets"] {
        let flows = tables.texts(table, "flow");
        assert!(["talk", "talk_back"].iter().all(|name| flows.iter().any(|flow| flow == name)), "{table}");
    }
}

#[test]
fn only_tcp_carries_data_both_ways() {
    let sets = ["flow.0.preset=", "flow.0.transport=udp", "flow.0.traffic={ model = \"constant\", rate = \"1Mbps\" }"];
    let refusal = load(SCENARIO, "both_ways", &sets.map(String::from), None).unwrap_err().to_string();
    assert!(refusal.contains("a flow over UDP carries data in one direction only"), "{refusal}");
}

#[test]
fn the_name_of_the_way_back_is_taken() {
    let sets = ["duration=6s".to_owned()];
    let text = SCENARIO.replace(
        "[measure]",
        "[[flow]]\nname = \"talk_back\"\nfrom = \"a\"\nto = \"b\"\npreset = \"linux\"\n\n[measure]",
    );
    let refusal = load(&text, "both_ways", &sets, None).unwrap_err().to_string();
    assert!(refusal.contains("two flows would be called `talk_back`"), "{refusal}");
}
