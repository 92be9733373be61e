//! Controllers that respond to delay or learn their rate, on a bottleneck: tests the claims of
//! their papers, and the effect of few ACKs.
//!
//! A comment gives the reason of each bound.

use crate::common::tables::Tables;

/// The share of payload: 1448 of 1500 octets on the wire.
const PAYLOAD: f64 = 1448.0 / 1500.0;

/// 20 Mbps and 40 ms: a segment takes 0.6 ms, and the bandwidth-delay product is 67 segments.
const MODEST: &str = r#"
duration = "30s"
seed = 1
[[link]]
name = "btl"
from = "a"
to = "b"
[link.forward]
rate = "20Mbps"
delay = "20ms"
queue = { discipline = "fifo", limit = "500packets" }
[link.reverse]
delay = "20ms"
[measure]
from = "5s"
[[flow]]
from = "a"
to = "b"
preset = "linux"
mss = "1448B"
ack = { policy = "per-packet" }
"#;
const MODEST_CAPACITY: f64 = 20.0 * PAYLOAD;

/// 100 Mbps, 30 ms, a buffer of the bandwidth-delay product, and random loss (NSDI '15, §4.1).
const LOSSY: &str = r#"
duration = "20s"
seed = 1
[[link]]
name = "btl"
from = "a"
to = "b"
[link.forward]
rate = "100Mbps"
delay = "15ms"
queue = { discipline = "fifo", limit = "250packets" }
loss = { model = "independent", probability = 0.01 }
[link.reverse]
delay = "15ms"
[measure]
from = "5s"
[[flow]]
from = "a"
to = "b"
preset = "linux"
mss = "1448B"
ack = { policy = "per-packet" }
"#;

struct Outcome {
    /// The throughput of each flow, in Mbps of payload.
    throughput: Vec<f64>,
    /// The mean queue in packets.
    queue: f64,
    max_queue: u64,
    jain: f64,
}

fn run(text: &str, controller: &str, sets: &[&str]) -> Outcome {
    let named = [format!("flow.0.congestion={controller}")];
    let sets: Vec<String> = named.into_iter().chain(sets.iter().map(|set| (*set).to_owned())).collect();
    let tables = Tables::run(text, &sets, None);
    Outcome {
        throughput: tables.numbers("flows", "mean_throughput_l4"),
        queue: tables.numbers("links", "mean_qdisc_length_l2")[0],
        max_queue: tables.counts("links", "max_qdisc_length_l2")[0],
        jain: tables.numbers("network", "jain_throughput_l4")[0],
    }
}

fn delayed(segments: u32, timer: &str) -> String {
    format!("flow.0.ack={{ policy = \"delayed\", segments = {segments}, timer = \"{timer}\" }}")
}

/// In equilibrium, the queue swings between 0 and 2.5/δ packets, with a mean of 1.25/δ (NSDI '18,
/// §3). δ is 0.5.
#[test]
fn copa_alone_keeps_two_and_a_half_packets_waiting() {
    let alone = run(MODEST, "copa", &[&delayed(2, "40ms")]);
    assert!((1.7..3.0).contains(&alone.queue) && alone.max_queue <= 6, "{} {}", alone.queue, alone.max_queue);
    assert!(alone.throughput[0] > 0.99 * MODEST_CAPACITY, "{:?}", alone.throughput);
}

#[test]
fn two_copa_flows_share_and_keep_twice_as_much_waiting() {
    // Only the default mode: in others, the flows may take each other for TCP (see below).
    let default_mode = "{ algorithm = \"copa\", competes = false }";
    let two = run(MODEST, default_mode, &["flow.0.count=2", "flow.0.spacing=100ms", "measure.from=10s"]);
    assert!(two.jain > 0.999, "{:?}", two.throughput);
    assert!((3.5..6.0).contains(&two.queue) && two.max_queue <= 12, "{} {}", two.queue, two.max_queue);
}

/// If a trough of the common queue once misses a tenth of its swing, a flow begins to compete. Then
/// the other flow sees no trough either, and competes too (the “pathological mode” of Yang et al.,
/// "Improvement of Copa", IEEE/ACM ToN 2023). Only losses end this, so a deep buffer fills and a
/// shallow one does not.
#[test]
fn two_copa_flows_may_take_each_other_for_tcp() {
    let sets = ["flow.0.count=2", "flow.0.spacing=2s", "measure.from=10s"];
    let deep = run(MODEST, "copa", &sets);
    assert!(deep.queue > 100.0 && deep.jain > 0.99, "{} {}", deep.queue, deep.jain);
    let shallow = run(MODEST, "copa", &[&sets[..], &["link.0.forward.queue.limit=70packets"]].concat());
    assert!(shallow.queue < 40.0 && shallow.jain > 0.99, "{} {}", shallow.queue, shallow.jain);
}

