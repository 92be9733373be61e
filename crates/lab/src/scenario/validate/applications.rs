//! Checks the commands that run on nodes.

use super::network::Network;
use super::{name, not_too_long, some_of};
use crate::scenario::Scenario;
use crate::scenario::refuse::{Problem, suggestion};
use std::collections::BTreeSet;

pub(super) fn validate(scenario: &Scenario, network: &Network<'_>) -> Result<(), Problem> {
    let mut names = BTreeSet::new();
    for (index, (application, own_name)) in scenario.application.iter().zip(scenario.application_names()).enumerate() {
        let at = |key: &str| format!("application.{index}.{key}");
        name(&at("name"), &own_name)?;
        if !names.insert(own_name) {
            return Err(Problem::at(at("name"), "a unique name; another application has it"));
        }
        if !network.has(&application.node) {
            let nodes = network.nodes();
            let hint = suggestion(&application.node, nodes.iter().copied());
            return Err(Problem::at(
                at("node"),
                format!("a node that a link or a cell names: {}{hint}", some_of(&nodes)),
            ));
        }
        if application.command.trim().is_empty() {
            return Err(Problem::at(at("command"), "a command, such as \"iperf3 -s -1\""));
        }
        if application.start >= scenario.duration {
            return Err(Problem::at(at("start"), format!("a time before the run's end at {}", scenario.duration)));
        }
        if let Some(stop) = application.stop {
            not_too_long(&at("stop"), stop)?;
            if stop <= application.start {
                return Err(Problem::at(at("stop"), format!("a time after `start`, which is {}", application.start)));
            }
        }
        for (place, variable) in application.environment.iter().enumerate() {
            if variable.find('=').is_none_or(|equals| equals == 0) {
                return Err(Problem::at(
                    format!("application.{index}.environment.{place}"),
                    "a variable, such as \"LANG=C\"",
                ));
            }
        }
    }
    Ok(())
}
