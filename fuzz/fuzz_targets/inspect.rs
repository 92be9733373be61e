//! Fuzzes an inspection with any packets.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/inspect/tests/properties/frames.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::any_frames_yield_a_sound_report(octets));
