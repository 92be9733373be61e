//! Any octets into the UDP decoder.
//!
//! ```text
//! cargo install cargo-fuzz
//! mkdir -p fuzz/corpus/udp_decode
//! cargo +nightly fuzz run udp_decode fuzz/corpus/udp_decode -- -max_len=160 -max_total_time=600
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/udp_decode.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::what_decodes_survives_the_round_trip(octets));
