//! Tests paths with a high loss rate in both directions, and paths that lose all packets.

use crate::network::{Network, Path};
use crate::{CLEAN, MS};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Instant, Machine as _};
use acklab_transport::streams::StreamOperations as _;
use acklab_transport::tack::{Phase, Settings};

const SECOND: Duration = Duration::from_secs(1);
/// The idle timeout of the tools for real hosts.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The number of parallel transfers, like those of programs behind a proxy, and the bytes of each.
const TRANSFERS: usize = 20;
const BYTES: u64 = 50_000;

fn has_ended(network: &Network) -> bool {
    network.phases().iter().any(|phase| matches!(phase, Phase::Closed { .. }))
}

/// Carries the transfers over a path that loses the fraction `loss` of the packets in each
/// direction. Returns their duration if the connection survives them.
fn carry(loss: f64, delay: Duration, seed: u64) -> Option<Duration> {
    let settings = Settings { idle_timeout: IDLE_TIMEOUT, ..Settings::default() };
    let path = Path { delay, loss, ..CLEAN };
    let mut network = Network::new(&settings, [path; 2], None, false, Seed(seed));
    network.open();
    let limit = Instant::ZERO + SECOND * 3600;
    network.run(limit, |network| network.is_established() || has_ended(network));
    if has_ended(&network) {
        return None;
    }
    let opened = network.now;
    let ids: Vec<u32> = (0..TRANSFERS).map(|place| network.write(0, place, BYTES)).collect();
    let is_done = |network: &Network| ids.iter().all(|id| network.delivered(1, *id) == BYTES);
    network.run(limit, |network| is_done(network) || has_ended(network));
    is_done(&network).then(|| network.now.since(opened))
}

/// A probe and its answer both arrive with the probability 0.36. With one probe per timeout, and
/// the delay of a TACK in each timeout, 17 of these 100 connections ended during their transfers.
#[test]
fn transfers_outlast_40_percent_of_loss_both_ways() {
    for delay in [10, 50] {
        let outlasted = |seed: &u64| carry(0.4, MS * delay, *seed).is_some();
        let ended: Vec<u64> = (1..=50).filter(|seed| !outlasted(seed)).collect();
        assert_eq!(ended, [] as [u64; 0], "seeds whose connection has ended at {delay} ms");
    }
}

/// RFC 9002, §6.2.1: the timeout doubles. §6.2.4: at most two packets are sent at each timeout.
#[test]
fn probes_leave_in_pairs_at_intervals_that_double() {
    let mut network = Network::new(&Settings::default(), [CLEAN; 2], None, false, Seed(1));
    network.open();
    network.run(Instant::ZERO + SECOND, |_| false);
    network.write(0, 0, 1_000_000);
    network.run(network.now + MS * 200, |_| false);
    let mut left: Vec<(Instant, u64)> = Vec::new();
    // Packets in flight and all later packets are lost.
    while left.len() < 10 {
        network.lose_all();
        let before = network.sent[0];
        let next = network.ends[0].deadline().expect("octets are outstanding");
        network.run(next, |_| false);
        if network.sent[0] > before {
            left.push((network.now, network.sent[0] - before));
        }
    }
    let probes = &left[left.len() - 5..];
    assert!(probes.iter().all(|(_, packets)| *packets == 2), "{left:?}");
    let intervals: Vec<_> = probes.windows(2).map(|pair| pair[1].0.since(pair[0].0)).collect();
    assert!(intervals.windows(2).all(|pair| pair[1] == pair[0] * 2), "{left:?}");
}

/// The receiver continuously reads one stream, so that this stream always has bytes in flight. The
/// new window of another stream is lost once.
#[test]
fn a_window_that_is_lost_is_requested_while_another_stream_moves() {
    const WINDOW: u64 = 50_000;
    let settings = Settings { receive_buffer: Bytes(WINDOW), ..Settings::default() };
    let mut network = Network::new(&settings, [CLEAN; 2], Some(0), false, Seed(3));
    network.open();
    network.run(Instant::ZERO + MS * 200, |_| false);
    let [busy, held] = [(0, 10_000_000), (1, 2 * WINDOW)].map(|(place, bytes)| network.write(0, place, bytes));
    network.run(network.now + MS * 500, |_| false);
    let read = |network: &mut Network, id| {
        let read = network.ends[1].read_from(network.now, id, WINDOW).expect("it is open");
        network.poll();
        read
    };
    assert_eq!(read(&mut network, held), WINDOW, "the window is used up");
    network.lose_all();
    let limit = network.now + SECOND * 5;
    while network.now < limit && network.ends[1].received_of(held) == WINDOW {
        read(&mut network, busy);
        network.run(network.now + MS, |_| false);
    }
    assert!(network.delivered(1, busy) > 2 * WINDOW, "one stream moves");
    assert!(network.ends[1].received_of(held) > WINDOW, "nothing more arrives of the other one");
}