/// Eight flows aim at 16 packets in the queue, which holds 12, so losses go on. Without the
/// reduction of genericCC, a flow that sees no queueing delay grows until nearly all its packets
/// are lost.
#[test]
fn eight_copa_flows_in_a_queue_of_twelve_packets_do_not_run_away() {
    let most_retransmitted = |heavy_loss: f64| {
        let sets = [
            format!("flow.0.congestion={{ algorithm = \"copa\", heavy_loss = {heavy_loss:?} }}"),
            "flow.0.count=8".to_owned(),
            "flow.0.spacing=100ms".to_owned(),
            "link.0.forward.rate=5Mbps".to_owned(),
            "link.0.forward.queue={ discipline = \"codel\", limit = \"12packets\" }".to_owned(),
        ];
        let tables = Tables::run(MODEST, &sets, None);
        let [sent, again] =
            ["total_data_packets_l4", "total_retransmissions_l4"].map(|name| tables.counts("flows", name));
        sent.iter().zip(again).map(|(sent, again)| again as f64 / *sent as f64).fold(0.0, f64::max)
    };
    assert!(most_retransmitted(0.3) < 0.6, "the reduction begins at 30 %: {}", most_retransmitted(0.3));
    assert!(most_retransmitted(1.0) > 0.8, "{}", most_retransmitted(1.0));
}

/// A flow that only responds to delay would get almost no capacity.
#[test]
fn copa_competes_with_a_flow_that_fills_the_buffer() {
    let newreno = "[[flow]]\nfrom = \"a\"\nto = \"b\"\npreset = \"linux\"\nmss = \"1448B\"\ncongestion = \"newreno\"\n";
    let sets = ["duration=60s", "measure.from=20s", "link.0.forward.queue.limit=70packets"];
    let both = run(&(MODEST.to_owned() + newreno), "copa", &sets);
    assert!(both.throughput[0] > 0.3 * MODEST_CAPACITY, "{:?}", both.throughput);
    let vivace = run(&(MODEST.to_owned() + newreno), "pcc-vivace", &sets);
    assert!(vivace.throughput[0] < 0.1 * MODEST_CAPACITY, "{:?}", vivace.throughput);
}

/// An ACK of 16 segments releases 16 segments at twice the rate of the bottleneck. Only the last
/// segment's round trip is measured, and it waits behind eight: four times what 1/δ allows.
#[test]
fn copa_takes_the_bursts_of_few_acks_for_a_queue() {
    let each = run(MODEST, "copa", &[]);
    let thinned = run(MODEST, "copa", &[&delayed(16, "40ms")]);
    assert!(thinned.throughput[0] < 0.85 * each.throughput[0], "{:?}", thinned.throughput);
}

/// With an ACK per round trip, each ACK releases the whole window at twice the rate of the
/// bottleneck. The only measurement is that of the last packet.
#[test]
fn copa_with_an_ack_in_a_round_trip_swings() {
    let rare = run(MODEST, "copa", &[&delayed(1000, "40ms")]);
    assert!(rare.queue > 25.0 && rare.throughput[0] < 0.9 * MODEST_CAPACITY, "{} {:?}", rare.queue, rare.throughput);
}

/// By TACK's law, an ACK comes up to 10 ms after the packet that it measures, and reports this
/// delay (RFC 9002, §5.3). The delay is a quarter of the round trip, but no queue causes it. When
/// Copa counted it as a queue, the flows got only 11, 35 and 19 of 50 Mbps.
#[test]
fn a_late_ack_of_quic_is_not_taken_for_a_queue() {
    let path = MODEST.replace("preset = \"linux\"\nmss = \"1448B\"\n", "transport = \"quic\"\n");
    for controller in ["vegas", "pcc-vivace", "copa"] {
        let of = |policy: &str| {
            let sets = [
                "link.0.forward.rate=50Mbps",
                "link.0.reverse.rate=20Mbps",
                &format!("flow.0.ack={{ policy = \"{policy}\" }}"),
            ];
            run(&path, controller, &sets).throughput[0]
        };
        let (each, few) = (of("per-packet"), of("tack"));
        assert!(few > 0.7 * each, "{controller} {each} {few}");
    }
}

