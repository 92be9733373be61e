//! The reasons why a cell cannot exist.

use crate::{rate, reception};
use std::fmt;

/// The reason why a configuration does not describe a possible cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The rate control of a node is not possible.
    Rate {
        /// The name of the node.
        node: String,
        /// The reason.
        source: rate::Refusal,
    },
    /// A basic rate is not a rate of the standard.
    BasicRate,
    /// The configuration of reception is faulty.
    Reception(reception::config::Fault),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { node, source } => write!(f, "{node}: {source}"),
            Self::BasicRate => write!(f, "a basic rate is no rate of the standard"),
            Self::Reception(fault) => write!(f, "reception.{}: expected {}", fault.path, fault.expected),
        }
    }
}

impl std::error::Error for Error {}
