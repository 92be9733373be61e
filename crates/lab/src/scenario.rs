//! The scenario language: a run as one typed document.

mod flow;
mod measure;

pub use flow::{Flow, Transport};
pub use measure::{Capture, Measure, Series};

use acklab_base::Duration;
use acklab_path::link;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A run: nodes joined by links, flows between them, and what is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What a person calls it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Simulated time from start to end.
    pub duration: Duration,
    /// Where all chance of the run comes from. The same scenario with the same seed gives the same results.
    pub seed: u64,
    /// The links. Nodes exist because links name them.
    pub link: Vec<Link>,
    /// The flows.
    pub flow: Vec<Flow>,
    /// What is measured, and when.
    #[serde(default)]
    pub measure: Measure,
    /// Captures of packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capture: Vec<Capture>,
}

/// A link between two nodes. Its two directions are always separate; they are called `<name>_forward` and `<name>_reverse`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The node where `forward` begins.
    pub from: String,
    /// The node where `forward` ends.
    pub to: String,
    /// From `from` to `to`.
    pub forward: link::Config,
    /// From `to` to `from`.
    pub reverse: link::Config,
}

impl Scenario {
    /// Every flow by itself: those with a `count` are unrolled, and each has its name.
    #[must_use]
    pub fn flows(&self) -> Vec<Flow> {
        let mut flows = Vec::new();
        for flow in &self.flow {
            flows.extend(flow.copies(flows.len()));
        }
        flows
    }

    /// The nodes, in alphabetical order.
    #[must_use]
    pub fn node_names(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.link.iter().flat_map(|link| [link.from.as_str(), link.to.as_str()]).collect();
        names.into_iter().collect()
    }

    /// The whole scenario as JSON, with the settings of every preset and every default written out, in the order of this
    /// language. It is a scenario itself.
    #[must_use]
    pub fn canonical_json(&self) -> serde_json::Value {
        let mut full = self.clone();
        full.measure.until.get_or_insert(self.duration);
        full.flow = self.flow.iter().map(Flow::in_full).collect();
        serde_json::to_value(full).unwrap_or_default()
    }
}

/// Why a text is no scenario: one message for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// Reads a scenario from TOML, or from JSON if the text begins with `{`.
///
/// # Errors
/// If it is no scenario.
pub fn load(text: &str, name: &str, sets: &[String], seed: Option<u64>) -> Result<Scenario, Refusal> {
    let refuse = |why: String| Refusal(format!("{name}: {why}"));
    let mut value: serde_json::Value = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|why| refuse(why.to_string()))?
    } else {
        toml::from_str(text).map_err(|why| refuse(why.to_string()))?
    };
    if !sets.is_empty() {
        return Err(refuse("--set is not there yet".to_owned()));
    }
    if let Some(seed) = seed {
        value["seed"] = seed.into();
    }
    serde_json::from_value(value).map_err(|why| refuse(why.to_string()))
}

/// The JSON Schema of a scenario.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scenario).to_value()
}
