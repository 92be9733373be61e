//! Sender and receiver against a network that drops, doubles, reorders, delays and forges, and connections with data both ways against one
//! that forges nothing.
//!
//! `ACKLAB_STEPS=10000000 cargo test -p acklab-transport --test endpoints` looks longer; `ACKLAB_SEED` looks elsewhere. A failure prints
//! the seed of its case, which `ACKLAB_CASE` runs alone. The fuzz target `tcp_endpoints` runs the same body on octets that libFuzzer
//! finds.

#[path = "endpoints/property.rs"]
mod property;

use acklab_base::random::Seed;
use property::{connections_keep_their_promises, endpoints_keep_their_promises};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Operations of an ordinary test run.
const STEPS: u64 = 300_000;

#[expect(clippy::disallowed_methods, reason = "how long to look is not part of what is tested")]
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")))
}

/// Octets of one case: short ones stay near the handshake, long ones see recoveries upon recoveries.
fn octets(seed: u64) -> Vec<u8> {
    let mut stream = Seed(seed).stream("endpoints");
    let length = 1 << (6 + stream.below(7));
    (0..60 + stream.below(length)).map(|_| stream.below(256) as u8).collect()
}

/// What octets lead to: the number of operations, and a digest of all that was sent.
type Body = fn(&[u8]) -> (u64, u64);

fn case(body: Body, seed: u64) -> u64 {
    let octets = octets(seed);
    let run = || body(&octets);
    let (steps, digest) = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| {
        eprintln!("ACKLAB_CASE={seed}");
        resume_unwind(cause)
    });
    if seed.is_multiple_of(16) {
        assert_eq!(body(&octets), (steps, digest), "ACKLAB_CASE={seed}: the same again");
    }
    steps
}

/// Runs so many operations as are wanted, or the one case that is asked for.
fn look(body: Body) {
    if let Some(seed) = variable("ACKLAB_CASE") {
        case(body, seed);
        return;
    }
    let (wanted, first) = (variable("ACKLAB_STEPS").unwrap_or(STEPS), variable("ACKLAB_SEED").unwrap_or(0));
    let (mut steps, mut seed) = (0, first);
    while steps < wanted {
        steps += case(body, seed);
        seed += 1;
    }
    println!("{steps} operations in {} cases", seed - first);
}

#[test]
fn endpoints_keep_their_promises_to_any_network() {
    look(endpoints_keep_their_promises);
}

#[test]
fn connections_keep_their_promises_to_any_network() {
    look(connections_keep_their_promises);
}

/// An input of the fuzz target that once kept it busy for 37 s: a source that writes as fast as it can, segments of one octet, and a
/// window of 70,000 of them in each round trip. Every transfer has a bound on its events now, and such a source one on its segments.
const SLOW: [u8; 31] = [
    0x0a, 0xc1, 0x0a, 0xfe, 0xb4, 0xc1, 0x71, 0x73, 0xa1, 0x73, 0x01, 0, 0, 0, 0, 0, 0, 0x04, 0xfb, 0xfb, 0xfb, 0x71,
    0xf1, 0, 0, 0, 0xc1, 0xc1, 0xc1, 0xc1, 0xc1,
];

#[test]
fn a_slow_input_ends_within_the_bound_of_events() {
    endpoints_keep_their_promises(&SLOW);
    connections_keep_their_promises(&SLOW);
}

#[test]
fn the_slowest_source_ends_within_the_bound_of_events() {
    property::the_slowest_source_ends();
}
