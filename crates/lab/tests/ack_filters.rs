//! Compares ACK filters behind the same gate.

use crate::common::tables::Tables;

/// One flow fills 16 Mbps: 1333 packets of 1500 octets a second, and as many ACKs. They return
/// through a gate that opens 200 times a second.
const LINE: &str = r#"
duration = "20s"
seed = 1

[[link]]
name = "btl"
from = "src"
to = "dst"
forward = { rate = "16Mbps", delay = "7.4ms", queue = { discipline = "fifo", limit = "200packets" } }
reverse = { delay = "7.5ms", gate = { interval = "5ms", quota = 10 } }

[[flow]]
from = "src"
to = "dst"
preset = "linux"
congestion = "newreno"
ack = { policy = "per-packet" }

[measure]
from = "5s"
"#;

const FORWARD: usize = 0;
const REVERSE: usize = 1;
/// Measured over 15 s.
const TICKS: u64 = 15 * 200;
const PACKETS: u64 = 20_000;

struct Line(Tables);

impl Line {
    /// Returns the metrics with this queue in front of a gate of `quota`.
    fn run(queue: &str, quota: u64) -> Self {
        let queue = format!("link.btl.reverse.queue={{ discipline = {queue} }}");
        let line = Self(Tables::run(LINE, &[queue, format!("link.btl.reverse.gate.quota={quota}")], None));
        assert_eq!(line.0.texts("links", "link"), ["btl_forward", "btl_reverse"]);
        line
    }

    fn utilization(&self) -> f64 {
        self.0.numbers("links", "mean_utilization_l1")[FORWARD]
    }

    fn acks(&self) -> u64 {
        self.0.counts("links", "total_packets_out_l2")[REVERSE]
    }

    fn longest_queue(&self) -> u64 {
        self.0.counts("links", "max_qdisc_length_l2")[REVERSE]
    }

    /// Returns the mean wait in milliseconds.
    fn wait(&self) -> f64 {
        self.0.numbers("links", "mean_qdisc_delay_l2")[REVERSE]
    }
}

/// With a quota for all ACKs, six or seven ACKs arrive between two slots of the gate. The filter
/// leaves one of them, or two with CAKE's filter, and the next slot passes these. The few
/// additional ones belong to recoveries.
#[test]
fn a_tick_passes_what_the_filter_leaves() {
    let unfiltered = Line::run("\"fifo\"", 10);
    assert!(unfiltered.acks().abs_diff(PACKETS) <= 10, "{}", unfiltered.acks());
    for (queue, acks_of_a_tick, of_recoveries) in [
        ("\"ack-filter\", keeps = \"nothing\"", 1, 0),
        ("\"ack-filter\", keeps = \"nothing\", place = \"tail\"", 1, 0),
        ("\"ack-filter\", keeps = \"duplicates\"", 1, 300),
        ("\"ack-filter\", keeps = \"news\"", 1, 300),
        ("\"cake-ack-filter\"", 2, 10),
        ("\"cake-ack-filter\", aggressive = true", 1, 10),
    ] {
        let line = Line::run(queue, 10);
        let least = acks_of_a_tick * TICKS;
        assert!((least..=least + of_recoveries).contains(&line.acks()), "{queue}: {}", line.acks());
        assert!(line.utilization() > 0.999, "{queue}: {}", line.utilization());
    }
}

/// An ACK arrives every 0.75 ms. A filter that replaces in place gives the ACK that passes the
/// position of the first arrival after the previous slot. A filter at the tail gives it the
/// position of the last arrival. Its information is equally new in both cases.
#[test]
fn a_place_has_waited_since_the_first_and_a_packet_at_the_tail_since_it_came() {
    let wait = |place| Line::run(&format!("\"ack-filter\", keeps = \"nothing\", place = \"{place}\""), 10).wait();
    let (in_place, tail) = (wait("in-place"), wait("tail"));
    assert!((4.25..5.0).contains(&in_place), "{in_place} ms");
    assert!((0.0..0.75).contains(&tail), "{tail} ms");
}

/// With a quota of one ACK per slot, a seventh of the arrivals, the flow depends on the filter. A
/// filter that keeps all ACKs with SACK blocks queues the ACKs of a recovery, so the sender learns
/// late that its losses are repaired. CAKE's filter drops an ACK whose blocks a newer one repeats,
/// and so queues none.
#[test]
fn a_filter_that_keeps_every_sack_block_delays_a_recovery_and_one_that_compares_them_does_not() {
    let unfiltered = Line::run("\"fifo\"", 1);
    assert!(unfiltered.utilization() < 0.3, "{}", unfiltered.utilization());
    let news = Line::run("\"ack-filter\", keeps = \"news\"", 1);
    assert!(news.utilization() < 0.95, "{}", news.utilization());
    assert!(news.longest_queue() > 100, "{}", news.longest_queue());
    for queue in
        ["\"cake-ack-filter\"", "\"cake-ack-filter\", aggressive = true", "\"ack-filter\", keeps = \"nothing\""]
    {
        let line = Line::run(queue, 1);
        assert!(line.utilization() > 0.999, "{queue}: {}", line.utilization());
        assert!(line.longest_queue() <= 5, "{queue}: {}", line.longest_queue());
        assert_eq!(line.acks(), TICKS, "{queue}");
    }
}
