//! Measures the processor time for which s2n-quic transfers bytes between two hosts of this
//! machine:
//! `cargo run --release --manifest-path crates/deploy/benches/rivals/Cargo.toml [-- MEGABYTES]`.
//! Requires root.
//!
//! Measures in the same way as `benches/hosts.rs`, with the same paths. It encrypts with
//! AES-128-GCM of aws-lc.

#[path = "../../hosts/ground.rs"]
#[allow(dead_code, reason = "the other benchmark uses more of it")]
mod ground;

use ground::{Cost, HERE, Hosts, Sink, THERE, address, chunks, compare, processor_time, runtime};
use s2n_quic::client::Connect;
use s2n_quic::provider::io::tokio::Provider as Io;
use s2n_quic::provider::tls::rustls;
use s2n_quic::{Client, Server};
use std::net::UdpSocket;
use std::time::Instant;
use tokio::io::AsyncWriteExt;

const NAME: &str = "bench.test";

fn s2n(hosts: &Hosts, size: usize) -> Cost {
    let identity = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let (certificate, key) = (identity.cert.pem(), identity.signing_key.serialize_pem());
    let bind = |host: usize, at: &str| hosts.on(host, || UdpSocket::bind(address(at, 0)).unwrap());
    let (here, there) = (bind(0, HERE), bind(1, THERE));
    let to = there.local_addr().unwrap();
    let io = |socket: UdpSocket| Io::builder().with_rx_socket(socket).unwrap().build().unwrap();
    let tls = rustls::Server::builder().with_certificate(certificate.as_str(), key.as_str()).unwrap().build().unwrap();
    let (start, before) = (Instant::now(), processor_time());
    let reader = std::thread::spawn(move || {
        runtime().block_on(async {
            let mut server = Server::builder().with_tls(tls).unwrap().with_io(io(there)).unwrap().start().unwrap();
            let mut connection = server.accept().await.unwrap();
            let mut stream = connection.accept_receive_stream().await.unwrap().unwrap();
            let mut sink = Sink::counting();
            while let Some(chunk) = stream.receive().await.unwrap() {
                sink.take(&chunk);
            }
            sink.finish(size);
            connection.close(0u32.into());
        });
    });
    runtime().block_on(async {
        let tls = rustls::Client::builder().with_certificate(certificate.as_str()).unwrap().build().unwrap();
        let client = Client::builder().with_tls(tls).unwrap().with_io(io(here)).unwrap().start().unwrap();
        let mut connection = client.connect(Connect::new(to).with_server_name(NAME)).await.unwrap();
        let mut stream = connection.open_send_stream().await.unwrap();
        for chunk in chunks(size) {
            stream.send(chunk).await.unwrap();
        }
        // When the reader closes the connection, it has all bytes.
        _ = stream.shutdown().await;
    });
    reader.join().unwrap();
    Cost::of(size, start, before)
}

fn main() {
    let megabytes = std::env::args().find_map(|text| text.parse::<usize>().ok()).unwrap_or(1000);
    let (hosts, size) = (Hosts::new(), megabytes * 1_000_000);
    let rivals = [("QUIC (s2n-quic)", ())];
    for mtu in [1500, 9000] {
        hosts.set_mtu(mtu);
        compare(&hosts, &format!("MTU {mtu}"), size, &rivals, |(), hosts, size| s2n(hosts, size));
    }
    hosts.set_mtu(1500);
    hosts.limit(Some("1gbit"));
    compare(&hosts, "MTU 1500, at 1 Gbps", size / 2, &rivals, |(), hosts, size| s2n(hosts, size));
}
