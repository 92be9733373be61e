//! Flows over QUIC: rates, counts of acknowledgments, losses, marks, both directions, captures.

use crate::common::dumbbell::{Dumbbell, goodput};
use crate::common::tables::Tables;
use crate::common::tshark::tshark_as;
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use std::path::Path;

const DUMBBELL: Dumbbell = Dumbbell { protocol: "quic", payload: 1439.0 };

fn run(sets: &[&str]) -> Tables {
    DUMBBELL.run(sets)
}

fn acks_and_packets(tables: &Tables) -> (u64, u64) {
    let count = |column| tables.counts("flows", column)[0];
    (count("total_acks_sent_l4"), count("total_data_packets_l4"))
}

#[test]
fn one_flow_fills_the_link() {
    for congestion in ["newreno", "cubic", "bbr", "bbr3", "vegas", "dctcp", "copa"] {
        let tables = run(&[&format!("flow.0.congestion={congestion}")]);
        let share = DUMBBELL.share(&tables);
        assert!((0.93..=1.01).contains(&share), "{congestion}: {share}");
        assert_eq!(tables.texts("flows", "transport_protocol"), ["QUIC"]);
        assert_eq!(tables.texts("flows", "cca"), [congestion]);
        assert_eq!(tables.texts("flows", "ack_policy"), ["quic"]);
        assert_eq!(tables.texts("flows", "preset"), ["rfc"]);
    }
}

/// Data that leave at the rate of an application do not measure the path, even if pacing would have
/// delayed the next packet.
#[test]
fn an_application_with_little_to_say_is_not_held_back() {
    let loss = r#"link.btl.forward.loss={model="independent", probability=0.01}"#;
    let traffic = r#"flow.0.traffic={model="constant", rate="4Mbps"}"#;
    let sets = ["flow.0.congestion=bbr3", traffic, loss, "link.btl.forward.rate=20Mbps", "duration=12s"];
    let tables = run(&sets);
    let number = |column: &str| tables.numbers("flows", column)[0];
    // The path takes 20 ms. A hundredth of the packets arrives a round trip and a ninth later, and
    // about 16 packets wait for each.
    assert!(number("mean_one_way_delay_l7") < 30.0, "{}", number("mean_one_way_delay_l7"));
    assert!(number("share_application_limited_l4") > 0.75, "{}", number("share_application_limited_l4"));
}

