//! Placeholder until the model of reception is merged.
use crate::config;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant};
use crate::phy::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
/// Reception.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Config {
    /// Perfect.
    #[default]
    Perfect,
}
/// Error.
#[derive(Clone, Debug, PartialEq)]
pub struct Error;
/// Reception.
#[derive(Clone, Debug)]
pub struct Reception;
impl Reception {
    /// New.
    pub fn new(_: &Config, _: &config::Config, _: Seed) -> Result<Self, Error> { Ok(Self) }
    /// Hears.
    pub fn hears(&self, _at: usize, _of: usize) -> bool { true }
    /// Success.
    pub fn success(&self, _now: Instant, _from: usize, _to: usize, _mode: Mode, _octets: Bytes) -> f64 { 1.0 }
    /// Perfect?
    pub fn is_perfect(&self) -> bool { true }
}

impl std::fmt::Display for Error { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "-") } }
