//! The scenario language: a run as one typed document.
//!
//! A text becomes a [`Scenario`] in six steps, each of which may reject it:
//!
//! ```text
//! text →  document  → sets  → shorthand → check  → types → validate
//!        (positions) (--set) (expanded)  (schema) (serde) (semantics)
//! ```
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | `flow`, `application`, `interface`, `ends`, `pep`, `measure` | the types of flows, commands, interfaces, settings at both ends, proxies and measurements; the types of transports are in [`transports`](crate::transports), the types of links in [`acklab_path`] |
//! | `fit` | the findings of a fit about each parameter, and the refusal of unknown parameters |
//! | `document` | the parsed text: values with their positions |
//! | `sets` | values given by `--set` |
//! | `shorthand` | the expansion of abbreviated forms |
//! | `schema` | the JSON Schema of the types |
//! | `types` | the types, read from the schema |
//! | `check` | validation of the document against the types |
//! | `validate` | rules that types cannot express, and the names of strategies |
//! | `refuse`, `snippet` | the error message: its position, and the excerpt of the text |

mod application;
mod check;
mod document;
mod ends;
mod fit;
mod flow;
mod interface;
mod measure;
mod pep;
mod refuse;
mod schema;
mod sets;
mod shorthand;
mod snippet;
mod types;
mod validate;

pub use crate::transports::{Custom, Transport};
pub use application::Application;
pub use ends::Ends;
pub use fit::Fit;
pub(crate) use flow::CustomKey;
pub use flow::{Flow, Stack};
pub use interface::Interface;
pub use measure::{Capture, Measure};
pub use pep::{Handshake, Pep, Side};
pub use refuse::Refusal;
pub use schema::schema;

use crate::strategies::Strategies;
use acklab_base::Duration;
use acklab_base::random::Seed;
use acklab_path::link;
use acklab_transport::fault::LONGEST_TIME;
use acklab_wire::IpVersion;

use document::Node;
use refuse::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The form of names, which are used in paths, tables and file names: a letter or `_`, then
/// letters, digits, `_` and `-`.
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// A run: nodes connected by links and cells, flows between them, and the measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "acklab scenario")]
pub struct Scenario {
    /// A title for readers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(example = "CCperf experiment #55")]
    pub title: String,
    /// Simulated time from start to end. For a path between interfaces, the default is the maximum,
    /// ten years, so that the run lasts until it is stopped.
    #[schemars(example = "15s")]
    pub duration: Duration,
    /// The seed of all randomness of the run. The same scenario with the same seed gives the same
    /// results.
    #[schemars(example = 42)]
    pub seed: u64,
    /// The IP version of all packets: 4 or 6. The header of IPv6 is 20 octets longer.
    #[serde(default = "ipv4", skip_serializing_if = "is_ipv4")]
    #[schemars(range(min = 4, max = 6), example = 6)]
    pub ip: u8,
    /// The links. A node exists if a link or a cell names it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<Link>,
    /// Wi-Fi cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wifi: Vec<acklab_wifi::CellConfig>,
    /// Performance enhancing proxies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pep: Vec<Pep>,
    /// The flows. A simulation needs at least one flow. If there is an application or an interface,
    /// the default is an empty list.
    pub flow: Vec<Flow>,
    /// Commands that run on the nodes of an emulated network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<Application>,
    /// The two interfaces of this host between which `acklab inline` places the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interface: Vec<Interface>,
    /// The measurement window and the recorded series.
    #[serde(default)]
    pub measure: Measure,
    /// Captures of packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capture: Vec<Capture>,
    /// The findings of a fit about the path, as written by `acklab fit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

const fn ipv4() -> u8 {
    4
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_ipv4(version: &u8) -> bool {
    *version == ipv4()
}

/// A link between two nodes. Its two directions are independent. Their names are `<name>_forward`
/// and `<name>_reverse`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The name of the link.
    #[schemars(regex(pattern = NAME), example = &"btl")]
    pub name: String,
    /// The node at which `forward` begins.
    #[schemars(regex(pattern = NAME), example = &"r1")]
    pub from: String,
    /// The node at which `forward` ends.
    #[schemars(regex(pattern = NAME), example = &"r2")]
    pub to: String,
    /// The direction from `from` to `to`.
    pub forward: link::LinkConfig,
    /// The direction from `to` to `from`.
    pub reverse: link::LinkConfig,
}

impl Link {
    /// Returns the name of the direction from `from` to `to`.
    #[must_use]
    pub fn forward_name(&self) -> String {
        format!("{}_forward", self.name)
    }

