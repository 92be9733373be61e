//! Measures the cost of moving bytes between two hosts of this machine, which a pair of virtual
//! Ethernet devices connects: `cargo bench --package acklab-deploy [-- MEGABYTES]`, by root.
//!
//! Both ends and their applications run in this process, whose processor time is measured. The
//! applications count octets, as `iperf3` does. That of "TACK, checked" compares each octet with
//! the sent one. TACK and QUIC (quinn) are encrypted with AES-128-GCM, the kernel's TCP is not.
//! Their applications exchange chunks, as quinn's own benchmark does. Those of "TACK, buffers" and
//! of the kernel's TCP write from buffers and read into them. The floor is the minimum work of any
//! transport over UDP. Each line is the lowest cost of several runs, which take turns.

#![allow(clippy::unwrap_used, reason = "a benchmark ends by panicking")]

use acklab_base::endpoint::counter;
use acklab_deploy::config::{Limits, Server, settings};
use acklab_deploy::{Config, Endpoint};
use acklab_live::udp::UdpPort;
use acklab_secure::identity::{Identity, Trust, client_config, server_config};
use acklab_secure::reset::ResetKey;
use acklab_transport::ack;
use acklab_transport::tack::Settings;
use rustix::net::sockopt;
use rustls::NoKeyLog;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

#[path = "hosts/floor.rs"]
mod floor;
#[path = "hosts/ground.rs"]
mod ground;

use floor::floor;
use ground::{
    CHUNK, Cost, HERE, Hosts, Sink, THERE, address, chunks, compare, processor_time, read, runtime, tell, write,
};

const ALPN: &[u8] = b"acklab-bench";

/// The minimum sleep of a flood [s].
const FLOOD_TICK: f64 = 1e-3;

/// How applications pass bytes.
#[derive(Clone, Copy, PartialEq)]
enum Hands {
    Chunks,
    /// Each octet is compared with what was sent.
    Checked,
    Buffers,
}

