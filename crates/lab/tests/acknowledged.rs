//! Three rates of a flow in order: data are sent, then arrive, then are acknowledged, so no later
//! rate exceeds an earlier one.

use crate::common::tables::Tables;

/// BBR without SACK over a path that loses one packet in fifty. Duplicate ACKs of segments that
/// were retransmitted needlessly look like deliveries.
const WITHOUT_SACK: &str = r#"
duration = "20s"
seed = 1
[[link]]
name = "btl"
from = "src"
to = "dst"
forward = { rate = "20Mbps", delay = "20ms", loss = { model = "independent", probability = 0.02 }, queue = { discipline = "fifo", limit = "1000packets" } }
reverse = { rate = "20Mbps", delay = "20ms", queue = { discipline = "fifo", limit = "1000packets" } }
[[flow]]
from = "src"
to = "dst"
preset = "linux"
congestion = "bbr"
sack = false
"#;

/// Packets are reordered and so look lost, but arrive after their repetitions. Half of the feedback
/// is lost.
const REORDERED: &str = r#"
duration = "8s"
seed = 299
[[link]]
name = "l0"
from = "a"
to = "b"
forward = { delay = "0ms", queue = { discipline = "pie" }, reorder = { probability = 0.5, by = "1ms" }, jitter = { model = "exponential", mean = "5ms" } }
reverse = { rate = "1.7629Mbps", delay = "0.1ms", queue = { discipline = "codel" }, loss = { model = "independent", probability = 0.5 } }
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tack" }
reading = { model = "constant", rate = "0.0574Mbps", read = "16kB" }
"#;

const TRANSPORTS: [&str; 3] = [
    "{ protocol = \"tack\" }",
    "{ protocol = \"quic\", preset = \"rfc\" }",
    "{ protocol = \"tcp\", preset = \"rfc\" }",
];

/// Returns the rates of sending, of arrivals and of acknowledged octets, in Mbps.
fn rates(text: &str, sets: &[&str]) -> [f64; 3] {
    let tables = Tables::run(text, sets, None);
    ["mean_sending_rate_l4", "mean_throughput_l4", "mean_delivery_rate_l4"].map(|rate| tables.numbers("flows", rate)[0])
}

fn check(text: &str, sets: &[&str], share: f64) {
    let [sent, arrived, acknowledged] = rates(text, sets);
    println!("{sets:?}: {sent:.3} Mbps sent, {arrived:.3} arrived, {acknowledged:.3} acknowledged");
    assert!(
        arrived <= sent && acknowledged <= arrived,
        "{sets:?}: {sent} sent, {arrived} arrived, {acknowledged} acknowledged"
    );
    assert!(acknowledged >= share * arrived, "{sets:?}: {acknowledged} of {arrived} Mbps");
}

/// Here Linux counted 12.04 Mbps as delivered, although 11.28 Mbps were sent and 7.77 Mbps arrived.
#[test]
fn without_sack_no_octet_is_acknowledged_twice() {
    for preset in ["linux", "rfc", "ns3"] {
        for congestion in ["bbr", "newreno"] {
            let sets = [format!("flow.0.preset=\"{preset}\""), format!("flow.0.congestion=\"{congestion}\"")];
            check(WITHOUT_SACK, &[&sets[0], &sets[1]], 0.8);
        }
    }
}

/// TACK counted packets: 3 % more than the octets that had arrived.
#[test]
fn packets_that_were_only_late_carry_nothing_new() {
    for transport in TRANSPORTS {
        check(REORDERED, &[&format!("flow.0.transport={transport}")], 0.9);
    }
}

/// All octets are acknowledged at the end. The end of the stream does not count as an octet.
#[test]
fn the_end_of_a_stream_is_no_octet() {
    for transport in TRANSPORTS {
        let sets = [
            "link.0.reverse.loss.probability=0.0",
            "flow.0.traffic={ model = \"fixed\", size = \"100B\" }",
            &format!("flow.0.transport={transport}"),
        ];
        let [sent, arrived, acknowledged] = rates(REORDERED, &sets);
        assert!(sent > 0.0);
        assert_eq!((arrived, acknowledged), (sent, sent), "{transport}");
    }
}
