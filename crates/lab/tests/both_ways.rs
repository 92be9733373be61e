//! Connections with data both ways against closed forms, and what is measured of them.

#[path = "common/tables.rs"]
mod tables;

use acklab_lab::scenario::load;
use tables::Tables;

/// A full segment is 1448 octets of payload in 1500. The queue holds three bandwidth-delay products, so that a loss empties it never.
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

/// Of 1500 octets.
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

/// With data to ride on, ACKs take nothing from the data of their direction: each direction carries its payload at the rate of the link,
/// less the headers. ACKs that leave by themselves, while something is missing, take what little is absent.
#[test]
fn each_direction_fills_the_link() {
    for preset in ["linux", "rfc", "ns3"] {
        let tables = tables(&[&format!("flow.0.preset={preset}")]);
        for (row, throughput) in tables.numbers("flows", "mean_throughput_l4").into_iter().enumerate() {
            let share = throughput / (10.0 * PAYLOAD);
            assert!((0.95..=1.000_1).contains(&share), "{preset}: direction {row} has {share} of what the link carries");
        }
    }
}

/// Data one way beside data the other way would need an ACK for two segments at least; riding needs almost none.
#[test]
fn acknowledgments_ride_on_data() {
    let tables = tables(&["flow.0.congestion=vegas"]);
    let (data, acks) =
        (tables.counts("flows", "total_data_packets_l4"), tables.counts("flows", "total_acks_sent_l4"));
    for row in 0..2 {
        assert!(acks[row] * 20 < data[row], "{} ACKs by themselves for {} packets", acks[row], data[row]);
    }
    let reasons: Vec<(String, String)> =
        tables.texts("acks", "flow").into_iter().zip(tables.texts("acks", "reason")).collect();
    for flow in ["talk", "talk_back"] {
        assert!(reasons.contains(&(flow.to_owned(), "piggyback".to_owned())), "{reasons:?}");
    }
}

/// Both transfers end, each with a FIN of its own. The first flight of ten segments takes the whole of each, so that the data of `a` are
/// acknowledged a round trip and little more after its SYN's.
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

/// The application at `b` reads at 2 Mbps and writes as fast as it may: one window is shut, and the other is not.
#[test]
fn a_slow_reader_holds_back_one_direction_alone() {
    let sets = [
        "flow.0.receive_buffer=64kB",
        "flow.0.reading={ model = \"constant\", rate = \"2Mbps\", read = \"1448B\" }",
    ];
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
    assert!(refusal.contains("only over TCP can both ends write; UDP carries data one way"), "{refusal}");
}

#[test]
fn the_name_of_the_way_back_is_taken() {
    let sets = ["duration=6s".to_owned()];
    let text = SCENARIO.replace("[measure]", "[[flow]]\nname = \"talk_back\"\nfrom = \"a\"\nto = \"b\"\n\n[measure]");
    let refusal = load(&text, "both_ways", &sets, None).unwrap_err().to_string();
    assert!(refusal.contains("two flows would be called `talk_back`"), "{refusal}");
}
