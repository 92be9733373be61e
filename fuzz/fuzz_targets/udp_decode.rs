//! Fuzzes the UDP decoder with any octets.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/udp_decode.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::what_decodes_survives_the_round_trip(octets));
