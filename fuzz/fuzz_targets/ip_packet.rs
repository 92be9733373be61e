//! Any octets into the parser of IP packets.
//!
//! ```text
//! cargo install cargo-fuzz
//! mkdir -p fuzz/corpus/ip_packet
//! cargo +nightly fuzz run ip_packet fuzz/corpus/ip_packet fuzz/seeds/ip_packet fuzz/seeds/tcp_decode -- -max_len=160 -max_total_time=600
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/ip_packet.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::what_parses_agrees_with_its_octets(octets));
