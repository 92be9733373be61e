//! Fuzzes an inspection with any frames of any link type.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/inspect/tests/properties/decapsulation.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::any_frame_is_in_the_report(octets));
