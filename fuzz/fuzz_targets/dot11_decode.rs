//! Fuzzes the decoders of radiotap headers and 802.11 frames with any octets.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/dot11_decode.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::what_decodes_survives_the_round_trip(octets));
