//! Moves octets between two endpoints on this host, and tells the rate and the processor time: `cargo run --release --example bulk -- [MB]`.

#![allow(clippy::unwrap_used, reason = "an example ends by panicking")]

use acklab_deploy::config::{Limits, Server, settings};
use acklab_deploy::{Config, Endpoint};
use acklab_secure::identity::{Identity, Trust, client_config, server_config};
use acklab_secure::reset::ResetKey;
use rustls::NoKeyLog;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn main() {
    let megabytes: usize = std::env::args().nth(1).map_or(1000, |text| text.parse().unwrap());
    let (identity, ..) = Identity::generate(["localhost".to_owned()]).unwrap();
    let trust = Trust::Pinned(identity.fingerprint());
    let transport = settings();
    let client = Config { transport, client: Some(client_config(trust, Arc::new(NoKeyLog)).unwrap()), ..Config::new() };
    let tls = server_config(identity, Arc::new(NoKeyLog)).unwrap();
    let server = Server { tls, reset_key: ResetKey::new(&[7; 32]), limits: Limits::default(), always_retry: false };
    let any = "127.0.0.1:0".parse().unwrap();
    let client = Endpoint::bind(any, client).unwrap();
    let server = Endpoint::bind(any, Config { transport, server: Some(server), ..Config::new() }).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let address = server.local_address();
    let reader = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let connection = server.accept().await.unwrap();
            let (_send, mut receive) = connection.accept_stream().await.unwrap();
            let (mut buffer, mut count) = (vec![0; 1 << 18], 0);
            while let Ok(read @ 1..) = receive.read(&mut buffer).await {
                count += read;
            }
            println!("{:#?}", connection.statistics().map(|s| (s.datagrams, s.acknowledgments)));
            count
        })
    });
    runtime.block_on(async {
        let connection = client.connect(address, "localhost").await.unwrap();
        let (mut send, _receive) = connection.open_stream().await.unwrap();
        let (start, before) = (std::time::Instant::now(), cpu());
        let buffer = vec![7; 1 << 18];
        let mut left = megabytes * 1_000_000;
        while left > 0 {
            let some = left.min(buffer.len());
            send.write_all(&buffer[..some]).await.unwrap();
            left -= some;
        }
        send.end();
        send.finished().await.unwrap();
        let (took, spent) = (start.elapsed().as_secs_f64(), cpu() - before);
        let gigabytes = megabytes as f64 / 1000.0;
        println!("{:.2} Gbps, {:.2} s of processor time per GB", gigabytes * 8.0 / took, spent / gigabytes);
        let s = connection.statistics().unwrap();
        println!("{:?}\n{:#?}", s.vitals, (s.datagrams, s.transport));
    });
    assert_eq!(reader.join().unwrap(), megabytes * 1_000_000);
}
