//! Captures of whole runs: the analysis of tshark agrees with the tables of the same run.

use crate::common::tables::Tables;
use crate::common::tshark::{frames, tshark, tshark_with_names};
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use acklab_wire::tcp::Flags;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A gated dumbbell with a short queue. The transfer ends before the run does, so no packet is left
/// inside.
const DUMBBELL: &str = r#"
title = "a gated dumbbell with drops"
duration = "30s"
seed = 7

[[link]]
name = "access"
from = "src_0"
to = "r1"
forward = { rate = "1Gbps", delay = "100us" }
reverse = { rate = "1Gbps", delay = "100us" }

[[link]]
name = "btl"
from = "r1"
to = "dst_0"
forward = { rate = "16Mbps", delay = "7.5ms", queue = { discipline = "fifo", limit = "12packets" } }
reverse = { delay = "7.5ms", gate = { interval = "5ms", quota = 10 } }

[[flow]]
name = "bulk"
from = "src_0"
to = "dst_0"
preset = "linux"
traffic = { model = "fixed", size = "8MB" }

[[capture]]
point = "src_0"
file = "src_0.pcapng"

[[capture]]
point = "dst_0"
file = "dst_0.pcapng"

[[capture]]
point = "btl_forward"
file = "btl_forward.pcapng"

[[capture]]
point = "btl_forward.out"
file = "btl_forward.out.pcapng"
"#;

/// The address of `src_0`: nodes are numbered in the order of their names, dst_0, r1, src_0.
const SENDER: &str = "10.0.0.3";

const POINTS: [&str; 4] = ["src_0", "dst_0", "btl_forward", "btl_forward.out"];

struct Run {
    folder: PathBuf,
    tables: Tables,
}

impl Run {
    /// Returns the dumbbell under `preset`, with captures in a folder named after `test`.
    fn of(test: &str, preset: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("captures_{test}_{preset}"));
        fs::create_dir_all(&folder).unwrap();
        let scenario = load(DUMBBELL, "the dumbbell", &[format!("flow.0.preset={preset}")], None).unwrap();
        let options = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
        Self { tables: Tables::of(&scenario, &options), folder }
    }

    fn capture(&self, point: &str) -> PathBuf {
        self.folder.join(format!("{point}.pcapng"))
    }

    fn flow(&self, column: &str) -> u64 {
        self.tables.counts("flows", column)[0]
    }

    /// Returns the same run with marks above eight packets, which the receiver echoes in the way of
    /// `ecn`.
    fn marked(test: &str, ecn: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("captures_{test}_{ecn}"));
        fs::create_dir_all(&folder).unwrap();
        let sets = [
            format!("flow.0.ecn={ecn}"),
            "link.btl.forward.queue.mark_above=8packets".to_owned(),
            "link.btl.forward.queue.limit=100packets".to_owned(),
        ];
        let scenario = load(DUMBBELL, "the dumbbell", &sets, None).unwrap();
        let options = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
        Self { tables: Tables::of(&scenario, &options), folder }
    }

    /// Returns a count of link direction `btl_forward`.
    fn bottleneck(&self, column: &str) -> u64 {
        let row = self.tables.texts("links", "link").iter().position(|link| link == "btl_forward").unwrap();
        self.tables.counts("links", column)[row]
    }
}

/// One packet of a capture.
struct Frame {
    nanos: u64,
    is_data: bool,
    octets: u64,
    payload: u64,
    flags: Flags,
    ecn: u64,
    sequence: u64,
}

/// The codepoint Congestion Experienced (RFC 3168, §5).
const CE: u64 = 3;

impl Frame {
    const fn is_control(&self) -> bool {
        self.payload == 0 && !self.flags.contains(Flags::SYN)
    }
}

/// Returns all packets of `path`. Returns `None` if tests with tshark are disabled.
fn packets(path: &Path) -> Option<Vec<Frame>> {
    let fields = ["frame.time_epoch", "ip.src", "ip.len", "tcp.len", "tcp.flags", "ip.dsfield.ecn", "tcp.seq"];
    let frame = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        let (seconds, fraction) = words[0].split_once('.').unwrap();
        assert_eq!(fraction.len(), 9, "{line}");
        let number = |index: usize| words[index].parse::<u64>().unwrap();
        Frame {
            nanos: seconds.parse::<u64>().unwrap() * 1_000_000_000 + fraction.parse::<u64>().unwrap(),
            is_data: words[1] == SENDER,
            octets: number(2),
            payload: number(3),
            flags: Flags::from_bits(u16::from_str_radix(words[4].trim_start_matches("0x"), 16).unwrap()),
            ecn: number(5),
            sequence: number(6),
        }
    };
    Some(tshark(path, "ip", &fields)?.iter().map(frame).collect())
}

