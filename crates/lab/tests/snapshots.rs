//! Small tables of known values: NewReno over the dumbbell of `studies/parity`, compared with
//! ns-3.37.
//!
//! Only the phase between flow and gate is random on this path, so each number is a mean over
//! phases. The published values are medians of three seeds of ns-3. The tolerances cover their
//! spread, and the calculations below derive the figures independently.

use crate::common::tables::Tables;
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use std::fs;
use std::path::Path;

/// Start of the flow, in microseconds.
const PHASES: [u64; 5] = [0, 1000, 2000, 3000, 4000];

/// Goodput in Mbps, smoothed round-trip time in ms, window in segments, and drops.
type Line = [f64; 4];
const TOLERANCES: Line = [0.03, 0.04, 0.05, 0.20];

/// The capacity in Mbps: 1448 of 1502 octets on the wire are payload, so at most 15.42 Mbps.
const CAPACITY: f64 = 16.0 * 1448.0 / 1502.0;

fn measured(name: &str) -> Line {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/parity").join(format!("{name}.toml"));
    let text = fs::read_to_string(path).unwrap();
    let mut sums = Line::default();
    for phase in PHASES {
        let scenario = load(&text, name, &[format!("flow.0.start={phase}us")], None).unwrap();
        let tables = Tables::of(&scenario, &RunOptions::default());
        let bottleneck = tables.texts("links", "link").iter().position(|link| link == "btl_forward").unwrap();
        let line = [
            tables.numbers("flows", "mean_throughput_l7")[0],
            tables.numbers("flows", "mean_srtt_l4")[0],
            tables.numbers("flows", "mean_cwnd_l4")[0],
            tables.counts("links", "total_qdisc_drops_l2")[bottleneck] as f64,
        ];
        sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += value / PHASES.len() as f64);
    }
    sums
}

fn assert_close(name: &str, measured: Line, published: Line) {
    let columns = ["goodput", "smoothed round-trip time", "window", "drops"];
    for (column, ((ours, published_value), tolerance)) in
        columns.iter().zip(measured.iter().zip(published).zip(TOLERANCES))
    {
        assert!(
            (ours / published_value - 1.0).abs() <= tolerance,
            "{name}: {column} {ours}, published {published_value} ± {tolerance}"
        );
    }
}

/// The queue of 20 packets exceeds the bandwidth-delay product of 20 segments, so halving the
/// window leaves the bottleneck busy. Goodput equals the capacity, except during slow start.
#[test]
fn plain() {
    let line = measured("ns3_dumbbell_newreno");
    assert_close("an ACK for every segment", line, [15.35, 24.21, 32.79, 68.0]);
    assert!(line[0] < CAPACITY);
}

/// Half as many ACKs make the window grow half as fast, so it overflows the queue half as often.
#[test]
fn delayed() {
    let (delayed, every) = (measured("ns3_dumbbell_newreno_delack2"), measured("ns3_dumbbell_newreno"));
    assert_close("an ACK for every second segment", delayed, [15.32, 24.52, 32.57, 34.0]);
    assert!((0.4..0.6).contains(&(delayed[3] / every[3])), "{} drops against {}", delayed[3], every[3]);
}

/// A gate of 5 ms with a quota of 10 passes 2000 ACKs per second, and 1335 segments per second
/// arrive. So it drops no ACK, but passes six or seven at once. Each bunch of data overflows the
/// queue earlier, and the bottleneck is idle in between.
#[test]
fn gated() {
    let line = measured("ns3_dumbbell_gate5ms10_newreno");
    assert_close("gated", line, [13.92, 25.49, 32.93, 74.0]);
    assert!(line[0] < 0.95 * CAPACITY, "bunching must cost goodput: {}", line[0]);
}

/// With an ACK for every second segment, a slot passes three or four instead of six or seven.
/// Slower growth causes fewer drops, so a part of the goodput returns.
#[test]
fn gated_and_delayed() {
    let (delayed, every) =
        (measured("ns3_dumbbell_gate5ms10_newreno_delack2"), measured("ns3_dumbbell_gate5ms10_newreno"));
    assert_close("gated, an ACK for every second segment", delayed, [14.79, 25.44, 32.95, 37.0]);
    assert!(delayed[0] > every[0]);
}
