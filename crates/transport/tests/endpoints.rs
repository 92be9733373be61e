//! Tests sender and receiver in a network that drops, duplicates, reorders, delays and forges
//! segments. Tests bidirectional connections in a network without forgery.
//!
//! `ACKLAB_STEPS=10000000 cargo test -p acklab-transport --test endpoints` runs longer. The fuzz
//! target `tcp_endpoints` runs the same bodies on bytes that libFuzzer finds.

#[path = "common/look.rs"]
mod look;
#[path = "endpoints/property.rs"]
mod property;
#[path = "../../../fuzz/seeds.rs"]
mod seeds;

use look::look;
use property::{connections_keep_their_promises, endpoints_keep_their_promises};

/// The number of operations of an ordinary test run. Operations of connections take longer.
const STEPS: u64 = 300_000;
const STEPS_OF_CONNECTIONS: u64 = 200_000;

#[test]
fn endpoints_keep_their_promises_to_any_network() {
    look(STEPS, endpoints_keep_their_promises);
}

#[test]
fn connections_keep_their_promises_to_any_network() {
    look(STEPS_OF_CONNECTIONS, connections_keep_their_promises);
}

/// An input of the fuzz target that once ran for 37 s: a source that writes as fast as it can,
/// segments of one byte, and a window of 70,000 segments in each round trip. Since then every
/// transfer has a maximum number of events, and every greedy source a maximum number of segments.
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

#[test]
fn promises_are_kept_on_the_seeds_of_the_fuzz_target() {
    seeds::replay("tcp_endpoints", |octets| {
        endpoints_keep_their_promises(octets);
        connections_keep_their_promises(octets);
    });
}
