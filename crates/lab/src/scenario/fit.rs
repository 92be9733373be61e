//! The findings of a fit about each parameter of a path, with their evidence.
//!
//! `acklab fit` writes this table into the scenario of the path. A run uses the table only for one
//! check: it refuses the scenario if a required parameter is unknown from the capture and was not
//! set later.

use super::document::{Node, Value};
use super::refuse::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fitted path: the name of the capture, and the findings about each parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The name of the capture file.
    #[schemars(example = "download.pcap")]
    pub capture: String,
    /// The two ends of the fitted transfer, in the direction of the data.
    #[schemars(example = "192.0.2.1:443 → 198.51.100.7:51000")]
    pub direction: String,
    /// The behavior of the application, if it limited the transfer. The capture then shows no rate
    /// of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "requests: 9 bursts, 80 % of 12 s in pauses")]
    pub application: Option<String>,
    /// The findings about each parameter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameter: Vec<Parameter>,
    /// Scenarios whose results agree with the capture within its uncertainty.
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
    /// The seed of the scenario.
    pub seed: u64,
    /// The changed settings as assignments, as in `--set`.
    #[schemars(example = example_sets())]
    pub set: Vec<String>,
}

/// A parameter of a fitted path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The key of the parameter in the scenario, as in `--set`.
    #[schemars(example = "link.path.reverse.rate")]
    pub key: String,
    /// The certainty of the parameter's value.
    pub status: Status,
    /// The lower end of the value's 95 % confidence interval, in the form of the key's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "11.6Mbps")]
    pub low: Option<String>,
    /// The upper end of the interval. If absent, the parameter has no upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "11.8Mbps")]
    pub high: Option<String>,
    /// The evidence for the value, or the reason why the value is unknown.
    pub evidence: String,
    /// The source of the value: the finding of `acklab inspect`, or the assumption.
    #[schemars(example = "rate of the bottleneck, 198.51.100.7:51001 → 192.0.2.1:443")]
    pub source: String,
    /// The option that sets the parameter. Present if the parameter is unknown and a run needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "--set link.path.reverse.rate=VALUE, such as 12Mbps")]
    pub give: Option<String>,
}

/// The certainty of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The capture shows the value, with an interval.
    Measured,
    /// The capture shows one bound of the value.
    Bounded,
    /// The capture does not show the value. The result does not depend on it.
    Assumed,
    /// The capture does not show the value.
    Unknown,
}

/// Checks that every unknown parameter that a run needs has been set.
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

/// Returns `true` if the document has a value at this path. In the path, list entries are selected
/// by index or name.
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
