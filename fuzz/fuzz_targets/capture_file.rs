//! Fuzzes the readers of captures with any octets: pcap, pcapng, snoop, qlog, and their compressed
//! forms.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/lab/tests/properties/capture_file.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::any_file_is_reported_or_refused(octets));
