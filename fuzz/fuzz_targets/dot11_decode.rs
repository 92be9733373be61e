//! Any octets into the decoders of radiotap headers and 802.11 frames.
//!
//! ```text
//! cargo install cargo-fuzz
//! mkdir -p fuzz/corpus/dot11_decode
//! cargo +nightly fuzz run dot11_decode fuzz/corpus/dot11_decode fuzz/seeds/dot11_decode -- -max_len=256 -max_total_time=600
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/dot11_decode.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::what_decodes_survives_the_round_trip(octets));
