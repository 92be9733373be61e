//! The time at which the application at the receiver has its data does not depend on
//! acknowledgments.

use crate::common::tables::Tables;

/// Ten segments of 1448 octets, the initial window. A packet of 1500 octets takes a millisecond.
const DOWNLOAD: &str = r#"
duration = "20s"
seed = 1
link = [{ name = "path", from = "a", to = "b", forward = { rate = "12Mbps", delay = "50ms" }, reverse = { rate = "12Mbps", delay = "50ms" } }]
flow = [{ from = "a", to = "b", preset = "linux", start = "1s", traffic = { model = "fixed", size = "14480B" } }]
"#;

/// The arrival time: a SYN and a SYN-ACK of 60 octets, the ACK of 52 and ten packets, and three
/// propagation delays.
const ARRIVAL: f64 = (60.0 + 60.0 + 52.0 + 15_000.0) * 8.0 / 12e6 + 3.0 * 0.05;

fn download(sets: &[&str]) -> Tables {
    Tables::run(DOWNLOAD, sets, None)
}

fn number(tables: &Tables, column: &str) -> f64 {
    tables.numbers("flows", column)[0]
}

#[test]
fn a_download_is_delivered_when_its_last_packet_arrives() {
    let tables = download(&[]);
    let delivered = number(&tables, "delivery_time_l7");
    assert!((delivered - ARRIVAL).abs() < 1e-6, "{delivered} s, {ARRIVAL} s");
    let rate = number(&tables, "mean_receiving_rate_l7");
    assert!((rate / (14_480.0 * 8.0 / 1e6 / ARRIVAL) - 1.0).abs() < 1e-5, "{rate} Mbps");
}

/// The last ACK crosses a thin return link, and completion at the sender waits for it. The SYN-ACK
/// crosses this link as well, so its time counts.
#[test]
fn acknowledgments_that_wait_delay_the_completion_and_not_the_delivery() {
    let tables = download(&["link.0.reverse.rate=1kbps"]);
    let (delivered, completed) = (number(&tables, "delivery_time_l7"), number(&tables, "flow_completion_time_l4"));
    let arrival = ARRIVAL + 60.0 * 8.0 * (1.0 / 1e3 - 1.0 / 12e6);
    assert!((delivered - arrival).abs() < 1e-6, "{delivered} s, {arrival} s");
    // Five ACKs of 52 octets and more.
    assert!(completed > arrival + 5.0 * 52.0 * 8.0 / 1e3, "{completed} s");
}

#[test]
fn a_reader_that_takes_its_time_delays_the_delivery() {
    let reading = "flow.0.reading={ model = \"constant\", rate = \"115.84kbps\", read = \"1448B\" }";
    let delivered = number(&download(&[reading]), "delivery_time_l7");
    // Ten reads, 0.1 s apart. The first may come with the first packet.
    assert!((ARRIVAL + 0.8..ARRIVAL + 1.1).contains(&delivered), "{delivered} s");
}

#[test]
fn a_window_without_deliveries_has_no_time() {
    let tables = download(&["measure.from=5s"]);
    assert_eq!(tables.nulls("flows", "delivery_time_l7"), [true]);
    assert_eq!(tables.nulls("flows", "mean_receiving_rate_l7"), [true]);
}

/// Data before the window count neither as octets nor as time.
#[test]
fn a_window_counts_its_own_deliveries() {
    let endless = ["flow.0.traffic={ model = \"greedy\" }", "measure.from=10s"];
    let tables = download(&endless);
    let (received, read) = (number(&tables, "mean_receiving_rate_l7"), number(&tables, "mean_throughput_l7"));
    assert!((received / read - 1.0).abs() < 1e-3, "{received} Mbps, {read} Mbps");
    assert!((number(&tables, "delivery_time_l7") - 19.0).abs() < 0.01);
}
