//! Fuzzes two QUIC connections. The input chooses when packets are dropped, doubled, delayed,
//! marked or forged, and when applications write, read and reset.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/transport/tests/quic/asks.rs"]
mod asks;
#[path = "../../crates/transport/tests/common/hostile.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod hostile;
#[path = "../../crates/transport/tests/quic/network.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod network;
#[path = "../../crates/transport/tests/common/octets.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod octets;
#[path = "../../crates/transport/tests/common/operations.rs"]
mod operations;
#[path = "../../crates/transport/tests/quic/operations.rs"]
mod quic_operations;

fuzz_target!(|octets: &[u8]| {
    quic_operations::endpoints_keep_their_promises(octets);
});
