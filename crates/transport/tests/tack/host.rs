//! Tests a host that is slower than its path, so that pacing would permit a higher rate.

use crate::network;
use acklab_base::random::Seed;
use acklab_base::{Duration, Endpoint as _, Instant, Machine as _, StreamPort as _};
use acklab_transport::tack::{Connection, Settings};
use acklab_wire::tack::Packet;
use std::collections::VecDeque;

const ONE_WAY: Duration = Duration::from_millis(20);
/// The bytes per write of an application at 16 Mbps.
const CHUNK: u64 = 20_000;
const EACH: Duration = Duration::from_millis(10);

/// Returns the pacing rate after three seconds, as a multiple of the application's rate.
/// `has_backlog` is `true` if the application always has more to send.
fn pacing(has_backlog: bool) -> f64 {
    let settings = Settings::default();
    let mut ends: [Connection; 2] = network::ends(&settings, None, Seed(1));
    let mut ways: [VecDeque<(Instant, Packet)>; 2] = Default::default();
    ends[0].note_backlog(has_backlog);
    ends[0].open(Instant::ZERO);
    let (mut now, mut next_chunk) = (Instant::ZERO, Instant::ZERO);
    while now < Instant::ZERO + Duration::from_secs(3) {
        if now == next_chunk {
            let _ = ends[0].write(now, CHUNK);
            next_chunk += EACH;
        }
        for end in 0..2 {
            while let Some((_, packet)) = ways[1 - end].pop_front_if(|(at, _)| *at <= now) {
                let _ = ends[end].accept(now, packet);
            }
            if ends[end].deadline().is_some_and(|at| at <= now) {
                ends[end].wake(now);
            }
            while let Some(packet) = ends[end].poll(now) {
                ways[end].push_back((now + ONE_WAY, packet));
            }
        }
        let arrivals = ways.iter().filter_map(|way| way.front().map(|(at, _)| *at));
        let deadlines = ends.iter().filter_map(Connection::deadline);
        now = arrivals.chain(deadlines).chain([next_chunk]).min().expect("there is a next chunk");
    }
    let rate = ends[0].pacing_rate().expect("BBR paces").bits_per_second();
    rate as f64 / (CHUNK as f64 * 8.0 / EACH.as_secs_f64())
}

#[test]
fn startup_ends_at_the_rate_of_the_host_but_not_at_that_of_an_application() {
    let (host, application) = (pacing(true), pacing(false));
    assert!((0.7..1.4).contains(&host), "the pacing rate is {host} times that of the host");
    assert!(application > 2.5, "the pacing rate is {application} times that of the application");
}
