//! The same scenario and seed give the same octets: in a second run, in another process, and among
//! other threads.

use acklab_lab::scenario::load;
use acklab_lab::{Results, RunOptions, run};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// A scenario with all series, and with randomness in every component that can be random.
const CHANCE: &str = r#"
duration = "3s"
seed = 11

[[link]]
name = "access"
from = "n0"
to = "n1"
forward = { rate = "100Mbps", delay = "1ms", jitter = { model = "exponential", mean = "300us" } }
reverse = { rate = "100Mbps", delay = "1ms", jitter = { model = "normal", mean = "1ms", deviation = "1ms" } }

[[link]]
name = "btl"
from = "n1"
to = "n2"
[link.forward]
rate = "8Mbps"
delay = "5ms"
queue = { discipline = "fifo", limit = "20packets" }
loss = { model = "independent", probability = 0.01 }
reorder = { probability = 0.01, by = "3ms" }
[link.reverse]
rate = "256kbps"
delay = "5ms"
queue = { discipline = "ack-filter" }
gate = { interval = "5ms", quota = 4 }
loss = { model = "gilbert-elliott", good_to_bad = 0.01, bad_to_good = 0.5 }

[[flow]]
name = "bulk"
from = "n0"
to = "n2"
preset = "linux"
count = 2
spacing = "100ms"

[[flow]]
name = "writes"
from = "n0"
to = "n2"
preset = "ns3"
traffic = { model = "poisson", rate = "500kbps" }

[[flow]]
name = "datagrams"
from = "n0"
to = "n2"
transport = "udp"
traffic = { model = "poisson", rate = "1Mbps" }

[measure]
from = "200ms"
series = ["operating_point", "throughput", "queue", "packets", "events"]
"#;

/// A link beside the path with all random effects, and a flow on it with a unique name.
const BESIDE: &str = r#"
[[link]]
name = "beside"
from = "m0"
to = "m1"
forward = { rate = "5Mbps", delay = "3ms", loss = { model = "independent", probability = 0.05 }, queue = { discipline = "fifo", limit = "5packets" } }
reverse = { delay = "3ms", jitter = { model = "uniform", spread = "9ms" } }

[[flow]]
name = "neighbour"
from = "m0"
to = "m1"
preset = "rfc"
traffic = { model = "poisson", rate = "4Mbps" }
"#;

/// A cell at the end of the path, with random rates, positions, errors and hidden stations.
const WIRELESS: &str = r#"
[[wifi]]
name = "cell"
standard = "802.11n"
streams = 2
rate = { control = "minstrel-ht" }
ap = { name = "n2", queue = { discipline = "codel", limit = "200packets" } }
station = [{ name = "sta", count = 4, queue = { discipline = "ack-filter" } }]
[wifi.reception]
channel = { model = "snr", place = { shape = "disc", radius = 30.0 } }
hidden = [[1, 2]]

[[flow]]
name = "down"
from = "n0"
to = "sta"
preset = "linux"

[[flow]]
name = "up"
from = "sta"
to = "n2"
preset = "rfc"
traffic = { model = "poisson", rate = "3Mbps" }
"#;

/// Returns a scenario with everything that can be random.
fn everything() -> String {
    let all = CHANCE.replace("\"packets\", \"events\"", "\"packets\", \"air\", \"events\"");
    assert_ne!(all, CHANCE, "the air is kept, too");
    all + WIRELESS
}

/// The rows of each table as text, each number as its bits.
type Octets = BTreeMap<&'static str, Vec<String>>;

fn octets_of(text: &str, seed: u64) -> Octets {
    let scenario = load(text, "the scenario", &[], Some(seed)).unwrap();
    let Results { tables, wakes, hops, .. } = run(&scenario, &RunOptions::default(), || true).unwrap();
    let mut octets: Octets =
        tables.into_iter().map(|table| (table.name(), rows(&table.into_arrow().unwrap()))).collect();
    octets.insert("work", vec![format!("{wakes} wakes, {hops} hops")]);
    octets
}

fn rows(batch: &RecordBatch) -> Vec<String> {
    let cells = |row: usize| {
        batch.columns().iter().map(move |column| match column.data_type() {
            _ if column.is_null(row) => "null".to_owned(),
            DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
            DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
            _ => format!("{:016x}", column.as_primitive::<Float64Type>().value(row).to_bits()),
        })
    };
    (0..batch.num_rows()).map(|row| cells(row).collect::<Vec<_>>().join(" ")).collect()
}

/// Returns the FNV-1a hash over all rows of all tables.
fn digest(octets: &Octets) -> String {
    let text = octets.iter().flat_map(|(name, rows)| std::iter::once((*name).to_owned()).chain(rows.iter().cloned()));
    let hash = text
        .flat_map(|row| (row + "\n").into_bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3));
    format!("digest {hash:016x}")
}

#[test]
fn two_runs_are_the_same() {
    let once = octets_of(&everything(), 11);
    assert_eq!(once, octets_of(&everything(), 11));
    for series in ["operating_point", "throughput", "queue", "packets", "events"] {
        assert!(once[series].len() > 10, "{series} has too few rows to show anything");
    }
}

