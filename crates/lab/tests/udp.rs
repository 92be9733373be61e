//! Flows over UDP: closed forms, and their captures as decoded by tshark.

use crate::common::tables::Tables;
use crate::common::tshark::frames;
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// At 10 Mbps, a packet of 1028 octets, 1000 of them payload, takes 0.8224 ms.
const LINK: &str = r#"
duration = "20s"
seed = 3

[[link]]
name = "btl"
from = "src"
to = "dst"
[link.forward]
rate = "10Mbps"
delay = "5ms"
queue = { discipline = "fifo", limit = "20packets" }
[link.reverse]
delay = "5ms"

[[flow]]
from = "src"
to = "dst"
transport = "udp"
traffic = { model = "constant", rate = "5Mbps", write = "1000B" }

[measure]
from = "1s"
"#;

const SERVICE_MS: f64 = 0.8224;
const DELAY_MS: f64 = 5.0;

fn tables(sets: &[&str]) -> Tables {
    Tables::run(LINK, sets, None)
}

fn number(tables: &Tables, column: &str) -> f64 {
    tables.numbers("flows", column)[0]
}

fn count(tables: &Tables, column: &str) -> u64 {
    tables.counts("flows", column)[0]
}

fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found}, expected {expected} ± {tolerance}");
}

/// Without a queue, each datagram takes its transmission time and the propagation delay, so all
/// delays are equal.
#[test]
fn below_capacity_all_arrives_and_evenly() {
    let tables = tables(&[]);
    assert_eq!((count(&tables, "total_lost_l4"), count(&tables, "total_reordered_l4")), (0, 0));
    assert_close("goodput", number(&tables, "mean_throughput_l7"), 5.0, 1e-3);
    assert_close("sending rate", number(&tables, "mean_sending_rate_l4"), 5.0, 1e-3);
    assert_close("delay", number(&tables, "mean_one_way_delay_l4"), SERVICE_MS + DELAY_MS, 1e-9);
    assert_close("delay of the application", number(&tables, "mean_one_way_delay_l7"), SERVICE_MS + DELAY_MS, 1e-9);
    assert!(number(&tables, "last_jitter_l4").abs() < 1e-12);
    assert_close("gaps", number(&tables, "mean_idt_ewma_l4"), 1.6, 1e-9);
}

/// At an offered load of twice the capacity, the share 1 − capacity / offered is lost. An arriving
/// packet that is queued finds the last of 20 places free, at most one gap of the sender later. It
/// waits for the rest of the packet in service and for the 19 before it.
#[test]
fn above_capacity_the_surplus_is_lost() {
    let tables = tables(&["flow.0.traffic.rate=20Mbps"]);
    let capacity = 10.0 * 1000.0 / 1028.0;
    assert_close("goodput", number(&tables, "mean_throughput_l7"), capacity, 1e-3);
    assert_close("loss", number(&tables, "share_lost_l4"), 1.0 - capacity / 20.0, 1e-3);
    assert_eq!(count(&tables, "total_reordered_l4"), 0);
    // Datagrams that were dropped last are not yet missing at the receiver. The datagrams that were
    // found missing first had been dropped before the window.
    assert!(count(&tables, "total_lost_l4").abs_diff(count(&tables, "total_drops_l2")) <= 50);
    let (most, gap) = (21.0 * SERVICE_MS + DELAY_MS, 0.4);
    let delay = number(&tables, "mean_one_way_delay_l4");
    assert!((most - gap..=most).contains(&delay), "{delay}, expected {} to {most}", most - gap);
}

/// The mean wait behind an M/D/1 server is ρ · s / (2 · (1 − ρ)) (Pollaczek and Khinchine).
#[test]
fn poisson_arrivals_wait_as_in_an_m_d_1_queue() {
    let sets = [
        "flow.0.traffic={model=\"poisson\", rate=\"7.5Mbps\", write=\"972B\"}",
        "link.btl.forward.queue={discipline=\"fifo\"}",
        "duration=300s",
    ];
    let tables = tables(&sets);
    let (service, load) = (0.8, 0.75 * 1000.0 / 972.0);
    assert_close("rate", number(&tables, "mean_throughput_l7"), 7.5, 0.01);
    let wait = number(&tables, "mean_one_way_delay_l4") - DELAY_MS - service;
    assert_close("wait", wait, load * service / (2.0 * (1.0 - load)), 0.04);
}

