//! What it costs to move octets between two endpoints of this host: `cargo bench --package acklab-deploy [-- MEGABYTES]`.
//!
//! Each line is one ACK policy of the receiver; nothing else differs. Both ends, with TLS, and the applications that write and read run in this process, whose
//! processor time counts. Each runs five times, and the cheapest run counts. The octets are checked.

#![allow(clippy::unwrap_used, reason = "a benchmark ends by panicking")]

use acklab_base::endpoint::counter;
use acklab_deploy::config::{Limits, Server, settings};
use acklab_deploy::{Config, Endpoint};
use acklab_secure::identity::{Identity, Trust, client_config, server_config};
use acklab_secure::reset::ResetKey;
use acklab_transport::ack;
use acklab_transport::tack::Settings;
use rustls::NoKeyLog;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const REPEATS: usize = 5;
const CHUNK: usize = 1 << 18;
/// Processor time in /proc is counted in these.
const TICKS: f64 = 100.0;

/// Processor time of this process, in seconds.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / TICKS
}

/// The policies, from that which acknowledges most.
fn policies() -> [(&'static str, ack::PolicyConfig); 4] {
    let every =
        |packets| ack::PolicyConfig::Quic(ack::quic::Quic { packets, reordering_threshold: 0, ..Default::default() });
    [
        ("every packet", every(1)),
        ("every second packet", every(2)),
        ("every tenth packet", every(10)),
        ("TACK", settings().ack),
    ]
}

/// What one transfer took.
#[derive(Clone, Copy)]
struct Cost {
    gigabits_per_second: f64,
    seconds_per_gigabyte: f64,
    acknowledgments: u64,
    packets: u64,
}

fn transfer(policy: ack::PolicyConfig, size: usize) -> Cost {
    let transport = Settings { ack: policy, ..settings() };
    let (identity, ..) = Identity::generate(["localhost".to_owned()]).unwrap();
    let trust = Trust::Pinned(identity.fingerprint());
    let client = Config { transport, client: Some(client_config(trust, Arc::new(NoKeyLog)).unwrap()), ..Config::new() };
    let tls = server_config(identity, Arc::new(NoKeyLog)).unwrap();
    let server = Server { tls, reset_key: ResetKey::new(&[7; 32]), limits: Limits::default(), always_retry: false };
    let any = "127.0.0.1:0".parse().unwrap();
    let client = Endpoint::bind(any, client).unwrap();
    let server = Endpoint::bind(any, Config { transport, server: Some(server), ..Config::new() }).unwrap();
    let address = server.local_address();
    let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    let pattern: Vec<u8> = (0..CHUNK).map(|place| (place * 131 % 251) as u8).collect();
    let expected = pattern.clone();
    let (start, before) = (Instant::now(), processor_time());
    let reader = std::thread::spawn(move || {
        runtime().block_on(async {
            let connection = server.accept().await.unwrap();
            let (_send, mut receive) = connection.accept_stream().await.unwrap();
            let (mut buffer, mut count) = (vec![0; CHUNK], 0);
            while let read @ 1.. = receive.read(&mut buffer[..CHUNK - count % CHUNK]).await.unwrap() {
                let place = count % CHUNK;
                assert!(buffer[..read] == expected[place..place + read], "as it was sent");
                count += read;
            }
            assert_eq!(count, size);
            connection.statistics().and_then(|statistics| statistics.count(counter::ACKS_SENT)).unwrap_or(0)
        })
    });
    let packets = runtime().block_on(async {
        let connection = client.connect(address, "localhost").await.unwrap();
        let (mut send, _receive) = connection.open_stream().await.unwrap();
        for start in (0..size).step_by(CHUNK) {
            send.write_all(&pattern[..CHUNK.min(size - start)]).await.unwrap();
        }
        send.end();
        send.finished().await.unwrap();
        connection.statistics().and_then(|statistics| statistics.count(counter::DATA_PACKETS)).unwrap_or(0)
    });
    let (took, spent) = (start.elapsed().as_secs_f64(), processor_time() - before);
    let gigabytes = size as f64 / 1e9;
    let (gigabits_per_second, seconds_per_gigabyte) = (gigabytes * 8.0 / took, spent / gigabytes);
    Cost { gigabits_per_second, seconds_per_gigabyte, acknowledgments: reader.join().unwrap(), packets }
}

fn main() {
    let megabytes = std::env::args().find_map(|text| text.parse::<usize>().ok()).unwrap_or(1000);
    println!("{:<22} {:>8} {:>10} {:>10} {:>16}", "acknowledges", "Gbps", "CPU s/GB", "ACKs", "packets for one");
    for (name, policy) in policies() {
        let runs = (0..REPEATS).map(|_| transfer(policy, megabytes * 1_000_000));
        let best = runs.min_by(|a, b| a.seconds_per_gigabyte.total_cmp(&b.seconds_per_gigabyte)).unwrap();
        let Cost { gigabits_per_second, seconds_per_gigabyte, acknowledgments, packets } = best;
        let each = packets as f64 / acknowledgments.max(1) as f64;
        println!(
            "{name:<22} {gigabits_per_second:>8.2} {seconds_per_gigabyte:>10.2} {acknowledgments:>10} {each:>16.1}"
        );
    }
}