/// NSDI '15, §4.1: more than 95 % of what is achievable up to 1 % of loss.
#[test]
fn allegro_bears_random_loss_that_stops_newreno() {
    for (loss, newreno_share) in [(0.001, 0.25), (0.01, 0.07)] {
        let set = format!("link.0.forward.loss.probability={loss}");
        let achievable = 100.0 * PAYLOAD * (1.0 - loss);
        let [allegro, newreno] = ["pcc-allegro", "newreno"].map(|name| run(LOSSY, name, &[&set]).throughput[0]);
        assert!(allegro > 0.95 * achievable, "{allegro} of {achievable} at {loss}");
        assert!(newreno < newreno_share * achievable, "{newreno} of {achievable} at {loss}");
    }
}

/// The sigmoid of Allegro's utility is centred on 5 %.
#[test]
fn allegro_gives_up_beyond_five_percent_of_loss() {
    let beyond = run(LOSSY, "pcc-allegro", &["link.0.forward.loss.probability=0.06"]);
    assert!(beyond.throughput[0] < 20.0, "{:?}", beyond.throughput);
}

/// Allegro's utility does not depend on delay.
#[test]
fn allegro_fills_the_buffer_and_vivace_does_not() {
    let set = "link.0.forward.queue.limit=67packets";
    let [allegro, vivace] = ["pcc-allegro", "pcc-vivace"].map(|name| run(MODEST, name, &[set]));
    assert!(allegro.queue > 33.0 && allegro.throughput[0] > 0.97 * MODEST_CAPACITY, "{}", allegro.queue);
    // Vivace keeps 5 % below the capacity, the width of its own probes.
    assert!(vivace.queue < 2.0 && vivace.throughput[0] > 0.93 * MODEST_CAPACITY, "{}", vivace.queue);
}

/// For a small loss, Vivace's loss coefficient costs less than the rate gains. At 100 Mbps, a
/// megabit gains 0.9·x^−0.1 = 0.57 and costs 11.35 times the loss, so the limit is 5 %, and 1 % has
/// no effect.
#[test]
fn vivace_bears_random_loss() {
    let lossy = run(LOSSY, "pcc-vivace", &[]);
    assert!(
        lossy.throughput[0] > 0.85 * 100.0 * PAYLOAD && lossy.queue < 5.0,
        "{:?} {}",
        lossy.throughput,
        lossy.queue
    );
}

#[test]
fn two_vivace_flows_share() {
    let set = "link.0.forward.queue.limit=67packets";
    let two = run(MODEST, "pcc-vivace", &["flow.0.count=2", "flow.0.spacing=2s", "measure.from=10s", set]);
    assert!(two.jain > 0.98 && two.throughput.iter().sum::<f64>() > 0.93 * MODEST_CAPACITY, "{:?}", two.throughput);
}

/// The result of a monitor interval counts packets, not ACKs, so late ACKs cost only time.
#[test]
fn allegro_does_not_mind_few_acks() {
    let rare = run(LOSSY, "pcc-allegro", &[&delayed(128, "40ms")]);
    assert!(rare.throughput[0] > 0.95 * 100.0 * PAYLOAD * 0.99, "{:?}", rare.throughput);
}

/// With four measurements per round trip, the error of the slope is four times that with 67. Many
/// measurements average jitter of up to 2 ms, but with few of them jitter looks like a queue. 900·x
/// times this slope exceeds every gain.
#[test]
fn vivace_takes_jitter_for_a_queue_when_acks_are_few() {
    let mean = |ack: &str| {
        let of = |seed: u64| {
            let jitter = "link.0.forward.jitter={ model = \"uniform\", spread = \"2ms\" }";
            run(MODEST, "pcc-vivace", &[jitter, &format!("flow.0.ack={ack}"), &format!("seed={seed}")]).throughput[0]
        };
        (1..=5).map(of).sum::<f64>() / 5.0
    };
    let (each, few) =
        (mean("{ policy = \"per-packet\" }"), mean("{ policy = \"delayed\", segments = 16, timer = \"40ms\" }"));
    assert!(each > 0.92 * MODEST_CAPACITY && few < 0.85 * each, "{each} {few}");
}
