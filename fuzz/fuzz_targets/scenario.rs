//! Fuzzes the scenario parser with any octets as a scenario and as its settings.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/lab/tests/scenario/any_octets.rs"]
mod property;

fuzz_target!(|octets: &[u8]| property::a_scenario_is_refused_or_ends(octets));