/// The sender.
#[derive(Clone)]
enum Contender {
    Tack(Box<Settings>, Hands),
    Quinn,
    Kernel(&'static str),
    /// The minimum work of any transport over UDP, in packets of this size.
    Floor(usize),
}

fn identities() -> (Arc<rustls::ClientConfig>, Arc<rustls::ServerConfig>) {
    let (identity, ..) = Identity::generate(["bench.test".to_owned()]).unwrap();
    let trust = Trust::Pinned(identity.fingerprint());
    (client_config(trust, Arc::new(NoKeyLog)).unwrap(), server_config(identity, Arc::new(NoKeyLog)).unwrap())
}

fn tack_server(hosts: &Hosts, transport: Settings, tls: Arc<rustls::ServerConfig>) -> Endpoint {
    let server = Server { tls, reset_key: ResetKey::new(&[7; 32]), limits: Limits::default(), always_retry: false };
    let config = Config { transport, server: Some(server), ..Config::new() };
    hosts.on(1, || Endpoint::new(UdpPort::bind(address(THERE, 0)).unwrap(), config)).unwrap()
}

impl Contender {
    fn transfer(&self, hosts: &Hosts, size: usize) -> Cost {
        match self {
            Self::Tack(settings, hands) => tack(hosts, **settings, *hands, size, None),
            Self::Quinn => quinn(hosts, size),
            Self::Kernel(congestion) => kernel(hosts, congestion, size),
            Self::Floor(packet) => floor(hosts, *packet, size),
        }
    }
}

/// Runs a transfer over TACK. A flood with this number of datagrams per second begins when the
/// connection is open.
fn tack(hosts: &Hosts, transport: Settings, hands: Hands, size: usize, flood: Option<u64>) -> Cost {
    let (client_tls, server_tls) = identities();
    let client = Config { transport, client: Some(client_tls), ..Config::new() };
    let client = hosts.on(0, || Endpoint::new(UdpPort::bind(address(HERE, 0)).unwrap(), client)).unwrap();
    let server = tack_server(hosts, transport, server_tls);
    let to = server.local_address();
    let flood = flood.map(|rate| Flood::prepare(hosts, to, rate));
    let (start, before) = (Instant::now(), processor_time());
    let reader = std::thread::spawn(move || {
        runtime().block_on(async {
            let connection = server.accept().await.unwrap();
            let (_send, mut receive) = connection.accept_stream().await.unwrap();
            if hands == Hands::Buffers {
                read(receive, size).await;
            } else {
                let mut sink = if hands == Hands::Checked { Sink::checking() } else { Sink::counting() };
                while let Some(chunk) = receive.read_chunk(usize::MAX).await.unwrap() {
                    sink.take(&chunk);
                }
                sink.finish(size);
            }
            connection.statistics().and_then(|statistics| statistics.count(counter::ACKS_SENT))
        })
    });
    // The interface toward the server is that of this host.
    let send = || {
        runtime().block_on(async {
            let connection = client.connect(to, "bench.test").await.unwrap();
            flood.iter().for_each(Flood::begin);
            let (mut send, _receive) = connection.open_stream().await.unwrap();
            if hands == Hands::Buffers {
                write(&mut send, size).await;
            } else {
                for mut chunk in chunks(size) {
                    send.write_chunk(&mut chunk).await.unwrap();
                }
            }
            send.end();
            send.finished().await.unwrap();
            connection.statistics().and_then(|statistics| statistics.count(counter::DATA_PACKETS))
        })
    };
    let packets = hosts.on(0, send);
    let cost = Cost::of(size, start, before);
    drop(flood);
    Cost { acknowledgments: reader.join().unwrap(), packets, ..cost }
}

fn quinn(hosts: &Hosts, size: usize) -> Cost {
    let (client_tls, server_tls) = identities();
    let (mut client_tls, mut server_tls) = ((*client_tls).clone(), (*server_tls).clone());
    (client_tls.alpn_protocols, server_tls.alpn_protocols) = (vec![ALPN.to_vec()], vec![ALPN.to_vec()]);
    let crypto = quinn::crypto::rustls::QuicServerConfig::try_from(server_tls).unwrap();
    let server = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(client_tls).unwrap();
    let client = quinn::ClientConfig::new(Arc::new(crypto));
    let bind = |host: usize, at: &str| hosts.on(host, || UdpSocket::bind(address(at, 0)).unwrap());
    let (here, there) = (bind(0, HERE), bind(1, THERE));
    let to = there.local_addr().unwrap();
    let (start, before) = (Instant::now(), processor_time());
    let endpoint = |socket, server| {
        let config = quinn::EndpointConfig::default();
        quinn::Endpoint::new(config, server, socket, Arc::new(quinn::TokioRuntime)).unwrap()
    };
    let reader = std::thread::spawn(move || {
        runtime().block_on(async {
            let endpoint = endpoint(there, Some(server));
            let connection = endpoint.accept().await.unwrap().await.unwrap();
            let mut receive = connection.accept_uni().await.unwrap();
            let mut sink = Sink::counting();
            while let Some(chunk) = receive.read_chunk(usize::MAX, true).await.unwrap() {
                sink.take(&chunk.bytes);
            }
            sink.finish(size);
            let acks = connection.stats().frame_tx.acks;
            connection.close(0u32.into(), b"");
            endpoint.wait_idle().await;
            acks
        })
    });
    let packets = runtime().block_on(async {
        let endpoint = endpoint(here, None);
        let connection = endpoint.connect_with(client, to, "bench.test").unwrap().await.unwrap();
        let mut send = connection.open_uni().await.unwrap();
        for chunk in chunks(size) {
            send.write_chunk(chunk).await.unwrap();
        }
        send.finish().unwrap();
        connection.closed().await;
        connection.stats().path.sent_packets
    });
    let acks = reader.join().unwrap();
    Cost { acknowledgments: Some(acks), packets: Some(packets), ..Cost::of(size, start, before) }
}

fn kernel(hosts: &Hosts, congestion: &str, size: usize) -> Cost {
    let listener = hosts.on(1, || TcpListener::bind(address(THERE, 0)).unwrap());
    let to = listener.local_addr().unwrap();
    let (start, before) = (Instant::now(), processor_time());
    let reader = std::thread::spawn(move || {
        let (mut from, _) = listener.accept().unwrap();
        let (mut sink, mut buffer) = (Sink::counting(), vec![0; CHUNK]);
        while let read @ 1.. = from.read(&mut buffer).unwrap() {
            sink.take(&buffer[..read]);
        }
        sink.finish(size);
    });
    let mut stream = hosts.on(0, || TcpStream::connect(to).unwrap());
    sockopt::set_tcp_congestion(&stream, congestion).unwrap();
    chunks(size).for_each(|chunk| stream.write_all(&chunk).unwrap());
    drop(stream);
    reader.join().unwrap();
    Cost::of(size, start, before)
}

/// First datagrams of clients that never continue, from many addresses, at a rate or as fast as one
/// thread can send them.
struct Flood {
    /// The thread waits for this signal to begin, and runs until the end signal.
    begin: Option<mpsc::SyncSender<()>>,
    goes_on: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<Instant>>,
}

impl Flood {
    fn prepare(hosts: &Hosts, to: SocketAddr, rate: u64) -> Self {
        const SOURCES: usize = 250;
        // A datagram that opens a connection, in the form of a client of this library.
        let (client_tls, _) = identities();
        let listener = hosts.on(0, || UdpSocket::bind(address("127.0.0.1", 0)).unwrap());
        let client = Config { client: Some(client_tls), ..Config::new() };
        let client = hosts.on(0, || Endpoint::new(UdpPort::bind(address("127.0.0.1", 0)).unwrap(), client)).unwrap();
        let remote = listener.local_addr().unwrap();
        let mut hello = vec![0; 2000];
        let length = runtime().block_on(async {
            let connect = client.connect(remote, "bench.test");
            let _ = tokio::time::timeout(std::time::Duration::from_millis(100), connect).await;
            listener.recv(&mut hello).unwrap()
        });
        hello.truncate(length);
        let sockets: Vec<UdpSocket> =
            (0..SOURCES).map(|_| hosts.on(0, || UdpSocket::bind(address(HERE, 0)).unwrap())).collect();
        let (goes_on, sent) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU64::new(0)));
        let (flag, count) = (Arc::clone(&goes_on), Arc::clone(&sent));
        let (begin, begins) = mpsc::sync_channel(1);
        let thread = std::thread::spawn(move || {
            _ = begins.recv();
            let start = Instant::now();
            for socket in sockets.iter().cycle().take_while(|_| flag.load(Ordering::Relaxed)) {
                _ = socket.send_to(&hello, to);
                let sent = count.fetch_add(1, Ordering::Relaxed);
                let ahead = (sent as f64 / rate as f64) - start.elapsed().as_secs_f64();
                if ahead > FLOOD_TICK {
                    std::thread::sleep(std::time::Duration::from_secs_f64(ahead));
                }
            }
            start
        });
        Self { begin: Some(begin), goes_on, sent, thread: Some(thread) }
    }

    fn begin(&self) {
        self.begin.iter().for_each(|begin| begin.send(()).unwrap());
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.goes_on.store(false, Ordering::Relaxed);
        self.begin = None;
        let start = self.thread.take().unwrap().join().unwrap();
        let rate = self.sent.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
        println!("{:<34} {:>8.0} datagrams a second that open connections", "beside", rate);
    }
}

