//! A TCP sender and receiver between which octets drop, double, reorder, delay and forge segments.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/transport/tests/endpoints/property.rs"]
mod property;

fuzz_target!(|octets: &[u8]| {
    property::endpoints_keep_their_promises(octets);
    property::connections_keep_their_promises(octets);
});
