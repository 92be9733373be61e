//! Drives endpoints as a program with sockets would, without the lab, and checks tables, series,
//! logs and captures.

use acklab_base::random::Seed;
use acklab_base::{Duration, Ecn, Endpoint, Instant, Port};
use acklab_measure::capture::{Capture, SocketDatagram};
use acklab_measure::qlog::{self, Log, Schema, TraceInfo, VantagePoint};
use acklab_measure::subjects::TransportLabels;
use acklab_measure::{FlowInfo, Recorder, RecorderOptions, Series, Table};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::tcp::{Preset, Receiver, Sender};
use acklab_wire::tcp::Segment;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use pcap_file::pcapng::{Block, PcapNgReader};
use std::collections::VecDeque;
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The bytes that the sender writes: 138 segments and a part of one.
const SIZE: u64 = 200_000;
const MSS: u64 = 1448;
const SEGMENTS: u64 = SIZE.div_ceil(MSS);
/// The delay of the path in each direction.
const DELAY: Duration = Duration::from_millis(10);

fn options() -> RecorderOptions {
    RecorderOptions {
        series: vec![Series::OperatingPoint, Series::Packets, Series::Events, Series::Decisions, Series::Throughput],
        ..RecorderOptions::default()
    }
}

fn info() -> FlowInfo {
    let labels = TransportLabels { protocol: "TCP".to_owned(), ..TransportLabels::default() };
    FlowInfo {
        name: "upload".to_owned(),
        from: "here".to_owned(),
        to: "there".to_owned(),
        labels,
        payload: MSS,
        ..FlowInfo::default()
    }
}

/// An endpoint, its recorder, and the segments that are on the path to it.
struct Host<E> {
    endpoint: E,
    recorder: Recorder,
    incoming: VecDeque<(Instant, Segment)>,
}

impl<E: Endpoint<Datagram = Segment>> Host<E> {
    fn new(mut endpoint: E, options: &RecorderOptions) -> Self {
        let recorder = Recorder::new(Instant::ZERO, info(), options, &mut endpoint);
        Self { endpoint, recorder, incoming: VecDeque::new() }
    }

    /// Accepts the packets that have arrived, and runs the timers. Returns the packets that the
    /// endpoint sends.
    fn run(&mut self, now: Instant) -> Vec<(Instant, Segment)> {
        let mut leaving = Vec::new();
        while let Some((_, segment)) = self.incoming.pop_front_if(|(due, _)| *due <= now) {
            let _ = self.recorder.accept(now, &segment, &mut self.endpoint);
            self.poll(now, &mut leaving);
        }
        self.endpoint.wake(now);
        self.recorder.update(now, &mut self.endpoint);
        self.poll(now, &mut leaving);
        self.recorder.sample(now, &self.endpoint);
        leaving
    }

    fn poll(&mut self, now: Instant, leaving: &mut Vec<(Instant, Segment)>) {
        while let Some(segment) = self.endpoint.poll(now) {
            self.recorder.sends(now, &segment, &self.endpoint);
            leaving.push((now + DELAY, segment));
        }
    }
}

/// The two ends of an upload.
struct Upload {
    sender: Host<Sender>,
    receiver: Host<Receiver>,
    now: Instant,
}

impl Upload {
    fn new(options: &RecorderOptions) -> Self {
        let (config, seed) = (Preset::Linux.config(), Seed(1));
        let controller = Controller::new(&config.congestion, &config.controller_start(seed, "f")).unwrap();
        let sender = Sender::new(config, controller, seed, "f");
        let receiver = Receiver::new(config, Policy::new(config.ack).unwrap(), seed, "f");
        Self { sender: Host::new(sender, options), receiver: Host::new(receiver, options), now: Instant::ZERO }
    }

    /// Writes all data and closes.
    fn write(&mut self) {
        let Port::Stream(port) = self.sender.endpoint.port() else { panic!("TCP has streams") };
        port.open(self.now);
        assert_eq!(port.write(self.now, SIZE), SIZE, "a send buffer holds it");
        port.close(self.now);
    }