fn main() {
    let megabytes = std::env::args().find_map(|text| text.parse::<usize>().ok()).unwrap_or(1000);
    let parts = ["policies", "rivals", "paced", "flood", "tack", "checked", "buffers"];
    let only = std::env::args().find(|text| parts.contains(&text.as_str()));
    let wants = |part: &str| only.as_deref().is_none_or(|only| only == part);
    let (hosts, size) = (Hosts::new(), megabytes * 1_000_000);
    let tack_alone = Contender::Tack(Box::new(settings()), Hands::Chunks);
    let every = |packets| {
        let policy = ack::quic::Quic { packets, reordering_threshold: 0, ..Default::default() };
        Contender::Tack(Box::new(Settings { ack: ack::PolicyConfig::Quic(policy), ..settings() }), Hands::Chunks)
    };
    let rivals = |packet| {
        [
            ("floor: UDP and AES alone", Contender::Floor(packet)),
            ("TACK", tack_alone.clone()),
            ("TACK, checked", Contender::Tack(Box::new(settings()), Hands::Checked)),
            ("TACK, buffers", Contender::Tack(Box::new(settings()), Hands::Buffers)),
            ("QUIC (quinn)", Contender::Quinn),
            ("TCP, unencrypted", Contender::Kernel("cubic")),
        ]
    };
    // The packets are as large as TACK's, which are encrypted in whole blocks.
    for (mtu, packet) in [(1500, 1497), (9000, 8985)] {
        hosts.set_mtu(mtu);
        if wants("policies") {
            let policies = [
                ("every packet", every(1)),
                ("every second packet", every(2)),
                ("every tenth packet", every(10)),
                ("TACK", tack_alone.clone()),
            ];
            compare(&hosts, &format!("MTU {mtu}, acknowledges"), size, &policies, Contender::transfer);
        }
        if wants("rivals") {
            compare(&hosts, &format!("MTU {mtu}"), size, &rivals(packet), Contender::transfer);
        }
    }
    hosts.set_mtu(1500);
    // For profiles.
    if only.as_deref() == Some("tack") {
        tell("TACK", &tack_alone.transfer(&hosts, size));
    }
    if only.as_deref() == Some("checked") {
        tell("TACK, checked", &tack(&hosts, settings(), Hands::Checked, size, None));
    }
    if only.as_deref() == Some("buffers") {
        tell("TACK, buffers", &tack(&hosts, settings(), Hands::Buffers, size, None));
    }
    if wants("paced") {
        hosts.limit(Some("1gbit"));
        compare(&hosts, "MTU 1500, at 1 Gbps", size / 2, &rivals(1497)[1..], Contender::transfer);
        hosts.limit(None);
    }
    // Whether the connection survives depends on the remaining processors, so this is not part of
    // the other measurements.
    if only.as_deref() == Some("flood") {
        println!("\n{:<34} {:>8} {:>10}", "MTU 1500, TACK", "Gbps", "CPU s/GB");
        tell("alone", &tack_alone.transfer(&hosts, size));
        for rate in [15_000, 100_000, u64::MAX] {
            tell("under a flood", &tack(&hosts, settings(), Hands::Chunks, size, Some(rate)));
        }
    }
}
