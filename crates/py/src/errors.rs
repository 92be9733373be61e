//! Which exception of `acklab.errors` an error of the lab becomes.

use acklab_lab::Error;
use acklab_lab::scenario::Refusal;
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(acklab.errors, Cancelled);
import_exception!(acklab.errors, RunError);
import_exception!(acklab.errors, ScenarioError);
import_exception!(acklab.errors, UsageError);

/// A scenario that was refused.
pub(crate) fn refused(why: &Refusal) -> PyErr {
    ScenarioError::new_err(why.to_string())
}

/// A run that could not begin or not go on. What can be mended in the scenario is told as an error of the scenario.
pub(crate) fn failed(name: &str, why: &Error) -> PyErr {
    let message = format!("{name}: {why}");
    match why {
        Error::NoRoute { .. }
        | Error::NoStrategy { .. }
        | Error::ReadTrace { .. }
        | Error::Trace { .. }
        | Error::Schedule { .. } => ScenarioError::new_err(message),
        Error::Stopped => Cancelled::new_err(message),
        _ => RunError::new_err(message),
    }
}
