//! Fuzzes the parsers of `acklab serve`, `perf` and `proxy` with any octets: SOCKS5, messages of
//! measurements, known hosts, words of a command line.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/deploy/tests/properties/text.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::tools_read_or_refuse(octets));
