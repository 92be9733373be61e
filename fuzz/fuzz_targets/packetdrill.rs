//! Fuzzes packetdrill with any octets as a script.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/packetdrill/tests/any_octets.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::a_script_has_a_verdict(octets));
