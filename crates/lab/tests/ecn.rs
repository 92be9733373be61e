//! ECN marks end to end: compared with the theory of DCTCP, with drops, and under ACK thinning.

use crate::common::tables::Tables;

/// One flow over 100 Mbps and a round trip of 4.02 ms: 33.5 packets of 1500 octets.
const LINE: &str = r#"
duration = "12s"
seed = 1

[[link]]
name = "access"
from = "src"
to = "r1"
forward = { rate = "1Gbps", delay = "10us" }
reverse = { rate = "1Gbps", delay = "10us" }

[[link]]
name = "btl"
from = "r1"
to = "dst"
forward = { rate = "100Mbps", delay = "2ms", queue = { discipline = "fifo", limit = "200packets", mark_above = "10packets" } }
reverse = { rate = "100Mbps", delay = "2ms" }

[[flow]]
name = "bulk"
from = "src"
to = "dst"
preset = "linux"
congestion = "dctcp"

[measure]
from = "2s"
"#;

/// Packets in flight in both directions at 100 Mbps: C · RTT.
const ROUND_TRIP: f64 = 33.5;
const SEGMENT: f64 = 1448.0;

struct Line(Tables);

impl Line {
    fn run(sets: &[&str]) -> Self {
        Self(Tables::run(LINE, sets, None))
    }

    fn bottleneck(&self) -> usize {
        self.0.texts("links", "link").iter().position(|link| link == "btl_forward").unwrap()
    }

    fn queue(&self) -> f64 {
        self.0.numbers("links", "mean_qdisc_length_l2")[self.bottleneck()]
    }

    fn longest_queue(&self) -> u64 {
        self.0.counts("links", "max_qdisc_length_l2")[self.bottleneck()]
    }

    fn utilization(&self) -> f64 {
        self.0.numbers("links", "mean_utilization_l1")[self.bottleneck()]
    }

    fn of_link(&self, column: &str) -> u64 {
        self.0.counts("links", column)[self.bottleneck()]
    }

    fn of_flow(&self, column: &str) -> u64 {
        self.0.counts("flows", column)[0]
    }

    fn acks_for(&self, reason: &str) -> u64 {
        let row = self.0.texts("acks", "reason").iter().position(|it| it == reason);
        row.map_or(0, |row| self.0.counts("acks", "count")[row])
    }

    /// Returns the marked segments reported to the sender, and those that were marked.
    fn reported_and_true(&self) -> (f64, f64) {
        (self.of_flow("total_marked_bytes_l4") as f64 / SEGMENT, self.of_flow("total_marked_l4") as f64)
    }
}

/// Alizadeh et al., SIGCOMM 2010, §3.3: the queue moves between K + N − A and K + N (eq. 8 to 10),
/// with A = ½ √(2 N (C·RTT + K)) for N flows. An ACK for every second segment releases two at once,
/// which the fluid model omits.
#[test]
fn dctcp_holds_the_queue_at_the_threshold() {
    for threshold in [10.0, 20.0, 40.0] {
        let line = Line::run(&[&format!("link.btl.forward.queue.mark_above={threshold}packets")]);
        let amplitude = 0.5 * (2.0 * (ROUND_TRIP + threshold)).sqrt();
        let (top, queue) = (threshold + 1.0, line.queue());
        assert!((top - amplitude..=top).contains(&queue), "K = {threshold}: {queue} packets on average");
        assert!(line.longest_queue() as f64 <= top + 2.0, "K = {threshold}: {} at most", line.longest_queue());
        assert!(line.utilization() > 0.999, "K = {threshold}: {}", line.utilization());
        assert_eq!((line.of_flow("total_retransmissions_l4"), line.of_link("total_qdisc_drops_l2")), (0, 0));
    }
}

/// The same paper, eq. 13: the link stays busy with K > C·RTT/7, here 4.8 packets.
#[test]
fn a_threshold_below_a_seventh_of_the_round_trip_leaves_the_link_idle() {
    let utilization =
        |threshold| Line::run(&[&format!("link.btl.forward.queue.mark_above={threshold}packets")]).utilization();
    assert!(utilization(5) > 0.999, "{}", utilization(5));
    assert!(utilization(1) < 0.99, "{}", utilization(1));
}

/// A mark instead of a drop: the window is halved as often, and nothing is retransmitted. The first
/// packet of a reduction may be marked as well, which halves the window once more in some cycles,
/// as in the kernel. So there are up to twice as many reductions, and the queue is shorter.
#[test]
fn newreno_reacts_to_a_mark_as_to_a_drop() {
    let reno = "flow.bulk.congestion=newreno";
    let dropped = Line::run(&[reno, "link.btl.forward.queue={ discipline = \"fifo\", limit = \"40packets\" }"]);
    let repairs = dropped.acks_for("fills-gap");
    assert!(repairs > 20 && dropped.of_flow("total_retransmissions_l4") >= repairs);
    for echo in ["classic", "accurate"] {
        let set = format!("flow.bulk.ecn={echo}");
        let marked = Line::run(&[reno, &set, "link.btl.forward.queue.mark_above=40packets"]);
        assert_eq!(marked.of_flow("total_retransmissions_l4"), 0, "{echo}");
        let reductions = marked.of_flow("total_mark_reductions_l4");
        let expected = repairs - 2..=2 * repairs;
        assert!(expected.contains(&reductions), "{echo}: {reductions} reductions, {repairs} recoveries");
        let share = marked.queue() / dropped.queue();
        assert!((0.75..1.06).contains(&share), "{echo}: {} {}", marked.queue(), dropped.queue());
        let (busy, other) = (marked.utilization(), dropped.utilization());
        // A window that is halved twice leaves the link idle for a while.
        assert!(busy >= 0.95 * other, "{echo}: {busy} {other}");
    }
}

