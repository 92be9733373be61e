//! The findings of a fit about each parameter of a path, with their evidence.
//!
//! `acklab fit` writes this table beside the path. A run uses it only to refuse the scenario if the
//! capture does not show a parameter and nothing has set it since.

use super::document::{Node, Value};
use super::refuse::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fitted path: the capture, and its findings about each parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The capture.
    #[schemars(example = "download.pcap")]
    pub capture: String,
    /// The direction of the fitted transfer: its ends.
    #[schemars(example = "192.0.2.1:443 → 198.51.100.7:51000")]
    pub direction: String,
    /// The application's behavior, if it limited the transfer, which then shows no rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "requests: 9 bursts, 80 % of 12 s in pauses")]
    pub application: Option<String>,
    /// The parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameter: Vec<Parameter>,
    /// Scenarios that repeat the capture within its uncertainty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member: Vec<Member>,
}

fn example_sets() -> [&'static str; 1] {
    ["link.path.forward.rate=299Mbps"]
}

/// A scenario of the ensemble: the settings that it changes, and its seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its seed.
    pub seed: u64,
    /// Assignments, as in `--set`.
    #[schemars(example = example_sets())]
    pub set: Vec<String>,
}

/// A parameter of a fitted path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The key in the scenario, as in `--set`.
    #[schemars(example = "link.path.reverse.rate")]
    pub key: String,
    /// The certainty of the value.
    pub status: Status,
    /// The lower end of its 95 % confidence interval, as a value of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "11.6Mbps")]
    pub low: Option<String>,
    /// The upper end. Without it, the parameter has no upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "11.8Mbps")]
    pub high: Option<String>,
    /// The evidence for it, or the reason why it is unknown.
    pub evidence: String,
    /// Its source: the finding of `acklab inspect`, or the assumption.
    #[schemars(example = "rate of the bottleneck, 198.51.100.7:51001 → 192.0.2.1:443")]
    pub source: String,
    /// The option that sets it, if it is unknown and a run needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "--set link.path.reverse.rate=VALUE, such as 12Mbps")]
    pub give: Option<String>,
}

/// The certainty of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Measured, with an interval.
    Measured,
    /// The capture shows one bound.
    Bounded,
    /// The capture does not show it, and the result does not depend on it.
    Assumed,
    /// The capture does not show it.
    Unknown,
}

/// Checks that every unknown parameter that a run needs was set.
pub(super) fn check(fit: Option<&Fit>, document: &Node) -> Result<(), Problem> {
    for parameter in fit.iter().flat_map(|fit| &fit.parameter) {
        if let (Status::Unknown, Some(give)) = (parameter.status, &parameter.give)
            && !has(document, &parameter.key)
        {
            let message = format!("not known from the capture ({}); give it: {give}", parameter.evidence);
            return Err(Problem::invalid(&parameter.key, message));
        }
    }
    Ok(())
}

/// Returns `true` if the document has a value at this path, whose keys in lists are indices or
/// names.
fn has(document: &Node, path: &str) -> bool {
    let found = path.split('.').try_fold(document, |node, key| match &node.value {
        Value::Array(items) => {
            let named = |item: &&Node| {
                item.child("name").is_some_and(|name| matches!(&name.value, Value::Text(text) if text == key))
            };
            key.parse().map_or_else(|_| items.iter().find(named), |index: usize| items.get(index))
        }
        _ => node.child(key),
    });
    found.is_some()
}
