//! The scenario language, as a person meets it.

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

/// What `load` is told that the text is called.
const NAME: &str = "studies/x.toml";

/// A scenario with something of everything.
const FULL: &str = include_str!("scenario/full.toml");

fn read(text: &str, sets: &[&str]) -> Result<Scenario, Refusal> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    load(text, NAME, &sets, None)
}

/// The same text with `what` replaced, which must stand in it exactly once.
fn edited(what: &str, with: &str) -> String {
    assert_eq!(FULL.matches(what).count(), 1, "{what:?} does not stand in the scenario once");
    FULL.replace(what, with)
}

/// What the scenario says of the connection of the flow of this index.
fn settings(scenario: &Scenario, flow: usize) -> &tcp::Settings {
    match &scenario.flow[flow].transport {
        Transport::Tcp(settings) => settings,
        other => panic!("flow {flow} is over {}", other.name()),
    }
}
