//! Captures of a cell's air as tshark reads them: no frame is malformed, and its counts are those
//! of the tables.

use crate::common::tables::Tables;
use crate::common::tshark::{knows_eht, tshark};
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use std::path::{Path, PathBuf};

/// A download, a flow from one station to the other, and UDP.
const CELL: &str = r#"
duration = "300ms"
seed = 7
[measure]
series = ["air"]
[[link]]
name = "wire"
from = "server"
to = "ap"
forward = { rate = "500Mbps", delay = "1ms" }
reverse = { rate = "500Mbps", delay = "1ms" }
[[wifi]]
name = "cell"
standard = "802.11n"
[wifi.ap]
name = "ap"
[[wifi.station]]
name = "sta"
count = 2
[[flow]]
from = "server"
to = "sta"
preset = "linux"
[[flow]]
from = "sta_1"
to = "sta_2"
transport = "udp"
traffic = { model = "constant", rate = "2Mbps", write = "1000B" }
[[capture]]
point = "cell"
file = "air.pcapng"
"#;

struct Run {
    tables: Tables,
    capture: PathBuf,
}

fn run(name: &str, sets: &[&str]) -> Run {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("air_of_a_cell_{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = load(CELL, "the cell", &sets, None).unwrap_or_else(|refusal| panic!("{refusal}"));
    let options = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
    Run { tables: Tables::of(&scenario, &options), capture: folder.join("air.pcapng") }
}

/// The severity of an error in Wireshark's expert information: `PI_ERROR` of `epan/proto.h`.
const ERROR: u64 = 0x0080_0000;

/// A frame as decoded by tshark.
struct Seen {
    subtype: u64,
    is_retry: bool,
    is_damaged: bool,
    has_error: bool,
    /// The reference number of the A-MPDU that contains the frame.
    reference: Option<String>,
}

impl Run {
    /// Returns all frames. Returns `None` if tests with tshark are disabled.
    fn frames(&self) -> Option<Vec<Seen>> {
        let fields = [
            "wlan.fc.type_subtype",
            "wlan.fc.retry",
            "radiotap.flags.badfcs",
            "_ws.expert.severity",
            "_ws.malformed",
            "radiotap.ampdu.reference",
        ];
        let lines = tshark(&self.capture, "frame", &fields)?;
        Some(lines.iter().map(|line| seen(line)).collect())
    }

    fn sum(&self, column: &str) -> u64 {
        self.tables.counts("stations", column).into_iter().sum()
    }
}

fn seen(line: &str) -> Seen {
    // Fields that a frame does not have are empty.
    let fields: Vec<&str> = line.split(' ').chain(std::iter::repeat("")).take(6).collect();
    let is_true = |field: &str| matches!(field, "1" | "True");
    let subtype = fields[0].strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
    let severities = fields[3].split(',').filter_map(|severity| severity.parse::<u64>().ok());
    Seen {
        subtype: subtype.unwrap_or_else(|| fields[0].parse()).unwrap_or_else(|error| panic!("{error}: {line}")),
        is_retry: is_true(fields[1]),
        is_damaged: is_true(fields[2]),
        has_error: severities.max().is_some_and(|worst| worst >= ERROR) || !fields[4].is_empty(),
        reference: Some(fields[5].to_owned()).filter(|reference| !reference.is_empty()),
    }
}

fn agrees(name: &str, sets: &[&str]) {
    let run = run(name, sets);
    let Some(frames) = run.frames() else { return };
    // Only frames that could not be decoded have a bad FCS.
    assert!(frames.iter().all(|frame| !frame.has_error || frame.is_damaged), "{name}: malformed frames");
    let count = |is_one: &dyn Fn(&Seen) -> bool| frames.iter().filter(|frame| is_one(frame)).count() as u64;
    let is_data = |frame: &Seen| (0x20..0x30).contains(&frame.subtype);
    assert_eq!(count(&is_data), run.sum("total_mpdus_l2"), "{name}: MPDUs");
    assert_eq!(count(&|frame| is_data(frame) && frame.is_retry), run.sum("total_retries_l2"), "{name}: retries");
    let answers = count(&|frame| matches!(frame.subtype, 0x19 | 0x1d));
    assert_eq!(answers, run.sum("total_link_acks_l2"), "{name}: ACKs and Block ACKs");
    let requests = count(&|frame| frame.subtype == 0x18);
    assert_eq!(requests, run.sum("total_block_ack_requests_l2"), "{name}: Block ACK requests");
    assert_eq!(count(&|frame| frame.subtype == 0x1b), run.sum("total_rts_l2"), "{name}: RTS");
    // A PPDU is a frame outside of an A-MPDU, or all frames of an A-MPDU with the same reference
    // number.
    let alone = count(&|frame| is_data(frame) && frame.reference.is_none());
    let mut references: Vec<&String> = frames.iter().filter_map(|frame| frame.reference.as_ref()).collect();
    references.dedup();
    assert_eq!(alone + references.len() as u64, run.sum("total_ppdus_l2"), "{name}: PPDUs");
    assert!(run.sum("total_mpdus_l2") > 50, "{name}: there is something to count");
}

#[test]
fn an_n_cell_with_aggregates() {
    agrees("n", &[]);
}

#[test]
fn behind_rts_and_with_a_msdus() {
    agrees("n_rts", &["wifi.0.rts_threshold=500B", "wifi.0.aggregation.a_msdu=3839B"]);
}

#[test]
fn with_errors_and_retries() {
    let errors = "wifi.0.reception.channel={model=\"fixed\", frame_error_rate=0.2, control_error_rate=0.05}";
    agrees("n_errors", &[errors, "wifi.0.retries.aggregated=5"]);
    agrees("a_errors", &[errors, "wifi.0.standard=802.11a"]);
}

#[test]
fn stations_that_do_not_hear_each_other() {
    agrees("hidden", &["wifi.0.reception.hidden=[[1, 2]]", "flow.1.traffic.rate=20Mbps"]);
}

#[test]
fn every_other_standard() {
    for standard in ["802.11b", "802.11a", "802.11ac", "802.11ax"] {
        agrees(standard, &[&format!("wifi.0.standard={standard}")]);
    }
    if knows_eht() {
        agrees("802.11be", &["wifi.0.standard=802.11be"]);
    }
    agrees("g_protected", &["wifi.0.standard=802.11g", "wifi.0.protection=cts-to-self"]);
    agrees("ax_256", &["wifi.0.standard=802.11ax", "wifi.0.aggregation.window=256"]);
}

/// The air timeline agrees with the airtime table.
#[test]
fn the_timeline_fits_the_airtime() {
    let run = run("timeline", &["duration=1s"]);
    let durations = run.tables.numbers("air", "duration");
    let times = run.tables.numbers("air", "time");
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
    let kinds = run.tables.texts("air", "kind");
    let fates = run.tables.texts("air", "fate");
    let answers: f64 = kinds
        .iter()
        .zip(&durations)
        .zip(&fates)
        .filter(|((kind, _), fate)| ["ack", "block_ack"].contains(&kind.as_str()) && *fate == "received")
        .map(|((_, duration), _)| duration)
        .sum();
    let uses = run.tables.texts("airtime", "use");
    let spent: u64 = uses
        .iter()
        .zip(run.tables.counts("airtime", "time"))
        .filter(|(what, _)| *what == "link_ack")
        .map(|(_, time)| time)
        .sum();
    // A response frame may be on the air when the run ends.
    assert!((answers - spent as f64 / 1e3).abs() < 100.0, "{answers} µs in the time line, {spent} ns in the accounts");
    assert_eq!(run.tables.counts("airtime", "time").iter().sum::<u64>(), 1_000_000_000);
}
