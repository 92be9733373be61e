//! Checks the interfaces that a path connects.

use super::network::Network;
use super::some_of;
use crate::scenario::Scenario;
use crate::scenario::refuse::{Problem, suggestion};

pub(super) fn validate(scenario: &Scenario, network: &Network<'_>) -> Result<(), Problem> {
    let interfaces = &scenario.interface;
    if interfaces.is_empty() {
        return Ok(());
    }
    let [one, other] = &interfaces[..] else {
        return Err(Problem::invalid("interface", format!("found {}, expected two", interfaces.len())));
    };
    for (index, interface) in interfaces.iter().enumerate() {
        if !network.has(&interface.node) {
            let nodes = network.nodes();
            let hint = suggestion(&interface.node, nodes.iter().copied());
            let expected = format!("a node that a link or a cell names: {}{hint}", some_of(&nodes));
            return Err(Problem::at(format!("interface.{index}.node"), expected));
        }
        let is_name = |character: char| !character.is_whitespace() && !character.is_control() && character != '/';
        if interface.device.is_empty() || !interface.device.chars().all(is_name) {
            return Err(Problem::at(format!("interface.{index}.device"), "the name of an interface, such as \"eth0\""));
        }
    }
    if one.node == other.node {
        return Err(Problem::at("interface.1.node", "another node than that of the first interface"));
    }
    if one.device == other.device {
        return Err(Problem::at("interface.1.device", "another device than that of the first interface"));
    }
    if !network.connects(&one.node, &other.node) {
        return Err(Problem::at("interface.1.node", format!("a node that links connect with \"{}\"", one.node)));
    }
    Ok(())
}
