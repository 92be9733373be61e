//! The scenario language as a user sees it.

mod any_octets;
mod constants;
mod refusals;
mod round_trip;
mod schema;
mod sets;
mod transport;
mod udp;

use acklab_lab::scenario::{Refusal, Scenario, Transport, load};
use acklab_transport::tcp;

/// The name of the text that is passed to `load`.
const NAME: &str = "studies/x.toml";

/// A scenario that uses every part of the language.
const FULL: &str = include_str!("scenario/full.toml");

fn read(text: &str, sets: &[&str]) -> Result<Scenario, Refusal> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    load(text, NAME, &sets, None)
}

/// Returns the same text with `what` replaced. `what` must occur exactly once.
fn edited(what: &str, with: &str) -> String {
    assert_eq!(FULL.matches(what).count(), 1, "{what:?} does not stand in the scenario once");
    FULL.replace(what, with)
}

/// Returns the TCP configuration of the flow with this index.
fn settings(scenario: &Scenario, flow: usize) -> &tcp::Settings {
    match &scenario.flow[flow].transport {
        Transport::Tcp(settings) => settings,
        other => panic!("flow {flow} is over {}", other.name()),
    }
}
