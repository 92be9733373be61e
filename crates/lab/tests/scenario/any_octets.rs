//! Properties that hold for any octets in place of a scenario. The tests of this crate and the fuzz
//! target `scenario` share them.

use acklab_lab::{RunOptions, run, scenario};

/// The number of checks after which a run is stopped.
const QUESTIONS: u32 = 12;

/// Checks any octets. Those up to the first zero are a scenario in TOML; further ones, separated by
/// zeros, are settings in the form of `--set`. The scenario is refused with a message, or its run
/// ends: with tables, with an error that has a message, or soon after the request to stop.
///
/// # Panics
/// If it does not hold.
pub(crate) fn a_scenario_is_refused_or_ends(octets: &[u8]) {
    let text = String::from_utf8_lossy(octets);
    let mut parts = text.split('\0');
    let document = parts.next().unwrap_or_default();
    let sets: Vec<String> = parts.map(str::to_owned).collect();
    let scenario = match scenario::load(document, "octets", &sets, None) {
        Ok(scenario) => scenario,
        Err(refusal) => {
            assert!(!refusal.to_string().is_empty());
            return;
        }
    };
    let mut questions = 0;
    let goes_on = || {
        questions += 1;
        assert!(questions <= QUESTIONS, "the run goes on after it was asked to stop");
        questions < QUESTIONS
    };
    match run(&scenario, &RunOptions::default(), goes_on) {
        Ok(results) => assert!(!results.tables.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::a_scenario_is_refused_or_ends;
    use proptest::prelude::*;

    const DUMBBELL: &str = include_str!("../../benches/cost/gated_dumbbell.toml");
    const CELL: &str = include_str!("../../benches/cost/wifi_n_download.toml");
    const TERMINAL: &str = include_str!("terminal.toml");

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn scenarios_with_other_octets_are_refused_or_end(
            scenario in prop::sample::select(vec![DUMBBELL, CELL, TERMINAL]),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            set in prop::option::of("[a-z.0]{0,20}=[0-9a-z]{0,6}"),
        ) {
            let mut octets = scenario.as_bytes().to_vec();
            for (place, octet) in changes {
                let place = place.index(octets.len());
                octets[place] = octet;
            }
            octets.extend(set.iter().flat_map(|set| std::iter::once(0).chain(set.bytes())));
            a_scenario_is_refused_or_ends(&octets);
        }
    }
}