    /// Returns the name of the direction from `to` to `from`.
    #[must_use]
    pub fn reverse_name(&self) -> String {
        format!("{}_reverse", self.name)
    }
}

impl Scenario {
    /// Returns the IP version of all packets.
    #[must_use]
    pub const fn ip_version(&self) -> IpVersion {
        if is_ipv4(&self.ip) { IpVersion::V4 } else { IpVersion::V6 }
    }

    /// Returns all flows with their names. A flow with a `count` or with several stations is
    /// expanded to several flows.
    #[must_use]
    pub fn flows(&self) -> Vec<Flow> {
        let (mut flows, mut before) = (Vec::new(), 0);
        for flow in &self.flow {
            let ends = self.ends(flow);
            let copies = flow.copies(before, &ends, Seed(self.seed));
            flows.extend(copies.filter(|copy| copy.start < self.duration));
            before += flow.count as usize * ends.len();
        }
        flows
    }

    /// Returns the names of all applications.
    #[must_use]
    pub fn application_names(&self) -> Vec<String> {
        let named = |(index, application): (usize, &Application)| match application.name.as_str() {
            "" => format!("application_{}", index + 1),
            name => name.to_owned(),
        };
        self.application.iter().enumerate().map(named).collect()
    }

    /// Returns the two ends of a flow. If the flow names a group of stations, returns the ends for
    /// each station.
    fn ends(&self, flow: &Flow) -> Vec<(String, String)> {
        let stations = |name: &str| {
            let group = self.wifi.iter().flat_map(|cell| &cell.station).find(|station| station.name == name);
            group.map_or_else(|| vec![name.to_owned()], acklab_wifi::config::Station::names)
        };
        let to = stations(&flow.to);
        stations(&flow.from).into_iter().flat_map(|from| to.iter().map(move |to| (from.clone(), to.clone()))).collect()
    }

    /// Returns the user's strategies and transports that the scenario names. Each has the path of
    /// the key that contains its name.
    #[must_use]
    pub fn custom_names(&self) -> Vec<(String, String)> {
        let of_flow = |(index, flow): (usize, &Flow)| {
            let names = flow.transport.custom_names().into_iter();
            names
                .map(|(key, name)| (format!("flow.{index}.{}", key.key()), name.as_str().to_owned()))
                .collect::<Vec<_>>()
        };
        self.flow.iter().enumerate().flat_map(of_flow).collect()
    }

    /// Returns the trace files that the scenario names.
    #[must_use]
    pub fn trace_files(&self) -> BTreeSet<&str> {
        let directions = self.link.iter().flat_map(|link| [&link.forward, &link.reverse]);
        directions.filter_map(|direction| direction.trace.as_ref()).map(|trace| trace.file.as_str()).collect()
    }

    /// Returns the names of all nodes, in alphabetical order.
    #[must_use]
    pub fn node_names(&self) -> Vec<String> {
        let links = self.link.iter().flat_map(|link| [link.from.clone(), link.to.clone()]);
        let cells = self.wifi.iter().flat_map(|cell| cell.station_names().into_iter().chain([cell.ap.name.clone()]));
        let names: BTreeSet<String> = links.chain(cells).collect();
        names.into_iter().collect()
    }

    /// Returns `true` if the run does not end by itself.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        self.duration >= LONGEST_TIME
    }

    /// Returns the names of capture points: the nodes with flows, applications or interfaces, the
    /// two directions of each link, and the air of each cell.
    #[must_use]
    pub fn capture_points(&self) -> Vec<String> {
        let ends: BTreeSet<String> = self.flows().into_iter().flat_map(|flow| [flow.from, flow.to]).collect();
        let directions = self.link.iter().flat_map(|link| [link.forward_name(), link.reverse_name()]);
        let cells = self.wifi.iter().map(|cell| cell.name.clone());
        let applications = self.application.iter().map(|application| application.node.clone());
        let interfaces = self.interface.iter().map(|interface| interface.node.clone());
        let ends: BTreeSet<String> = ends.into_iter().chain(applications).chain(interfaces).collect();
        ends.into_iter().chain(directions).chain(cells).collect()
    }