/// A gate that opens every 5 ms passes five datagrams that arrived a millisecond apart. They waited
/// 4, 3, 2, 1 and 0 ms longer than the last of them, and the first of the next five again 4 ms
/// longer. In one such period of differences 1, 1, 1, 1, 4, the moving average returns to itself if
/// it is 0.1875 / (1 − a⁵) above 1 after the 4, where a = 15/16.
#[test]
fn jitter_behind_a_gate() {
    let sets = [
        "flow.0.traffic.rate=8Mbps",
        "link.btl.forward={delay=\"5ms\", queue={discipline=\"fifo\"}, gate={interval=\"5ms\", quota=10}}",
    ];
    let a: f64 = 15.0 / 16.0;
    let highest = 0.1875 / (1.0 - a.powi(5));
    let phases: Vec<f64> = (0..5).map(|ones| 1.0 + highest * a.powi(ones)).collect();
    let jitter = number(&tables(&sets), "last_jitter_l4");
    assert!(phases.iter().any(|phase| (jitter / phase - 1.0).abs() < 1e-6), "{jitter}, expected one of {phases:?}");
}

#[test]
fn lost_at_random_is_lost() {
    let tables = tables(&["link.btl.forward.loss={model=\"independent\", probability=0.02}"]);
    let sent = count(&tables, "total_data_packets_l4") as f64;
    let deviation = (0.02 * 0.98 / sent).sqrt();
    assert!((number(&tables, "share_lost_l4") - 0.02).abs() < 3.0 * deviation);
}

/// Metrics of acknowledgments and of loss recovery are null for UDP. The rows of TCP have no
/// jitter.
#[test]
fn each_transport_has_its_columns() {
    let text = format!("{LINK}\n[[flow]]\nfrom = \"src\"\nto = \"dst\"\npreset = \"linux\"\n");
    let tables =
        Tables::run(&text, &["flow.0.name=datagrams", "flow.1.name=segments", "link.btl.reverse.rate=1Gbps"], None);
    for column in ["mean_cwnd_l4", "mean_srtt_l4", "mean_delivery_rate_l4", "mean_return_utilization_l1"] {
        let values = tables.numbers("flows", column);
        assert!(values[0].is_nan() && values[1].is_finite(), "{column}: {values:?}");
    }
    for column in ["share_lost_l4", "last_jitter_l4"] {
        let values = tables.numbers("flows", column);
        assert!(values[0].is_finite() && values[1].is_nan(), "{column}: {values:?}");
    }
    for column in ["total_retransmissions_l4", "total_rtos_l4", "total_acks_sent_l4", "max_ack_burst_l4"] {
        assert_eq!(tables.nulls("flows", column), [true, false], "{column}");
    }
    for column in ["total_lost_l4", "total_reordered_l4", "total_duplicates_l4"] {
        assert_eq!(tables.nulls("flows", column), [false, true], "{column}");
    }
    for column in ["preset", "cca", "ack_policy"] {
        assert_eq!(tables.nulls("flows", column), [true, false], "{column}");
    }
    assert_eq!(tables.texts("flows", "transport_protocol"), ["UDP", "TCP"]);
    assert!(tables.texts("acks", "flow").iter().all(|flow| flow == "segments"));
    let throughputs = tables.numbers("flows", "mean_throughput_l4");
    assert_close("sum", tables.numbers("network", "agg_throughput_l4")[0], throughputs.iter().sum(), 1e-9);
    assert_eq!(tables.counts("network", "agg_lost_l4"), [count(&tables, "total_lost_l4")]);
    // Datagrams do not respond to drops, and the connection gets the capacity that they leave.
    let left = 1.0 - tables.numbers("flows", "share_lost_l4")[0];
    assert_close("datagrams", throughputs[0], 5.0 * left, 2e-3);
    assert_close("both", throughputs[0] * 1.028 + throughputs[1] * 1500.0 / 1448.0, 10.0, 0.02);
}

#[test]
fn an_application_stops_before_its_stop() {
    let tables = tables(&["flow.0.start=2s", "flow.0.stop=4s"]);
    assert_eq!(count(&tables, "total_data_packets_l4"), 1250, "2 s of a datagram each 1.6 ms");
    assert_eq!(count(&tables, "total_delivered_bytes_l7"), 1_250_000);
    // The last datagram is written 1.6 ms before the stop and arrives some milliseconds after it.
    // The flow is active until then.
    let last = number(&tables, "delivery_time_l7");
    assert!((2.0..2.01).contains(&last), "{last} s");
    assert_close("goodput", number(&tables, "mean_throughput_l7"), 5.0 * 2.0 / last, 1e-9);
}