#[test]
fn another_seed_is_another_run() {
    let (one, other) = (octets_of(CHANCE, 11), octets_of(CHANCE, 12));
    for table in ["flows", "links", "packets", "queue", "events"] {
        assert_ne!(one[table], other[table], "{table}");
    }
}

#[test]
fn a_seed_matters_only_where_chance_is_involved() {
    let without: String = CHANCE
        .lines()
        .filter(|line| !line.starts_with("loss") && !line.starts_with("reorder"))
        .map(|line| {
            line.split(", jitter").next().map_or(String::new(), |kept| {
                if kept.len() < line.len() { format!("{kept} }}\n") } else { format!("{kept}\n") }
            })
        })
        .collect::<String>()
        .replace("poisson", "constant");
    assert_eq!(octets_of(&without, 11), octets_of(&without, 12));
}

#[test]
fn threads_change_nothing() {
    let alone: Vec<Octets> = (0..4).map(|seed| octets_of(&everything(), seed)).collect();
    let together: Vec<Octets> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || octets_of(&everything(), seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(alone == together, "four runs at once differ from one after another");
}

/// Runs as the process that [`another_process_gives_the_same`] starts: it prints a digest of the
/// run.
#[test]
fn print_a_digest() {
    println!("{}", digest(&octets_of(&everything(), 11)));
}

#[test]
fn another_process_gives_the_same() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "determinism::print_a_digest", "--nocapture", "--test-threads=1"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let described = String::from_utf8_lossy(&output.stdout).into_owned();
    let here = digest(&octets_of(&everything(), 11));
    assert!(described.contains(&here), "here {here}, there\n{described}");
}

/// A lossy download whose packets are captured at its receiver.
const CAPTURED: &str = r#"
duration = "20s"
seed = 1

[[link]]
name = "path"
from = "server"
to = "client"
forward = { rate = "8.5Mbps", delay = "50ms", loss = { model = "independent", probability = 0.01 } }
reverse = { rate = "2Mbps", delay = "50ms", loss = { model = "independent", probability = 0.01 } }

[[flow]]
name = "download"
from = "server"
to = "client"
traffic = { model = "fixed", size = "100kB" }

[[capture]]
point = "client"
file = "client.pcapng"
"#;

/// The transports whose captures are compared, by name.
const TRANSPORTS: [(&str, &str); 4] = [
    ("tcp", r#"{ protocol = "tcp", preset = "linux" }"#),
    ("tack", r#"{ protocol = "tack" }"#),
    ("quic", r#"{ protocol = "quic" }"#),
    ("quinn", r#"{ protocol = "quinn" }"#),
];

/// Captures a download over each transport in a separate folder below `folder`.
fn capture_all(folder: &Path, seed: u64) {
    for (name, transport) in TRANSPORTS {
        let sets = [format!("flow.download.transport={transport}")];
        let captures = folder.join(name);
        std::fs::create_dir_all(&captures).unwrap();
        let options = RunOptions { captures: Some(captures), ..RunOptions::default() };
        run(&load(CAPTURED, "captured", &sets, Some(seed)).unwrap(), &options, || true).unwrap();
    }
}

/// Runs as the process that [`another_process_writes_the_same_captures`] starts: it captures to the
/// folder that the environment names.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn write_captures() {
    capture_all(Path::new(&std::env::var("ACKLAB_CAPTURES").unwrap()), 1);
}

#[test]
fn another_process_writes_the_same_captures() {
    let folder = |name: &str| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("determinism").join(name);
    let [here, there, other] = ["here", "there", "other"].map(folder);
    capture_all(&here, 1);
    capture_all(&other, 2);
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "determinism::write_captures", "--ignored", "--quiet"])
        .env("ACKLAB_CAPTURES", &there)
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
    for (name, _) in TRANSPORTS {
        let capture = |folder: &Path| std::fs::read(folder.join(name).join("client.pcapng")).unwrap();
        assert!(capture(&here) == capture(&there), "{name}: the captures differ");
        assert!(capture(&here) != capture(&other), "{name}: another seed makes no difference");
    }
}

/// Random streams are named after their component, so components beside the path do not change the
/// results on it.
#[test]
fn links_and_flows_beside_the_path_change_nothing() {
    let (head, measure) = CHANCE.split_once("[measure]").unwrap();
    let (alone, beside) = (octets_of(CHANCE, 11), octets_of(&format!("{head}{BESIDE}\n[measure]{measure}"), 11));
    for (table, rows) in &alone {
        if ["network", "work"].contains(table) {
            continue;
        }
        let ours: Vec<&String> =
            beside[table].iter().filter(|row| !row.starts_with("beside") && !row.starts_with("neighbour")).collect();
        assert_eq!(rows.iter().collect::<Vec<_>>(), ours, "{table}");
        assert!(beside[table].len() > rows.len() || *table == "throughput", "{table}: the neighbour was measured too");
    }
}
