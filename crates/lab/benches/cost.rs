//! Measures the cost of runs: `make bench`. With a text as argument, measures only the runs whose
//! names contain the text. With `--stations`, measures frames on the air in cells of one to 500
//! stations. With `--instructions`, counts the instructions per delivered segment with valgrind,
//! which are independent of the load of the machine. With `--misses`, also counts cache misses, by
//! the number of flows.
//!
//! Each scenario runs eleven times, each time in a separate process. The cost of the cheapest run
//! is reported. The reference runs immediately after the scenario, because the speed of a machine
//! varies from second to second. The median of the ratios is reported. ns-3, whose programs
//! `make -C validation/ns3` builds, runs only in the first three rounds, because one of its rounds
//! takes minutes.

use acklab_lab::{Results, RunOptions, run, scenario};
use arrow_array::UInt64Array;
use std::fs;
use std::path::Path;
use std::process::Command;

const REPEATS: usize = 11;
const REPEATS_OF_NS3: usize = 3;

/// The folder of ns-3's programs.
const NS3: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/ns3");

/// A scenario and the assignments that change it.
struct Work {
    name: &'static str,
    text: &'static str,
    sets: &'static [&'static str],
    against: Against,
}

/// The reference of a comparison.
enum Against {
    Nothing,
    /// The same scenario in ns-3, per delivered byte: the program and its arguments.
    Ns3(&'static str),
    /// The same cell without TCP/HACK, per second: its index in [`WORK`].
    Stock(usize),
    /// The same path with TCP, per delivered byte: its index in [`WORK`].
    Tcp(usize),
}

/// The access point's queue: 126 packets per station.
const TEN_STATIONS: &[&str] = &["wifi.0.station.0.count=10", "wifi.0.ap.queue.limit=1260packets"];
const FIFTY_STATIONS: &[&str] = &["wifi.0.station.0.count=50", "wifi.0.ap.queue.limit=6300packets"];

/// The same scenario with TCP ACKs in response frames.
const HACK: &[&str] = &["wifi.0.hack={}"];
const TEN_STATIONS_HACK: &[&str] =
    &["wifi.0.station.0.count=10", "wifi.0.ap.queue.limit=1260packets", "wifi.0.hack={}"];

/// The same scenario over TACK, whose ACKs are rare.
const TACK: &[&str] = &[r#"flow.0.transport={protocol="tack", send_buffer="32MiB", receive_buffer="32MiB"}"#];
const TACK_BBR: &[&str] =
    &[r#"flow.0.transport={protocol="tack", congestion="bbr", send_buffer="32MiB", receive_buffer="32MiB"}"#];

const QUIC_BBR: &[&str] = &[
    r#"flow.0.transport={protocol="quic", congestion="bbr", send_buffer="32MiB", flow_control={model="fixed", stream="32MiB", connection="32MiB"}}"#,
];

const WORK: [Work; 16] = [
    work(
        "dumbbell, gate 5 ms / 10, access links",
        include_str!("cost/gated_dumbbell.toml"),
        &[],
        Against::Ns3("dumbbell --quota=10 --time=300s"),
    ),
    work(
        "dumbbell, gate 5 ms / 10, bottleneck alone",
        include_str!("cost/gated_bottleneck.toml"),
        &[],
        Against::Ns3("dumbbell --quota=10 --alone --time=300s"),
    ),
    work(
        "100 CUBIC flows, 1 Gbps, RTT 20 ms, FIFO 1667",
        include_str!("cost/hundred_flows.toml"),
        &[],
        Against::Ns3(
            "dumbbell --controller=TcpCubic --ackEvery=2 --rate=1Gbps --rtt=20ms --qlen=1667 --alone --flows=100 --time=20s",
        ),
    ),
    work(
        "BBR, 1 Gbps, RTT 100 ms, 5 % lost: many holes",
        include_str!("cost/thousands_of_holes.toml"),
        &[],
        Against::Nothing,
    ),
    work(
        "CUBIC, 150 Mbps, an ACK for every two segments",
        include_str!("cost/bulk_download.toml"),
        &[],
        Against::Nothing,
    ),
    work(
        "802.11n, 150 Mbps, CUBIC down, 1 station",
        WIFI_N_DOWNLOAD,
        &[],
        Against::Ns3("wifi --stations=1 --data=1s --from=0s --to=20s"),
    ),
    work(
        "802.11n, 150 Mbps, CUBIC down, 10 stations",
        WIFI_N_DOWNLOAD,
        TEN_STATIONS,
        Against::Ns3("wifi --stations=10 --data=1s --from=0s --to=20s"),
    ),
    work(
        "802.11n, 150 Mbps, CUBIC down, 50 stations",
        WIFI_N_DOWNLOAD,
        FIFTY_STATIONS,
        Against::Ns3("wifi --stations=50 --data=1s --from=0s --to=20s"),
    ),
    work(
        "802.11b, 11 Mbps, NewReno up, 10 stations",
        WIFI_B_UPLOAD,
        &[],
        Against::Ns3(
            "wifi --standard=b --direction=up --transport=newreno --ackEvery=1 --stations=10 --apQueue=50 \
             --receiveBuffer=65535 --sendBuffer=65535 --stagger=100ms --data=1s --from=0s --to=60s",
        ),
    ),
    work(
        "802.11ac, 867 Mbps, CUBIC down, 1 station",
        include_str!("cost/wifi_ac_download.toml"),
        &[],
        Against::Ns3(
            "wifi --standard=ac --mcs=9 --width=80 --streams=2 --apQueue=1000 --wiredRate=10Gbps --wiredDelay=5ms \
             --data=1s --from=0s --to=20s",
        ),
    ),
    work("the same 802.11n with HACK, 1 station", WIFI_N_DOWNLOAD, HACK, Against::Stock(5)),
    work("the same 802.11n with HACK, 10 stations", WIFI_N_DOWNLOAD, TEN_STATIONS_HACK, Against::Stock(6)),
    work("TCP BBR, 590 Mbps, RTT 80 ms", AC_CAPACITY, &[], Against::Nothing),
    work("the same over TACK with BBR", AC_CAPACITY, TACK_BBR, Against::Tcp(12)),
    work("the same over TACK with its own BBR", AC_CAPACITY, TACK, Against::Tcp(12)),
    work("the same over QUIC with BBR", AC_CAPACITY, QUIC_BBR, Against::Tcp(12)),
];

const WIFI_N_DOWNLOAD: &str = include_str!("cost/wifi_n_download.toml");
const AC_CAPACITY: &str = include_str!("cost/ac_capacity.toml");
const WIFI_B_UPLOAD: &str = include_str!("cost/wifi_b_upload.toml");

/// The entries of [`WORK`] that run in cells of all sizes: aggregates from the access point, and
/// single frames from all contenders. Each has the number of packets per station in its queue.
const SWEPT: [(usize, u32); 2] = [(5, 126), (8, 5)];
const STATIONS: [u32; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 500];

const fn work(name: &'static str, text: &'static str, sets: &'static [&'static str], against: Against) -> Work {
    Work { name, text, sets, against }
}

/// The cost of a run.
struct Cost {
    cpu_seconds: f64,
    simulated_seconds: f64,
    hops: f64,
    wakes: f64,
    /// Data PPDUs, Block ACK requests and their response frames.
    frames: f64,
    /// Bytes that applications have read.
    delivered: f64,
    peak_megabytes: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(place) = arguments.iter().position(|argument| argument == "--only") {
        let (index, sets) = arguments[place + 1..].split_first().unzip();
        let work = index.and_then(|number| WORK.get(number.parse::<usize>().ok()?));
        let Some(work) = work else { return eprintln!("expected --only and a number below {}", WORK.len()) };
        return measure(work, sets.unwrap_or_default());
    }
    if arguments.iter().any(|argument| argument == "--stations") {
        return SWEPT.into_iter().for_each(sweep);
    }
    if arguments.iter().any(|argument| argument == "--instructions") {
        println!("{:<48} {:>22}", "scenario", "instructions/segment");
        for (index, work) in WORK.iter().enumerate() {
            let told = instructions(index).map_or_else(|| "failed".to_owned(), |each| format!("{each:.0}"));
            println!("{:<48} {told:>22}", work.name);
        }
        return;
    }
    if arguments.iter().any(|argument| argument == "--misses") {
        println!("{:>8} {:>14} {:>12} {:>12}", "flows", "instructions", "L1 misses", "L2 misses");
        for flows in FLOWS {
            match misses(flows) {
                Some([instructions, first, last]) => {
                    println!("{flows:>8} {instructions:>14.0} {first:>12.1} {last:>12.1}");
                }
                None => println!("{flows:>8} failed"),
            }
        }
        return;
    }
    println!(
        "{:<48} {:>8} {:>8} {:>12} {:>14} {:>14} {:>9}",
        "scenario", "ns/hop", "ns/wake", "Mpackets/s", "CPU s / sim s", "vs ns-3", "peak MB"
    );
    if !["dumbbell", "wifi"].iter().all(|program| Path::new(NS3).join(program).exists()) {
        eprintln!("note: ns-3 is left out; expected its programs, which `make -C validation/ns3` builds");
    }
    let text = arguments.iter().find(|argument| !argument.starts_with('-')).map_or("", String::as_str);
    let chosen: Vec<usize> = (0..WORK.len()).filter(|&index| WORK[index].name.contains(text)).collect();
    for (index, line) in rounds(&chosen) {
        let Work { name, against, .. } = &WORK[index];
        let Some(cost) = line.cheapest else {
            println!("{name:<48} failed");
            continue;
        };
        let ratio = match against {
            Against::Ns3(_) if !line.ratios.is_empty() => format!("{:.0} x", 1.0 / median(line.ratios)),
            Against::Nothing | Against::Ns3(_) => String::new(),
            Against::Stock(_) => format!("{:.2} of stock", median(line.ratios)),
            Against::Tcp(_) => format!("{:.2} of TCP", median(line.ratios)),
        };
        println!(
            "{name:<48} {:>8.1} {:>8.1} {:>12.2} {:>14.6} {ratio:>14} {:>9.1}",
            cost.cpu_seconds / cost.hops * 1e9,
            cost.cpu_seconds / cost.wakes * 1e9,
            cost.hops / cost.cpu_seconds / 1e6,
            cost.of_a_second(),
            cost.peak_megabytes,
        );
    }
}

/// Runs the same work in cells of all sizes.
fn sweep((index, packets): (usize, u32)) {
    println!("{}", WORK[index].name);
    println!(
        "{:>8} {:>10} {:>8} {:>8} {:>14} {:>9}",
        "stations", "frames/s", "ns/frame", "ns/hop", "CPU s / sim s", "peak MB"
    );
    for stations in STATIONS {
        let limit = stations * packets;
        let sets = [format!("wifi.0.station.0.count={stations}"), format!("wifi.0.ap.queue.limit={limit}packets")];
        let Some(cost) = cheapest(index, &sets) else {
            println!("{stations:>8} failed");
            continue;
        };
        println!(
            "{stations:>8} {:>10.0} {:>8.1} {:>8.1} {:>14.6} {:>9.1}",
            cost.frames / cost.simulated_seconds,
            cost.cpu_seconds / cost.frames * 1e9,
            cost.cpu_seconds / cost.hops * 1e9,
            cost.of_a_second(),
            cost.peak_megabytes,
        );
    }
}

/// The totals of all runs of one entry of [`WORK`].
#[derive(Default)]
struct Line {
    cheapest: Option<Cost>,
    /// The costs of the entry divided by the costs of its reference.
    ratios: Vec<f64>,
}

/// Runs these entries of [`WORK`] in rounds, so that a slow minute of the machine affects all of
/// them.
fn rounds(chosen: &[usize]) -> Vec<(usize, Line)> {
    let mut lines: Vec<(usize, Line)> = chosen.iter().map(|&index| (index, Line::default())).collect();
    for round in 0..REPEATS {
        for (index, line) in &mut lines {
            let Some(cost) = in_a_process(*index, &[]) else { continue };
            let ratio = match WORK[*index].against {
                Against::Ns3(command) if round < REPEATS_OF_NS3 => {
                    ns3_of_an_octet(command).map(|other| cost.of_an_octet() / other)
                }
                Against::Stock(other) => in_a_process(other, &[]).map(|other| cost.of_a_second() / other.of_a_second()),
                Against::Tcp(other) => in_a_process(other, &[]).map(|other| cost.of_an_octet() / other.of_an_octet()),
                Against::Nothing | Against::Ns3(_) => None,
            };
            line.ratios.extend(ratio);
            line.cheapest = cheaper(line.cheapest.take(), Some(cost));
        }
    }
    lines
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Cost {
    /// Returns the CPU seconds per simulated second.
    fn of_a_second(&self) -> f64 {
        self.cpu_seconds / self.simulated_seconds
    }

    /// Returns the CPU seconds per delivered byte.
    fn of_an_octet(&self) -> f64 {
        self.cpu_seconds / self.delivered
    }
}

fn cheapest(index: usize, sets: &[String]) -> Option<Cost> {
    (0..REPEATS).map(|_| in_a_process(index, sets)).fold(None, cheaper)
}

fn cheaper(one: Option<Cost>, other: Option<Cost>) -> Option<Cost> {
    one.into_iter().chain(other).min_by(|one, other| one.cpu_seconds.total_cmp(&other.cpu_seconds))
}

fn in_a_process(index: usize, sets: &[String]) -> Option<Cost> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    let output = command.args(["--only", &index.to_string()]).args(sets).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let [cpu_seconds, simulated_seconds, hops, wakes, frames, delivered, peak_megabytes] = numbers.try_into().ok()?;
    Some(Cost { cpu_seconds, simulated_seconds, hops, wakes, frames, delivered, peak_megabytes })
}

/// Returns ns-3's CPU seconds per delivered byte.
fn ns3_of_an_octet(command: &str) -> Option<f64> {
    let mut words = command.split_whitespace();
    let output = Command::new(Path::new(NS3).join(words.next()?)).args(words).arg("--observe=false").output().ok()?;
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(told["cpu_seconds"].as_f64()? / told["delivered_bytes"].as_f64()?)
}

/// The bytes of a TCP segment that fills 1500 bytes with a timestamp.
const SEGMENT: f64 = 1448.0;

/// Returns the instructions per delivered [`SEGMENT`], without the fixed cost of a run: the
/// difference between a tenth and a fifth of the duration.
fn instructions(index: usize) -> Option<f64> {
    let scenario = scenario::load(WORK[index].text, "benchmark", &[], None).ok()?;
    let share = |share: f64| format!("duration={}s", scenario.duration.as_secs_f64() * share);
    let [instructions] = each_segment(index, &["--cache-sim=no"], &[], &[share(0.1), share(0.2)], ["I refs:"])?;
    Some(instructions)
}

/// The entry of [`WORK`] whose flows [`misses`] multiplies, and the numbers of flows.
const MULTIPLIED: usize = 2;
const FLOWS: [u32; 4] = [1, 100, 1_000, 10_000];

/// The caches of a server core (Intel Sapphire Rapids): 48 KiB of L1 data cache and 2 MiB of L2.
/// The arguments are size, ways, and bytes per line. For valgrind, the last cache is the last one
/// that cores do not share.
const CACHES: &[&str] = &["--cache-sim=yes", "--D1=49152,12,64", "--LL=2097152,16,64"];

/// Returns the instructions, the misses of the first data cache, and the misses of the second cache
/// per [`SEGMENT`], with 1 Mbps per flow.
fn misses(flows: u32) -> Option<[f64; 3]> {
    let sets = [
        format!("flow.0.count={flows}"),
        format!("flow.0.spacing={}us", 1_000_000 / flows),
        format!("link.0.forward.rate={flows}Mbps"),
        format!("link.0.reverse.rate={flows}Mbps"),
        format!("link.0.forward.queue.limit={}packets", 4 * flows),
    ];
    // All flows have begun after a second. With few flows, the same number of segments takes
    // longer.
    let seconds = 2 * (100 / flows).max(1);
    let durations = [format!("duration={seconds}s"), format!("duration={}s", 2 * seconds)];
    each_segment(MULTIPLIED, CACHES, &sets, &durations, ["I refs:", "D1 misses:", "LL misses:"])
}

/// Returns valgrind's counts with these labels between two durations, per [`SEGMENT`] delivered in
/// between.
fn each_segment<const N: usize>(
    index: usize,
    caches: &[&str],
    sets: &[String],
    durations: &[String; 2],
    labels: [&str; N],
) -> Option<[f64; N]> {
    let counted = |duration: &String| {
        let mut command = Command::new("valgrind");
        command.args(["--tool=cachegrind", "--cachegrind-out-file=/dev/null"]).args(caches);
        command.arg(std::env::current_exe().ok()?).args(["--only", &index.to_string(), duration]).args(sets);
        let output = command.output().ok()?;
        let (told, log) = (String::from_utf8(output.stdout).ok()?, String::from_utf8(output.stderr).ok()?);
        let octets: f64 = told.split_whitespace().nth(DELIVERED)?.parse().ok()?;
        let count = |label: &str| {
            let words: Vec<&str> = label.split(' ').collect();
            let line =
                log.lines().find(|line| line.split_whitespace().skip(1).take(words.len()).eq(words.iter().copied()))?;
            line.split_whitespace().nth(1 + words.len())?.replace(',', "").parse::<f64>().ok()
        };
        let counts = labels.map(count);
        Some((octets, counts.iter().all(Option::is_some).then(|| counts.map(Option::unwrap_or_default))?))
    };
    let ((octets, counts), (more_octets, more)) = (counted(&durations[0])?, counted(&durations[1])?);
    let segments = (more_octets - octets) / SEGMENT;
    Some(std::array::from_fn(|place| (more[place] - counts[place]) / segments))
}

/// The index of the delivered bytes in the output of [`measure`].
const DELIVERED: usize = 5;

fn measure(work: &Work, sets: &[String]) {
    let sets: Vec<String> = work.sets.iter().map(|set| (*set).to_owned()).chain(sets.iter().cloned()).collect();
    let scenario = match scenario::load(work.text, "benchmark", &sets, None) {
        Ok(scenario) => scenario,
        Err(refusal) => return eprintln!("{refusal}"),
    };
    let before = cpu_seconds();
    match run(&scenario, &RunOptions::default(), || true) {
        Ok(results) => println!(
            "{} {} {} {} {} {} {}",
            cpu_seconds() - before,
            scenario.duration.as_secs_f64(),
            results.hops,
            results.wakes,
            sum(&results, "stations", &["total_ppdus_l2", "total_block_ack_requests_l2", "total_link_acks_l2"]),
            sum(&results, "flows", &["total_delivered_bytes_l7"]),
            peak_megabytes()
        ),
        Err(error) => eprintln!("{error}"),
    }
}

/// Returns the sum of these columns of a table, zero if there is none.
fn sum(results: &Results, table: &str, columns: &[&str]) -> u64 {
    let table = results.tables.iter().find(|found| found.name() == table);
    let Some(table) = table.and_then(|table| table.clone().into_arrow().ok()) else { return 0 };
    let counts = columns.iter().filter_map(|name| table.column_by_name(name)?.as_any().downcast_ref::<UInt64Array>());
    counts.flatten().flatten().sum()
}

/// Returns the CPU time of this thread: first field of `schedstat`, in nanoseconds.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

fn peak_megabytes() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e3
}
