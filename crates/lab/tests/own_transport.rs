//! A custom transport: the example, and the messages about unknown names and invalid settings.

#[path = "../examples/own_transport.rs"]
mod example;

use crate::common::tables::Tables;
use crate::common::tshark::tshark;
use acklab_lab::scenario::{load, load_for};
use acklab_lab::{RunOptions, Strategies, run};
use example::results;
use std::path::Path;

/// A packet of 1022 octets at 10 Mbps and its acknowledgment of 22, each with 5 ms of delay.
const ROUND_TRIP_MS: f64 = 10.0 + (1022.0 + 22.0) * 8.0 / 10e3;

fn tables(sets: &[&str]) -> Tables {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Tables::of_results(results(&sets, None).unwrap())
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{what}: found {found}, expected {expected}");
}

/// Stop-and-wait has a closed form: one packet per round trip, and one timeout per lost packet.
#[test]
fn it_has_its_row_in_flows() {
    let tables = tables(&[]);
    let number = |column: &str| tables.numbers("flows", column)[0];
    let count = |column: &str| tables.counts("flows", column)[0];
    assert_eq!(tables.texts("flows", "transport_protocol"), ["stop-and-wait"]);
    assert_eq!((count("total_delivered_bytes_l7"), count("total_acks_sent_l4")), (500_000, 500));
    let lost = tables.counts("links", "total_wire_losses_l1")[0];
    assert!(lost > 0, "a loss each hundred packets");
    assert_eq!((count("total_retransmissions_l4"), count("total_data_packets_l4")), (lost, 500 + lost));
    let seconds = 500.0 * ROUND_TRIP_MS / 1e3 + lost as f64 * 0.05;
    assert_close(number("flow_completion_time_l4"), seconds, "a round trip each packet, and a timeout each loss");
    assert_close(number("mean_throughput_l7"), 4.0 / seconds, "goodput");
    assert_close(number("mean_rtt_l4"), ROUND_TRIP_MS, "the round trip");
    assert_close(number("mean_cwnd_l4"), 1.0, "the window");
    assert!(number("mean_in_flight_l4") <= 1.0 && number("mean_one_way_delay_l4") > 5.0);
}

#[test]
fn metrics_unknown_to_the_transport_are_null() {
    let tables = tables(&[]);
    for column in ["cca", "ack_policy", "preset", "total_rtos_l4", "total_marked_l4", "total_lost_l4"] {
        assert_eq!(tables.nulls("flows", column), [true], "{column}");
    }
}

#[test]
fn it_has_its_series() {
    let tables = tables(&[]);
    let kinds = tables.texts("packets", "kind");
    let of = |kind: &str| kinds.iter().filter(|known| *known == kind).count() as u64;
    let lost = tables.counts("links", "total_wire_losses_l1")[0];
    assert_eq!([of("sent"), of("retransmitted"), of("received"), of("acked")], [500, lost, 500, 500]);
    assert_eq!(tables.rows("operating_point"), 500);
    let events = tables.texts("events", "event");
    assert_eq!(events.iter().filter(|event| *event == "retransmission-timeout").count() as u64, lost);
    assert_eq!(events.last().map(String::as_str), Some("finished"));
    assert!(tables.rows("throughput") > 0);
}

#[test]
fn its_capture_opens() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own_transport");
    std::fs::create_dir_all(&folder).unwrap();
    results(&["flow.0.traffic.size=10kB".to_owned()], Some(folder.clone())).unwrap();
    let Some(frames) = tshark(&folder.join("a.pcapng"), "ip.proto == 253", &["ip.src", "ip.len"]) else {
        return;
    };
    let expected = ["10.0.0.1 1022", "10.0.0.2 22"].into_iter().cycle().take(20);
    assert!(frames.iter().map(String::as_str).eq(expected), "{frames:?}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let error = results(&["flow.0.transport.timeout=soon".to_owned()], None).unwrap_err().to_string();
    let expected =
        "flow \"arq\": transport \"stop-and-wait\": timeout: found \"soon\", expected a duration such as \"50ms\"";
    assert_eq!(error, expected);
}

#[test]
fn a_transport_that_the_run_is_not_given_is_named() {
    let text = r#"
        duration = "1s"
        seed = 1
        link = [{ name = "wire", from = "a", to = "b", forward = { delay = "1ms" }, reverse = { delay = "1ms" } }]
        flow = [{ from = "a", to = "b", transport = { protocol = "custom", name = "mine" } }]
    "#;
    let refused = load_for(text, "x.toml", &[], None, &Strategies::default()).unwrap_err().to_string();
    assert!(refused.contains("flow.0.transport.name") && refused.contains("\"mine\""), "{refused}");
    let scenario = load(text, "x.toml", &[], None).unwrap();
    let error = run(&scenario, &RunOptions::default(), || true).unwrap_err().to_string();
    assert!(error.starts_with("flow \"flow_1\": transport.name: found \"mine\""), "{error}");
}
