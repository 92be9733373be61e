//! Fuzzes the reader of qlog with any text.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/inspect/tests/properties/qlog.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::any_text_is_read_to_its_end(octets));
