//! Tests the parser of traces, on the seeds of the fuzz target and on random text.

use properties::trace::traces_are_served_or_refused;
use proptest::prelude::*;

mod properties {
    pub(crate) mod trace;
}
#[path = "../../../fuzz/seeds.rs"]
mod seeds;

#[test]
fn traces_are_served_or_refused_on_the_seeds_of_the_fuzz_target() {
    seeds::replay("link_trace", traces_are_served_or_refused);
}

/// The largest numbers are instants after all representable ones.
#[test]
fn times_of_many_years_are_served() {
    for last in [u64::MAX / 1_000_000, u64::MAX / 1_000_000 + 1, u64::MAX - 1, u64::MAX] {
        traces_are_served_or_refused(format!("1\n{last}\n").as_bytes());
    }
}

proptest! {
    #[test]
    fn traces_of_random_times_are_served(mut times in prop::collection::vec(any::<u64>().prop_map(|time| time >> (time % 64)), 1..20)) {
        times.sort_unstable();
        let text: String = times.iter().map(|time| format!("{time}\n")).collect();
        traces_are_served_or_refused(text.as_bytes());
    }

    #[test]
    fn random_text_is_served_or_refused(octets in prop::collection::vec(any::<u8>(), 0..100)) {
        traces_are_served_or_refused(&octets);
    }
}
