//! The reasons why settings of a rate control are refused.

use super::Capabilities;
use crate::phy::{Mode, Standard};
use acklab_base::Rate;
use std::fmt;

/// The value found, and the values expected.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The standard does not have this MCS.
    Mcs {
        /// The standard.
        standard: Standard,
        /// The configured value.
        found: u8,
        /// The highest MCS of one stream.
        maximum: u8,
    },
    /// The standard has rates, but no MCS.
    McsOfLegacy(Standard),
    /// No mode at this width, guard interval and number of streams has this rate.
    Rate {
        /// The standard.
        standard: Standard,
        /// The configured value.
        found: Rate,
        /// The possible rates, slowest first.
        rates: Vec<Rate>,
    },
    /// The number of streams is zero or more than both ends have.
    Streams {
        /// The standard.
        standard: Standard,
        /// The configured value.
        found: u8,
        /// The maximum that both nodes support.
        maximum: u8,
    },
    /// The MCS exists, but not in this combination.
    Undefined {
        /// The standard.
        standard: Standard,
        /// The combination.
        mode: Mode,
    },
    /// Both a rate and an MCS are given.
    RateAndMcs,
    /// The standard defines no mode at this width and guard interval.
    NoMode(Capabilities),
    /// The target is not a bit error rate.
    BitErrorRate(f64),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mcs { standard, found, maximum } => {
                write!(f, "{standard} has no MCS {found}, expected 0 to {maximum}")
            }
            Self::McsOfLegacy(standard) => write!(f, "{standard} has no MCS, expected a rate"),
            Self::Rate { standard, found, rates } => {
                let rates: Vec<String> = rates.iter().map(Rate::to_string).collect();
                write!(f, "{found} is no rate of {standard} here, expected one of {}", rates.join(", "))
            }
            Self::Streams { standard, found, maximum } => {
                write!(f, "found {found} streams, expected 1 to {maximum} in {standard} here")
            }
            Self::Undefined { standard, mode } => write!(
                f,
                "{standard} does not define MCS {} with {} stream(s) at {} and a guard interval of {}",
                mode.mcs, mode.streams, mode.width, mode.guard
            ),
            Self::RateAndMcs => f.write_str("found both a rate and an MCS, expected one of them"),
            Self::NoMode(capabilities) => write!(
                f,
                "{} defines nothing with {} stream(s) at {} and a guard interval of {}",
                capabilities.standard, capabilities.streams, capabilities.width, capabilities.guard
            ),
            Self::BitErrorRate(found) => write!(f, "found a bit error rate of {found}, expected above 0 and below 0.5"),
        }
    }
}

impl std::error::Error for Refusal {}
