//! Logs of endpoints: their content, and that programs for qlog can parse them.

use crate::common::tables::Tables;
use crate::common::tshark::tshark;
use acklab_lab::{RunOptions, run, scenario};
use acklab_measure::qlog::{Options, Schema};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Losses in both directions, so that recovery and reordered acknowledgments appear.
const PATH: &str = r#"
duration = "20s"
seed = 1

[[link]]
name = "path"
from = "a"
to = "b"
forward = { rate = "20Mbps", delay = "20ms", loss = { model = "independent", probability = 0.01 }, queue = { discipline = "fifo", limit = "100packets" } }
reverse = { rate = "20Mbps", delay = "20ms", loss = { model = "independent", probability = 0.01 }, queue = { discipline = "fifo", limit = "100packets" } }

[[flow]]
name = "flow"
from = "a"
to = "b"
traffic = { model = "fixed", size = "500kB" }

[[capture]]
point = "a"
file = "a.pcapng"

[measure]
series = ["decisions"]
"#;

const TRANSPORTS: [&str; 4] = ["tcp", "tack", "quic", "quinn"];
const SIZE: u64 = 500_000;

/// Returns an empty folder of the test called `name`.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("qlog").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a flow over `transport`, and writes its logs and captures to `folder`.
fn logged(transport: &str, schema: Schema, folder: &Path, sets: &[&str]) -> Tables {
    let chosen = match transport {
        "tcp" => "flow.flow.preset=linux".to_owned(),
        _ => format!("flow.flow.transport.protocol={transport}"),
    };
    let sets: Vec<String> = [chosen].into_iter().chain(sets.iter().map(|set| (*set).to_owned())).collect();
    let scenario = scenario::load(PATH, "the scenario", &sets, None).unwrap_or_else(|refusal| panic!("{refusal}"));
    let options = RunOptions {
        captures: Some(folder.to_owned()),
        qlog: Some(Options { folder: folder.to_owned(), schema }),
        ..RunOptions::default()
    };
    Tables::of_results(run(&scenario, &options, || true).unwrap_or_else(|error| panic!("{error}")))
}

/// Returns the records of a file (RFC 7464, §2): its header and its events.
fn records(path: &Path) -> (Value, Vec<Value>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut records = text.split('\x1e');
    assert_eq!(records.next(), Some(""), "a sequence begins with a separator");
    let mut records = records.map(|record| {
        assert!(record.ends_with('\n'), "a record ends with a line feed");
        serde_json::from_str(record).unwrap()
    });
    (records.next().unwrap(), records.collect())
}

fn events(folder: &Path, end: &str) -> Vec<Value> {
    records(&folder.join(format!("flow_{end}.sqlog"))).1
}

/// Returns the data of the events called `name`.
fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["name"] == name).map(|event| &event["data"]).collect()
}

fn frames<'a>(packets: &[&'a Value], frame_type: &str) -> Vec<&'a Value> {
    let all = packets.iter().flat_map(|packet| packet["frames"].as_array().unwrap());
    all.filter(|frame| frame["frame_type"] == frame_type).collect()
}

/// Returns `true` if both values are equal. Numbers have the precision of an `f32`, in which the
/// typed reader stores times.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap(), right.as_f64().unwrap());
            (left - right).abs() <= 1e-6 * left.abs()
        }
        _ => left == right,
    }
}

