//! Performance enhancing proxies: one connection on each side, and the data that the proxy passes
//! on.

use crate::common::tables::Tables;
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use proptest::prelude::*;

/// A server 10 ms before the gateway, and a satellite of 600 ms behind it. Transmission times are
/// less than a tenth of a millisecond.
const SATELLITE: &str = r#"
duration = "60s"
seed = 1
pep = [{ node = "gateway" }]
[[link]]
name = "wire"
from = "server"
to = "gateway"
forward = { rate = "10Gbps", delay = "5ms" }
reverse = { rate = "10Gbps", delay = "5ms" }
[[link]]
name = "satellite"
from = "gateway"
to = "terminal"
forward = { rate = "10Gbps", delay = "300ms" }
reverse = { rate = "10Gbps", delay = "300ms" }
[[flow]]
name = "down"
from = "server"
to = "terminal"
preset = "linux"
traffic = { model = "fixed", size = "1000B" }
"#;

const LARGE: &str = "flow.0.traffic.size=2MB";
const OFF: &str = "pep=";

fn run(sets: &[&str]) -> Tables {
    Tables::run(SATELLITE, sets, None)
}

/// Returns the time from the start to the ACK of the FIN, in milliseconds.
fn completion(sets: &[&str]) -> f64 {
    run(sets).numbers("flows", "flow_completion_time_l4")[0] * 1e3
}

/// One segment with its FIN, calculated by hand. Without a proxy, the SYN and the data take a round
/// trip of 610 ms each. A proxy that answers the SYN at once sends its own SYN after 5 ms, and has
/// the data before that is answered. A proxy that waits has the data 10 ms later.
#[test]
fn the_handshake_decides_when_data_come_to_the_proxy() {
    let close_to =
        |found: f64, expected: f64| assert!((found - expected).abs() < 0.1, "{found} ms, expected {expected}");
    close_to(completion(&[OFF]), 610.0 + 610.0);
    close_to(completion(&[]), 5.0 + 600.0 + 600.0);
    close_to(completion(&["pep.0.handshake=end-to-end"]), 5.0 + 600.0 + 10.0 + 600.0);
}

#[test]
fn the_row_of_the_flow_tells_of_both_ends() {
    // Data that the proxy cannot pass on at once would delay its ACKs.
    let tables = run(&["flow.0.traffic.size=14kB"]);
    assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [14_000], "at the terminal");
    let srtt = (tables.numbers("flows", "mean_srtt_l4")[0], tables.numbers("peps", "mean_srtt_l4")[0]);
    assert!((srtt.0 - 10.0).abs() < 1.0 && (srtt.1 - 600.0).abs() < 5.0, "{srtt:?} ms before and behind the proxy");
    assert_eq!(tables.texts("peps", "flow"), ["down"]);
    assert_eq!(tables.texts("peps", "pep"), ["gateway"]);
}

/// Each side has a suitable transport (RFC 3135, §2.4).
#[test]
fn a_side_has_settings_of_its_own() {
    let side = r#"pep.0.side=[{ link = "satellite", transport = { preset = "linux", congestion = "newreno", initial_window = "1000segments" } }]"#;
    let (flow, own) = (completion(&[LARGE]), completion(&[LARGE, side]));
    // 2 MB are 1382 segments. From an initial window of 10, slow start needs eight round trips of
    // 600 ms each. With an initial window of 1000, only the buffers of both ends limit the rate.
    assert!(flow > 600.0 * 8.0 && own < flow - 600.0 * 2.0, "{flow} and {own} ms");
    assert_eq!(run(&[LARGE, side]).texts("peps", "cca"), ["newreno"]);
}

/// Data that the reader does not read fill one buffer after the other. Then the sender sends at the
/// rate of the reader (RFC 9293, §3.8.6).
#[test]
fn a_slow_reader_stops_the_sender_through_the_proxy() {
    let slow = [
        "duration=60s",
        "flow.0.traffic={ model = \"greedy\" }",
        "flow.0.reading={ model = \"constant\", rate = \"2Mbps\", read = \"16KiB\" }",
        "flow.0.receive_buffer=288KiB",
        "flow.0.receive_window=whole-buffer",
        "flow.0.send_buffer=512KiB",
        "measure.from=30s",
    ];
    let tables = run(&slow);
    for (table, column) in
        [("flows", "mean_throughput_l7"), ("peps", "mean_throughput_l4"), ("peps", "mean_sending_rate_l4")]
    {
        let rate = tables.numbers(table, column)[0];
        assert!((rate / 2.0 - 1.0).abs() < 0.02, "{table}.{column}: {rate} Mbps");
    }
    let held = tables.counts("peps", "max_held_l4")[0];
    assert!(
        (512 << 10..=(512 + 288) << 10).contains(&held),
        "{held}: the send buffer of one side and the receive buffer of the other"
    );
    // Nothing is lost. Linux delays the ACK of data that the proxy does not read by 40 ms. A tail
    // loss probe leaves after two round trips of 10 ms.
    let counts = |column| tables.counts("flows", column)[0];
    assert!(counts("total_retransmissions_l4") <= counts("total_tail_loss_probes_l4"), "a probe may hold new data");
    assert_eq!((counts("total_rtos_l4"), counts("total_lost_l4")), (0, 0));
}

