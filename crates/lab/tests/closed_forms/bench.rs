//! The paths of the closed forms, and the measurements on them.

use crate::common::tables::Tables;

/// Payload of a full segment, in octets.
pub(crate) const MSS: f64 = 1448.0;

/// One greedy flow, limited only by its window and by losses on the link.
pub(crate) const LOSSY: &str = r#"
duration = "600s"
[[link]]
name = "path"
from = "src"
to = "dst"
forward = { rate = "1Gbps", delay = "50ms" }
reverse = { rate = "1Gbps", delay = "50ms" }
[[flow]]
from = "src"
to = "dst"
preset = "rfc"
receive_buffer = "64MiB"
send_buffer = "64MiB"
[measure]
from = "20s"
"#;

/// A bottleneck of 20 Mbps that two nodes share. Its bandwidth-delay product is 67 packets, with 40
/// ms.
pub(crate) const SHARED: &str = r#"
duration = "60s"
[[link]]
name = "a"
from = "a"
to = "r"
forward = { delay = "1ms" }
reverse = { delay = "1ms" }
[[link]]
name = "b"
from = "b"
to = "r"
forward = { delay = "1ms" }
reverse = { delay = "1ms" }
[[link]]
name = "btl"
from = "r"
to = "dst"
forward = { rate = "20Mbps", delay = "9ms", queue = { discipline = "fifo", limit = "67packets" } }
reverse = { delay = "9ms" }
[[flow]]
from = "a"
to = "dst"
preset = "linux"
[[flow]]
from = "b"
to = "dst"
preset = "linux"
start = "1s"
[measure]
from = "10s"
"#;

pub(crate) fn run(text: &str, seed: u64, sets: &[String]) -> Tables {
    Tables::run(text, sets, Some(seed))
}

/// The measurements of one flow on a lossy path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// Mean round-trip time, in seconds.
    pub(crate) rtt: f64,
    /// New segments that arrive per second.
    pub(crate) goodput: f64,
    /// Segments that leave per second, retransmissions included.
    pub(crate) sent: f64,
    /// Retransmission timeouts in each run.
    pub(crate) timeouts: f64,
}

impl Outcome {
    /// Returns the mean of runs of `seconds` with the seeds from 1.
    pub(crate) fn of(seeds: u64, seconds: u64, sets: &[String]) -> Self {
        let mut mean = Self::default();
        let mut sets = sets.to_vec();
        sets.push(format!("duration={seconds}s"));
        for seed in 1..=seeds {
            let tables = run(LOSSY, seed, &sets);
            let share = 1.0 / seeds as f64;
            let number = |column: &str| tables.numbers("flows", column)[0] * share;
            let count = |column: &str| tables.counts("flows", column)[0] as f64 * share;
            mean.rtt += number("mean_rtt_l4") / 1e3;
            mean.goodput += number("mean_throughput_l7") * 1e6 / 8.0 / MSS;
            mean.sent += count("total_data_packets_l4") / (seconds - 20) as f64;
            mean.timeouts += count("total_rtos_l4");
        }
        mean
    }

    /// Returns the segments that arrive in a round-trip time.
    pub(crate) fn window(&self) -> f64 {
        self.goodput * self.rtt
    }
}

/// Returns a model that loses each packet with probability `p`.
pub(crate) fn bernoulli(p: f64) -> String {
    format!("link.0.forward.loss={{ model = \"independent\", probability = {p} }}")
}

/// Returns a model that loses each 1/`p`th packet, the first `losses` times.
pub(crate) fn periodic(p: f64, losses: u64) -> String {
    let every = (1.0 / p).round() as u64;
    let packets: Vec<String> = (1..=losses).map(|k| (k * every).to_string()).collect();
    format!("link.0.forward.loss={{ model = \"list\", packets = [{}] }}", packets.join(", "))
}

/// Checks that `ours` deviates from `expected` by no more than the share `tolerance` of `expected`.
pub(crate) fn assert_close(what: &str, ours: f64, expected: f64, tolerance: f64) {
    println!("{what}: {ours:.4} against {expected:.4}, {:+.1} %", (ours / expected - 1.0) * 100.0);
    assert!((ours / expected - 1.0).abs() <= tolerance, "{what}: {ours} against {expected}");
}

/// Returns Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984).
pub(crate) fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    sum * sum / squares / rates.len() as f64
}
