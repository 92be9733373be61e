//! Fuzzes the parser of IP packets with any octets.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/ip_packet.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::what_parses_agrees_with_its_octets(octets));
