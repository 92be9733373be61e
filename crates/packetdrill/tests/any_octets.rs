//! Properties of any octets in place of a script. The tests of this crate and the fuzz target
//! `packetdrill` share them.

use acklab_base::random::Seed;
use acklab_packetdrill::{Machine, Verdict, grammar, play};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::tcp::{Preset, Settings, TcpConfig};

/// Checks that a script has a verdict, as text, and the same verdict when it is run a second time.
///
/// # Panics
/// If the check fails.
pub(crate) fn a_script_has_a_verdict(octets: &[u8]) {
    let text = String::from_utf8_lossy(octets);
    let first = verdict(&text);
    match &first {
        Verdict::Passed => {}
        Verdict::Failed(failures) => {
            assert!(failures.iter().all(|failure| failure.line > 0 && !failure.expected.is_empty()));
        }
        Verdict::OutOfScope(refusal) | Verdict::Malformed(refusal) => {
            assert!(refusal.line > 0 && !refusal.message.is_empty());
        }
    }
    assert_eq!(verdict(&text), first);
}

fn verdict(text: &str) -> Verdict {
    let include = |_: &str| Some("sysctl -q net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_ecn=3".to_owned());
    let strategy = |config: &TcpConfig| {
        let controller = Controller::new(&config.congestion, &config.controller_start(Seed(1), "script"));
        controller.zip(Policy::new(config.ack)).ok_or_else(|| "not built in".to_owned())
    };
    match grammar::read(text, &include) {
        Ok(script) => play(&script, &mut Machine::new(&Settings::of(Preset::Linux), &strategy, &script)),
        Err(refusal) => refusal.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::a_script_has_a_verdict;
    use proptest::prelude::*;

    const SERVER: &str = include_str!("scripts/slow_start_and_loss.pkt");
    const CLIENT: &str = include_str!("scripts/blocking_connect_and_read.pkt");
    const RESETS: &str = include_str!("scripts/resets.pkt");
    const WRITES: &str = include_str!("scripts/writes.pkt");

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn scripts_with_other_octets_have_a_verdict(
            script in prop::sample::select(vec![SERVER, CLIENT, RESETS, WRITES]),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let mut octets = script.as_bytes().to_vec();
            for (place, octet) in changes {
                let place = place.index(octets.len());
                octets[place] = octet;
            }
            a_script_has_a_verdict(&octets);
        }

        /// Generates scripts whose lines are reordered, omitted and repeated.
        #[test]
        fn shuffled_scripts_have_a_verdict(
            script in prop::sample::select(vec![SERVER, CLIENT, RESETS, WRITES]),
            order in prop::collection::vec(any::<prop::sample::Index>(), 1..60),
        ) {
            let lines: Vec<&str> = script.lines().collect();
            let shuffled: Vec<&str> = order.iter().map(|index| *index.get(&lines)).collect();
            a_script_has_a_verdict(shuffled.join("\n").as_bytes());
        }
    }

    #[test]
    fn what_fuzzing_has_found_has_a_verdict() {
        super::super::seeds::replay("packetdrill", a_script_has_a_verdict);
    }
}