    /// Runs for `ms` milliseconds.
    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            let data = self.sender.run(self.now);
            self.receiver.incoming.extend(data);
            let acks = self.receiver.run(self.now);
            self.sender.incoming.extend(acks);
            self.now += Duration::from_millis(1);
        }
    }

    /// Returns the tables of the sender and of the receiver.
    fn finish(mut self) -> [Tables; 2] {
        let Self { sender: Host { recorder: sender, endpoint, .. }, now, .. } = self;
        let at_sender = sender.finish(now, &mut { endpoint }).unwrap();
        let at_receiver = self.receiver.recorder.finish(now, &mut self.receiver.endpoint).unwrap();
        [Tables::of(at_sender), Tables::of(at_receiver)]
    }
}

/// Tables by name.
struct Tables(Vec<(&'static str, RecordBatch)>);

impl Tables {
    fn of(tables: Vec<Table>) -> Self {
        Self(tables.into_iter().map(|table| (table.name(), table.into_arrow().unwrap())).collect())
    }

    fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }

    fn batch(&self, table: &str) -> &RecordBatch {
        &self.0.iter().find(|(name, _)| *name == table).unwrap().1
    }

    fn count(&self, table: &str, column: &str, row: usize) -> Option<u64> {
        let column = self.batch(table).column_by_name(column).unwrap().as_primitive::<UInt64Type>();
        column.is_valid(row).then(|| column.value(row))
    }

    fn number(&self, table: &str, column: &str, row: usize) -> Option<f64> {
        let column = self.batch(table).column_by_name(column).unwrap().as_primitive::<Float64Type>();
        column.is_valid(row).then(|| column.value(row))
    }

    fn texts(&self, table: &str, column: &str) -> Vec<String> {
        let column = self.batch(table).column_by_name(column).unwrap().as_string::<i32>();
        (0..column.len()).map(|row| column.value(row).to_owned()).collect()
    }
}

fn finished() -> [Tables; 2] {
    let mut upload = Upload::new(&options());
    upload.write();
    upload.run(500);
    upload.finish()
}

#[test]
fn both_directions_of_an_endpoint_have_a_row() {
    let [at_sender, _] = finished();
    assert_eq!(at_sender.names(), ["flows", "acks", "operating_point", "throughput", "packets", "events", "decisions"]);
    assert_eq!(at_sender.texts("flows", "flow"), ["upload", "upload_back"]);
    assert_eq!((at_sender.texts("flows", "src"), at_sender.texts("flows", "dst")), {
        let both = || vec!["here".to_owned(), "there".to_owned()];
        (both(), both().into_iter().rev().collect())
    });
}

/// Without losses, each segment is sent once. The sender counts sent and acknowledged segments.
#[test]
fn a_sender_knows_what_it_sends_and_how_long_acks_take() {
    let [sender, _] = finished();
    assert_eq!(sender.count("flows", "total_data_packets_l4", 0), Some(SEGMENTS));
    assert_eq!(sender.count("flows", "total_retransmissions_l4", 0), Some(0));
    assert_eq!(sender.number("flows", "min_rtt_l4", 0), Some(20.0), "there and back");
    assert!(sender.count("flows", "total_acks_delivered_l4", 0).unwrap() >= SEGMENTS / 2, "two segments an ACK");
    let packets = sender.texts("packets", "kind");
    assert_eq!(packets.iter().filter(|kind| *kind == "sent").count() as u64, SEGMENTS);
    assert_eq!(sender.texts("events", "event"), ["established", "finished"]);
}

#[test]
fn a_receiver_knows_what_arrives_and_why_it_acknowledges() {
    let [sender, receiver] = finished();
    assert_eq!(receiver.count("flows", "total_delivered_bytes_l7", 1), Some(SIZE));
    assert!(receiver.number("flows", "mean_throughput_l4", 1).unwrap() > 0.0);
    let packets = receiver.texts("packets", "kind");
    assert_eq!(packets.iter().filter(|kind| *kind == "received").count() as u64, SEGMENTS);
    // The number of sent ACKs includes the SYN-ACK. The number of delivered ACKs does not.
    let sent = receiver.count("flows", "total_acks_sent_l4", 1).unwrap();
    assert_eq!(sender.count("flows", "total_acks_delivered_l4", 0), Some(sent - 1));
    let reasons = receiver.texts("acks", "reason");
    assert!(!reasons.is_empty() && receiver.texts("acks", "flow").iter().all(|flow| flow == "upload_back"));
    assert!(receiver.texts("decisions", "reason").iter().any(|reason| reasons.contains(reason)));
}

/// A value that is available only at the other end is null, not zero.
#[test]
fn what_the_peer_alone_knows_is_null() {
    let [sender, receiver] = finished();
    for column in ["mean_throughput_l4", "mean_throughput_l7", "mean_one_way_delay_l4", "cov_throughput_l4"] {
        assert_eq!(sender.number("flows", column, 0), None, "{column}");
    }
    for column in ["total_acks_sent_l4", "total_delivered_bytes_l7", "total_drops_l2"] {
        assert_eq!(sender.count("flows", column, 0), None, "{column}");
    }
    for column in ["total_data_packets_l4", "total_acks_delivered_l4", "max_ack_burst_l4"] {
        assert_eq!(receiver.count("flows", column, 1), None, "{column}");
    }
    for column in ["mean_cwnd_l4", "flow_completion_time_l4", "mean_one_way_delay_l4", "mean_feedback_age_l4"] {
        assert_eq!(receiver.number("flows", column, 1), None, "{column}");
    }
    assert!(sender.texts("throughput", "flow").iter().all(|flow| flow == "upload_back"), "sent data have no bins");
}

#[test]
fn samples_keep_their_interval() {
    let options = RecorderOptions { sample_interval: Some(Duration::from_millis(25)), ..options() };
    let mut upload = Upload::new(&options);
    upload.write();
    upload.run(101);
    // A pause of 100 ms: one sample replaces the missed samples.
    upload.now += Duration::from_millis(100);
    assert_eq!(upload.sender.recorder.deadline(), Some(Instant::ZERO + Duration::from_millis(125)));
    upload.run(1);
    assert_eq!(upload.sender.recorder.deadline(), Some(Instant::ZERO + Duration::from_millis(225)));
    let [sender, _] = upload.finish();
    let times: Vec<f64> = (0..sender.batch("operating_point").num_rows())
        .map(|row| sender.number("operating_point", "time", row).unwrap() * 1e3)
        .collect();
    assert_eq!(times.iter().map(|ms| ms.round() as u64).collect::<Vec<_>>(), [0, 25, 50, 75, 100, 201]);
}

#[test]
fn series_are_taken_in_parts_and_lose_nothing() {
    let [whole, _] = finished();
    let mut upload = Upload::new(&options());
    upload.write();
    let mut kinds = Vec::new();
    for _ in 0..5 {
        upload.run(100);
        let Host { recorder, endpoint, .. } = &mut upload.sender;
        kinds.extend(Tables::of(recorder.take_series(endpoint)).texts("packets", "kind"));
    }
    let [rest, _] = upload.finish();
    assert_eq!(rest.batch("packets").num_rows(), 0);
    assert_eq!(kinds, whole.texts("packets", "kind"));
}

/// Counters and means start with the window. States continue.
#[test]
fn a_window_counts_from_its_beginning() {
    let mut upload = Upload::new(&options());
    upload.write();
    upload.run(60);
    let before = upload.sender.recorder.snapshot(&upload.sender.endpoint).1;
    let Host { recorder, endpoint, .. } = &mut upload.sender;
    recorder.open(upload.now, endpoint);
    upload.run(440);
    let [sender, _] = upload.finish();
    let sent_before = before.count("data_packets").unwrap();
    assert!(sent_before > 0 && sent_before < SEGMENTS, "{sent_before}");
    assert_eq!(sender.count("flows", "total_data_packets_l4", 0), Some(SEGMENTS - sent_before));
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_log_has_the_addresses_and_the_packets() {
    for (schema, version, addresses) in [
        (Schema::V03, r#""qlog_version":"0.3""#, r#""ip_version":"ipv6","src_ip":"::1","dst_ip":"2001:db8::2""#),
        (
            Schema::Draft13,
            r#""file_schema":"urn:ietf:params:qlog:file:sequential""#,
            r#""local":{"ip_v6":"::1","port_v6":49152}"#,
        ),
    ] {
        let folder = folder(&format!("recorder_{}", schema.name()));
        let mut upload = Upload::new(&options());
        let info = TraceInfo {
            title: "an upload",
            description: "TCP",
            protocol: "TCP",
            node: "here",
            vantage_point: VantagePoint::Client,
            directions: 1,
        };
        let sockets: [SocketAddr; 2] = ["[::1]:49152".parse().unwrap(), "[2001:db8::2]:443".parse().unwrap()];
        let options = qlog::Options { folder: folder.clone(), schema };
        let Host { recorder, endpoint, .. } = &mut upload.sender;
        recorder.keep_log(Log::new(&options, "upload", &info, sockets), endpoint);
        upload.write();
        upload.run(500);
        upload.sender.recorder.check().unwrap();
        upload.finish();
        let text = std::fs::read_to_string(folder.join("upload_client.sqlog")).unwrap();
        assert!(text.contains(version) && text.contains(addresses), "{}", &text[..800]);
        let sent = text.lines().filter(|line| line.contains("packet_sent") && line.contains(r#""stream_id":0"#));
        // The FIN is sent with the last data.
        assert_eq!(sent.count() as u64, SEGMENTS);
    }
}

#[test]
fn a_log_that_cannot_be_written_is_an_error_with_its_path() {
    let folder = folder("recorder_missing").join("nowhere");
    let mut upload = Upload::new(&options());
    let info = TraceInfo {
        title: "",
        description: "",
        protocol: "TCP",
        node: "here",
        vantage_point: VantagePoint::Client,
        directions: 1,
    };
    let sockets: [SocketAddr; 2] = ["127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap()];
    let options = qlog::Options { folder: folder.clone(), schema: Schema::V03 };
    let Host { recorder, endpoint, .. } = &mut upload.sender;
    recorder.keep_log(Log::new(&options, "upload", &info, sockets), endpoint);
    upload.write();
    upload.run(1);
    let error = upload.sender.recorder.check().unwrap_err().to_string();
    let expected = format!("cannot create the qlog {}: ", folder.join("upload_client.sqlog").display());
    assert!(error.starts_with(&expected), "{error}");
}

/// Returns the packets of a file: their times in microseconds, and their octets.
fn packets(path: &PathBuf) -> Vec<(u128, Vec<u8>)> {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let (Block::EnhancedPacket(packet), _) = block.unwrap() {
            packets.push((packet.timestamp.as_micros(), packet.data.to_vec()));
        }
    }
    packets
}

#[test]
fn datagrams_of_sockets_become_packets_of_their_version() {
    let path = folder("datagrams").join("socket.pcapng");
    let mut capture = Capture::create_for_socket(&path, "client", Some("a socket")).unwrap();
    for (at, sockets) in [
        (1, ["192.0.2.1:5000", "192.0.2.2:443"]),
        (2, ["[2001:db8::1]:5000", "[2001:db8::2]:443"]),
        (3, ["192.0.2.1:5000", "192.0.2.2:443"]),
    ] {
        let [source, destination] = sockets.map(|socket| socket.parse().unwrap());
        let datagram = SocketDatagram { source, destination, ecn: Ecn::Ect0, payload: b"octets", secrets: None };
        capture.record_datagram(Instant::ZERO + Duration::from_micros(at), &datagram).unwrap();
    }
    capture.finish().unwrap();
    let packets = packets(&path);
    assert_eq!(
        packets.iter().map(|(at, octets)| (*at, octets[0] >> 4, octets.len())).collect::<Vec<_>>(),
        [(1, 4, 20 + 8 + 6), (2, 6, 40 + 8 + 6), (3, 4, 20 + 8 + 6),]
    );
    assert!(packets.iter().all(|(_, octets)| octets.ends_with(b"octets")));
    // The identification numbers the packets of a pair of sockets.
    assert_eq!((packets[0].1[4..6].to_vec(), packets[2].1[4..6].to_vec()), (vec![0, 0], vec![0, 1]));
}

#[test]
fn a_datagram_that_fits_no_packet_is_refused_and_the_capture_goes_on() {
    let path = folder("long_datagram").join("socket.pcapng");
    let mut capture = Capture::create_for_socket(&path, "client", None).unwrap();
    let payload = vec![0; 65_536];
    for sockets in [["192.0.2.1:1", "192.0.2.2:2"], ["[2001:db8::1]:1", "[2001:db8::2]:2"]] {
        let [source, destination] = sockets.map(|socket| socket.parse().unwrap());
        let long = SocketDatagram { source, destination, ecn: Ecn::NotEct, payload: &payload, secrets: None };
        let error = capture.record_datagram(Instant::ZERO, &long).unwrap_err().to_string();
        assert!(error.contains("socket.pcapng: a packet of 655"), "{error}");
        let short = SocketDatagram { payload: &payload[..1], ..long };
        capture.record_datagram(Instant::ZERO, &short).unwrap();
    }
    capture.finish().unwrap();
    assert_eq!(packets(&path).len(), 2);
}