    /// Returns the whole scenario as JSON, in the order of the types. All presets and defaults are
    /// written out as settings. The result is a valid scenario.
    #[must_use]
    pub fn canonical_json(&self) -> serde_json::Value {
        let mut full = self.clone();
        full.measure.until.get_or_insert(self.duration);
        full.pep = full.pep.iter().map(Pep::in_full).collect();
        let mut before = 0;
        for flow in &mut full.flow {
            let copies = flow.count as usize * self.ends(flow).len();
            *flow = flow.in_full(before, copies);
            before += copies;
        }
        serde_json::to_value(full).unwrap_or_default()
    }
}

/// Reads a scenario from TOML, or from JSON if `name` ends in `.json` or the text begins with `{`.
///
/// `name` is the name of the text, also in error messages. `sets` are assignments `path=value` such
/// as `flow.0.congestion=newreno` or `link.btl.reverse.gate.quota=5`. They are applied in order. A
/// path selects members of tables by key and entries of lists by index or name. A value that is not
/// valid TOML is read as text. An empty value removes the key. `seed` replaces the seed of the
/// scenario.
///
/// # Errors
/// If the text is not a valid scenario. The error states the position of the first fault, the value
/// found there and the expected value.
pub fn load(text: &str, name: &str, sets: &[String], seed: Option<u64>) -> Result<Scenario, Refusal> {
    read(text, name, sets, seed, None)
}

/// Like [`load`], but also rejects a scenario that names a strategy which is not in `strategies`.
///
/// # Errors
/// As [`load`], and if the scenario names a strategy which is not in `strategies`.
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
    Base::new(text, name, sets)?.read(&[], seed, strategies)
}

/// A text that is parsed once and used for many scenarios, such as those of a sweep.
#[derive(Clone, Debug)]
pub struct Base<'a> {
    text: &'a str,
    name: &'a str,
    sets: &'a [String],
    /// The text with `sets` applied, not yet checked.
    document: Node,
}

impl<'a> Base<'a> {
    /// Parses a text and applies the assignments that all scenarios have in common. The arguments
    /// are those of [`load`].
    ///
    /// # Errors
    /// If the text cannot be parsed, or if it has no place for an assignment. Everything else is
    /// checked by [`load`](Self::load).
    pub fn new(text: &'a str, name: &'a str, sets: &'a [String]) -> Result<Self, Refusal> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut document =
            document::parse(text, name).map_err(|error| Refusal::of_text(name, text, error.span, error.message))?;
        sets::apply(&mut document, sets, 0)?;
        Ok(Self { text, name, sets, document })
    }

    /// Returns the scenario with further assignments. If `strategies` is given, a scenario that
    /// names any other strategy is rejected.
    ///
    /// # Errors
    /// As [`load`] and [`load_for`].
    pub fn load(&self, sets: &[String], strategies: Option<&Strategies>) -> Result<Scenario, Refusal> {
        self.read(sets, None, strategies)
    }

    fn read(&self, sets: &[String], seed: Option<u64>, strategies: Option<&Strategies>) -> Result<Scenario, Refusal> {
        let mut document = self.document.clone();
        sets::apply(&mut document, sets, self.sets.len())?;
        shorthand::write_out(&mut document);
        if let Some(seed) = seed {
            document.set_seed(seed);
        }
        accept(&mut document, strategies)
            .map_err(|problem| problem.refusal(&document, self.name, self.text, &[self.sets, sets].concat()))
    }
}

fn accept(document: &mut Node, strategies: Option<&Strategies>) -> Result<Scenario, Problem> {
    shorthand::check(document)?;
    check::check(document)?;
    let scenario: Scenario =
        serde_json::from_value(document.to_json()).map_err(|error| Problem::key(&[], error.to_string()))?;
    fit::check(scenario.fit.as_ref(), document)?;
    validate::validate(&scenario)?;
    if let Some(strategies) = strategies {
        validate::strategies(&scenario, strategies)?;
    }
    Ok(scenario)
}
