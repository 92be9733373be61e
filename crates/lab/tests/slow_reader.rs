//! A receiver whose application reads slowly: flow control limits the sender, not congestion
//! control.

use crate::common::tables::Tables;

/// 100 Mbps and 10 ms; the reader reads 8 Mbps.
const SCENARIO: &str = r#"
duration = "12s"
seed = 1
link = [{ name = "wire", from = "a", to = "b", forward = { rate = "100Mbps", delay = "5ms" }, reverse = { rate = "100Mbps", delay = "5ms" } }]
flow = [{ from = "a", to = "b", preset = "linux", send_buffer_limit = "payload", receive_buffer = "256KiB", reading = { model = "constant", rate = "8Mbps", read = "16KiB" } }]
measure = { from = "6s" }
"#;

/// Unread data close the window (RFC 9293, §3.8.6). The sender then sends at the rate of the
/// reader, without a loss, and one buffer of data waits.
#[test]
fn the_sender_goes_at_the_readers_pace() {
    let tables = Tables::run(SCENARIO, &[] as &[&str], None);
    let number = |column: &str| tables.numbers("flows", column)[0];
    let read = number("mean_throughput_l7");
    assert!((read / 8.0 - 1.0).abs() < 0.01, "read at {read} Mbps");
    assert!(
        (number("mean_throughput_l4") / 8.0 - 1.0).abs() < 0.01,
        "arrived at {} Mbps",
        number("mean_throughput_l4")
    );
    assert_eq!(tables.counts("flows", "total_retransmissions_l4"), [0]);
    // The send buffer of 4 MiB and the receive buffer of 256 KiB drain at 8 Mbps.
    let waits = number("mean_one_way_delay_l7");
    let expected = f64::from(4 << 20 | 256 << 10) * 8.0 / 8e6 * 1e3;
    assert!((waits / expected - 1.0).abs() < 0.05, "waits {waits} ms, expected {expected}");
}

#[test]
fn a_reader_that_keeps_up_changes_nothing_that_matters() {
    let at_once = Tables::run(SCENARIO, &["flow.0.reading.model=at-once"], None);
    let fast = Tables::run(SCENARIO, &["flow.0.reading.rate=1Gbps"], None);
    let throughput = |tables: &Tables| tables.numbers("flows", "mean_throughput_l7")[0];
    assert!(throughput(&at_once) > 90.0);
    assert!((throughput(&fast) / throughput(&at_once) - 1.0).abs() < 0.01);
}

#[test]
fn datagrams_have_no_reader() {
    let text = SCENARIO.replace(
        "preset = \"linux\", send_buffer_limit = \"payload\", receive_buffer = \"256KiB\",",
        "transport = \"udp\", traffic = { model = \"constant\", rate = \"1Mbps\" },",
    );
    let refused = acklab_lab::scenario::load(&text, "x.toml", &[], None).unwrap_err().to_string();
    assert!(refused.contains("flow.0.reading: datagrams are read on arrival"), "{refused}");
}
