//! A proxy with both sides and its targets on this host.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use acklab_deploy::tools::proxy::{Token, connect};
use acklab_deploy::tools::trust::Trust;
use acklab_deploy::tools::{self, ToolError};
use acklab_deploy::{Config, Endpoint, Lost};
use acklab_secure::identity::{self, client_config};
use common::{Far, HOST, PATIENCE, open, socks};
use rustls::NoKeyLog;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

/// Starts a server that handles each connection with `handle`. Returns its port.
fn target(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind((HOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let handle = Arc::new(handle);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = Arc::clone(&handle);
            std::thread::spawn(move || handle(stream));
        }
    });
    port
}

/// Responds to a request when all of it has arrived. A client signals this by ending its direction.
fn http(mut stream: TcpStream) {
    let mut request = Vec::new();
    stream.read_to_end(&mut request).unwrap();
    let first = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
    write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{first}").unwrap();
}

fn exchange(stream: &mut TcpStream, path: &str) -> String {
    write!(stream, "GET {path} HTTP/1.1\r\n\r\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

const V4: &[u8] = &[1, 127, 0, 0, 1];
const LOCALHOST: &[u8] = b"\x03\x09localhost";

#[test]
fn programs_reach_addresses_and_names_with_half_closes() {
    let port = target(http);
    let far = Far::new(&["127.0.0.1", "localhost"]);
    let (serving, _far) = far.listen(0);
    let (bound, _, _near) = far.connect(serving.port, &format!("{HOST}:{port}"));
    let v4_as_name: &[u8] = b"\x03\x09127.0.0.1";
    for (number, address) in [V4, LOCALHOST, v4_as_name].into_iter().enumerate() {
        let (mut stream, reply) = socks(bound[0], 1, address, port);
        assert_eq!(reply, 0);
        assert!(exchange(&mut stream, &format!("/{number}")).ends_with(&format!("\r\n\r\nGET /{number} HTTP/1.1")));
    }
    assert!(exchange(&mut open(bound[1]), "/forwarded").ends_with("GET /forwarded HTTP/1.1"));
}

#[test]
fn many_octets_pass_both_ways_at_once() {
    let port = target(|stream| _ = std::io::copy(&mut stream.try_clone().unwrap(), &mut &stream));
    let far = Far::new(&["*"]);
    let (serving, _far) = far.listen(0);
    let (bound, _, _near) = far.connect(serving.port, &format!("{HOST}:{port}"));
    let octets: Vec<u8> = (0..5_000_000u32).map(|place| (place.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let streams: Vec<_> = (0..3).map(|_| open(bound[1])).collect();
    std::thread::scope(|scope| {
        for stream in &streams {
            scope.spawn(|| {
                (&*stream).write_all(&octets).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
            });
            scope.spawn(|| {
                let mut echo = Vec::new();
                (&*stream).read_to_end(&mut echo).unwrap();
                assert!(echo == octets, "as it was sent");
            });
        }
    });
}

#[test]
fn what_is_not_allowed_or_not_there_is_refused_by_its_code() {
    let port = target(http);
    let closed = TcpListener::bind((HOST, 0)).unwrap().local_addr().unwrap().port();
    let far = Far::new(&["public", &format!("127.0.0.1:{closed}")]);
    let (serving, _far) = far.listen(0);
    let (bound, lines, _near) = far.connect(serving.port, &format!("{HOST}:{port}"));
    assert_eq!(socks(bound[0], 1, V4, port).1, 2, "not allowed by ruleset");
    assert_eq!(socks(bound[0], 1, LOCALHOST, port).1, 2);
    assert_eq!(socks(bound[0], 1, V4, closed).1, 5, "connection refused");
    assert_eq!(socks(bound[0], 2, V4, closed).1, 7, "BIND is not supported");
    assert_eq!(socks(bound[0], 1, b"\x03\x03a b", port).1, 8);
    let line = lines.recv_timeout(PATIENCE).unwrap();
    assert_eq!(line, format!("127.0.0.1:{port}: not allowed by the far side (--allow)"));
    // A forwarded port has no reply except a reset.
    let error = open(bound[1]).read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn resets_are_passed_on_both_ways() {
    // The target resets the connection on command. Otherwise, it reports how its connection ends.
    let (to, ends) = mpsc::channel();
    let to = std::sync::Mutex::new(to);
    let port = target(move |mut stream| {
        let mut word = [0; 1];
        stream.read_exact(&mut word).unwrap();
        if word == *b"r" {
            // Closing a socket with unread octets causes a reset.
            std::thread::sleep(Duration::from_millis(50));
            return;
        }
        stream.write_all(b"unread").unwrap();
        let end = stream.read(&mut [0; 100]).map_err(|error| error.kind());
        to.lock().unwrap().send(end).unwrap();
    });
    let far = Far::new(&["127.0.0.1"]);
    let (serving, _far) = far.listen(0);
    let (bound, _, _near) = far.connect(serving.port, &format!("{HOST}:{port}"));
    let mut stream = open(bound[1]);
    stream.write_all(b"rest that is not read").unwrap();
    assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let mut stream = open(bound[1]);
    stream.write_all(b"x").unwrap();
    assert_eq!(stream.peek(&mut [0; 1]).unwrap(), 1);
    drop(stream);
    assert_eq!(ends.recv_timeout(PATIENCE).unwrap(), Err(ErrorKind::ConnectionReset));
}

#[test]
fn a_lost_connection_is_made_anew() {
    let port = target(http);
    let far = Far::new(&["127.0.0.1"]);
    let (serving, mut running) = far.listen(0);
    let (bound, lines, _near) = far.connect(serving.port, &format!("{HOST}:{port}"));
    running.stop();
    let (_, _running) = far.listen(serving.port);
    assert!(exchange(&mut open(bound[1]), "/again").ends_with("GET /again HTTP/1.1"));
    let line = lines.recv_timeout(PATIENCE).unwrap();
    assert!(line.contains("the connection is lost: closed by the peer"), "{line}");
}

#[test]
fn strangers_are_refused() {
    let far = Far::new(&["*"]);
    let (serving, _far) = far.listen(0);
    let options = |fingerprint, token: &Token| connect::Options {
        host: HOST.to_owned(),
        port: serving.port,
        trust: Trust::Fingerprint(fingerprint),
        token: token.clone(),
        socks: Some((HOST.parse::<IpAddr>().unwrap(), 0).into()),
        forwards: Vec::new(),
        keys: None,
    };
    let refused = |options| tools::run(|| true, |stop| connect::connect(options, stop, |_| {}, |_| {}));
    let without_token = refused(options(far.identity.fingerprint(), &Token::generate().unwrap()));
    assert!(without_token.unwrap_err().to_string().ends_with("is the token right?"));
    let impostor = Far::new(&[]);
    let from_impostor = refused(options(impostor.identity.fingerprint(), &far.token));
    assert!(matches!(from_impostor, Err(ToolError::Trust(_))), "{from_impostor:?}");
}

#[test]
fn programs_that_speak_something_else_are_told_apart() {
    let far = Far::new(&["*"]);
    let (serving, _far) = far.listen(0);
    let (bound, lines, _near) = far.connect(serving.port, "127.0.0.1:1");
    open(bound[0]).write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(lines.recv_timeout(PATIENCE).unwrap(), "SOCKS5: it does not speak SOCKS5");
    let mut stream = open(bound[0]);
    stream.write_all(&[5, 1, 2]).unwrap();
    let mut method = [0; 2];
    stream.read_exact(&mut method).unwrap();
    assert_eq!(method, [5, 0xff], "user and password are not offered");
}

#[test]
fn a_flood_of_bad_programs_is_a_few_lines() {
    let far = Far::new(&["127.0.0.1"]);
    let (serving, _far) = far.listen(0);
    let (bound, lines, mut near) = far.connect(serving.port, "127.0.0.1:1");
    for _ in 0..200 {
        let mut program = open(bound[0]);
        program.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        // Its connection is closed.
        while program.read(&mut [0; 10]).is_ok_and(|octets| octets > 0) {}
    }
    assert_eq!(socks(bound[0], 1, V4, 1).1, 5, "connection refused");
    near.stop();
    let lines: Vec<String> = lines.iter().collect();
    let bad = lines.iter().filter(|line| line.starts_with("SOCKS5")).count();
    assert_eq!(bad, 30, "as many as a minute has lines of a kind");
    assert!(lines.contains(&"127.0.0.1:1: connection refused".to_owned()), "{lines:?}");
}

/// Nine clients of a host, all without the token.
#[test]
fn clients_without_the_token_have_one_stream_and_ten_seconds() {
    let far = Far::new(&["*"]);
    let (serving, _far) = far.listen(0);
    let tls = client_config(identity::Trust::Pinned(far.identity.fingerprint()), Arc::new(NoKeyLog)).unwrap();
    let config = Config { client: Some(tls), ..Config::new() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let endpoint = Endpoint::bind((HOST.parse::<IpAddr>().unwrap(), 0).into(), config).unwrap();
        let to = (HOST.parse::<IpAddr>().unwrap(), serving.port).into();
        let start = Instant::now();
        let mut clients = Vec::new();
        for _ in 0..8 {
            clients.push(endpoint.connect(to, "proxy.test").await.unwrap());
            // The far side accepts clients in the order of their arrival.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (mut send, _receive) = clients[0].open_stream().await.unwrap();
        send.write_all(b"acklab").await.unwrap();
        let second = tokio::time::timeout(Duration::from_secs(1), clients[0].open_stream()).await;
        assert!(second.is_err(), "a second stream has to wait");
        let ninth = endpoint.connect(to, "proxy.test").await.unwrap();
        assert_eq!(ninth.closed().await, Lost::Peer { code: 4 }, "too many");
        assert!(start.elapsed() < Duration::from_secs(9));
        for client in clients {
            assert_eq!(client.closed().await, Lost::Peer { code: 5 }, "too late");
        }
        assert!((9..20).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    });
    let (bound, _, _near) = far.connect(serving.port, &format!("{HOST}:{}", target(http)));
    assert!(exchange(&mut open(bound[1]), "/after").ends_with("GET /after HTTP/1.1"));
}
