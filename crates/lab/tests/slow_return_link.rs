//! Preset `linux` where most ACKs are lost: NewReno over 16 Mbps, whose ACKs return over 64 kbit/s
//! behind a drop-tail queue. The results are compared with the TCP of Linux 6.18 on the same path
//! (`validation/linux/emulate.py --return drop-tail --limit N --delay D`).
//!
//! A single ACK changes when the first segment is lost, in the kernel as here, so single runs prove
//! little. Both were run with delays of 7.5 to 8.0 ms, 0.05 ms apart, and their medians are
//! compared.

use crate::common::tables::Tables;

const PATH: &str = r#"
title = "a slow return link"
duration = "15s"
seed = 42

[[link]]
name = "btl"
from = "src_0"
to = "dst_0"
forward = { rate = "16Mbps", delay = "7.5ms", queue = { discipline = "fifo", limit = "20packets" } }
reverse = { rate = "64kbps", delay = "7.5ms", queue = { discipline = "fifo", limit = "80packets" } }

[[flow]]
from = "src_0"
to = "dst_0"
preset = "linux"
congestion = "newreno"
"#;

const DELAYS: [&str; 11] =
    ["7.5ms", "7.55ms", "7.6ms", "7.65ms", "7.7ms", "7.75ms", "7.8ms", "7.85ms", "7.9ms", "7.95ms", "8.0ms"];

fn run(limit: u32, delay: &str, more: &[&str]) -> Tables {
    let limit = format!("link.0.reverse.queue.limit={limit}packets");
    let (forward, reverse) = (format!("link.0.forward.delay={delay}"), format!("link.0.reverse.delay={delay}"));
    let sets: Vec<&str> = [limit.as_str(), &forward, &reverse].into_iter().chain(more.iter().copied()).collect();
    Tables::run(PATH, &sets, None)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

/// The kernel's goodput in Mbps and its retransmissions, by the limit of the queue. Our values are
/// within 3 % of its goodput and within a factor of 1.5 of its retransmissions. Without the limits
/// of memory and of the offered window they are not: 5.7 Mbps and 800 retransmissions at 80
/// packets, 6.9 Mbps at 200.
#[test]
fn a_slow_return_link_costs_what_it_costs_linux() {
    let kernel = [(80, 4.80, 91.0), (100, 5.58, 636.0), (200, 4.33, 1758.0)];
    for (limit, goodput, retransmissions) in kernel {
        let runs: Vec<Tables> = DELAYS.iter().map(|delay| run(limit, delay, &[])).collect();
        let column = |name| median(runs.iter().map(|tables| tables.numbers("flows", name)[0]).collect());
        let again: Vec<f64> = runs.iter().map(|of| of.counts("flows", "total_retransmissions_l4")[0] as f64).collect();
        let (found, again) = (column("mean_throughput_l7"), median(again));
        println!("{limit} packets: {found:.2} Mbps, {again} retransmissions");
        assert!((found / goodput - 1.0_f64).abs() < 0.03, "{limit}: {found} Mbps, {goodput} Mbps");
        let factor: f64 = again / retransmissions;
        assert!((1.0 / 1.5..1.5).contains(&factor), "{limit}: {again} retransmissions, {retransmissions}");
    }
}

/// 4 MiB of memory hold 1,840 segments, each of 1448 octets with 832 of overhead. 4 MiB of payload
/// hold 2,896. Without losses, the window exceeds both.
#[test]
fn memory_limits_what_is_in_flight() {
    let flight = |limit: &str| {
        let lossless = "link.0.forward.queue.limit=10000packets";
        let series = "measure.series=[\"operating_point\"]";
        let tables = run(200, "7.5ms", &[limit, lossless, series, "flow.0.receive_buffer=16MiB"]);
        tables.numbers("operating_point", "in_flight").into_iter().fold(0.0, f64::max)
    };
    let (memory, payload) = (flight("flow.0.send_buffer_limit=memory"), flight("flow.0.send_buffer_limit=payload"));
    assert!((1_227.0..=1_840.0).contains(&memory), "{memory} segments");
    assert!((1_841.0..=2_897.0).contains(&payload), "{payload} segments");
}
