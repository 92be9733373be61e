//! Rules that the schema cannot express: impossible values and impossible combinations of values.

mod applications;
mod flows;
mod interfaces;
mod links;
mod network;
mod peps;
mod wifi;

use super::Scenario;
use super::flow::CustomKey;
use super::refuse::{Problem, suggestion};
use crate::strategies::{self, Strategies};
use acklab_base::Duration;
use acklab_measure::Series;
use acklab_transport::fault::LONGEST_TIME;
use network::Network;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The maximum number of bins in the throughput series of a flow.
const MAX_BINS: u64 = 10_000_000;

/// Checks a whole scenario.
pub(super) fn validate(scenario: &Scenario) -> Result<(), Problem> {
    if scenario.duration.is_zero() {
        return Err(Problem::at("duration", "a duration above zero"));
    }
    not_too_long("duration", scenario.duration)?;
    if !matches!(scenario.ip, 4 | 6) {
        return Err(Problem::at("ip", "4 or 6"));
    }
    if scenario.link.is_empty() && scenario.wifi.is_empty() {
        return Err(Problem::invalid("link", "expected at least one link or Wi-Fi cell"));
    }
    links::validate(&scenario.link)?;
    wifi::validate(scenario)?;
    let stations = wifi::stations(scenario);
    let network = Network::new(scenario, &stations);
    flows::validate(scenario, &network)?;
    peps::validate(scenario, &network)?;
    applications::validate(scenario, &network)?;
    interfaces::validate(scenario, &network)?;
    measure(scenario)?;
    captures(scenario)
}

/// Checks that `strategies` contains all custom strategies of the scenario.
pub(super) fn strategies(scenario: &Scenario, strategies: &Strategies) -> Result<(), Problem> {
    for (index, flow) in scenario.flow.iter().enumerate() {
        for (key, name) in flow.transport.custom_names() {
            let known = match key {
                CustomKey::Policy | CustomKey::PeerPolicy => strategies.policy_names(),
                CustomKey::Controller | CustomKey::PeerController => strategies.controller_names(),
                CustomKey::Ask | CustomKey::PeerAsk => strategies.ask_names(),
                CustomKey::Transport => strategies.transport_names(),
            };
            if !known.contains(&name.as_str()) {
                let expected = format!("{}{}", strategies::expected(&known), suggestion(&name, known.iter().copied()));
                return Err(Problem::at(format!("flow.{index}.{}", key.path()), expected));
            }
        }
    }
    Ok(())
}

/// Checks that `name` matches [`NAME`](super::NAME).
fn name(path: &str, name: &str) -> Result<(), Problem> {
    let mut characters = name.chars();
    let begins_well = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if begins_well && characters.all(|rest| rest.is_ascii_alphanumeric() || rest == '_' || rest == '-') {
        return Ok(());
    }
    Err(Problem::at(path, "a name of letters, digits, `_` and `-` that begins with a letter or `_`"))
}

fn not_too_long(path: &str, duration: Duration) -> Result<(), Problem> {
    if duration > LONGEST_TIME { Err(Problem::at(path, "at most ten years")) } else { Ok(()) }
}

fn above_zero(path: &str, duration: Duration) -> Result<(), Problem> {
    if duration.is_zero() { Err(Problem::at(path, "a duration above zero")) } else { not_too_long(path, duration) }
}

fn measure(scenario: &Scenario) -> Result<(), Problem> {
    let (measure, end) = (&scenario.measure, scenario.duration);
    let until = measure.until.unwrap_or(end);
    if measure.from >= end {
        return Err(Problem::at("measure.from", format!("a time before the run's end at {end}")));
    }
    if until > end {
        return Err(Problem::at("measure.until", format!("a time up to the run's end at {end}")));
    }
    if until <= measure.from {
        return Err(Problem::at("measure.until", format!("a time after measure.from, which is {}", measure.from)));
    }
    let Some(bin) = measure.bin else { return Ok(()) };
    above_zero("measure.bin", bin)?;
    let bins = (until - measure.from).as_nanos() / bin.as_nanos();
    if measure.series.contains(&Series::Throughput) && bins > MAX_BINS {
        let expected = format!("longer bins, so that the window of measurement has at most {MAX_BINS}");
        return Err(Problem::at("measure.bin", expected));
    }
    Ok(())
}

fn captures(scenario: &Scenario) -> Result<(), Problem> {
    let (points, nodes) = (scenario.capture_points(), scenario.node_names());
    let mut files = BTreeSet::new();
    for (index, capture) in scenario.capture.iter().enumerate() {
        let at = |key: &str| format!("capture.{index}.{key}");
        let point = capture.point.as_str();
        // The suffix `.out` is only for links. At a node, the packets of its endpoints are captured
        // in both directions.
        let base = point.strip_suffix(".out").filter(|base| !nodes.iter().any(|node| node == base)).unwrap_or(point);
        if !points.iter().any(|known| known == base) {
            let hint = suggestion(base, points.iter().map(String::as_str));
            let expected = format!(
                "a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: {}{hint}",
                some_of(&points)
            );
            return Err(Problem::at(at("point"), expected));
        }
        file_name(&at("file"), &capture.file)?;
        if !files.insert(&capture.file) {
            return Err(Problem::at(at("file"), "a unique file; another capture writes it"));
        }
    }
    Ok(())
}

/// Checks that `file` is inside the folder of the run. These names are reserved for other files in
/// the folder of a run, a sweep or a study.
const RESERVED: [&str; 6] =
    ["checksums.json", "claims.json", "report.html", "report.json", "scenario.json", "sweep.json"];

fn file_name(path: &str, file: &str) -> Result<(), Problem> {
    let is_name = !file.trim().is_empty() && !file.ends_with(['/', '\\']) && !file.contains(char::is_control);
    if !is_name {
        return Err(Problem::at(path, "the name of a file, such as \"src_0.pcapng\""));
    }
    if !Path::new(file).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Problem::at(path, "a file inside the folder of the run: no `..` and no leading `/`"));
    }
    if file.starts_with('.') || file.ends_with(".parquet") || RESERVED.contains(&file) {
        return Err(Problem::at(path, "another name: results of acklab have this one, or are hidden"));
    }
    Ok(())
}

/// Returns the first few of many names.
fn some_of<T: AsRef<str>>(names: &[T]) -> String {
    const MOST: usize = 12;
    let shown: Vec<&str> = names.iter().take(MOST).map(AsRef::as_ref).collect();
    let rest = names.len().saturating_sub(MOST);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
