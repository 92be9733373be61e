//! Fuzzes a TCP sender and receiver. The input chooses when segments are dropped, doubled,
//! reordered, delayed or forged.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/transport/tests/endpoints/property.rs"]
mod property;

fuzz_target!(|octets: &[u8]| {
    property::endpoints_keep_their_promises(octets);
    property::connections_keep_their_promises(octets);
});
