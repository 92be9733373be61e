//! The controllers as scenarios spell them, with their constants.

use super::{bbr, bbr3, copa, cubic, dctcp, newreno, pcc, vegas};
use crate::custom::Name;
use crate::fault::Fault;
use schemars::JsonSchema;
use serde::de::value::{Error, MapDeserializer};
use serde::{Deserialize, Serialize};

/// A congestion controller and its constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "algorithm", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-acklab-shorthand" = "name"))]
pub enum Config {
    /// RFC 5681: slow start, congestion avoidance, half the window on loss.
    #[serde(rename = "newreno", alias = "reno")]
    #[schemars(extend("x-acklab-aliases" = ["reno"]))]
    NewReno(newreno::Config),
    /// RFC 9438: a cubic curve of the time since the last loss.
    Cubic(cubic::Config),
    /// Brakmo and Peterson: so much in flight that a few segments wait in queues.
    Vegas(vegas::Config),
    /// BBR, version 1, as Linux has it (`tcp_bbr.c`).
    Bbr(bbr::Config),
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    Bbr3(bbr3::Config),
    /// RFC 8257: Reno, but the window gives way to marks in proportion to how many there are.
    Dctcp(dctcp::Config),
    /// A target rate of 1 / (δ · queueing delay) (Arun & Balakrishnan, NSDI '18).
    Copa(copa::Config),
    /// Experiments with the rate, judged by throughput and loss (Dong et al., NSDI '15).
    PccAllegro(pcc::allegro::Config),
    /// Gradient ascent on the rate, judged by throughput, latency and loss (Dong et al., NSDI '18).
    PccVivace(pcc::vivace::Config),
    /// One of your own, which the run is given.
    Custom {
        /// What it is called there.
        #[schemars(length(max = 32), example = &"mine")]
        name: Name,
    },
}

impl Config {
    /// RFC 5681 with its constants.
    pub const NEW_RENO: Self = Self::NewReno(newreno::Config::PUBLISHED);

    /// The built-in controller of this name with its published constants, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::deserialize(MapDeserializer::<_, Error>::new(std::iter::once(("algorithm", name)))).ok()
    }

    /// Its name, as scenarios spell it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::NewReno(_) => "newreno",
            Self::Cubic(_) => "cubic",
            Self::Vegas(_) => "vegas",
            Self::Bbr(_) => "bbr",
            Self::Bbr3(_) => "bbr3",
            Self::Dctcp(_) => "dctcp",
            Self::Copa(_) => "copa",
            Self::PccAllegro(_) => "pcc-allegro",
            Self::PccVivace(_) => "pcc-vivace",
            Self::Custom { name } => name,
        }
    }

    /// Must the receiver tell how much was marked?
    #[must_use]
    pub const fn counts_marks(&self) -> bool {
        matches!(self, Self::Dctcp(_))
    }

    /// Checks what the schema cannot say.
    ///
    /// # Errors
    /// If a constant makes no sense: the first one.
    pub fn check(&self) -> Result<(), Fault> {
        match self {
            Self::NewReno(constants) => constants.check(),
            Self::Cubic(constants) => constants.check(),
            Self::Vegas(constants) => constants.check(),
            Self::Bbr(constants) => constants.check(),
            Self::Bbr3(constants) => constants.check(),
            Self::Dctcp(constants) => constants.check(),
            Self::Copa(constants) => constants.check(),
            Self::PccAllegro(constants) => constants.check(),
            Self::PccVivace(constants) => constants.check(),
            Self::Custom { .. } => Ok(()),
        }
    }
}
