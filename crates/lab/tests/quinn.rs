//! Flows over QUIC of quinn-proto: tables and captures.

use crate::common::tables::Tables;
use crate::common::tshark::tshark;
use acklab_lab::{RunOptions, run, scenario};
use std::path::{Path, PathBuf};

/// The path of Custura, Jones and Fairhurst (PANRG, IETF 106): 8.5 Mbps down, 2 Mbps up, 630 ms.
const SATELLITE: &str = r#"
duration = "60s"
seed = 1

[[link]]
name = "sat"
from = "server"
to = "client"
forward = { rate = "8.5Mbps", delay = "315ms", queue = { discipline = "fifo", limit = "446packets" } }
reverse = { rate = "2Mbps", delay = "315ms", queue = { discipline = "fifo", limit = "446packets" } }

[[flow]]
name = "quic"
from = "server"
to = "client"
transport = { protocol = "quinn" }
traffic = { model = "fixed", size = "1MB" }

[[capture]]
point = "client"
file = "client.pcapng"
"#;

/// Returns an empty folder of the test called `name`.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("quinn").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the tables of a run whose capture is in `folder`.
fn captured(folder: &Path, sets: &[&str]) -> Tables {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = scenario::load(SATELLITE, "satellite", &sets, None).unwrap();
    let options = RunOptions { captures: Some(folder.to_owned()), ..RunOptions::default() };
    Tables::of_results(run(&scenario, &options, || true).unwrap())
}

#[test]
fn asking_for_fewer_acknowledgments_reduces_them() {
    let acks = |sets: &[&str]| {
        let tables = Tables::run(SATELLITE, sets, None);
        assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [1_000_000]);
        (tables.counts("flows", "total_data_packets_l4")[0], tables.counts("flows", "total_acks_sent_l4")[0])
    };
    let (packets, every_second) = acks(&[]);
    assert!((0.5..0.6).contains(&(every_second as f64 / packets as f64)), "{every_second} ACKs of {packets} packets");
    let (_, every_tenth) = acks(&["flow.quic.transport.ack.ack_eliciting_threshold=9"]);
    assert!(every_tenth * 2 < every_second, "{every_tenth} and {every_second}");
}

#[test]
fn a_flow_has_its_handshake_and_its_overhead_in_the_tables() {
    let tables = Tables::run(SATELLITE, &[] as &[&str], None);
    assert_eq!(tables.texts("flows", "transport_protocol"), ["QUIC (quinn)"]);
    assert_eq!(tables.texts("flows", "cca"), ["cubic"]);
    let packets = tables.counts("flows", "total_data_packets_l4")[0];
    // Each full-sized packet has 1167 octets of the stream. The first packets also carry the
    // handshake.
    assert!((857..870).contains(&packets), "{packets}");
    // One round trip, and the serialisation of a flight of three datagrams with the certificate.
    let handshake = tables.numbers("flows", "handshake_time_l4")[0];
    assert!((630.0..642.0).contains(&handshake), "{handshake} ms");
    // The overhead of a packet: IP, UDP, the short header with 8 octets of connection id and 1 or 2
    // of packet number, the tag, and a stream frame. The frame has an offset, and a length unless
    // it is the last frame. The handshake adds several datagrams of at most 1200 octets.
    let overhead = tables.counts("flows", "total_overhead_bytes_l3")[0] - 28 * packets;
    assert!(
        (packets * (1 + 8 + 1 + 16 + 3)..packets * (1 + 8 + 2 + 16 + 8) + 5 * 1200).contains(&overhead),
        "{overhead} B"
    );
}

#[test]
fn both_ends_write() {
    let tables = Tables::run(SATELLITE, &["flow.quic.back.model=fixed", "flow.quic.back.size=100kB"], None);
    assert_eq!(tables.texts("flows", "flow"), ["quic", "quic_back"]);
    assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [1_000_000, 100_000]);
}

/// A path that loses a packet in twenty each way.
const LOSSY: &str = r#"
duration = "20s"
seed = 1

[[link]]
name = "path"
from = "a"
to = "b"
forward = { rate = "20Mbps", delay = "20ms", queue = { discipline = "fifo", limit = "100packets" }, loss = { model = "independent", probability = 0.05 } }
reverse = { rate = "20Mbps", delay = "20ms", queue = { discipline = "fifo", limit = "100packets" }, loss = { model = "independent", probability = 0.05 } }

[[flow]]
from = "a"
to = "b"
traffic = { model = "greedy" }
"#;

