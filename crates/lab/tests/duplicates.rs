//! Copies that the network makes of packets are not evidence of a spurious retransmission, so each
//! loss keeps its reduction.

use crate::common::tables::Tables;

/// NewReno over a path that loses one packet in a thousand, far below its rate. The response
/// function of RFC 5681, 1.22 MSS / (RTT √p) with ACKs for two segments each (Mathis et al., 1997),
/// gives 21 Mbps at 21 ms.
const PATH: &str = r#"
duration = "10s"
seed = 1
[[link]]
name = "net"
from = "src"
to = "dst"
[link.forward]
rate = "100Mbps"
delay = "20ms"
loss = { model = "independent", probability = 0.001 }
duplicate = { probability = 0.0 }
queue = { discipline = "fifo", limit = "3000packets" }
[link.reverse]
rate = "100Mbps"
delay = "1ms"
queue = { discipline = "fifo", limit = "3000packets" }
[[flow]]
from = "src"
to = "dst"
"#;

/// The transports that undo reductions, with NewReno.
const TRANSPORTS: [&str; 5] = [
    "{ protocol = \"tcp\", preset = \"rfc\", congestion = \"newreno\" }",
    "{ protocol = \"tcp\", preset = \"linux\", congestion = \"newreno\" }",
    "{ protocol = \"tcp\", preset = \"rfc\", congestion = \"newreno\", detection = \"dup-thresh\" }",
    "{ protocol = \"quic\", preset = \"rfc\", congestion = \"newreno\", undo = true }",
    "{ protocol = \"tack\", congestion = \"newreno\" }",
];

/// Returns the goodput in Mbps, the mean SRTT in ms, and the reductions that were undone.
fn carried(transport: &str, copied: f64) -> (f64, f64, u64) {
    let text = format!("{PATH}transport = {transport}\n");
    let tables = Tables::run(&text, &[format!("link.0.forward.duplicate.probability={copied}")], None);
    let undone = tables.counts("flows", "total_undone_reductions_l4")[0];
    (tables.numbers("flows", "mean_throughput_l4")[0], tables.numbers("flows", "mean_srtt_l4")[0], undone)
}

/// A copy cancels no loss. With 1 % of copies, preset `rfc` undid every reduction, and NewReno
/// filled the path and its queue.
#[test]
fn duplicates_of_the_network_undo_no_reduction() {
    for transport in TRANSPORTS {
        let (plain, _, _) = carried(transport, 0.0);
        for share in [0.0005, 0.01, 0.3] {
            let (goodput, srtt, undone) = carried(transport, share);
            println!(
                "{transport} {share}: {goodput:.2} Mbps, {plain:.2} without copies, SRTT {srtt:.1} ms, {undone} undone"
            );
            assert!((0.7 * plain..1.3 * plain).contains(&goodput), "{transport}, {share}: {goodput} Mbps for {plain}");
            assert!(srtt < 25.0, "{transport}, {share}: the queue fills, SRTT {srtt} ms");
        }
    }
}
