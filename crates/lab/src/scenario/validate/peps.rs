//! Checks performance enhancing proxies.

use super::flows::refused;
use super::network::Network;
use super::some_of;
use crate::scenario::Scenario;
use crate::scenario::refuse::{Problem, suggestion};
use acklab_transport::{ack, cc};
use std::collections::BTreeSet;

pub(super) fn validate(scenario: &Scenario, network: &Network<'_>) -> Result<(), Problem> {
    let mut nodes = BTreeSet::new();
    for (index, pep) in scenario.pep.iter().enumerate() {
        let at = |key: &str| format!("pep.{index}.{key}");
        if !network.has(&pep.node) {
            let known = network.nodes();
            let hint = suggestion(&pep.node, known.iter().copied());
            return Err(Problem::at(
                at("node"),
                format!("a node that a link or a cell names: {}{hint}", some_of(&known)),
            ));
        }
        if !nodes.insert(&pep.node) {
            return Err(Problem::at(at("node"), "a node without another proxy"));
        }
        let adjacent = links_at(scenario, &pep.node);
        let mut sides = BTreeSet::new();
        for (number, side) in pep.side.iter().enumerate() {
            let at = |key: &str| format!("pep.{index}.side.{number}.{key}");
            if !adjacent.contains(&side.link.as_str()) {
                let hint = suggestion(&side.link, adjacent.iter().copied());
                let expected = format!("a link or a cell of the node {}: {}{hint}", pep.node, some_of(&adjacent));
                return Err(Problem::at(at("link"), expected));
            }
            if !sides.insert(&side.link) {
                return Err(Problem::at(at("link"), "a unique side; another entry is for this link"));
            }
            let settings = &side.transport;
            settings
                .check()
                .map_err(|fault| refused(&format!("pep.{index}.side.{number}"), fault.within("transport")))?;
            if matches!(settings.ack, Some(ack::PolicyConfig::Custom { .. })) {
                return Err(Problem::at(at("transport.ack.name"), "a built-in policy at a proxy"));
            }
            if matches!(settings.congestion, Some(cc::ControllerConfig::Custom { .. })) {
                return Err(Problem::at(at("transport.congestion.name"), "a built-in controller at a proxy"));
            }
        }
    }
    Ok(())
}

/// Returns the names of the links and cells of `node`.
fn links_at<'a>(scenario: &'a Scenario, node: &str) -> Vec<&'a str> {
    let links = scenario.link.iter().filter(|link| link.from == node || link.to == node).map(|link| link.name.as_str());
    let is_in =
        |cell: &&acklab_wifi::CellConfig| cell.ap.name == node || cell.station_names().iter().any(|name| name == node);
    links.chain(scenario.wifi.iter().filter(is_in).map(|cell| cell.name.as_str())).collect()
}