/// Where both ends have more data than their windows permit, quinn-proto sends no ACK by itself:
/// it applies the window to any packet while data wait (`Connection::poll_transmit`). ACKs leave
/// with the next data or with a probe, after 100 ms and more. In RFC 9002, §7, packets with ACK
/// frames only are not congestion controlled, and our QUIC sends them. With data one way, both
/// agree.
#[test]
fn quinn_proto_holds_acks_back_with_its_data() {
    let ends = [r#"{protocol="quinn"}"#, r#"{protocol="quic", preset="quinn", packet="1228B"}"#];
    for seed in 1..=3 {
        let run = |end: &str, back: &[&str]| {
            let (seed, end) = (format!("seed={seed}"), format!("flow.0.transport={end}"));
            let sets: Vec<&str> = [seed.as_str(), end.as_str()].into_iter().chain(back.iter().copied()).collect();
            let tables = Tables::run(LOSSY, &sets, None);
            let goodput: f64 = tables.numbers("flows", "mean_throughput_l7").iter().sum();
            (goodput, tables.counts("flows", "total_acks_sent_l4"))
        };
        let [(quinn, _), (ours, _)] = ends.map(|end| run(end, &[]));
        assert!((ours / quinn - 1.0).abs() < 0.05, "seed {seed}: {ours} and {quinn} Mbps one way");
        let [(quinn, none), (ours, some)] = ends.map(|end| run(end, &["flow.0.back.model=greedy"]));
        assert_eq!(none, [0, 0], "seed {seed}");
        assert!(some.iter().all(|acks| *acks > 300), "seed {seed}: {some:?}");
        assert!(quinn < ours / 2.0, "seed {seed}: {ours} and {quinn} Mbps both ways");
    }
}

/// tshark decrypts the capture without further options. It counts as many datagrams and ACK frames
/// as both ends.
#[test]
fn tshark_decrypts_a_capture() {
    let folder = folder("decrypted");
    let tables = captured(&folder, &["flow.quic.traffic.size=100kB"]);
    let path = folder.join("client.pcapng");
    // Types 2 and 3 are ACK frames, 8 to 15 STREAM frames (RFC 9000, table 3).
    let with = |frames: &[String], kinds: std::ops::RangeInclusive<u32>| {
        let has =
            |line: &&String| line.split(',').any(|kind| kind.parse::<u32>().is_ok_and(|kind| kinds.contains(&kind)));
        frames.iter().filter(has).count() as u64
    };
    let Some(sent) = tshark(&path, "quic && udp.dstport == 9", &["quic.frame_type"]) else { return };
    assert_eq!(with(&sent, 8..=15), tables.counts("flows", "total_data_packets_l4")[0], "data packets");
    let only_short = "quic && udp.srcport == 9 && !(quic.header_form == 1)";
    let returned = tshark(&path, only_short, &["quic.frame_type"]).unwrap();
    assert_eq!(with(&returned, 2..=3), tables.counts("flows", "total_acks_sent_l4")[0], "datagrams with ACK frames");
    let in_all: usize = tshark(&path, "quic && udp.srcport == 9", &["quic.frame_type"])
        .unwrap()
        .iter()
        .map(|line| line.split(',').filter(|kind| matches!(*kind, "2" | "3")).count())
        .sum();
    assert_eq!(in_all as u64, tables.counts("flows", "total_ack_frames_sent_l4")[0], "ACK frames of all spaces");
    let octets: u64 = tshark(&path, "udp.dstport == 9", &["ip.len"])
        .unwrap()
        .iter()
        .map(|octets| octets.parse::<u64>().unwrap())
        .sum();
    assert_eq!(octets - 100_000, tables.counts("flows", "total_overhead_bytes_l3")[0], "IP octets that are not data");
    let undecrypted = tshark(&path, "quic.decryption_failed || _ws.malformed", &["frame.number"]).unwrap();
    assert!(undecrypted.is_empty(), "{undecrypted:?}");
}

#[test]
fn senseless_settings_are_refused() {
    let refusal = |set: &str| {
        let sets = [set.to_owned()];
        scenario::load(SATELLITE, "satellite", &sets, None).map(|_| ()).unwrap_err().to_string()
    };
    let bbr = refusal("flow.quic.transport={ protocol = \"quinn\", congestion = \"bbr\", controllers = \"quinn\" }");
    assert!(bbr.contains("quinn has `cubic` and `newreno`"), "{bbr}");
    let small = refusal("flow.quic.transport.packet=1000B");
    assert!(small.contains("1228B"), "{small}");
}
