//! Fuzzes the ROHC decompressors with any octets, and uses octets as choices of ACKs for compressor
//! and decompressor.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/rohc.rs"]
mod property;

fuzz_target!(|octets: &[u8]| {
    property::any_octets_are_accepted_or_refused(octets);
    property::acks_come_out_as_they_went_in(octets);
});