#[test]
fn nothing_is_malformed_and_no_ack_is_for_what_was_never_seen() {
    for preset in ["linux", "ns3"] {
        let run = Run::of("analysis", preset);
        assert!(run.flow("total_drops_l2") > 10, "{preset}: too few drops to show anything");
        for point in POINTS {
            let wrong = "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 \
                         || _ws.expert.severity == error";
            // The capture between the ends has only one direction, and the ACKs show that all data
            // passed.
            let wrong = match point {
                "src_0" => format!("{wrong} || tcp.analysis.ack_lost_segment || tcp.analysis.lost_segment"),
                "dst_0" => format!("{wrong} || tcp.analysis.ack_lost_segment"),
                _ if preset == "linux" => wrong.to_owned(),
                _ => continue,
            };
            let Some(found) = frames(&run.capture(point), &wrong, &["_ws.expert.message"]) else { return };
            assert_eq!(found, [""; 0], "{preset} at {point}");
        }
        // The sender sees no gap in its own data. The receiver sees one for each run of drops.
        assert!(!frames(&run.capture("dst_0"), "tcp.analysis.lost_segment", &[]).unwrap().is_empty(), "{preset}");
    }
}

#[test]
fn retransmissions_are_those_of_the_table() {
    for preset in ["linux", "ns3"] {
        let run = Run::of("retransmissions", preset);
        let Some(frames) = packets(&run.capture("src_0")) else { return };
        let data: Vec<&Frame> = frames
            .iter()
            .filter(|frame| frame.is_data && (frame.payload > 0 || frame.flags.contains(Flags::FIN)))
            .collect();
        let distinct: BTreeSet<u64> = data.iter().map(|frame| frame.sequence).collect();
        let again = data.len() - distinct.len();
        assert_eq!(again as u64, run.flow("total_retransmissions_l4"), "{preset}: sequence numbers that repeat");
        assert_eq!(run.flow("total_drops_l2"), run.bottleneck("total_qdisc_drops_l2"), "{preset}");

        // tshark classifies retransmissions by their presumed cause. At the sender, all these
        // classes are retransmissions.
        let kinds = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission \
                     || tcp.analysis.spurious_retransmission || tcp.analysis.out_of_order";
        assert_eq!(tshark(&run.capture("src_0"), kinds, &["tcp.seq"]).unwrap().len(), again, "{preset}");
    }
}

#[test]
fn packets_and_times_are_those_of_the_run() {
    let run = Run::of("packets", "linux");
    let all: Vec<Vec<Frame>> = POINTS.iter().map_while(|point| packets(&run.capture(point))).collect();
    let [source, destination, entrance, exit] = &all[..] else { return };
    assert!(all.iter().all(|frames| frames.iter().map(|frame| frame.nanos).is_sorted()));

    assert_eq!(entrance.len() as u64, run.bottleneck("total_packets_in_l2"));
    assert_eq!(exit.len() as u64, run.bottleneck("total_packets_out_l2"));
    assert_eq!((entrance.len() - exit.len()) as u64, run.bottleneck("total_qdisc_drops_l2"));
    let octets = |frames: &[Frame]| frames.iter().map(|frame| frame.octets).sum::<u64>();
    assert_eq!(octets(entrance), run.bottleneck("total_bytes_in_l2"));
    assert_eq!(octets(exit), run.bottleneck("total_bytes_out_l2"));

    let count = |frames: &[Frame], is: fn(&Frame) -> bool| frames.iter().filter(|frame| is(frame)).count() as u64;
    assert_eq!(count(source, |frame| frame.payload > 0), run.flow("total_data_packets_l4"));
    // The SYN-ACK counts as an ACK sent, but not as an ACK delivered.
    assert_eq!(count(destination, |frame| !frame.is_data), run.flow("total_acks_sent_l4"));
    assert_eq!(
        count(source, |frame| !frame.is_data && !frame.flags.contains(Flags::SYN)),
        run.flow("total_acks_delivered_l4")
    );
    assert_eq!(count(destination, |frame| frame.flags.contains(Flags::FIN)), 1);

    // At 16 Mbps, 1500 octets take 750 µs. No packet leaves earlier than that after the one before
    // it, to the nanosecond.
    let gaps = exit.windows(2).filter(|pair| pair[1].octets == 1500).map(|pair| pair[1].nanos - pair[0].nanos);
    assert_eq!(gaps.min(), Some(750_000));
}

