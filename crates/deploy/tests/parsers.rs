//! The parsers of data from strangers, with the seeds of the fuzz targets and with random bytes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use properties::datagrams::{first_datagram, frames_of, frames_of_a_client, strangers_move_nothing};
use properties::text::tools_read_or_refuse;
use proptest::prelude::*;

mod properties {
    pub(crate) mod datagrams;
    pub(crate) mod text;
}
#[path = "../../../fuzz/seeds.rs"]
mod seeds;

fn operation(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &(body.len() as u16).to_be_bytes()[..], body].concat()
}

/// A server reads the sealed packets of the harness: the frames of a real client reach TLS.
#[test]
fn frames_of_a_client_survive_the_harness() {
    let frames = frames_of_a_client();
    assert_eq!(frames_of(&first_datagram(&frames)), frames);
    strangers_move_nothing(&operation(1, &frames));
}

#[test]
fn strangers_move_nothing_on_the_seeds_of_the_fuzz_target() {
    seeds::replay("tack_strangers", strangers_move_nothing);
}

#[test]
fn tools_read_or_refuse_the_seeds_of_the_fuzz_target() {
    seeds::replay("tack_tools", tools_read_or_refuse);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn strangers_with_random_datagrams_move_nothing(kind in 0u8..5, first in any::<u8>(), body in prop::collection::vec(any::<u8>(), 0..1400)) {
        strangers_move_nothing(&operation(kind, &[&[first & 0x1f][..], &body].concat()));
    }

    #[test]
    fn tools_read_or_refuse_random_octets(octets in prop::collection::vec(any::<u8>(), 0..300)) {
        tools_read_or_refuse(&octets);
    }
}
