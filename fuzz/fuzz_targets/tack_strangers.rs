//! Fuzzes a server with a connection, and clients, with datagrams of strangers: any octets, and
//! packets sealed with the keys that any observer can derive.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/deploy/tests/properties/datagrams.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod property;

fuzz_target!(|octets: &[u8]| property::strangers_move_nothing(octets));
