//! Converts errors of the lab to exceptions of `acklab.errors`.

use acklab_lab::Error;
use acklab_lab::scenario::Refusal;
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(acklab.errors, Cancelled);
import_exception!(acklab.errors, RunError);
import_exception!(acklab.errors, ScenarioError);
import_exception!(acklab.errors, UsageError);

/// Returns the exception for an invalid scenario.
pub(crate) fn refused(why: &Refusal) -> PyErr {
    ScenarioError::new_err(why.to_string())
}

/// Returns the exception for a run that cannot start or continue. Faults of the scenario become a
/// `ScenarioError`.
pub(crate) fn failed(name: &str, why: &Error) -> PyErr {
    let message = format!("{name}: {why}");
    match why {
        Error::NoFlow
        | Error::NoTcp
        | Error::KernelStack { .. }
        | Error::Kernel { .. }
        | Error::NoNode { .. }
        | Error::NoRate { .. }
        | Error::NoRoute { .. }
        | Error::NoStrategy { .. }
        | Error::NoTime { .. }
        | Error::ReadTrace { .. }
        | Error::Trace { .. }
        | Error::Schedule { .. }
        | Error::SplitBothWays { .. }
        | Error::SplitKernel { .. }
        | Error::Transport { .. }
        | Error::Wifi { .. } => ScenarioError::new_err(message),
        Error::Stopped => Cancelled::new_err(message),
        _ => RunError::new_err(message),
    }
}