#[test]
fn packets_are_numbered_by_datagrams() {
    let tables = tables(&["measure.series=[\"packets\"]", "measure.from=0s", "flow.0.stop=8ms"]);
    let kinds = tables.texts("packets", "kind").into_iter().zip(tables.numbers("packets", "number"));
    let received: Vec<f64> = kinds.filter(|(kind, _)| kind == "received").map(|(_, number)| number).collect();
    assert_eq!(received, [0.0, 1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn tshark_reads_the_datagrams() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("udp");
    fs::create_dir_all(&folder).unwrap();
    let text = format!("{LINK}\n[[capture]]\npoint = \"dst\"\nfile = \"dst.pcapng\"\n");
    let sets = ["flow.0.start=1000001500ns", "flow.0.stop=1005s", "duration=1010s", "measure.from=0s"];
    let sets = [&sets[..], &["flow.0.traffic.rate=8kbps"]].concat();
    let sets: Vec<String> = sets.into_iter().map(str::to_owned).collect();
    let scenario = load(&text, "the scenario", &sets, None).unwrap();
    let tables = Tables::of(&scenario, &RunOptions { captures: Some(folder.clone()), ..RunOptions::default() });
    let file = folder.join("dst.pcapng");
    let Some(all) = frames(&file, "udp && udp.dstport == 9 && !_ws.malformed", &[]) else { return };
    assert_eq!(all.len() as u64, count(&tables, "total_data_packets_l4"));
    let fields = ["frame.time_epoch", "ip.len", "ip.checksum.status", "udp.length", "udp.payload"];
    let third = frames(&file, "frame.number == 3", &fields).unwrap();
    // iperf3's header: seconds, microseconds, and the number of the datagram.
    let arrives = "3.005823900";
    assert_eq!(third, [format!("3 {arrives} 1028 1 1008 {:08x}{:08x}{:016x}", 3, 1, 3)]);
}

fn channel() -> impl Strategy<Value = String> {
    let loss =
        (0.0..0.3).prop_map(|share: f64| format!("loss = {{ model = \"independent\", probability = {share:.3} }}"));
    let reorder = (0.0..0.3, 1u64..30)
        .prop_map(|(share, ms): (f64, _)| format!("reorder = {{ probability = {share:.3}, by = \"{ms}ms\" }}"));
    let duplicate = (0.0..0.3).prop_map(|share: f64| format!("duplicate = {{ probability = {share:.3} }}"));
    let parts = (prop::option::of(loss), prop::option::of(reorder), prop::option::of(duplicate), 1u64..20);
    parts.prop_map(|(loss, reorder, duplicate, mbps)| {
        let parts = [Some(format!("rate = \"{mbps}Mbps\"")), loss, reorder, duplicate];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every copy that leaves the link is new or a duplicate. Every missing datagram was dropped or
    /// lost.
    #[test]
    fn every_datagram_is_accounted_for(channel in channel(), model in "constant|poisson", write in 16u64..3000, seed: u64) {
        let text = LINK.replace("rate = \"10Mbps\"", &channel).replace("\"constant\"", &format!("{model:?}"));
        let sets = [format!("flow.0.traffic.write={write}B"), "flow.0.stop=2s".to_owned(), "duration=4s".to_owned()];
        let sets = sets.into_iter().chain(["measure.from=0s".to_owned()]).collect::<Vec<_>>();
        let tables = Tables::run(&text, &sets, Some(seed));
        let sent = count(&tables, "total_data_packets_l4");
        let arrived = count(&tables, "total_delivered_bytes_l7") / write;
        let link = |column: &str| tables.counts("links", column)[0];
        prop_assert_eq!(arrived + count(&tables, "total_duplicates_l4"), link("total_packets_out_l2"));
        prop_assert_eq!(sent, link("total_packets_in_l2"));
        let gone = link("total_qdisc_drops_l2") + link("total_wire_losses_l1");
        let missing = sent - arrived;
        prop_assert!(missing <= gone, "{missing} of {gone}");
        prop_assert!(count(&tables, "total_lost_l4") <= missing);
        if !channel.contains("duplicate") {
            prop_assert_eq!(missing, gone);
            prop_assert_eq!(count(&tables, "total_duplicates_l4"), 0);
        }
        if !channel.contains("reorder") {
            prop_assert_eq!(count(&tables, "total_reordered_l4"), 0);
        }
    }
}
