//! Endpoints with sockets, on this host.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use acklab_base::Duration;
use acklab_deploy::config::{Limits, Server};
use acklab_deploy::{Config, Connection, Endpoint, Lost};
use acklab_secure::identity::{Identity, Trust, client_config, server_config};
use acklab_secure::reset::ResetKey;
use bytes::Bytes;
use rustls::NoKeyLog;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const NAME: &str = "server.test";

fn any(v6: bool) -> SocketAddr {
    if v6 { "[::1]:0".parse().unwrap() } else { "127.0.0.1:0".parse().unwrap() }
}

/// Returns a client and a server.
fn endpoints(v6: bool) -> [Endpoint; 2] {
    let (identity, ..) = Identity::generate([NAME.to_owned()]).unwrap();
    let trust = Trust::Pinned(identity.fingerprint());
    let client = Config { client: Some(client_config(trust, Arc::new(NoKeyLog)).unwrap()), ..Config::new() };
    let tls = server_config(identity, Arc::new(NoKeyLog)).unwrap();
    let limits = Limits::default();
    let server = Server { tls, reset_key: ResetKey::new(&[7; 32]), limits, always_retry: false };
    [client, Config { server: Some(server), ..Config::new() }].map(|config| Endpoint::bind(any(v6), config).unwrap())
}

async fn connect([client, server]: &[Endpoint; 2]) -> [Connection; 2] {
    let (opened, accepted) = tokio::join!(client.connect(server.local_address(), NAME), server.accept());
    [opened.unwrap(), accepted.unwrap()]
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let limited = async { tokio::time::timeout(std::time::Duration::from_secs(60), test).await };
    runtime.block_on(limited).expect("it ends in time")
}