#[test]
fn marks_are_those_of_the_run() {
    for ecn in ["classic", "dctcp", "accurate"] {
        let run = Run::marked("marks", ecn);
        let marks = run.bottleneck("total_marked_l2");
        assert!(marks > 20, "{ecn}: too few marks to show anything");
        let Some(received) = packets(&run.capture("dst_0")) else { return };
        let seen = received.iter().filter(|frame| frame.ecn == CE).count() as u64;
        assert_eq!((seen, marks), (marks, run.flow("total_marked_l4")), "{ecn}");
        let sender = packets(&run.capture("src_0")).unwrap();
        let count = |is: fn(&Frame) -> bool| sender.iter().filter(|frame| is(frame)).count() as u64;
        assert_eq!(count(|frame| frame.ecn == CE), 0, "{ecn}: nothing is marked before the queue");
        // With `accurate`, Linux sends all packets ECN-capable after the handshake.
        let capable = count(|frame| frame.is_control() && frame.ecn != 0);
        assert_eq!(capable, if ecn == "accurate" { count(Frame::is_control) } else { 0 }, "{ecn}");
        assert_eq!(count(|frame| frame.ecn == 0 && frame.payload > 0), 0, "{ecn}: all data is new");
        let asks = |frame: &Frame| {
            frame.flags.contains(Flags::SYN | Flags::ECE | Flags::CWR) && !frame.flags.contains(Flags::ACK)
        };
        assert_eq!(count(asks), 1, "{ecn}");
        let answers = count(|frame| frame.is_data && frame.payload > 0 && frame.flags.contains(Flags::CWR));
        match ecn {
            "accurate" => assert_eq!(answers, 0, "the flag is part of a number, which stays at five"),
            _ => assert!(answers.abs_diff(run.flow("total_mark_reductions_l4")) <= 1, "{ecn}: {answers}"),
        }
    }
}

/// The option is in every packet after the SYN, including the third ACK. The last packet's option
/// counts the octets of all marks.
#[test]
fn the_option_of_accurate_ecn_is_that_of_the_run() {
    let run = Run::marked("option", "accurate");
    let without = "tcp && !tcp.options.acc_ecn && !(tcp.flags.syn == 1 && tcp.flags.ack == 0)";
    let Some(bare) = frames(&run.capture("src_0"), without, &["frame.number"]) else { return };
    assert_eq!(bare, [""; 0]);
    let echoed = tshark(&run.capture("src_0"), &format!("ip.dst == {SENDER}"), &["tcp.options.acc_ecn.eceb"]).unwrap();
    let counter: u64 = echoed.last().unwrap().parse().unwrap();
    assert_eq!(counter, run.flow("total_marked_bytes_l4"));
    // Full packets of 1500 octets: 20 of IP, 20 of TCP, 12 of timestamps, 12 of the option.
    let full = tshark(&run.capture("src_0"), "ip.len == 1500", &["tcp.len"]).unwrap();
    assert!(full.len() > 1000 && full.iter().all(|payload| payload == "1436"), "{} packets", full.len());
}

/// Two phones that share an access point, each with a download; one of them also uploads.
const PHONES: &str = r#"
duration = "300ms"
seed = 1

[[wifi]]
name = "cell"
standard = "802.11n"
rate = { control = "fixed", mcs = 3 }
ap = { name = "ap" }
station = [{ name = "phone", count = 2 }]
reception = { channel = { model = "snr", place = { shape = "disc", radius = 10.0 } } }

[[flow]]
name = "down"
from = "ap"
to = "phone"
preset = "linux"

[[flow]]
name = "up"
from = "phone_1"
to = "ap"
preset = "linux"

[[capture]]
point = "ap"
file = "ap.pcapng"

[[capture]]
point = "cell"
file = "cell.pcapng"
"#;

#[test]
fn a_node_has_one_address_and_its_name_in_all_its_flows() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("phones");
    fs::create_dir_all(&folder).unwrap();
    Tables::of(
        &load(PHONES, "phones", &[], None).unwrap(),
        &RunOptions { captures: Some(folder.clone()), ..RunOptions::default() },
    );
    let fields = ["ip.src_host", "tcp.srcport", "ip.dst_host", "tcp.dstport"];
    for (file, syn) in [
        ("ap.pcapng", "tcp.flags.syn == 1 && tcp.flags.ack == 0"),
        ("cell.pcapng", "tcp.flags.syn == 1 && tcp.flags.ack == 0 && wlan.fc.retry == 0"),
    ] {
        let Some(named) = tshark_with_names(&folder.join(file), syn, &fields) else { return };
        let connections: BTreeSet<&str> = named.iter().map(String::as_str).collect();
        let expected = ["ap 49152 phone_1 9", "ap 49153 phone_2 9", "phone_1 49152 ap 9"];
        assert_eq!(connections, BTreeSet::from(expected), "{file}");
    }
    let levels = tshark(&folder.join("cell.pcapng"), "wlan.fc.type == 2", &["radiotap.dbm_antsignal"]).unwrap();
    let heard: BTreeSet<i32> = levels.iter().map(|line| line.parse().unwrap()).collect();
    assert!(heard.iter().all(|dbm| (-90..-20).contains(dbm)), "{heard:?}");
}