#[test]
fn other_transports_pass() {
    for transport in ["udp", "tack"] {
        let sets = [
            format!("flow.0.transport={{ protocol = \"{transport}\" }}"),
            "flow.0.traffic={ model = \"constant\", rate = \"1Mbps\" }".to_owned(),
            "duration=5s".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let without: Vec<&str> = sets.iter().copied().chain([OFF]).collect();
        assert!(run(&sets) == run(&without), "{transport}");
    }
}

#[test]
fn proxies_follow_each_other() {
    let second = r#"
pep = [{ node = "far" }, { node = "gateway", handshake = "end-to-end" }]
[[link]]
name = "lan"
from = "terminal"
to = "far"
forward = { rate = "10Gbps", delay = "1ms" }
reverse = { rate = "10Gbps", delay = "1ms" }
[[link]]
name = "last"
from = "far"
to = "host"
forward = { rate = "10Gbps", delay = "2ms" }
reverse = { rate = "10Gbps", delay = "2ms" }
[[flow]]"#;
    let text = SATELLITE.replace("pep = [{ node = \"gateway\" }]\n", "").replace("[[flow]]", second);
    let (pep, text) = (second.lines().nth(1).unwrap(), text.replace(second.lines().nth(1).unwrap(), ""));
    let text = text
        .replace("seed = 1", &format!("seed = 1\n{pep}"))
        .replace("to = \"terminal\"\npreset", "to = \"host\"\npreset");
    let tables = Tables::run(&text, &[LARGE], None);
    assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [2_000_000]);
    assert_eq!(tables.texts("peps", "pep"), ["gateway", "far"], "in the direction of the data");
}

#[test]
fn data_in_both_directions_are_refused() {
    let scenario = load(SATELLITE, "x.toml", &["flow.0.back={ model = \"greedy\" }".to_owned()], None).unwrap();
    let refused = acklab_lab::run(&scenario, &RunOptions::default(), || true).unwrap_err().to_string();
    assert_eq!(
        refused,
        "flow \"down\": found data in both directions over the proxy at \"gateway\", expected no `back`, because a proxy splits one direction"
    );
}

#[test]
fn refusals_name_the_place() {
    let refusal = |set: &str| load(SATELLITE, "x.toml", &[set.to_owned()], None).unwrap_err().to_string();
    let side = |side: &str| refusal(&format!("pep.0.side=[{side}]"));
    let cases = [
        (
            refusal("pep.0.node=gatewax"),
            "found \"gatewax\", expected a node that a link or a cell names: gateway, server, terminal",
        ),
        (refusal("pep=[{ node = \"gateway\" }, { node = \"gateway\" }]"), "expected a node without another proxy"),
        (
            side("{ link = \"lan\", transport = { preset = \"linux\" } }"),
            "expected a link or a cell of the node gateway: wire, satellite",
        ),
        (side("{ link = \"wire\", transport = { preset = \"linux\", mss = \"0B\" } }"), "expected a size from 1B to"),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found}\nexpected: {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// All octets and the end of the stream arrive, for any losses on either side and any size of
    /// the buffers. The proxy never holds more than its buffers.
    #[test]
    fn octets_are_conserved(
        size in 1u64..400_000,
        losses in (0.0..0.1, 0.0..0.1, 0.0..0.2),
        buffers in (4u64..200, 4u64..200),
        reading in prop::option::of(500u64..5000),
        end_to_end: bool,
        seed in 0u64..1000,
    ) {
        let (send, receive) = (buffers.0 << 10, buffers.1 << 10);
        let lossy = |direction: &str, share: f64| {
            format!("link.{direction}.loss={{ model = \"independent\", probability = {share:.3} }}")
        };
        let mut sets = vec![
            "duration=20000s".to_owned(),
            format!("flow.0.traffic.size={size}B"),
            lossy("wire.forward", losses.0),
            lossy("satellite.forward", losses.1),
            lossy("satellite.reverse", losses.2),
            format!("flow.0.send_buffer={send}B"),
            format!("flow.0.receive_buffer={receive}B"),
        ];
        sets.extend(reading.map(|kbps| format!("flow.0.reading={{ model = \"constant\", rate = \"{kbps}kbps\", read = \"1000B\" }}")));
        sets.extend(end_to_end.then(|| "pep.0.handshake=end-to-end".to_owned()));
        let tables = Tables::run(SATELLITE, &sets, Some(seed));
        prop_assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [size]);
        prop_assert!(tables.numbers("flows", "flow_completion_time_l4")[0] < 19_999.0, "the FIN is acknowledged");
        let held = tables.counts("peps", "max_held_l4")[0];
        // Out-of-order segments are held as well. The window is rounded up by less than its scale.
        prop_assert!(held <= (send + receive + 1448).max(size), "{} octets", held);
    }
}
