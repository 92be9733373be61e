//! What a run costs: `make bench`.
//!
//! Each scenario runs in a process of its own, five times, and the cheapest run counts. The ns-3 column is what ns-3.37 (profile
//! `optimized`) took for the same work, measured on one core of another machine of the same kind; the ratio is the point, not the
//! absolute figure.

use acklab_lab::{RunOptions, run, scenario};
use std::fs;
use std::process::Command;

const REPEATS: usize = 5;

/// Name, scenario, and ns-3's CPU seconds per simulated second.
const WORK: [(&str, &str, Option<f64>); 5] = [
    ("dumbbell, gate 5 ms / 10, access links", include_str!("cost/gated_dumbbell.toml"), Some(0.026)),
    ("dumbbell, gate 5 ms / 10, bottleneck alone", include_str!("cost/gated_bottleneck.toml"), Some(0.026)),
    ("100 CUBIC flows, 1 Gbps, RTT 20 ms, FIFO 1667", include_str!("cost/hundred_flows.toml"), Some(4.2)),
    ("BBR, 1 Gbps, RTT 100 ms, 5 % lost: many holes", include_str!("cost/thousands_of_holes.toml"), None),
    ("CUBIC, 150 Mbps, an ACK for every two segments", include_str!("cost/bulk_download.toml"), None),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(index) = arguments.iter().position(|argument| argument == "--only") {
        let work = arguments
            .get(index + 1)
            .and_then(|number| number.parse::<usize>().ok())
            .and_then(|number| WORK.get(number));
        return work.map_or_else(
            || eprintln!("expected --only and a number below {}", WORK.len()),
            |(_, text, _)| measure(text),
        );
    }
    println!(
        "{:<48} {:>8} {:>8} {:>12} {:>14} {:>10} {:>9}",
        "scenario", "ns/hop", "ns/wake", "Mpackets/s", "CPU s / sim s", "vs ns-3", "peak MB"
    );
    for (index, (name, _, reference)) in WORK.iter().enumerate() {
        let best = (0..REPEATS).filter_map(|_| in_a_process(index)).min_by(|one, other| one[0].total_cmp(&other[0]));
        let Some([cpu, simulated, hops, wakes, peak]) = best else {
            println!("{name:<48} failed");
            continue;
        };
        let cost = cpu / simulated;
        let ratio = reference.map_or_else(String::new, |reference| format!("{:.0} x", reference / cost));
        println!(
            "{name:<48} {:>8.1} {:>8.1} {:>12.2} {cost:>14.6} {ratio:>10} {peak:>9.1}",
            cpu / hops * 1e9,
            cpu / wakes * 1e9,
            hops / cpu / 1e6,
        );
    }
}

/// CPU seconds, simulated seconds, packet hops, wake-ups, peak memory in MB.
fn in_a_process(index: usize) -> Option<[f64; 5]> {
    let output = Command::new(std::env::current_exe().ok()?).args(["--only", &index.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}

fn measure(text: &str) {
    let scenario = match scenario::load(text, "benchmark", &[], None) {
        Ok(scenario) => scenario,
        Err(refusal) => return eprintln!("{refusal}"),
    };
    let before = cpu_seconds();
    match run(&scenario, &RunOptions::default(), || true) {
        Ok(results) => println!(
            "{} {} {} {} {}",
            cpu_seconds() - before,
            scenario.duration.as_secs_f64(),
            results.hops,
            results.wakes,
            peak_megabytes()
        ),
        Err(error) => eprintln!("{error}"),
    }
}

/// The CPU time of this thread: first field of `schedstat`, in nanoseconds.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

fn peak_megabytes() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e3
}
