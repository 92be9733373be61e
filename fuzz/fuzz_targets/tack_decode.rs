//! Any octets into the decoder of TACK packets.
//!
//! ```text
//! cargo install cargo-fuzz
//! mkdir -p fuzz/corpus/tack_decode
//! cargo +nightly fuzz run tack_decode fuzz/corpus/tack_decode -- -max_len=256 -max_total_time=600
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/tack_decode.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::what_decodes_survives_the_round_trip(octets));