/// Without losses, there are half as many ACKs as packets, a tenth as many, or the number that the
/// sender requests.
#[test]
fn acknowledgments_are_as_many_as_policy_or_sender_say() {
    let ratio = |set: &str| {
        let (acks, packets) = acks_and_packets(&run(&["flow.0.congestion=vegas", set]));
        packets as f64 / acks as f64
    };
    let every = |expected: f64, set: &str| {
        let ratio = ratio(set);
        assert!((0.97 * expected..1.03 * expected).contains(&ratio), "{set}: {ratio}, expected {expected}");
    };
    every(2.0, r#"flow.0.ack={policy="quic"}"#);
    every(10.0, r#"flow.0.ack={policy="quic", packets=10}"#);
    every(4.0, r#"flow.0.ack={policy="byte-counting", segments=4}"#);
    every(5.0, r#"flow.0.ask={rule="fixed", ack_eliciting_threshold=4}"#);
    every(10.0, "flow.0.preset=chrome");
}

/// Four ACKs per round trip: TACK uses the minimum round trip, Firefox the smoothed one.
#[test]
fn a_sender_asks_for_four_acks_in_a_round_trip() {
    for (set, is_smoothed) in [(r#"flow.0.ask={rule="tack"}"#, false), ("flow.0.preset=neqo", true)] {
        let tables = run(&["flow.0.congestion=bbr", set]);
        let (acks, _) = acks_and_packets(&tables);
        let rtt = if is_smoothed { tables.numbers("flows", "mean_srtt_l4")[0] } else { 40.24 };
        let expected = 5.0 * 4.0 * 1000.0 / rtt;
        // The delay begins with a packet, so the time between two packets adds to it. Frames with
        // windows cause a few more ACKs.
        let share = acks as f64 / expected;
        assert!((0.85..1.15).contains(&share), "{set}: {acks} for {expected}");
    }
}

#[test]
fn losses_both_ways_are_repaired() {
    let tables = run(&[
        "flow.0.congestion=bbr",
        r#"link.btl.forward.loss={model="independent", probability=0.02}"#,
        r#"link.btl.reverse.loss={model="independent", probability=0.1}"#,
        r#"measure.series=["events"]"#,
    ]);
    let share = DUMBBELL.share(&tables);
    assert!(share > 0.8, "{share}");
    let sent = tables.counts("flows", "total_data_packets_l4")[0];
    let again = tables.counts("flows", "total_retransmissions_l4")[0] as f64 / sent as f64;
    assert!((0.017..0.03).contains(&again), "two in a hundred: {again}");
}

#[test]
fn a_transfer_ends() {
    let tables = run(&["measure.from=0s", r#"flow.0.traffic={model="fixed", size="3MB"}"#]);
    assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [3_000_000]);
    let time = tables.numbers("flows", "flow_completion_time_l4")[0];
    // One round trip for the handshake, one for the last ACK, 0.5 s at the rate of the link, and
    // five round trips of slow start from 10 packets.
    assert!((0.58..0.9).contains(&time), "{time}");
}

/// 300 kB are 209 packets. Byte counting of 100 leaves nine unacknowledged, and the first hundred
/// fill the window.
#[test]
fn a_transfer_ends_whatever_the_policy_waits_for() {
    let policy = r#"flow.0.ack={policy="byte-counting", segments=100}"#;
    let tables = run(&["measure.from=0s", r#"flow.0.traffic={model="fixed", size="300kB"}"#, policy]);
    assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [300_000]);
    let time = tables.numbers("flows", "flow_completion_time_l4")[0];
    assert!(time < 1.0, "an ACK within 25 ms lets slow start go on: {time}");
}

#[test]
fn marks_reduce_the_window_without_losses() {
    let marks = r#"link.btl.forward.queue={discipline="fifo", limit="1000packets", mark_above="50packets"}"#;
    let tables = run(&["flow.0.ecn=true", marks]);
    assert_eq!(tables.counts("flows", "total_retransmissions_l4"), [0]);
    assert!(DUMBBELL.share(&tables) > 0.85, "{}", goodput(&tables));
}

#[test]
fn both_ends_write() {
    let queue = r#"link.btl.reverse.queue={discipline="fifo", limit="200packets"}"#;
    let tables = run(&[r#"flow.0.back={model="greedy"}"#, queue, "flow.0.congestion=cubic"]);
    for share in tables.numbers("flows", "mean_throughput_l7").iter().map(|rate| DUMBBELL.share_of(*rate)) {
        assert!((0.7..=1.01).contains(&share), "{share}");
    }
    // Acknowledgments of one end leave with the data of the other direction.
    let (acks, packets) = acks_and_packets(&tables);
    assert!(10 * acks < packets, "{acks} alone, for {packets}");
}

#[test]
fn a_slow_reader_holds_its_sender_back() {
    let tables = run(&[
        r#"flow.0.reading={model="constant", rate="10Mbps", read="10kB"}"#,
        r#"flow.0.flow_control={model="fixed", stream="200kB", connection="400kB"}"#,
        "flow.0.congestion=cubic",
    ]);
    let rate = goodput(&tables);
    assert!((9.5..=10.5).contains(&rate), "{rate}");
}

#[test]
fn decisions_and_events_are_recorded() {
    let tables =
        run(&[r#"measure.series=["events", "decisions", "operating_point", "throughput"]"#, "measure.from=0s"]);
    assert!(tables.texts("events", "event").iter().any(|event| event == "established"));
    assert!(tables.rows("operating_point") > 100);
    assert!(tables.rows("decisions") > 1000);
    assert!(tables.texts("acks", "reason").iter().any(|reason| reason == "segment-count"));
}

#[test]
fn impossible_values_are_refused() {
    let refused = |set: &str| DUMBBELL.refusal(set);
    assert!(refused("flow.0.packet=1000B").contains("1228B to 16000B"));
    assert!(refused("flow.0.preset=linux").contains("preset"));
    assert!(refused(r#"flow.0.ask={rule="often"}"#).contains("neqo"));
    assert!(refused("flow.0.min_ack_delay=30ms").contains("at most max_ack_delay"));
    assert!(refused(r#"flow.0.flow_control={model="fixed", stream="1B", connection="1MB"}"#).contains("stream"));
}

/// tshark decodes the parts that a protected connection shows too: the headers.
#[test]
fn captures_show_the_headers() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quic");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("{}\n[[capture]]\npoint = \"b\"\nfile = \"b.pcapng\"\n", DUMBBELL.text());
    let sets = ["duration=2s".to_owned()];
    let scenario = load(&text, "the dumbbell", &sets, None).unwrap();
    let options = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
    let _ = Tables::of(&scenario, &options);
    let fields = ["_ws.malformed", "quic.header_form", "quic.long.packet_type", "frame.protocols"];
    let Some(lines) = tshark_as(&folder.join("b.pcapng"), "udp.port==9,quic", "udp", &fields) else { return };
    let frames: Vec<Vec<&str>> = lines.iter().map(|line| line.split('\t').collect()).collect();
    // A datagram may hold several packets.
    let count =
        |field: usize, value: &str| frames.iter().filter(|frame| frame[field].split(',').any(|it| it == value)).count();
    assert!(frames.iter().all(|frame| frame[0].is_empty()), "none is malformed");
    assert!(frames.iter().all(|frame| frame[3].ends_with(":quic")), "all is QUIC");
    assert!(count(2, "0") >= 2, "Initial packets of both ends");
    assert!(count(2, "2") >= 2, "Handshake packets of both ends");
    assert!(count(1, "0") > 1000, "packets with short headers");
}

/// Returns the goodput of CUBIC at 20 Mbps over 40 ms, where packets come late `by` a time with
/// this `probability`, with fixed thresholds, an adaptive packet threshold, and an adaptive time
/// threshold as well.
fn goodput_by_thresholds(preset: &str, probability: f64, by: &str) -> [f64; 3] {
    let path = format!(
        r#"
duration = "10s"
seed = 1
[[link]]
name = "btl"
from = "server"
to = "client"
forward = {{ rate = "20Mbps", delay = "20ms", queue = {{ discipline = "fifo", limit = "133packets" }}, reorder = {{ probability = {probability}, by = "{by}" }} }}
reverse = {{ rate = "20Mbps", delay = "20ms" }}
[[flow]]
from = "server"
to = "client"
transport = {{ protocol = "quic", preset = "{preset}", congestion = "cubic" }}
[measure]
from = "2s"
"#
    );
    let goodput = [(false, false), (true, false), (true, true)].map(|(packets, time)| {
        let sets = [
            format!("flow.0.transport.adaptive_packet_threshold={packets}"),
            format!("flow.0.transport.adaptive_time_threshold={time}"),
        ];
        Tables::run(&path, &sets, None).numbers("flows", "mean_throughput_l7")[0]
    });
    println!("{goodput:.2?} Mbps with fixed thresholds, an adaptive packet threshold, and both adaptive");
    goodput
}

/// Every twentieth packet arrives 15 ms late, after more than 9/8 of the round trip of 40 ms. The
/// packet threshold may rise as it likes: the time threshold declares each of them lost, and the
/// flow gets 1.6 of 20 Mbps. If the time threshold adapts as well, the sender waits for late
/// packets while the reordering of the last 16 recoveries is remembered.
#[test]
fn both_thresholds_adapt_to_reordering() {
    let [_, packets, both] = goodput_by_thresholds("rfc", 0.05, "15ms");
    assert!(both > 5.0 * packets, "{both} Mbps, {packets} with the packet threshold alone");
}

/// A packet in a hundred comes 5 ms late. Firefox requests an ACK per 10 ms, and at once for a gap.
/// An adaptive packet threshold also raises the requested Reordering Threshold, so that the late
/// packet is reported with the next ACK. By then the time threshold, which allows 5 ms, has taken
/// it for lost. An adaptive time threshold waits for that ACK.
#[test]
fn a_raised_reordering_threshold_needs_a_longer_time_threshold() {
    let [fixed, packets, both] = goodput_by_thresholds("neqo", 0.01, "5ms");
    assert!(packets < 0.8 * fixed, "{packets} Mbps with the packet threshold alone, {fixed} without");
    assert!(both > 1.5 * fixed, "{both} Mbps with both, {fixed} without");
}
