//! Captures of whole runs: what tshark makes of them, against the tables of the same run.

#[path = "common/tables.rs"]
mod tables;

#[path = "common/tshark.rs"]
mod tshark;

use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tables::Tables;
use tshark::{frames, tshark};

/// A gated dumbbell with a short queue. The transfer ends before the run does, so no packet is left inside.
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

const POINTS: [&str; 4] = ["src_0", "dst_0", "btl_forward", "btl_forward.out"];

struct Run {
    folder: PathBuf,
    tables: Tables,
}

impl Run {
    /// The dumbbell under `preset`, with captures in a folder named after `test`.
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

    /// Of link direction `btl_forward`.
    fn bottleneck(&self, column: &str) -> u64 {
        let row = self.tables.texts("links", "link").iter().position(|link| link == "btl_forward").unwrap();
        self.tables.counts("links", column)[row]
    }
}

#[test]
fn nothing_is_malformed_and_no_ack_is_for_what_was_never_seen() {
    for preset in ["linux", "ns3", "rfc"] {
        let run = Run::of("analysis", preset);
        assert!(run.flow("total_drops_l2") > 10, "{preset}: too few drops to show anything");
        for point in POINTS {
            let wrong = "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 \
                         || _ws.expert.severity == error";
            let Some(found) = frames(&run.capture(point), wrong, &["_ws.expert.message"]) else { return };
            assert_eq!(found, [""; 0], "{preset} at {point}");
        }
        for point in ["src_0", "dst_0"] {
            let unseen = frames(&run.capture(point), "tcp.analysis.ack_lost_segment", &["tcp.ack"]);
            assert_eq!(unseen.unwrap(), [""; 0], "{preset} at {point}");
        }
        // The sender sees no gap in its own data, the receiver one for each run of drops.
        let gaps = |point| frames(&run.capture(point), "tcp.analysis.lost_segment", &[]).unwrap().len();
        assert_eq!(gaps("src_0"), 0, "{preset}");
        assert!(gaps("dst_0") > 0, "{preset}");
    }
}

#[test]
fn retransmissions_are_those_of_the_table() {
    for preset in ["linux", "ns3", "rfc"] {
        let run = Run::of("retransmissions", preset);
        let data = "ip.src == 10.0.0.1 && (tcp.len > 0 || tcp.flags.fin == 1)";
        let Some(sequence) = tshark(&run.capture("src_0"), data, &["tcp.seq"]) else { return };
        let distinct: BTreeSet<&String> = sequence.iter().collect();
        let again = (sequence.len() - distinct.len()) as u64;
        assert_eq!(again, run.flow("total_retransmissions_l4"), "{preset}: sequence numbers that repeat");
        assert_eq!(sequence.len() as u64, run.flow("total_data_packets_l4"), "{preset}");

        // tshark sorts them by what it believes of their cause; all kinds are retransmissions where the sender was watched.
        let kinds = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission \
                     || tcp.analysis.spurious_retransmission || tcp.analysis.out_of_order";
        assert_eq!(tshark(&run.capture("src_0"), kinds, &["tcp.seq"]).unwrap().len() as u64, again, "{preset}");
        assert_eq!(run.flow("total_drops_l2"), run.bottleneck("total_qdisc_drops_l2"), "{preset}");
    }
}

#[test]
fn packets_are_those_of_the_tables() {
    let run = Run::of("packets", "linux");
    let count = |point: &str, filter: &str| frames(&run.capture(point), filter, &[]).map(|frames| frames.len() as u64);
    let Some(entered) = count("btl_forward", "ip") else { return };
    assert_eq!(entered, run.bottleneck("total_packets_in_l2"));
    assert_eq!(count("btl_forward.out", "ip").unwrap(), run.bottleneck("total_packets_out_l2"));
    assert_eq!(entered - count("btl_forward.out", "ip").unwrap(), run.bottleneck("total_qdisc_drops_l2"));
    let octets = |point: &str| {
        let lengths = tshark(&run.capture(point), "ip", &["ip.len"]).unwrap();
        lengths.iter().map(|length| length.parse::<u64>().unwrap()).sum::<u64>()
    };
    assert_eq!(octets("btl_forward"), run.bottleneck("total_bytes_in_l2"));
    assert_eq!(octets("btl_forward.out"), run.bottleneck("total_bytes_out_l2"));

    // The answer to the SYN counts as an ACK that was sent, and not as one that was delivered.
    assert_eq!(count("dst_0", "ip.src == 10.128.0.1").unwrap(), run.flow("total_acks_sent_l4"));
    assert_eq!(
        count("src_0", "ip.src == 10.128.0.1 && tcp.flags.syn == 0").unwrap(),
        run.flow("total_acks_delivered_l4")
    );
    assert_eq!(count("dst_0", "tcp.flags.fin == 1").unwrap(), 1);
}

/// 1500 octets take 750 µs at 16 Mbps, so packets that leave a busy bottleneck are never closer, to the nanosecond.
#[test]
fn times_have_nanoseconds_and_run_forwards() {
    let run = Run::of("times", "linux");
    for point in POINTS {
        let Some(times) = tshark(&run.capture(point), "ip", &["frame.time_epoch"]) else { return };
        let nanos: Vec<u64> = times
            .iter()
            .map(|time| {
                let (seconds, fraction) = time.split_once('.').unwrap();
                assert_eq!(fraction.len(), 9, "{time}");
                seconds.parse::<u64>().unwrap() * 1_000_000_000 + fraction.parse::<u64>().unwrap()
            })
            .collect();
        assert!(nanos.is_sorted(), "{point}");
        if point == "btl_forward.out" {
            let full = tshark(&run.capture(point), "ip", &["ip.len"]).unwrap();
            let gaps = nanos.windows(2).zip(&full[1..]).filter(|(_, length)| *length == "1500");
            let closest = gaps.map(|(pair, _)| pair[1] - pair[0]).min();
            assert_eq!(closest, Some(750_000));
        }
    }
}
