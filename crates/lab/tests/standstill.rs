//! Flows that stalled, starved or did not end, and impossible numbers. Random scenarios found each
//! of them.

use crate::common::tables::Tables;

/// Runs one greedy flow over one clean link.
fn flow(rate: &str, delay: &str, queue: &str, duration: &str, transport: &str) -> Tables {
    let text = format!(
        r#"
seed = 1
duration = "{duration}"
[[link]]
name = "l"
from = "a"
to = "b"
forward = {{ rate = "{rate}", delay = "{delay}", queue = {queue} }}
reverse = {{ rate = "{rate}", delay = "{delay}" }}
[[flow]]
name = "f"
from = "a"
to = "b"
transport = {{ {transport}, send_buffer = "64MiB" }}
traffic = {{ model = "greedy" }}
"#
    );
    Tables::run(&text, &[""; 0], None)
}

fn goodput(tables: &Tables) -> f64 {
    tables.numbers("flows", "mean_throughput_l7")[0]
}

/// Allegro's rate doubled with each interval while the queue delayed the results, up to a thousand
/// times the capacity. 7,000 packets waited in a queue without a limit, and the repair of the first
/// hole waited behind them. Now the result of an interval is available before the second interval
/// after it begins.
#[test]
fn allegro_does_not_overrun_a_queue_whose_results_are_late() {
    let codel = r#"{ discipline = "codel" }"#;
    let tables =
        flow("3.273Mbps", "3.677ms", codel, "4s", r#"protocol = "tcp", preset = "rfc", congestion = "pcc-allegro""#);
    let most = tables.counts("links", "max_qdisc_length_l2")[0];
    assert!(most < 1000, "{most} packets");
    // It was 6 %. The overshoot of the starting phase costs a second.
    assert!(goodput(&tables) > 0.7 * 3.273 * 1448.0 / 1500.0, "{} Mbps", goodput(&tables));
}

/// The packets of quinn's handshake had no outcome after their keys were discarded. The first
/// interval never ended, and the rate doubled for ever: four simulated seconds took minutes.
#[test]
fn the_first_interval_of_pcc_ends_with_quinn() {
    let queue = r#"{ discipline = "fifo", limit = "23packets" }"#;
    for controller in ["pcc-allegro", "pcc-vivace"] {
        let transport = format!(r#"protocol = "quinn", congestion = "{controller}", stream_window = "64MiB""#);
        let tables = flow("47.884Mbps", "1.476ms", queue, "4s", &transport);
        assert!(goodput(&tables) > 0.8 * 47.884, "{controller}: {} Mbps", goodput(&tables));
    }
}

/// The kernel reaches 36.7 Mbps here. Its buffer grows when a round trip has brought the first
/// window of 65,535 octets, which is less than ten segments (`tcp_init_buffer_space`). Ten segments
/// exceed the first buffer.
#[test]
fn large_segments_leave_the_first_window() {
    let queue = r#"{ discipline = "fifo", limit = "61packets" }"#;
    let transport = r#"protocol = "tcp", preset = "linux", mss = "8000B""#;
    let tables = flow("37Mbps", "11.5ms", queue, "10s", transport);
    assert!(goodput(&tables) > 0.97 * 37.0 * 8000.0 / 8052.0, "{} Mbps", goodput(&tables));
}

/// The overshoot of slow start leaves more gaps than quinn-proto stores (1024), so it closes the
/// connection with INTERNAL_ERROR.
#[test]
fn a_connection_that_is_given_up_says_so() {
    let queue = r#"{ discipline = "fifo", limit = "1000packets" }"#;
    let transport = r#"protocol = "quinn", congestion = "cubic", stream_window = "64MiB""#;
    let tables = flow("200Mbps", "100ms", queue, "6s", transport);
    assert_eq!(tables.texts("flows", "ending"), ["failed: code 0x1"]);
    let at = tables.numbers("flows", "ending_time")[0];
    assert!((0.5..6.0).contains(&at), "{at} s");
    let whole = flow("200Mbps", "100ms", queue, "6s", r#"protocol = "quinn", congestion = "cubic""#);
    assert_eq!(whole.texts("flows", "ending"), ["open"], "a small window of flow control prevents it");
}

/// Packets left the queue for the device before they were sent, and counted as sent: the
/// utilisation was 1.099.
#[test]
fn a_link_sends_no_more_than_its_rate_with_places_in_the_device() {
    let text = r#"
seed = 1
duration = "1s"
measure = { from = "100ms", until = "300ms" }
[[link]]
name = "l"
from = "a"
to = "b"
forward = { rate = "1Mbps", delay = "1ms", device_queue = 10, queue = { discipline = "fifo", limit = "50packets" } }
reverse = {}
[[flow]]
name = "f"
from = "a"
to = "b"
start = "90ms"
transport = { protocol = "udp" }
traffic = { model = "constant", rate = "4Mbps", write = "1000B" }
"#;
    let tables = Tables::run(text, &[""; 0], None);
    let utilization = tables.numbers("links", "mean_utilization_l1")[0];
    assert!(utilization > 0.999 && utilization <= 1.0, "{utilization}");
}

/// Data written before the stop arrived after it, and were divided by the time before the stop.
#[test]
fn a_flow_with_a_stop_delivers_no_more_than_the_capacity() {
    let text = r#"
seed = 1
duration = "20s"
[[link]]
name = "l"
from = "a"
to = "b"
forward = { rate = "2Mbps", delay = "10ms", queue = { discipline = "fifo", limit = "1000packets" } }
reverse = { delay = "10ms" }
[[flow]]
name = "f"
from = "a"
to = "b"
stop = "1s"
transport = { protocol = "tcp", preset = "rfc", send_buffer = "1MiB" }
traffic = { model = "greedy" }
"#;
    let tables = Tables::run(text, &[""; 0], None);
    assert!(tables.counts("flows", "total_delivered_bytes_l7")[0] > 400_000, "250,000 arrive before the stop");
    let capacity = 2.0 * 1448.0 / 1500.0;
    assert!(goodput(&tables) <= capacity, "{} Mbps", goodput(&tables));
    assert!(goodput(&tables) > 0.9 * capacity, "{} Mbps", goodput(&tables));
    assert_eq!(tables.texts("flows", "ending"), ["finished"]);
}
