//! Mechanisms between endpoints: a shaper is named as the limit, HACK works with large Block ACK
//! windows, and ACKs of every transport count as ACKs on the air. A fit without a parameter of the
//! path is refused.

use crate::common::tables::Tables;
use acklab_lab::scenario::load;

const SHAPED: &str = r#"
duration = "5s"
seed = 1
[measure]
from = "1s"
[[link]]
name = "l"
from = "src"
to = "dst"
forward = { rate = "100Mbps", delay = "10ms", queue = { discipline = "cake", rate = "20Mbps", limit = "1000packets" } }
reverse = { rate = "100Mbps", delay = "10ms" }
[[flow]]
from = "src"
to = "dst"
preset = "linux"
"#;

/// CAKE shapes the link of 100 Mbps to 20 Mbps. The shaped rate is the rate of the hop, so the hop
/// is fully busy, not by a fifth.
#[test]
fn a_shaper_is_the_rate_that_limits() {
    for controller in ["cubic", "bbr"] {
        let tables = Tables::run(SHAPED, &[format!("flow.0.congestion={controller}")], None);
        assert_eq!(tables.texts("flows", "limited_by"), ["rate"], "{controller}");
        assert!((tables.numbers("flows", "bottleneck_capacity_l2")[0] - 20.0).abs() < 1e-9);
        assert!(tables.numbers("links", "mean_utilization_l1")[0] > 0.95);
    }
}

/// A download to one station at 80 MHz: aggregates of up to 256 frames need more HACK numbers than
/// eight bits distinguish.
const AX: &str = r#"
duration = "1s"
seed = 1
[[link]]
name = "wire"
from = "server"
to = "ap"
forward = { rate = "10Gbps", delay = "1ms" }
reverse = { rate = "10Gbps", delay = "1ms" }
[[wifi]]
name = "cell"
standard = "802.11ax"
width = "80MHz"
rate = { control = "fixed", mcs = 11 }
[wifi.ap]
name = "ap"
[[wifi.station]]
name = "sta"
[[flow]]
from = "server"
to = "sta"
transport = { protocol = "tcp", preset = "linux" }
"#;

/// With 128 numbers, no ACK after an aggregate of 256 frames was compressed.
#[test]
fn hack_compresses_behind_a_large_window() {
    let with = Tables::run(AX, &["wifi.cell.hack={}"], None);
    let compressed: u64 = with.counts("hack", "total_compressed_acks_l2").iter().sum();
    let plain: u64 = with.counts("hack", "total_plain_acks_l2").iter().sum();
    assert!(compressed > plain, "{compressed} compressed, {plain} plain");
    assert_eq!(with.counts("hack", "total_decompression_failures_l2").iter().sum::<u64>(), 0);
    let goodput = |tables: &Tables| tables.numbers("flows", "mean_throughput_l7")[0];
    assert!(goodput(&with) > goodput(&Tables::run(AX, &[] as &[&str], None)));
}

/// The station sends only acknowledgments, with every transport, so all its airtime with packets is
/// that of ACKs.
#[test]
fn acks_of_every_transport_are_acks_on_the_air() {
    for transport in
        ["protocol = \"tcp\", preset = \"linux\"", "protocol = \"tack\"", "protocol = \"quic\"", "protocol = \"quinn\""]
    {
        let set = format!("flow.0.transport={{ {transport} }}");
        let tables = Tables::run(AX, &[set.as_str(), "measure.from=200ms"], None);
        let time = |node: &str, wanted: &str| -> u64 {
            let rows = tables.texts("airtime", "node").into_iter().zip(tables.texts("airtime", "use"));
            rows.zip(tables.counts("airtime", "time"))
                .filter(|((at, use_), _)| at == node && use_ == wanted)
                .map(|(_, time)| time)
                .sum()
        };
        assert!(time("sta", "transport_ack") > 0, "{transport}");
        let data = time("sta", "data");
        assert!(data * 10 < time("sta", "transport_ack"), "{transport}: {data} ns of data");
        // The access point acknowledges the station's few packets that elicit an ACK.
        assert!(
            time("ap", "transport_ack") * 20 < time("sta", "transport_ack"),
            "{transport}: the access point sends data"
        );
    }
}

const FITTED: &str = r#"
duration = "1s"
seed = 1
[[link]]
name = "path"
from = "sender"
to = "receiver"
forward = { rate = "20Mbps", delay = "10ms" }
reverse = { delay = "10ms" }
[[flow]]
from = "sender"
to = "receiver"
preset = "linux"
[fit]
capture = "download.pcap"
direction = "a → b"
[[fit.parameter]]
key = "link.path.reverse.rate"
status = "unknown"
evidence = "the capture has no data towards the sender"
source = "inspect: a → b"
give = "--set link.path.reverse.rate=VALUE"
"#;

/// If the capture does not show a parameter, the fit is refused until an option sets it, and the
/// message names the option. Without the table, the path has no rate.
#[test]
fn a_fit_with_an_unknown_is_refused_until_it_is_given() {
    let read =
        |sets: &[&str]| load(FITTED, "link.toml", &sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>(), None);
    let refusal = read(&[]).expect_err("the rate is unknown").to_string();
    let expected = "link.path.reverse.rate: not known from the capture (the capture has no data towards the sender); \
                    give it: --set link.path.reverse.rate=VALUE";
    assert!(refusal.contains(expected), "{refusal}");
    assert!(read(&["link.path.reverse.rate=2Mbps"]).is_ok());
    assert!(read(&["link.0.reverse.rate=2Mbps"]).is_ok());
    assert!(read(&["fit="]).is_ok());
}