/// The types of the crate `qlog` are those of draft-ietf-quic-qlog-quic-events-12. They parse the
/// log and write the same content, so each field has a name and a type of the draft. acklab's own
/// events, frames and fields are not in the draft, and neither are parameters of extensions.
#[test]
fn the_draft_knows_every_field() {
    for transport in TRANSPORTS {
        let folder = folder(&format!("draft_{transport}"));
        logged(transport, Schema::Draft13, &folder, &[]);
        for end in ["client", "server"] {
            let (header, events) = records(&folder.join(format!("flow_{end}.sqlog")));
            let read: qlog::QlogSeq = serde_json::from_value(header.clone()).unwrap();
            assert!(same(&serde_json::to_value(read).unwrap(), &header), "{transport}: {header}");
            assert!(events.len() > 500, "{transport}: {} events", events.len());
            for mut event in events {
                if event["name"].as_str().unwrap().starts_with("acklab:") {
                    continue;
                }
                let data = event["data"].as_object_mut().unwrap();
                data.remove("tcp");
                // A parameter of an extension (draft-ietf-quic-ack-frequency, §3), which the draft
                // permits.
                data.remove("min_ack_delay");
                if let Some(frames) = event.pointer_mut("/data/frames").and_then(Value::as_array_mut) {
                    frames.retain(|frame| !frame["frame_type"].as_str().unwrap().starts_with("tack_"));
                    frames.iter_mut().for_each(|frame| _ = frame.as_object_mut().unwrap().remove("tack"));
                }
                let read: qlog::events::Event = serde_json::from_value(event.clone())
                    .unwrap_or_else(|error| panic!("{transport}: {error} in {event}"));
                assert!(same(&serde_json::to_value(read).unwrap(), &event), "{transport}: {event}");
            }
        }
    }
}

/// Checks what the loader and the congestion graph of qvis require (`QlogLoaderV2.ts`,
/// `textsequencejsontoqlog.ts`, `CongestionGraphD3Renderer.ts`). The log needs a known version,
/// times in order, lengths of packets, and acknowledgments and losses of packets that were sent
/// before.
#[test]
fn the_congestion_graph_of_qvis_finds_what_it_needs() {
    for transport in TRANSPORTS {
        let folder = folder(&format!("qvis_{transport}"));
        logged(transport, Schema::V03, &folder, &[]);
        let (header, events) = records(&folder.join("flow_client.sqlog"));
        assert_eq!((&header["qlog_version"], &header["qlog_format"]), (&"0.3".into(), &"JSON-SEQ".into()));
        assert_eq!(header["trace"]["vantage_point"]["type"], "client");
        assert_eq!(header["trace"]["common_fields"]["time_format"], "relative");
        let times: Vec<f64> = events.iter().map(|event| event["time"].as_f64().unwrap()).collect();
        assert!(times.is_sorted(), "{transport}");
        let mut sent = BTreeSet::new();
        let mut acked = BTreeSet::new();
        for event in &events {
            let number = event["data"]["header"]["packet_number"].as_u64();
            let is_data = event["data"]["header"]["packet_type"] == "1RTT";
            match event["name"].as_str().unwrap() {
                "transport:packet_sent" => {
                    assert!(event["data"]["raw"]["length"].as_u64().unwrap() > 0);
                    assert!(!is_data || sent.insert(number.unwrap()), "{transport}: number {number:?} is sent twice");
                }
                "transport:packet_received" if is_data => {
                    let ranges =
                        frames(&[&event["data"]], "ack").into_iter().filter_map(|ack| ack["acked_ranges"].as_array());
                    for range in ranges.flatten() {
                        let range = range.as_array().unwrap();
                        let [first, last] =
                            [range.first(), range.last()].map(|number| number.unwrap().as_u64().unwrap());
                        for number in first..=last {
                            // The SYN and the Open have a number, but are not data packets.
                            assert!(
                                sent.contains(&number) || number == 0,
                                "{transport}: {number} is acknowledged unsent"
                            );
                            acked.insert(number);
                        }
                    }
                }
                "recovery:packet_lost" => {
                    assert!(sent.contains(&number.unwrap()), "{transport}: {number:?} is lost unsent");
                }
                _ => {}
            }
        }
        // Some of the last packets and of the lost packets are not acknowledged.
        assert!(acked.len() > 300 && acked.len() < sent.len() + 1, "{transport}: {} of {}", acked.len(), sent.len());
        for metric in ["congestion_window", "bytes_in_flight", "smoothed_rtt", "latest_rtt", "min_rtt"] {
            let metrics = named(&events, "recovery:metrics_updated");
            assert!(metrics.iter().any(|data| data.get(metric).is_some()), "{transport}: {metric}");
        }
    }
}

