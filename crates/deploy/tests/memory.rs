//! The memory that clients can use on the far side of a proxy, with and without the token.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "memory/enemy.rs"]
mod enemy;
#[path = "common/side.rs"]
mod side;

use enemy::Enemy;
use side::{Far, Near};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

const MB: u64 = 1 << 20;
/// The bytes that a stream may send before its reader has read any, and the distance between pieces
/// that touch all pages of this window.
const WINDOW: u64 = 1 << 20;
const STRIDE: u64 = 256;

/// The entry point of the processes that this test starts.
#[test]
fn side() {
    side::run();
}

fn address(far: &Far) -> SocketAddr {
    ([127, 0, 0, 1], far.port).into()
}

/// Returns a client with the token, for which the far side has raised its limits.
fn trusted(far: &Far, seed: u64) -> Enemy {
    let mut enemy = Enemy::connect(address(far), [127, 0, 0, 1], &far.fingerprint, seed);
    let token = (0..64).step_by(2).map(|place| u8::from_str_radix(&far.token[place..place + 2], 16).unwrap());
    enemy.ask(&b"acklab\x02\x02".iter().copied().chain(token).collect::<Vec<_>>());
    enemy
}

/// Returns offsets that leave a gap at the beginning of a stream and after each of them.
fn scattered(window: u64, stride: u64) -> impl Iterator<Item = u64> + Clone {
    (1..window).step_by(stride as usize)
}

/// Fills the windows of `streams` streams in addition to the first.
fn fill(enemy: &mut Enemy, streams: u32, stride: u64) {
    let streams = (4..).step_by(2).take(streams as usize);
    enemy.scatter(streams.clone().map(|stream| (stream, 1)));
    // The far side announces the windows of open streams.
    std::thread::sleep(Duration::from_millis(300));
    enemy.scatter(streams.flat_map(|stream| scattered(WINDOW, stride).map(move |offset| (stream, offset))));
}

/// Checks that a program can reach its target through the proxy.
fn reaches(far: &Far) {
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = target.local_addr().unwrap().port();
    std::thread::spawn(move || target.accept().unwrap().0.write_all(b"reached").unwrap());
    let near = Near::start(far, far.port, port, Duration::ZERO);
    let mut answer = Vec::new();
    TcpStream::connect(near.address).unwrap().read_to_end(&mut answer).unwrap();
    assert_eq!(answer, b"reached");
}

/// Waits until the far side uses less than `most`.
fn returns_to(far: &Far, most: u64) {
    let start = Instant::now();
    while far.side.memory() > most {
        assert!(start.elapsed() < Duration::from_secs(60), "{} MB of {} MB", far.side.memory() / MB, most / MB);
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// More clients than may wait, from many addresses, send as much as they can, for as long as they
/// may.
#[test]
fn without_the_token_clients_take_little_memory_for_some_seconds() {
    const CLIENTS: u8 = 100;
    let far = Far::start(Duration::ZERO);
    reaches(&far);
    let before = far.side.memory();
    let mut enemies: Vec<_> = (0..CLIENTS)
        .map(|number| Enemy::connect(address(&far), [127, 0, 1, number / 4 + 1], &far.fingerprint, number.into()))
        .collect();
    let (start, mut most) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(3) {
        for enemy in &mut enemies {
            // First permitted data, then data that are not permitted.
            enemy.scatter(scattered(16 << 10, 16).map(|offset| (2, offset)));
            let streams = (2..12).step_by(2);
            enemy.scatter(streams.flat_map(|stream| scattered(WINDOW, 4096).map(move |offset| (stream, offset))));
        }
        most = most.max(far.side.memory());
    }
    println!("{} MB before, {} MB with {CLIENTS} clients without the token", before / MB, most / MB);
    assert!(most < before + 24 * MB, "{} MB of {} MB", most / MB, before / MB);
    reaches(&far);
    returns_to(&far, before + 4 * MB);
}

/// Pieces of one octet, in all pages of the windows.
#[test]
fn out_of_order_a_client_takes_no_more_than_its_windows_and_all_returns() {
    const STREAMS: u32 = 60;
    let far = Far::start(Duration::ZERO);
    reaches(&far);
    let before = far.side.memory();
    let mut enemy = trusted(&far, 1);
    fill(&mut enemy, STREAMS, STRIDE);
    std::thread::sleep(Duration::from_secs(1));
    let (taken, windows) = (far.side.memory() - before, u64::from(STREAMS) * WINDOW);
    println!("{} MB for windows of {} MB", taken / MB, windows / MB);
    assert!(taken > windows / 2, "the pieces have arrived: {} MB", taken / MB);
    assert!(taken < windows + windows / 4, "{} MB for windows of {} MB", taken / MB, windows / MB);
    reaches(&far);
    // Incomplete requests are abandoned after ten seconds.
    returns_to(&far, before + 8 * MB);
}

/// A process that gets no more memory ends the connection that needs it.
#[test]
fn a_client_for_which_there_is_no_memory_loses_its_connection_alone() {
    const STREAMS: u32 = 200;
    let mut far = Far::start(Duration::ZERO);
    reaches(&far);
    far.side.limit_memory(64 * MB);
    for round in 0..3 {
        let mut enemy = trusted(&far, round);
        fill(&mut enemy, STREAMS, 4096);
        assert_eq!(enemy.closed(), 1 << 31 | 1, "INTERNAL_ERROR (RFC 9000, §20.1)");
        assert!(far.side.is_running(), "round {round}");
        reaches(&far);
    }
}
