//! Fuzzes a Wi-Fi cell. The input chooses its settings, losses and arrivals.

#![no_main]
#![allow(dead_code, reason = "the tests of the crate use the rest of these modules")]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wifi/tests/common"]
mod common {
    pub(crate) mod nodes;
    #[path = "../../../transport/tests/common/octets.rs"]
    pub(crate) mod octets;
    pub(crate) mod packet;
}
#[path = "../../crates/wifi/tests/properties.rs"]
mod properties;

fuzz_target!(|octets: &[u8]| properties::a_cell_of_octets_conserves_packets(octets));
