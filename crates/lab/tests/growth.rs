//! Growth of the window in congestion avoidance: one packet per round trip (RFC 5681, §3.1; RFC
//! 9002, §7.3.3). This also holds if ACKs arrive in bunches while pacing delays packets (RFC 9002,
//! §7.8).

use crate::common::tables::Tables;

/// 100 Mbps and 40 ms, behind a gate that passes ACKs every 20 ms. The hundredth packet is lost,
/// which ends slow start at about 60 packets. The bandwidth-delay product is 400 packets; at one
/// packet per round trip, ten seconds are too short to reach it.
const GATED: &str = r#"
duration = "10s"
seed = 1
[[link]]
name = "btl"
from = "a"
to = "b"
forward = { rate = "100Mbps", delay = "20ms", loss = { model = "list", packets = [100] }, queue = { discipline = "fifo", limit = "1000packets" } }
reverse = { rate = "100Mbps", delay = "20ms", gate = { interval = "20ms", quota = 1000 } }
[measure]
series = ["operating_point"]
[[flow]]
from = "a"
to = "b"
"#;

/// Returns the growth in packets per round trip between the third and the last second.
fn growth(sets: &[&str]) -> f64 {
    let tables = Tables::run(GATED, sets, None);
    let (time, cwnd, srtt) = (
        tables.numbers("operating_point", "time"),
        tables.numbers("operating_point", "cwnd"),
        tables.numbers("operating_point", "srtt"),
    );
    let first = time.partition_point(|time| *time < 3.0);
    let last = time.len() - 1;
    let mean_srtt = srtt[first..].iter().sum::<f64>() / (last - first + 1) as f64;
    let round_trips = (time[last] - time[first]) * 1000.0 / mean_srtt;
    (cwnd[last] - cwnd[first]) / round_trips
}

/// Checks that the growth is that of a window that is acknowledged once per round trip. If ACKs
/// come in bunches, pacing leaves some of the window unused: the TCP of ns-3, which grows on every
/// ACK, grows by only 0.85.
fn assert_about_one(name: &str, growth: f64) {
    println!("{name}: {growth:.3}");
    assert!((0.8..1.1).contains(&growth), "{name}: {growth} packets a round trip");
}

fn tcp(preset: &str) {
    let transport = format!(
        r#"flow.0.transport={{ protocol = "tcp", preset = "{preset}", congestion = "newreno", ack = {{ policy = "per-packet" }} }}"#
    );
    for pacing in ["always", "never"] {
        let pacing = format!(r#"flow.0.transport.pacing="{pacing}""#);
        assert_about_one(&format!("{preset}, {pacing}"), growth(&[&transport, &pacing]));
    }
}

#[test]
fn tcp_of_the_rfcs_grows_behind_a_gate() {
    tcp("rfc");
}

#[test]
fn tcp_of_linux_grows_behind_a_gate() {
    tcp("linux");
}

#[test]
fn tcp_of_ns3_grows_behind_a_gate() {
    tcp("ns3");
}

#[test]
fn tack_grows_behind_a_gate() {
    let transport = r#"flow.0.transport={ protocol = "tack", congestion = "newreno" }"#;
    assert_about_one("tack", growth(&[transport]));
}

#[test]
fn quic_grows_behind_a_gate() {
    for preset in ["rfc", "quinn"] {
        let transport =
            format!(r#"flow.0.transport={{ protocol = "quic", preset = "{preset}", congestion = "newreno" }}"#);
        for pacing in ["always", "never"] {
            let pacing = format!(r#"flow.0.transport.pacing="{pacing}""#);
            assert_about_one(&format!("quic, {preset}, {pacing}"), growth(&[&transport, &pacing]));
        }
    }
}

/// The reference: quinn-proto always paces, both with its own controller and with one of this
/// project.
#[test]
fn quinn_grows_behind_a_gate() {
    for controllers in ["quinn", "acklab"] {
        let transport = format!(
            r#"flow.0.transport={{ protocol = "quinn", congestion = "newreno", controllers = "{controllers}", packet = "1500B" }}"#
        );
        assert_about_one(&format!("quinn-proto, controllers of {controllers}"), growth(&[&transport]));
    }
}
