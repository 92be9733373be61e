//! Any octets into the ROHC decompressors, and as choices of ACKs that go through compressor and decompressor.
//!
//! ```text
//! cargo install cargo-fuzz
//! mkdir -p fuzz/corpus/rohc_decompress
//! cargo +nightly fuzz run rohc_decompress fuzz/corpus/rohc_decompress -- -max_len=4096 -max_total_time=600
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/properties/rohc.rs"]
mod property;

fuzz_target!(|octets: &[u8]| {
    property::any_octets_are_judged(octets);
    property::acks_come_out_as_they_went_in(octets);
});
