//! The scenario language: a run as one typed document.
//!
//! A text becomes a [`Scenario`] in six steps, each of which may refuse it:
//!
//! ```text
//! text → document → sets → shorthand → check → types → validate
//!        (places)  (--set)  (in full) (schema) (serde) (sense)
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `flow`, `transport`, `measure` | the types; links are those of [`acklab_path`] |
//! | `document` | the text as values that know their place |
//! | `sets` | values from outside |
//! | `shorthand` | what may be said in fewer words than the types have |
//! | `schema` | the JSON Schema of the types |
//! | `check` | the document against the schema |
//! | `validate` | what types cannot say, and whether the run knows the strategies that are named |
//! | `refuse`, `snippet` | the message to a person |

mod check;
mod document;
mod flow;
mod measure;
mod refuse;
mod schema;
mod sets;
mod shorthand;
mod snippet;
mod transport;
mod validate;

pub use flow::Flow;
pub(crate) use flow::{CustomKey, back_name};
pub use measure::{Capture, Measure, Series};
pub use refuse::Refusal;
pub use schema::schema;
pub use transport::{Custom, Transport};

use crate::strategies::Strategies;
use acklab_base::Duration;
use acklab_path::link;
use acklab_wifi::Config as Wifi;
use document::Node;
use refuse::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Names stand in paths, tables and file names: a letter, then letters, digits, `_` and `-`.
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// A run: nodes joined by links, flows between them, and what is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "acklab scenario")]
pub struct Scenario {
    /// What a person calls it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(example = "CCperf experiment #55")]
    pub title: String,
    /// Simulated time from start to end.
    #[schemars(example = "15s")]
    pub duration: Duration,
    /// Where all chance of the run comes from. The same scenario with the same seed gives the same results.
    #[schemars(example = 42)]
    pub seed: u64,
    /// The links. Nodes exist because links and cells name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<Link>,
    /// Wi-Fi cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wifi: Vec<Wifi>,
    /// The flows.
    #[schemars(length(min = 1))]
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
    #[schemars(regex(pattern = NAME), example = &"btl")]
    pub name: String,
    /// The node where `forward` begins.
    #[schemars(regex(pattern = NAME), example = &"r1")]
    pub from: String,
    /// The node where `forward` ends.
    #[schemars(regex(pattern = NAME), example = &"r2")]
    pub to: String,
    /// From `from` to `to`.
    pub forward: link::Config,
    /// From `to` to `from`.
    pub reverse: link::Config,
}

impl Link {
    /// What its direction from `from` to `to` is called.
    #[must_use]
    pub fn forward_name(&self) -> String {
        format!("{}_forward", self.name)
    }

    /// What its direction from `to` to `from` is called.
    #[must_use]
    pub fn reverse_name(&self) -> String {
        format!("{}_reverse", self.name)
    }
}

impl Scenario {
    /// Every flow by itself: those with a `count` or to several stations are unrolled, and each has its name.
    #[must_use]
    pub fn flows(&self) -> Vec<Flow> {
        let mut flows = Vec::new();
        for flow in &self.flow {
            flows.extend(flow.copies(flows.len(), &self.ends(flow)));
        }
        flows
    }

    /// The ends of a flow, once for each station where it names several that are alike.
    fn ends(&self, flow: &Flow) -> Vec<(String, String)> {
        let stations = |name: &str| {
            let alike = self.wifi.iter().flat_map(|cell| &cell.station).find(|station| station.name == name);
            alike.map_or_else(|| vec![name.to_owned()], acklab_wifi::config::Station::names)
        };
        let to = stations(&flow.to);
        stations(&flow.from).into_iter().flat_map(|from| to.iter().map(move |to| (from.clone(), to.clone()))).collect()
    }

    /// The nodes, in alphabetical order.
    #[must_use]
    pub fn node_names(&self) -> Vec<String> {
        let links = self.link.iter().flat_map(|link| [link.from.clone(), link.to.clone()]);
        let cells = self.wifi.iter().flat_map(|cell| cell.station_names().into_iter().chain([cell.ap.name.clone()]));
        let names: BTreeSet<String> = links.chain(cells).collect();
        names.into_iter().collect()
    }

    /// Where packets can be captured: the nodes where flows begin or end, the two directions of each link, and the air of each cell.
    #[must_use]
    pub fn capture_points(&self) -> Vec<String> {
        let ends: BTreeSet<String> = self.flows().into_iter().flat_map(|flow| [flow.from, flow.to]).collect();
        let directions = self.link.iter().flat_map(|link| [link.forward_name(), link.reverse_name()]);
        let cells = self.wifi.iter().map(|cell| cell.name.clone());
        ends.into_iter().chain(directions).chain(cells).collect()
    }

    /// The whole scenario as JSON, with the settings of every preset and every default written out, in the order of this
    /// language. It is a scenario itself.
    #[must_use]
    pub fn canonical_json(&self) -> serde_json::Value {
        let mut full = self.clone();
        full.measure.until.get_or_insert(self.duration);
        let mut before = 0;
        for flow in &mut full.flow {
            let copies = flow.count as usize * self.ends(flow).len();
            *flow = flow.in_full(before, copies);
            before += copies;
        }
        serde_json::to_value(full).unwrap_or_default()
    }
}

/// Reads a scenario from TOML, or from JSON if the text begins with `{`.
///
/// `name` stands for the text in messages. `sets` are values from outside, each `path=value` such as `flow.0.congestion=newreno`
/// or `link.btl.reverse.gate.quota=5`, carried out in order: tables are entered by key, lists by index or by name, a value that is
/// not TOML is text, an empty one takes its key away. `seed` takes the place of the scenario's own.
///
/// # Errors
/// If it is no scenario, with the place of the first fault, what was found there and what was expected.
pub fn load(text: &str, name: &str, sets: &[String], seed: Option<u64>) -> Result<Scenario, Refusal> {
    read(text, name, sets, seed, None)
}

/// As [`load`], for a run that is given these strategies: a scenario that names others is refused.
///
/// # Errors
/// Those of [`load`], and a name that `strategies` do not have.
pub fn load_for(
    text: &str,
    name: &str,
    sets: &[String],
    seed: Option<u64>,
    strategies: &Strategies,
) -> Result<Scenario, Refusal> {
    read(text, name, sets, seed, Some(strategies))
}

fn read(
    text: &str,
    name: &str,
    sets: &[String],
    seed: Option<u64>,
    strategies: Option<&Strategies>,
) -> Result<Scenario, Refusal> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut document =
        document::parse(text).map_err(|error| Refusal::of_text(name, text, error.span, error.message))?;
    sets::apply(&mut document, sets)?;
    shorthand::write_out(&mut document);
    if let Some(seed) = seed {
        document.set_seed(seed);
    }
    accept(&mut document, strategies).map_err(|problem| problem.refusal(&document, name, text, sets))
}

fn accept(document: &mut Node, strategies: Option<&Strategies>) -> Result<Scenario, Problem> {
    shorthand::check(document)?;
    check::check(document, &schema::SCHEMA)?;
    let scenario: Scenario =
        serde_json::from_value(document.to_json()).map_err(|error| Problem::key(&[], error.to_string()))?;
    validate::validate(&scenario)?;
    if let Some(strategies) = strategies {
        validate::strategies(&scenario, strategies)?;
    }
    Ok(scenario)
}