/// Each packet that one end sends is either received by the other or lost on the path.
#[test]
fn both_ends_tell_of_the_same_data() {
    for transport in TRANSPORTS {
        let folder = folder(&format!("data_{transport}"));
        let tables = logged(transport, Schema::V03, &folder, &[]);
        let (client, server) = (events(&folder, "client"), events(&folder, "server"));
        let (sent, received) = (named(&client, "transport:packet_sent"), named(&server, "transport:packet_received"));
        let stream = |packets: &[&Value]| {
            let mut octets = BTreeMap::new();
            for frame in frames(packets, "stream") {
                let length = frame["length"].as_u64().unwrap();
                let largest: &mut u64 = octets.entry(frame["offset"].as_u64().unwrap()).or_default();
                *largest = length.max(*largest);
            }
            octets
        };
        let mut upto = 0;
        for (offset, length) in stream(&received) {
            assert!(offset <= upto, "{transport}: nothing has arrived from {upto} to {offset}");
            upto = upto.max(offset + length);
        }
        assert_eq!(upto, SIZE, "{transport}");
        let with_data = sent.iter().filter(|packet| {
            let has_octets = |frame: &&Value| frame["length"].as_u64().unwrap() > 0;
            frames(&[packet], "stream").iter().any(has_octets)
        });
        assert_eq!(with_data.count() as u64, tables.counts("flows", "total_data_packets_l4")[0], "{transport}");
    }
}

/// Decisions of policies are events. Their reasons have the names of the table `acks`.
#[test]
fn decisions_are_events() {
    for transport in ["tcp", "tack", "quic"] {
        let folder = folder(&format!("decisions_{transport}"));
        let tables = logged(transport, Schema::Draft13, &folder, &[]);
        // The client of TACK decides to acknowledge the answer to its handshake.
        let both = [events(&folder, "client"), events(&folder, "server")].concat();
        let decided = named(&both, "acklab:ack_decided");
        let count = |decision: &str| decided.iter().filter(|data| data["decision"] == decision).count();
        let in_table = tables.texts("decisions", "acknowledge");
        for decision in ["now", "later", "hold"] {
            let expected = in_table.iter().filter(|found| *found == decision).count();
            assert_eq!(count(decision), expected, "{transport}: {decision}");
        }
        assert!(count("now") > 50, "{transport}");
        let reasons: BTreeSet<&str> = decided.iter().filter_map(|data| data["reason"].as_str()).collect();
        let known: BTreeSet<String> = tables.texts("decisions", "reason").into_iter().collect();
        assert!(
            !reasons.is_empty() && reasons.iter().all(|reason| known.contains(*reason)),
            "{transport}: {reasons:?}"
        );
    }
}

/// Losses are events, and their number is the sender's count.
#[test]
fn losses_and_states_are_events() {
    for transport in TRANSPORTS {
        let folder = folder(&format!("losses_{transport}"));
        let tables = logged(transport, Schema::V03, &folder, &[]);
        let client = events(&folder, "client");
        let lost = named(&client, "recovery:packet_lost").len() as u64;
        // Without timeouts, each packet that is declared lost is retransmitted, in one packet or in
        // two.
        let again = tables.counts("flows", "total_retransmissions_l4")[0];
        assert!(lost > 0 && lost <= again + 2 && again <= 2 * lost + 2, "{transport}: {lost} lost, {again} again");
        let states = named(&client, "recovery:congestion_state_updated");
        assert!(states.iter().any(|data| data["new"] == "recovery"), "{transport}: {states:?}");
    }
}