/// Returns bytes that differ from each other at any distance.
fn octets(size: usize) -> Vec<u8> {
    (0..size as u64).map(|place| (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Both futures are repeatedly dropped before they are ready.
#[test]
fn chunks_arrive_once_and_in_order_whoever_gives_up_meanwhile() {
    run(async {
        let endpoints = endpoints(false);
        let [client, server] = connect(&endpoints).await;
        let sent = octets(10_000_000);
        let soon = std::time::Duration::from_micros(50);
        let write = async {
            let (mut send, _receive) = client.open_stream().await.unwrap();
            let mut rest = Bytes::from(sent.clone());
            // Chunks of all sizes; some are copied from a buffer.
            for turn in 0.. {
                let size = [3, 100_000, 5000, 700, 1 << 20][turn % 5].min(rest.len());
                let mut chunk = rest.split_to(size);
                if turn % 3 == 0 {
                    send.write_all(&chunk).await.unwrap();
                    continue;
                }
                while tokio::time::timeout(soon, send.write_chunk(&mut chunk)).await.is_err() {}
                assert!(chunk.is_empty());
                if rest.is_empty() {
                    break;
                }
            }
            send.end();
            send.finished().await.unwrap();
        };
        let read = async {
            let (_send, mut receive) = server.accept_stream().await.unwrap();
            let (mut all, mut kept) = (Vec::new(), Vec::new());
            for turn in 0.. {
                let most = [usize::MAX, 10, 10_000][turn % 3];
                let Ok(chunk) = tokio::time::timeout(soon, receive.read_chunk(most)).await else { continue };
                let Some(chunk) = chunk.unwrap() else { break };
                assert!((1..=most).contains(&chunk.len()));
                all.extend_from_slice(&chunk);
                // The octets of a chunk do not change, whatever arrives after it.
                kept.push((all.len() - chunk.len(), chunk));
            }
            assert!(receive.read_chunk(usize::MAX).await.unwrap().is_none(), "the end stays");
            (all, kept)
        };
        let ((), (all, kept)) = tokio::join!(write, read);
        assert!(all == sent, "every octet once and in order");
        assert!(kept.iter().all(|(start, chunk)| sent[*start..start + chunk.len()] == chunk[..]));
    });
}

#[test]
fn streams_carry_octets_both_ways_over_both_versions_of_ip() {
    for v6 in [false, true] {
        run(async {
            let endpoints = endpoints(v6);
            let [client, server] = connect(&endpoints).await;
            let sent = octets(20_000_000);
            let echo = async {
                let (mut send, mut receive) = server.accept_stream().await.unwrap();
                tokio::io::copy(&mut receive, &mut send).await.unwrap();
                send.end();
                send.finished().await.unwrap();
            };
            let ask = async {
                let (mut send, mut receive) = client.open_stream().await.unwrap();
                let write = async {
                    send.write_all(&sent).await.unwrap();
                    send.end();
                };
                let mut read = Vec::new();
                let (_, count) = tokio::join!(write, receive.read_to_end(&mut read));
                assert_eq!(count.unwrap(), sent.len());
                assert!(read == sent, "as it was sent");
            };
            tokio::join!(echo, ask);
        });
    }
}

#[test]
fn many_streams_come_and_go() {
    run(async {
        let endpoints = endpoints(false);
        let [client, server] = connect(&endpoints).await;
        let serve = async {
            for _ in 0..500 {
                let (mut send, mut receive) = server.accept_stream().await.unwrap();
                let mut question = Vec::new();
                receive.read_to_end(&mut question).await.unwrap();
                send.write_all(&question).await.unwrap();
                send.end();
            }
        };
        let ask = async {
            for number in 0..500u32 {
                let (mut send, mut receive) = client.open_stream().await.unwrap();
                send.write_all(&number.to_be_bytes()).await.unwrap();
                send.end();
                let mut answer = Vec::new();
                receive.read_to_end(&mut answer).await.unwrap();
                assert_eq!(answer, number.to_be_bytes());
            }
        };
        tokio::join!(serve, ask);
    });
}

#[test]
fn messages_arrive_as_a_whole() {
    run(async {
        let endpoints = endpoints(false);
        let [client, server] = connect(&endpoints).await;
        for size in [1, 1000, 300_000] {
            client.send_message(&octets(size), Duration::from_secs(5)).await.unwrap();
            assert_eq!(server.receive_message().await.unwrap(), octets(size));
        }
    });
}

#[test]
fn a_future_that_is_dropped_loses_nothing() {
    run(async {
        let endpoints = endpoints(false);
        let [client, server] = connect(&endpoints).await;
        let (mut send, _receive) = client.open_stream().await.unwrap();
        let short = std::time::Duration::from_millis(1);
        assert!(tokio::time::timeout(short, server.accept_stream()).await.is_err());
        send.write_all(b"acknowledge").await.unwrap();
        let (_send, mut receive) = server.accept_stream().await.unwrap();
        let mut read = [0; 11];
        receive.read_exact(&mut read[..5]).await.unwrap();
        assert!(tokio::time::timeout(short, receive.read_exact(&mut [0; 100])).await.is_err());
        send.write_all(b"ment").await.unwrap();
    });
}

#[test]
fn the_end_of_a_connection_reaches_all_who_wait() {
    run(async {
        let endpoints = endpoints(false);
        let [client, server] = connect(&endpoints).await;
        let (_send, mut receive) = client.open_stream().await.unwrap();
        let close = async {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            server.close(42);
        };
        let (read, stream, lost, ()) = tokio::join!(receive.read_u8(), client.accept_stream(), client.closed(), close);
        assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::ConnectionAborted);
        assert_eq!(stream.unwrap_err(), Lost::Peer { code: 42 });
        assert_eq!(lost, Lost::Peer { code: 42 });
        assert_eq!(server.closed().await, Lost::Here { code: 42 });
    });
}

/// If a writer's half, endpoint or runtime is dropped, its stream does not look complete: the
/// reader gets the arrived bytes, and then an error.
#[test]
fn a_stream_that_is_dropped_before_its_end_is_an_error_for_its_reader() {
    const PART: usize = 100_000;
    /// Writes a part, and then drops the parts of the client in some order.
    type Leave = fn(Endpoint, Connection, acklab_deploy::SendStream);
    let leave: [(&str, Leave); 3] = [
        ("stream", |endpoint, connection, send| {
            drop(send);
            // The connection continues for a while.
            std::thread::sleep(std::time::Duration::from_millis(100));
            drop((connection, endpoint));
        }),
        ("connection", |endpoint, connection, send| {
            drop(connection);
            drop(send);
            drop(endpoint);
        }),
        ("endpoint", |endpoint, connection, send| {
            drop(endpoint);
            drop((connection, send));
        }),
    ];
    for (what, leave) in leave {
        let [client, server] = endpoints(false);
        let to = server.local_address();
        let writer = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let (connection, mut send, receive) = runtime.block_on(async {
                let connection = client.connect(to, NAME).await.unwrap();
                let (send, receive) = connection.open_stream().await.unwrap();
                (connection, send, receive)
            });
            // The task is dropped with its runtime while it waits.
            runtime.block_on(async { send.write_all(&octets(PART)).await.unwrap() });
            drop(receive);
            // During this time, the server accepts the stream.
            std::thread::sleep(std::time::Duration::from_millis(100));
            leave(client, connection, send);
        });
        run(async {
            let connection = server.accept().await.unwrap();
            let (_send, mut receive) = connection.accept_stream().await.unwrap();
            let mut read = Vec::new();
            let end = receive.read_to_end(&mut read).await;
            assert!(end.is_err(), "{what}: {} octets and the end", read.len());
            assert!(octets(PART).starts_with(&read), "{what}");
        });
        writer.join().unwrap();
    }
}