/// With a delayed ACK, one flag covers several segments (RFC 8257, §3.2). If an ACK is sent at each
/// change, the echo is exact, at the price of an ACK per change.
#[test]
fn dctcp_pays_for_an_exact_echo_with_acks() {
    let delayed = "flow.bulk.ack={ policy = \"delayed\", segments = 8, timer = \"5ms\" }";
    let exact = Line::run(&[delayed]);
    let (reported, truth) = exact.reported_and_true();
    assert!((reported / truth - 1.0).abs() < 0.01, "{reported} of {truth}");
    assert!(exact.acks_for("mark-change") > 1000);

    let without_marks = Line::run(&[delayed, "flow.bulk.congestion=newreno", "link.btl.forward.queue.mark_above="]);
    let thinned =
        |line: &Line| line.of_flow("total_data_packets_l4") as f64 / line.of_flow("total_acks_sent_l4") as f64;
    assert!(thinned(&without_marks) > 7.0, "an ACK for each eight: {}", thinned(&without_marks));
    assert!(thinned(&exact) < 0.7 * thinned(&without_marks), "an ACK for each change: {}", thinned(&exact));
}

/// A filter that replaces ACKs with other ECN flags leaves only the last flag. The sender sees only
/// a part of the marks, and the queue exceeds the threshold.
#[test]
fn a_filter_that_keeps_nothing_blinds_dctcp() {
    let thinned = |keeps: &str| {
        let queue = format!("link.btl.reverse.queue={{ discipline = \"ack-filter\", keeps = \"{keeps}\" }}");
        Line::run(&["link.btl.reverse.rate=400kbps", &queue, "flow.bulk.ack={ policy = \"per-packet\" }"])
    };
    let (reported, truth) = thinned("news").reported_and_true();
    assert!((reported / truth - 1.0).abs() < 0.01, "{reported} of {truth}");
    let blind = thinned("nothing");
    let (reported, truth) = blind.reported_and_true();
    assert!(reported < 0.5 * truth, "{reported} of {truth}");
    assert!(blind.queue() > 10.0, "{}", blind.queue());
}

/// In an ACK for more than seven packets, three bits cannot distinguish zero from eight, and the
/// safe reading is eight (RFC 9768, §3.2.2.5.2). If a filter thins more, the sender reacts to marks
/// that do not exist, and the link runs idle. Linux would trust the count if ACKs covered more than
/// four packets on average, but the reductions keep them at four.
#[test]
fn thinned_beyond_seven_packets_an_accurate_count_tells_of_marks_that_were_none() {
    let thinned = |rate: &str, dialect: &str, has_option: bool| {
        let rate = format!("link.btl.reverse.rate={rate}");
        let queue = "link.btl.reverse.queue={ discipline = \"ack-filter\", keeps = \"nothing\" }";
        let per_packet = "flow.bulk.ack={ policy = \"per-packet\" }";
        let (dialect, option) = (format!("flow.bulk.dialect={dialect}"), format!("flow.bulk.ecn_option={has_option}"));
        Line::run(&[&rate, queue, per_packet, "flow.bulk.ecn=accurate", &dialect, &option])
    };
    for dialect in ["rfc", "linux"] {
        // 1.2 Mbps carry an ACK for every four segments, 400 kbps one for every nine.
        let few = thinned("1200kbps", dialect, false);
        let (reported, truth) = few.reported_and_true();
        assert!((reported / truth - 1.0).abs() < 0.01, "{dialect}: {reported} of {truth}");
        assert!(few.utilization() > 0.999, "{dialect}: {}", few.utilization());
        let many = thinned("400kbps", dialect, false);
        let (reported, truth) = many.reported_and_true();
        assert!(reported > 1000.0 && truth < 0.1 * reported, "{dialect}: {reported} of {truth}");
        assert!(many.utilization() < 0.9, "{dialect}: {}", many.utilization());
        // The option counts octets in 24 bits; Linux' segments leave room for it, and are 0.8 %
        // shorter than `SEGMENT`.
        let many = thinned("400kbps", dialect, true);
        let (reported, truth) = many.reported_and_true();
        assert!((reported / truth - 1.0).abs() < 0.02, "{dialect}: {reported} of {truth}");
        assert!(many.utilization() > 0.999, "{dialect}: {}", many.utilization());
    }
}

/// Four flows that would wait 24 ms in a FIFO of this length wait no longer than twice the target
/// of 5 ms (RFC 8289). This holds for marks and for drops, and the link stays busy.
#[test]
fn codel_keeps_the_wait_near_its_target() {
    let codel = |ecn: bool| {
        let queue = format!("link.btl.forward.queue={{ discipline = \"codel\", limit = \"200packets\", ecn = {ecn} }}");
        Line::run(&[
            "flow.bulk.congestion=newreno",
            "flow.bulk.ecn=classic",
            "flow.bulk.count=4",
            "duration=30s",
            &queue,
        ])
    };
    for ecn in [true, false] {
        let line = codel(ecn);
        let wait = line.0.numbers("links", "mean_qdisc_delay_l2")[line.bottleneck()];
        assert!((1.0..10.0).contains(&wait), "ecn = {ecn}: {wait} ms");
        assert!(line.utilization() > 0.97, "ecn = {ecn}: {}", line.utilization());
        let (marked, dropped) = (line.of_link("total_marked_l2"), line.of_link("total_qdisc_drops_l2"));
        assert_eq!((marked > 0, dropped > 0), (ecn, !ecn), "{marked} marked, {dropped} dropped");
    }
}