/// A connection over TCP ends with the ACK of the FIN, which has no code.
#[test]
fn both_ends_tell_once_that_a_connection_over_tcp_is_over() {
    let folder = folder("closed");
    logged("tcp", Schema::V03, &folder, &[]);
    for end in ["client", "server"] {
        let events = events(&folder, end);
        assert_eq!(named(&events, "connectivity:connection_closed"), [&json!({ "trigger": "clean" })], "{end}");
    }
}

/// tshark finds as many packets and ACK frames in the client's capture as the client's log
/// contains.
#[test]
fn tshark_counts_the_same_packets_and_ack_frames() {
    let folder = folder("tshark");
    logged("quinn", Schema::Draft13, &folder, &[]);
    let path = folder.join("a.pcapng");
    let client = events(&folder, "client");
    for (filter, name) in [("udp.dstport == 9", "quic:packet_sent"), ("udp.srcport == 9", "quic:packet_received")] {
        let Some(seen) = tshark(&path, filter, &["quic.packet_number", "quic.frame_type"]) else { return };
        let count = |field: usize, is_counted: fn(&str) -> bool| -> usize {
            let values = seen.iter().flat_map(|line| line.split(' ').nth(field).unwrap().split(','));
            values.filter(|value| is_counted(value)).count()
        };
        let packets = named(&client, name);
        assert_eq!(count(0, |number| !number.is_empty()), packets.len(), "{name}");
        assert_eq!(count(1, |kind| matches!(kind, "2" | "3")), frames(&packets, "ack").len(), "ACK frames of {name}");
    }
}

#[test]
fn a_log_changes_nothing_and_is_the_same_each_time() {
    for transport in TRANSPORTS {
        let folders = ["first", "second"].map(|name| folder(&format!("same_{transport}_{name}")));
        let [first, second] = folders.each_ref().map(|folder| logged(transport, Schema::V03, folder, &[]));
        assert!(first == second, "{transport}");
        let chosen = if transport == "tcp" { "flow.flow.preset=linux" } else { "" };
        let protocol = format!("flow.flow.transport.protocol={transport}");
        let set = if chosen.is_empty() { protocol.as_str() } else { chosen };
        assert!(Tables::run(PATH, &[set], None) == first, "{transport}: a log changes the run");
        for end in ["client", "server"] {
            let [first, second] =
                folders.each_ref().map(|folder| std::fs::read(folder.join(format!("flow_{end}.sqlog"))).unwrap());
            assert!(first == second, "{transport}: {end}");
        }
    }
}

/// UDP has no packets that a log could show.
#[test]
fn a_flow_over_udp_has_no_log() {
    let folder = folder("udp");
    let sets = ["flow.flow.traffic={ model = \"constant\", rate = \"1Mbps\", write = \"1000B\" }"];
    logged("udp", Schema::V03, &folder, &sets);
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["a.pcapng"]);
}

#[test]
fn a_log_that_cannot_be_written_ends_the_run_with_its_path() {
    let missing = folder("missing").join("nowhere");
    let sets = ["flow.flow.preset=linux".to_owned()];
    let scenario = scenario::load(PATH, "the scenario", &sets, None).unwrap();
    let qlog = Some(Options { folder: missing.clone(), schema: Schema::V03 });
    let options = RunOptions { qlog, ..RunOptions::default() };
    let error = run(&scenario, &options, || true).unwrap_err().to_string();
    let path = missing.join("flow_client.sqlog");
    assert!(error.starts_with(&format!("cannot create the qlog {}: ", path.display())), "{error}");
}

#[test]
fn a_version_that_is_not_known_is_refused_with_those_that_are() {
    let refused = "0.5".parse::<Schema>().unwrap_err();
    assert_eq!(refused, r#"found the qlog version "0.5", expected "0.3" or "draft-13""#);
    assert_eq!("draft-13".parse(), Ok(Schema::Draft13));
}
