//! Measurements on this host.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use acklab_deploy::tools::perf::{Contender, Options, Progress, Row, measure};
use acklab_deploy::tools::serve::{self, Serving};
use acklab_deploy::tools::trust::{Trust, offered};
use acklab_deploy::tools::{self, ToolError};
use acklab_secure::identity::{Fingerprint, Identity};
use acklab_secure::reset::ResetKey;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

const HOST: &str = "127.0.0.1";

/// A server in a separate thread.
struct Served {
    serving: Serving,
    goes_on: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ToolError>>>,
}

impl Served {
    fn start() -> Self {
        let (identity, ..) = Identity::generate(["server.test".to_owned()]).unwrap();
        Self::at(HOST, identity)
    }

    fn at(address: &str, identity: Identity) -> Self {
        Self::draining(address, identity, Duration::ZERO)
    }

    fn draining(address: &str, identity: Identity, drain: Duration) -> Self {
        let options = serve::Options {
            addresses: vec![address.parse().unwrap()],
            port: 0,
            identity,
            reset_key: ResetKey::new(&[7; 32]),
        };
        let goes_on = Arc::new(AtomicBool::new(true));
        let (to, ready) = mpsc::channel();
        let flag = Arc::clone(&goes_on);
        let thread = std::thread::spawn(move || {
            tools::run_until(
                || u32::from(!flag.load(Ordering::Relaxed)),
                drain,
                |stop| serve::serve(options, stop, move |serving| to.send(serving).unwrap(), |_| {}),
            )
        });
        Self { serving: ready.recv().unwrap(), goes_on, thread: Some(thread) }
    }

    fn options(&self, with: &str) -> Options {
        Options {
            host: HOST.to_owned(),
            port: self.serving.port,
            trust: Some(Trust::Fingerprint(self.serving.fingerprint)),
            contenders: Contender::list(with).unwrap(),
            rounds: 1,
            reverse: false,
            streams: 1,
            seconds: Some(0.2),
            octets: None,
            bitrate: None,
            interval: 0.1,
            keys: None,
            qlog: None,
        }
    }

