//! Tests the parsers of certificates and keys, on the seeds of the fuzz target and on random bytes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use acklab_secure::identity::Identity;
use properties::identity::identities_are_read_or_refused;
use proptest::prelude::*;

mod properties {
    pub(crate) mod identity;
}
#[path = "../../../fuzz/seeds.rs"]
mod seeds;

#[test]
fn identities_are_read_or_refused_on_the_seeds_of_the_fuzz_target() {
    seeds::replay("identity", identities_are_read_or_refused);
}

proptest! {
    /// One byte of a file with a certificate and its key is changed.
    #[test]
    fn a_damaged_identity_is_read_or_refused(place in any::<prop::sample::Index>(), octet in any::<u8>()) {
        let (_, certificate, key) = Identity::generate(["localhost".to_owned()]).unwrap();
        let mut octets = format!("{certificate}===={key}").into_bytes();
        let place = place.index(octets.len());
        octets[place] = octet;
        identities_are_read_or_refused(&octets);
    }

    #[test]
    fn random_octets_are_read_or_refused(octets in prop::collection::vec(any::<u8>(), 0..200)) {
        identities_are_read_or_refused(&octets);
    }
}
