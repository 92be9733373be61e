//! Fuzzes the readers of certificates and keys in PEM with any octets.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/secure/tests/properties/identity.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::identities_are_read_or_refused(octets));