#[test]
fn a_task_that_is_dropped_with_its_runtime_ends_no_stream() {
    let [client, server] = endpoints(false);
    let to = server.local_address();
    let copies = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.spawn(async move {
            let connection = client.connect(to, NAME).await.unwrap();
            let (mut send, _receive) = connection.open_stream().await.unwrap();
            loop {
                send.write_all(&octets(1000)).await.unwrap();
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        });
        runtime.block_on(async { tokio::time::sleep(std::time::Duration::from_millis(200)).await });
    });
    run(async {
        let connection = server.accept().await.unwrap();
        let (_send, mut receive) = connection.accept_stream().await.unwrap();
        assert!(receive.read_to_end(&mut Vec::new()).await.is_err());
    });
    copies.join().unwrap();
}

#[test]
fn connections_that_are_dropped_leave_nothing_behind() {
    run(async {
        let endpoints = endpoints(false);
        for _ in 0..20 {
            connect(&endpoints).await;
        }
        while endpoints.iter().any(|endpoint| endpoint.connections() > 0) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    });
}

/// Returns the memory that this process uses, in bytes.
fn memory() -> u64 {
    let fields = std::fs::read_to_string("/proc/self/statm").unwrap();
    fields.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn a_thousand_connections_live_at_once() {
    const CONNECTIONS: usize = 1000;
    // The memory that both ends use for an open connection that has moved some kilobytes.
    const MAX_EACH: u64 = 200_000;
    run(async {
        let endpoints = endpoints(false);
        let before = memory();
        let server = endpoints[1].clone();
        let serve = tokio::spawn(async move {
            let mut all = Vec::new();
            for _ in 0..CONNECTIONS {
                let connection = server.accept().await.unwrap();
                let (mut send, mut receive) = connection.accept_stream().await.unwrap();
                tokio::io::copy(&mut receive, &mut send).await.unwrap();
                all.push((connection, send));
            }
            all
        });
        let mut clients = Vec::new();
        for number in 0..CONNECTIONS {
            let client = endpoints[0].connect(endpoints[1].local_address(), NAME).await.unwrap();
            let (mut send, mut receive) = client.open_stream().await.unwrap();
            let sent = octets(5000 + number);
            send.write_all(&sent).await.unwrap();
            send.end();
            let mut read = vec![0; sent.len()];
            receive.read_exact(&mut read).await.unwrap();
            assert!(read == sent, "as it was sent");
            clients.push(client);
        }
        let servers = serve.await.unwrap();
        assert_eq!((servers.len(), endpoints[1].connections()), (CONNECTIONS, CONNECTIONS));
        let grown = (memory() - before) / CONNECTIONS as u64;
        println!("{grown} octets for both ends of a connection");
        assert!(grown < MAX_EACH, "{grown} octets for both ends of a connection");
    });
}

/// Returns a datagram that opens a connection, in the form of a client.
async fn first_datagram() -> Vec<u8> {
    let socket = std::net::UdpSocket::bind(any(false)).unwrap();
    let [client, _] = endpoints(false);
    let connect = client.connect(socket.local_addr().unwrap(), NAME);
    _ = tokio::time::timeout(std::time::Duration::from_millis(100), connect).await;
    let mut datagram = vec![0; 2000];
    let length = socket.recv(&mut datagram).unwrap();
    datagram.truncate(length);
    datagram
}

/// Sends first datagrams of clients that never continue, from many addresses.
struct Flood {
    stops: Arc<AtomicBool>,
    attacker: std::thread::JoinHandle<u64>,
    start: std::time::Instant,
}

impl Flood {
    /// Begins a flood. Without a pause after each round of all addresses, it sends as fast as one
    /// thread can.
    fn begin(datagram: &[u8], to: SocketAddr, pause: Option<std::time::Duration>) -> Self {
        let bind = |host: u8| std::net::UdpSocket::bind(SocketAddr::from(([127, 0, 1, host], 0))).unwrap();
        let sockets: Vec<_> = (1..=200).map(bind).collect();
        let (datagram, stops) = (datagram.to_vec(), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stops);
        let attack = move || {
            let mut count = 0;
            while !flag.load(Ordering::Relaxed) {
                for socket in &sockets {
                    // The buffers of sockets without a reader are soon full.
                    _ = socket.send_to(&datagram, to);
                    count += 1;
                }
                if let Some(pause) = pause {
                    std::thread::sleep(pause);
                }
            }
            count
        };
        Self { stops, attacker: std::thread::spawn(attack), start: std::time::Instant::now() }
    }

    /// Returns the number of datagrams sent per second.
    fn end(self) -> f64 {
        self.stops.store(true, Ordering::Relaxed);
        self.attacker.join().unwrap() as f64 / self.start.elapsed().as_secs_f64()
    }
}

/// `cargo test -p acklab-deploy --release --test loopback -- flood --nocapture` prints the rate of
/// the flood.
#[test]
fn honest_connections_go_on_and_begin_under_a_flood() {
    const SIZE: usize = 5_000_000;
    run(async {
        let endpoints = endpoints(false);
        let established = connect(&endpoints).await;
        let (datagram, to) = (first_datagram().await, endpoints[1].local_address());
        // Each round has three times the datagrams that may wait, followed by a pause. Without a
        // pause, one first datagram in thirty would be served, and a new client's datagrams would
        // be among them only at random.
        let flood = Flood::begin(&datagram, to, Some(std::time::Duration::from_millis(20)));
        let start = std::time::Instant::now();
        let opened = connect(&endpoints).await;
        println!("{:.0} first datagrams a second; a new connection took {:?}", flood.end(), start.elapsed());
        let flood = Flood::begin(&datagram, to, None);
        for [client, server] in [&established, &opened] {
            let start = std::time::Instant::now();
            let (mut send, _receive) = client.open_stream().await.unwrap();
            let sent = octets(SIZE);
            let write = async {
                send.write_all(&sent).await.unwrap();
                send.end();
            };
            let read = async {
                let (_send, mut receive) = server.accept_stream().await.unwrap();
                let mut read = Vec::new();
                receive.read_to_end(&mut read).await.unwrap();
                read
            };
            let (_, read) = tokio::join!(write, read);
            assert!(read == octets(SIZE), "as it was sent");
            println!("{:.0} Mbps", SIZE as f64 * 8e-6 / start.elapsed().as_secs_f64());
        }
        let (rate, (counters, _)) = (flood.end(), endpoints[1].counters());
        println!("{rate:.0} first datagrams a second; {counters:?}");
        assert!(counters.dropped > 0, "more came than are served: {counters:?}");
    });
}
