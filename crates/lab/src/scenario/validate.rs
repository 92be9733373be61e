//! What the schema cannot say: values that make no sense, alone or together.

mod flows;
mod links;
mod network;

use super::refuse::{Problem, suggestion};
use super::{Scenario, Series};
use acklab_base::Duration;
use network::Network;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The longest time that may be written, so that no sum of times overflows: ten years.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);
/// A throughput series has at most so many bins a flow.
const MOST_BINS: u64 = 10_000_000;

/// Checks a whole scenario.
pub(super) fn validate(scenario: &Scenario) -> Result<(), Problem> {
    if scenario.duration.is_zero() {
        return Err(Problem::at("duration", "a duration above zero"));
    }
    not_too_long("duration", scenario.duration)?;
    if scenario.link.is_empty() {
        return Err(Problem::at("link", "at least one link"));
    }
    if scenario.flow.is_empty() {
        return Err(Problem::at("flow", "at least one flow"));
    }
    links::validate(&scenario.link)?;
    let network = Network::new(&scenario.link);
    flows::validate(scenario, &network)?;
    measure(scenario)?;
    captures(scenario)
}

/// Is this a name as [`NAME`](super::NAME) describes it?
fn name(path: &str, name: &str) -> Result<(), Problem> {
    let mut characters = name.chars();
    let begins_well = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if begins_well && characters.all(|rest| rest.is_ascii_alphanumeric() || rest == '_' || rest == '-') {
        return Ok(());
    }
    Err(Problem::at(path, "a name of letters, digits, `_` and `-` that begins with a letter or `_`"))
}

fn not_too_long(path: &str, duration: Duration) -> Result<(), Problem> {
    if duration > LONGEST { Err(Problem::at(path, "at most ten years")) } else { Ok(()) }
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
    above_zero("measure.bin", measure.bin)?;
    let bins = (until - measure.from).as_nanos() / measure.bin.as_nanos();
    if measure.series.contains(&Series::Throughput) && bins > MOST_BINS {
        let expected = format!("bins so long that at most {MOST_BINS} fit into the window of measurement");
        return Err(Problem::at("measure.bin", expected));
    }
    Ok(())
}

fn captures(scenario: &Scenario) -> Result<(), Problem> {
    let (points, nodes) = (scenario.capture_points(), scenario.node_names());
    let mut files = BTreeSet::new();
    for (index, capture) in scenario.capture.iter().enumerate() {
        let at = |key: &str| format!("capture.{index}.{key}");
        let direction = capture.point.strip_suffix(".out").unwrap_or(&capture.point);
        let is_node = nodes.contains(&direction);
        if !points.iter().any(|point| point == direction) || (is_node && direction != capture.point) {
            let hint = suggestion(direction, points.iter().map(String::as_str));
            let expected = format!(
                "a node or a direction of a link, with `.out` for packets as they leave it: {}{hint}",
                some_of(&points)
            );
            return Err(Problem::at(at("point"), expected));
        }
        let stays_inside = Path::new(&capture.file).components().all(|part| matches!(part, Component::Normal(_)));
        if capture.file.trim().is_empty() || capture.file.ends_with(['/', '\\']) || capture.file.contains('\0') {
            return Err(Problem::at(at("file"), "the name of a file, such as \"src_0.pcapng\""));
        }
        if !stays_inside {
            return Err(Problem::at(at("file"), "a file inside the folder of the run: no `..` and no leading `/`"));
        }
        if !files.insert(&capture.file) {
            return Err(Problem::at(at("file"), "a file of its own; another capture writes there"));
        }
    }
    Ok(())
}

/// The first few of many names.
fn some_of<T: AsRef<str>>(names: &[T]) -> String {
    const MOST: usize = 12;
    let shown: Vec<&str> = names.iter().take(MOST).map(AsRef::as_ref).collect();
    let rest = names.len().saturating_sub(MOST);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