    fn stop(&mut self) {
        self.goes_on.store(false, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns an empty folder of this name.
fn folder_of(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("perf-{name}"));
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(options: &Options) -> Result<(Vec<Row>, Vec<Progress>), ToolError> {
    let mut told = Vec::new();
    let rows = tools::run(|| true, |stop| measure(options, stop, |one| told.push(one)))?;
    Ok((rows, told))
}

fn assert_sensible(row: &Row) {
    assert!(row.seconds >= 0.2 && row.seconds < 2.0, "{row:?}");
    assert!(row.goodput > 1.0, "{row:?}");
    assert!((row.goodput - row.octets as f64 * 8e-6 / row.seconds).abs() < 1e-6, "{row:?}");
    assert!(row.data_packets > 10 && row.acks > 0, "{row:?}");
    assert!(row.mean_rtt.unwrap() > 0.0 && row.p95_rtt.unwrap() >= row.mean_rtt.unwrap() * 0.3, "{row:?}");
    assert!(row.cpu_sender > 0.0 && row.cpu_receiver > 0.0, "{row:?}");
    assert!(row.retransmitted_share.unwrap() <= 100.0, "{row:?}");
}

/// Returns the results of measurements of each transport in either direction. The server is stopped
/// in the middle of each.
fn stopped_meanwhile(drain: Duration) -> Vec<Result<Vec<Row>, ToolError>> {
    let stop = |with: &'static str, reverse: bool| {
        let (identity, ..) = Identity::generate(["server.test".to_owned()]).unwrap();
        let mut served = Served::draining(HOST, identity, drain);
        let options = Options { seconds: Some(1.5), reverse, ..served.options(with) };
        let (to, told) = mpsc::channel();
        let measurement = std::thread::spawn(move || {
            tools::run(
                || true,
                |stop| measure(&options, stop, |one| _ = to.send(matches!(one, Progress::Interval { .. }))),
            )
        });
        assert!(told.iter().any(|is_interval| is_interval), "it is going on");
        served.goes_on.store(false, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(200));
        let other = run(&Options { contenders: Contender::list("tcp").unwrap(), ..served.options(with) });
        assert!(other.is_err(), "no other measurement begins");
        served.stop();
        measurement.join().unwrap()
    };
    let cases = [("tack", false), ("tack", true), ("quic", true), ("tcp", false), ("tcp", true)];
    cases.into_iter().map(|(with, reverse)| stop(with, reverse)).collect()
}

#[test]
fn a_server_that_stops_ends_its_measurement_or_lets_it_drain() {
    for ended in stopped_meanwhile(Duration::ZERO) {
        assert!(ended.is_err(), "{ended:?}");
    }
    for drained in stopped_meanwhile(Duration::from_secs(60)) {
        assert!(drained.unwrap()[0].seconds >= 1.5);
    }
}

#[test]
fn all_transports_are_measured_in_turns() {
    let served = Served::start();
    let options = Options { rounds: 2, ..served.options("tack,quic,tcp,quic:congestion=bbr,ack_frequency=true") };
    let (rows, told) = run(&options).unwrap();
    let names: Vec<_> = rows.iter().map(|row| (row.round, row.contender.as_str())).collect();
    let last = "quic:congestion=bbr,ack_frequency=true";
    let each = ["tack", "quic", "tcp", last];
    assert_eq!(names, [0, 1].iter().flat_map(|round| each.map(|name| (*round, name))).collect::<Vec<_>>());
    rows.iter().for_each(assert_sensible);
    assert_eq!((rows[0].congestion.as_deref(), rows[1].congestion.as_deref()), (Some("bbr-tack"), Some("cubic")));
    let kernel = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    assert_eq!(rows[2].congestion.as_deref(), Some(kernel.trim()));
    let begun = told.iter().filter_map(|one| match one {
        Progress::Begins { contender, .. } => Some(contender.as_str()),
        _ => None,
    });
    assert_eq!(begun.collect::<Vec<_>>(), ["tack", "quic", "tcp", last, "quic", "tcp", last, "tack"]);
    assert!(told.iter().any(|one| matches!(one, Progress::Interval { octets, .. } if *octets > 0)));
}

#[test]
fn servers_send_in_reverse_over_parallel_streams() {
    let served = Served::start();
    let options =
        Options { reverse: true, streams: 3, ..served.options("tack:congestion=cubic,quic,tcp:congestion=reno") };
    let (rows, _) = run(&options).unwrap();
    rows.iter().for_each(assert_sensible);
    assert!(rows.iter().all(|row| row.reverse && row.streams == 3));
    assert_eq!(rows[0].congestion.as_deref(), Some("cubic"));
    assert_eq!(rows[2].congestion.as_deref(), Some("reno"));
}

/// The receiver, here the server, uses the requested ACK policy.
#[test]
fn the_server_takes_the_ack_policy_that_is_asked_for() {
    let served = Served::start();
    // One packet in ten milliseconds, so that no batch has two.
    let each = "tack:ack=per-packet,tack:ack.per_packet_startup=false";
    let options = Options { bitrate: Some(800_000), seconds: Some(0.5), ..served.options(each) };
    let (rows, _) = run(&options).unwrap();
    let share = |row: &Row| row.acks as f64 / row.data_packets as f64;
    assert!(share(&rows[0]) > 0.9, "{:?}", rows[0]);
    assert!(share(&rows[1]) < 0.7, "{:?}", rows[1]);
}

#[test]
fn octets_and_bitrates_are_kept() {
    let served = Served::start();
    for with in ["tack", "quic", "tcp"] {
        let bytes = Options { seconds: None, octets: Some(1_000_001), streams: 2, ..served.options(with) };
        assert_eq!(run(&bytes).unwrap().0[0].octets, 1_000_001, "{with}");
        let slow = Options { seconds: Some(0.5), bitrate: Some(8_000_000), ..served.options(with) };
        let goodput = run(&slow).unwrap().0[0].goodput;
        assert!((6.0..10.0).contains(&goodput), "{with}: {goodput}");
    }
}

#[test]
fn another_fingerprint_is_refused_loudly() {
    let served = Served::start();
    let wrong = Fingerprint::of(b"another certificate");
    for with in ["tack", "quic"] {
        let options = Options { trust: Some(Trust::Fingerprint(wrong)), ..served.options(with) };
        let Err(ToolError::Trust(message)) = run(&options) else { panic!("{with} trusts it") };
        assert!(
            message.contains(&served.serving.fingerprint.to_string()) && message.contains(&wrong.to_string()),
            "{message}"
        );
        let options = Options { trust: None, ..served.options(with) };
        assert!(matches!(run(&options), Err(ToolError::Usage(message)) if message.starts_with("trust: found nothing")));
    }
    let shown = tools::run(|| true, |stop| offered(HOST, served.serving.port, stop)).unwrap();
    assert_eq!(shown, served.serving.fingerprint);
}

#[test]
fn all_transports_are_measured_over_ipv6() {
    let (identity, ..) = Identity::generate(["server.test".to_owned()]).unwrap();
    let served = Served::at("::1", identity);
    // As an address, and as in a URL.
    for host in ["::1", "[::1]"] {
        let options = Options { host: host.to_owned(), ..served.options("tack,quic,tcp") };
        run(&options).unwrap().0.iter().for_each(assert_sensible);
    }
}

/// A certificate must lead to an authority, and contain the name of the connection.
#[test]
fn certificates_of_authorities_are_believed_if_they_have_the_name() {
    let folder = folder_of("authorities");
    let (identity, certificate, _) = Identity::generate(["localhost".to_owned()]).unwrap();
    let served = Served::at(HOST, identity);
    let (ca, other) = (folder.join("ca.pem"), folder.join("other.pem"));
    std::fs::write(&ca, certificate).unwrap();
    std::fs::write(&other, Identity::generate(["localhost".to_owned()]).unwrap().1).unwrap();
    for with in ["tack", "quic"] {
        let by = |host: &str, file: &Path| {
            let trust = Some(Trust::Authorities(file.to_owned()));
            run(&Options { host: host.to_owned(), trust, ..served.options(with) })
        };
        by("localhost", &ca).unwrap().0.iter().for_each(assert_sensible);
        for (host, file) in [("localhost", &other), (HOST, &ca)] {
            let message = by(host, file).expect_err("it is not trusted").to_string();
            assert!(message.contains("certificate"), "{with} as {host}: {message}");
        }
    }
}

/// The lines of the NSS key log, which Wireshark reads: a label, the random octets of the client,
/// and a secret.
#[test]
fn secrets_and_logs_are_written_on_request() {
    let folder = folder_of("logs");
    let served = Served::start();
    let (keys, qlog) = (folder.join("keys"), folder.join("qlog"));
    run(&Options { keys: Some(keys.clone()), qlog: Some(qlog.clone()), ..served.options("tack,quic") }).unwrap();
    let text = std::fs::read_to_string(keys).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let is_secret = |line: &Vec<&str>| line.len() == 3 && line[1].len() == 64 && line[2].len() >= 64;
    assert!(lines.iter().all(is_secret), "{text}");
    // Each transport has two connections: control and data.
    let clients = lines.iter().filter(|line| line[0] == "CLIENT_TRAFFIC_SECRET_0").count();
    assert_eq!(clients, 4, "{text}");
    let logs: Vec<String> =
        std::fs::read_dir(qlog).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    assert_eq!(logs.len(), 2, "of TACK alone");
    let longest = logs.iter().max_by_key(|log| log.len()).unwrap();
    assert!(longest.contains("packet_sent") && longest.contains("packet_received"), "{}", &longest[..500]);
}

#[test]
fn what_a_kernel_does_not_have_is_refused_at_both_ends() {
    let served = Served::start();
    for reverse in [false, true] {
        let message = run(&Options { reverse, ..served.options("nothing") }).unwrap_err().to_string();
        assert!(message.contains("congestion controller: found \"nothing\""), "{message}");
    }
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let served = Served::start();
    let answer = |octets: &[u8]| {
        let mut stream = std::net::TcpStream::connect((HOST, served.serving.port)).unwrap();
        stream.write_all(octets).unwrap();
        // The server may already have ended the connection.
        _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer[4..].to_vec()).unwrap()
    };
    assert!(answer(b"GET / HTTP/1.1\r\n\r\n").contains("expected \\\"acklab\\\""));
    assert!(answer(b"acklab\x02\x00........").contains("version of the protocol: found 2, expected 1"));
    assert!(answer(b"acklab\x01\x00........\xff\xff\xff\xff").contains("octets, expected 65536 at most"));
    assert!(answer(b"acklab\x01\x00........\x00\x00\x00\x06\"Stop\"").contains("message: unknown variant"));
    assert!(answer(b"acklab\x01\x00........\x00\x00\x00\x06\"stop\"").contains("expected a request"));
}

#[test]
fn a_server_carries_out_one_measurement_at_a_time_and_tells_when_it_stops() {
    let mut served = Served::start();
    let long = Options { seconds: Some(30.0), bitrate: Some(1_000_000), ..served.options("tack") };
    let (to, began) = mpsc::channel();
    let first = std::thread::spawn(move || {
        tools::run(
            || true,
            |stop| {
                measure(&long, stop, |told| {
                    if let Progress::Interval { .. } = told {
                        _ = to.send(())
                    }
                })
            },
        )
    });
    began.recv().unwrap();
    let message = run(&served.options("tcp")).unwrap_err().to_string();
    assert!(message.contains("busy with another measurement"), "{message}");
    served.stop();
    let message = first.join().unwrap().unwrap_err().to_string();
    assert!(message.contains("the server stops"), "{message}");
}

#[test]
fn a_host_without_a_server_is_named() {
    let port = std::net::TcpListener::bind((HOST, 0)).unwrap().local_addr().unwrap().port();
    let served = Served::start();
    let options = Options { port, ..served.options("tcp") };
    let message = run(&options).unwrap_err().to_string();
    assert!(message.starts_with(&format!("127.0.0.1:{port} (tcp): ")), "{message}");
}
