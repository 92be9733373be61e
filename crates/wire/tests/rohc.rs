//! Compresses and decompresses ACKs.
//!
//! `ACKLAB_STEPS=10000000 cargo test -p acklab-wire --test integration rohc` runs more cases;
//! `ACKLAB_SEED` changes the seed. A failure prints the seed of its case; `ACKLAB_CASE` runs that
//! case alone.

#[path = "properties/rohc.rs"]
mod property;

use acklab_base::random::Seed;
use property::{acks_come_out_as_they_went_in, any_octets_are_accepted_or_refused};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The number of ACKs of an ordinary test run.
const STEPS: u64 = 100_000;

#[expect(clippy::disallowed_methods, reason = "how long to look is not part of what is tested")]
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")))
}

fn case(seed: u64) -> u64 {
    let mut stream = Seed(seed).stream("rohc");
    let length = 1 << (8 + stream.below(8));
    let octets: Vec<u8> = (0..60 + stream.below(length)).map(|_| stream.below(256) as u8).collect();
    let run = || acks_come_out_as_they_went_in(&octets);
    let (acks, _) = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| {
        eprintln!("ACKLAB_CASE={seed}");
        resume_unwind(cause)
    });
    acks
}

#[test]
fn random_acks_come_out_as_they_went_in() {
    if let Some(seed) = variable("ACKLAB_CASE") {
        case(seed);
        return;
    }
    let (wanted, first) = (variable("ACKLAB_STEPS").unwrap_or(STEPS), variable("ACKLAB_SEED").unwrap_or(0));
    let mut seeds = first..;
    let mut acks = 0;
    while acks < wanted {
        acks += case(seeds.next().expect("there are more seeds"));
    }
}

proptest! {
    #[test]
    fn any_acks_come_out_as_they_went_in(octets in proptest::collection::vec(any::<u8>(), 0..4000)) {
        acks_come_out_as_they_went_in(&octets);
    }

    #[test]
    fn octets_of_any_kind_are_accepted_or_refused(octets in proptest::collection::vec(any::<u8>(), 0..120)) {
        any_octets_are_accepted_or_refused(&octets);
    }
}
