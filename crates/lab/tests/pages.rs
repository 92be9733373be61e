//! Pages: a client opens the connection and sends requests, over every transport that carries data
//! in both directions.

use crate::common::tables::Tables;
use acklab_lab::scenario::load;

/// A round trip of 40 ms. At this rate, transmission takes no time, and a page takes only its round
/// trips.
const SCENARIO: &str = r#"
duration = "5s"
seed = 1

[[link]]
name = "access"
from = "server"
to = "client"
forward = { rate = "1Gbps", delay = "20ms" }
reverse = { rate = "1Gbps", delay = "20ms" }

[[flow]]
name = "page"
from = "server"
to = "client"
transport = { protocol = "quic" }
page = { document = "10kB", objects = ["1kB", "1kB", "1kB", "1kB", "1kB"] }
"#;

fn run(sets: &[&str]) -> Tables {
    Tables::run(SCENARIO, sets, None)
}

fn load_time(tables: &Tables) -> f64 {
    tables.numbers("flows", "page_load_time_l7")[0]
}

/// One round trip for the handshake, one for the document, and one for all objects together or for
/// each.
#[test]
fn a_page_takes_its_round_trips() {
    for protocol in ["quic", "tcp", "tack", "quinn"] {
        let preset = if protocol == "tcp" { r#", preset="linux""# } else { "" };
        let transport = format!(r#"flow.0.transport={{protocol="{protocol}"{preset}}}"#);
        for (requests, round_trips) in [("parallel", 3.0), ("serial", 7.0)] {
            let tables = run(&[&transport, &format!("flow.0.page.requests={requests}")]);
            let time = load_time(&tables);
            let least = 0.040 * round_trips;
            assert!((least..least + 0.010).contains(&time), "{protocol}, {requests}: {time}");
            let first = tables.numbers("flows", "mean_time_to_first_octet_l7")[0];
            assert!((40.0..42.0).contains(&first), "{protocol}, {requests}: {first}");
            assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [15_000, 6 * 400], "{protocol}");
        }
    }
}

#[test]
fn each_object_has_a_row() {
    let tables = run(&["flow.0.page.think=5ms"]);
    assert_eq!(tables.texts("objects", "flow"), ["page"; 6]);
    assert_eq!(tables.counts("objects", "object"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(tables.counts("objects", "size_l7"), [10_000, 1000, 1000, 1000, 1000, 1000]);
    let requested = tables.numbers("objects", "request_time_l7");
    assert!((requested[0] - 0.040).abs() < 0.001, "after the handshake: {requested:?}");
    assert!(requested[1..].iter().all(|at| (at - 0.085).abs() < 0.001), "after the document: {requested:?}");
    for first in tables.numbers("objects", "time_to_first_octet_l7") {
        assert!((45.0..46.0).contains(&first), "a round trip and 5 ms: {first}");
    }
    let complete = tables.numbers("objects", "completion_time_l7");
    assert!((complete.iter().copied().fold(0.0, f64::max) - load_time(&tables)).abs() < 1e-9);
    assert_eq!(tables.texts("flows", "traffic_model"), ["Page(objects=6, bytes=15000)", "Fixed(bytes=2400)"]);
    assert_eq!(tables.texts("flows", "src"), ["server", "client"]);
}

/// The client opens the connection, so its handshake completes first. Its first packet is the first
/// on the return link.
#[test]
fn the_client_opens_the_connection() {
    for protocol in ["quic", "tcp", "tack", "quinn"] {
        let preset = if protocol == "tcp" { r#", preset="linux""# } else { "" };
        let transport = format!(r#"flow.0.transport={{protocol="{protocol}"{preset}}}"#);
        let tables = run(&[&transport, "duration=10ms"]);
        assert_eq!(tables.counts("links", "total_packets_in_l2"), [0, 1], "{protocol}: forward and reverse");
    }
}

/// The packet that carries the first object is lost. With a stream for each object, the other
/// objects do not wait for it. With one stream, they do.
#[test]
fn a_loss_delays_one_object_of_many_streams_and_all_behind_it_on_one() {
    let times = |streams: &str| {
        // In the forward direction: the server's two datagrams of the handshake, its
        // HANDSHAKE_DONE, and the document.
        let tables = run(&[
            &format!("flow.0.page.streams={streams}"),
            "flow.0.page.objects=[\"1439B\", \"1439B\", \"1439B\", \"1439B\", \"1439B\", \"1439B\"]",
            r#"link.access.forward.loss={model="list", packets=[13]}"#,
        ]);
        let times = tables.numbers("objects", "response_time_l7");
        let late = times[1..].iter().filter(|time| **time > 60.0).count();
        (late, times)
    };
    let (many, times_of_many) = times("many");
    assert_eq!(many, 1, "{times_of_many:?}");
    let (one, times_of_one) = times("one");
    assert!(one > 2, "{times_of_one:?}");
}

#[test]
fn a_page_that_is_not_complete_has_no_load_time() {
    let tables = run(&["duration=100ms"]);
    assert_eq!(tables.nulls("flows", "page_load_time_l7"), [true, true]);
    assert_eq!(tables.nulls("objects", "completion_time_l7"), [false, true, true, true, true, true]);
}

/// If the peer's limit is reached, a stream is opened when another has ended (RFC 9000, §4.6).
#[test]
fn objects_wait_for_streams() {
    let few = run(&["flow.0.streams=2"]);
    // The document's stream stays open, so objects come one by one: 40 ms each. Between two of
    // them, the client delays its ACK by 25 ms. The ACK and the permission to open another stream
    // take 40 ms.
    let least = 0.080 + 5.0 * 0.040 + 4.0 * 0.065;
    assert!((least..least + 0.010).contains(&load_time(&few)), "{}", load_time(&few));
    assert_eq!(few.counts("flows", "total_delivered_bytes_l7"), [15_000, 2400]);
}

#[test]
fn what_contradicts_a_page_is_refused() {
    let refused = |set: &str| load(SCENARIO, "the page", &[set.to_owned()], None).unwrap_err().to_string();
    let empty = refused("flow.0.page.document=0B");
    assert!(empty.contains("expected a size above zero"), "{empty}");
    assert!(refused("flow.0.page.objects=[\"0B\"]").contains("page.objects.0"));
    assert!(refused("flow.0.page.requests=at-once").contains("parallel"));
    assert!(refused(r#"flow.0.traffic={model="fixed", size="1MB"}"#).contains("expected no `traffic`"));
    assert!(refused(r#"flow.0.back={model="greedy"}"#).contains("expected no `back`"));
    assert!(refused("flow.0.stop=1s").contains("expected no `stop`"));
    let over_udp = refused(r#"flow.0.transport={protocol="udp"}"#);
    assert!(over_udp.contains("carries no requests"), "{over_udp}");
}
