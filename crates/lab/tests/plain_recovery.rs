//! Recovery without SACK in a cell that aggregates: one ACK per segment, and one per spurious
//! retransmission.

use crate::common::tables::Tables;

/// Four downloads through an access point of ns-3: NewReno without SACK, with an initial window of
/// one segment.
const CELL: &str = include_str!("../../../studies/wifi_parity/download.toml");

/// Returns the goodput in Mbps and the number of retransmitted packets of all four flows.
fn downloads(preset: &str, recovery: &str) -> (f64, u64) {
    let (preset, recovery) = (format!(r#"flow.0.preset="{preset}""#), format!(r#"flow.0.recovery="{recovery}""#));
    let sets = [
        preset.as_str(),
        recovery.as_str(),
        r#"flow.0.congestion="newreno""#,
        "flow.0.sack=false",
        r#"flow.0.initial_window="1segments""#,
        r#"flow.0.ack={ policy = "per-packet" }"#,
        "wifi.0.station.0.count=4",
        r#"wifi.0.ap.queue.limit="504packets""#,
    ];
    let tables = Tables::run(CELL, &sets, None);
    let again = tables.counts("flows", "total_retransmissions_l4").iter().sum();
    (tables.numbers("flows", "mean_throughput_l4").iter().sum(), again)
}

/// If duplicate ACKs deliver nothing, PRR permits no new data. It then stays at a window of one and
/// a half segments, and retransmits data that arrived long ago. It carries 46 Mbps with 30,958
/// packets retransmitted in ten seconds, and no timeout. Classic recovery carries 129 Mbps with
/// 166.
#[test]
fn proportional_rate_reduction_without_sack_carries_what_classic_recovery_does() {
    for preset in ["ns3", "rfc", "linux"] {
        let (classic, _) = downloads(preset, "classic");
        let (prr, again) = downloads(preset, "prr");
        println!("{preset}: prr {prr:.1} Mbps with {again} packets retransmitted, classic {classic:.1}");
        assert!(prr > 0.9 * classic, "{preset}: {prr:.1} Mbps, and {classic:.1} with classic recovery");
        assert!(again < 3000, "{preset}: {again} packets retransmitted");
    }
}

/// Slow start overshoots, and the last packets of that recovery lose four segments in a row. An ACK
/// that shows a gap has the same window as the previous ACK, so that it counts as a duplicate.
/// While the window changed with it, 200 ms of silence followed. The kernel has no timeout over the
/// same emulated path either.
#[test]
fn duplicates_show_a_gap_while_the_receive_window_grows() {
    let path = r#"
duration = "8s"
seed = 1
[[link]]
name = "btl"
from = "a"
to = "b"
forward = { rate = "16Mbps", delay = "7.5ms", queue = { discipline = "fifo", limit = "40packets" } }
reverse = { rate = "16Mbps", delay = "7.5ms" }
[[flow]]
from = "a"
to = "b"
preset = "linux"
congestion = "cubic"
sack = false
"#;
    let tables = Tables::run(path, &[] as &[&str], None);
    assert_eq!(tables.counts("flows", "total_rtos_l4"), [0]);
    assert!(tables.numbers("flows", "mean_throughput_l4")[0] > 15.0, "the kernel has 15.3 Mbps");
}
