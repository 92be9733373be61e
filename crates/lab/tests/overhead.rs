//! Handshake, overhead and ACK frames of a flow: the same columns for every transport.

use crate::common::tables::Tables;

/// A path without loss, whose round trip of 100 ms hides the transmission times of a handshake.
const PATH: &str = r#"
duration = "20s"
seed = 1

[[link]]
name = "path"
from = "a"
to = "b"
forward = { rate = "100Mbps", delay = "50ms", queue = { discipline = "fifo", limit = "1000packets" } }
reverse = { rate = "100Mbps", delay = "50ms", queue = { discipline = "fifo", limit = "1000packets" } }

[[flow]]
name = "flow"
from = "a"
to = "b"
traffic = { model = "fixed", size = "1MB" }
"#;

fn over(transport: &str, sets: &[&str]) -> Tables {
    let chosen = if transport == "tcp" {
        "flow.flow.preset=linux".to_owned()
    } else {
        format!("flow.flow.transport.protocol={transport}")
    };
    Tables::run(PATH, &[&[chosen.as_str()], sets].concat(), None)
}

#[test]
fn every_reliable_transport_has_a_handshake_of_one_round_trip() {
    for transport in ["tcp", "tack", "quic", "quinn"] {
        let handshake = over(transport, &[]).numbers("flows", "handshake_time_l4")[0];
        // In both directions, at most a dozen full packets of 0.12 ms each.
        assert!((100.0..101.5).contains(&handshake), "{transport}: {handshake} ms");
    }
}

#[test]
fn the_handshake_counts_from_the_start_of_the_flow() {
    let late = over("tcp", &["flow.flow.start=3s", "measure.from=4s"]).numbers("flows", "handshake_time_l4")[0];
    assert!((100.0..101.5).contains(&late), "{late} ms");
}

/// Without loss, the link carries every octet of data once. All other octets are overhead.
#[test]
fn data_and_overhead_are_all_octets_of_the_link() {
    for transport in ["tcp", "tack", "quic", "quinn"] {
        let tables = over(transport, &[]);
        assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [1_000_000], "{transport}");
        let overhead = tables.counts("flows", "total_overhead_bytes_l3")[0];
        assert_eq!(overhead + 1_000_000, tables.counts("links", "total_bytes_in_l2")[0], "{transport}");
    }
}

/// A datagram has 20 octets of IPv4 and 8 of UDP, and no handshake.
#[test]
fn udp_has_headers_and_nothing_else() {
    let sets = ["flow.flow.traffic.model=constant", "flow.flow.traffic.rate=1Mbps", "flow.flow.traffic.write=1000B"];
    let text = PATH.replace(r#", size = "1MB""#, "");
    let sets: Vec<&str> = sets.into_iter().chain(["flow.flow.transport.protocol=udp"]).collect();
    let tables = Tables::run(&text, &sets, None);
    let packets = tables.counts("flows", "total_data_packets_l4")[0];
    assert!(packets > 2000);
    assert_eq!(tables.counts("flows", "total_overhead_bytes_l3"), [28 * packets]);
    assert_eq!(tables.nulls("flows", "handshake_time_l4"), [true]);
    assert_eq!(tables.nulls("flows", "total_ack_frames_sent_l4"), [true]);
}

/// With data in both directions, acknowledgments leave with data, if TCP or QUIC decides so.
#[test]
fn ack_frames_count_with_data_too() {
    let both = ["flow.flow.back.model=constant", "flow.flow.back.rate=1Mbps", "flow.flow.back.write=1000B"];
    for transport in ["tcp", "quic", "quinn"] {
        let (one_way, both_ways) = (over(transport, &[]), over(transport, &both));
        let count = |tables: &Tables, column: &str| tables.counts("flows", column)[0];
        let (alone, frames) = (count(&both_ways, "total_acks_sent_l4"), count(&both_ways, "total_ack_frames_sent_l4"));
        assert!(frames > alone, "{transport}: {frames} ACK frames, {alone} of them alone");
        let (alone, frames) = (count(&one_way, "total_acks_sent_l4"), count(&one_way, "total_ack_frames_sent_l4"));
        // ACK frames of the handshake may share a datagram.
        assert!((alone..alone + 5).contains(&frames), "{transport}: {frames} ACK frames, {alone} packets with them");
    }
}
