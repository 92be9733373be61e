//! Fuzzes the parser of link traces with any text.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/path/tests/properties/trace.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::traces_are_served_or_refused(octets));
