//! Strategies written in Python. The interpreter is attached only during their callbacks.
//!
//! | module | contents |
//! |---|---|
//! | `policy` | an ACK policy, its arguments and its decision |
//! | `controller` | a congestion controller |
//! | `ask` | a rule of requesting ACKs, its arguments and its request |
//! | `facts` | the arguments of a controller, and the window that it changes |
//!
//! An exception in a callback ends the run: [`Fault`] stores it, no further callback is made, and
//! [`Fault::found`] makes the run stop.

pub(crate) mod ask;
pub(crate) mod controller;
pub(crate) mod facts;
pub(crate) mod policy;

use crate::errors::UsageError;
use acklab_base::random::Stream;
use acklab_lab::Strategies;
use ask::PythonAsk;
use controller::PythonController;
use policy::PythonPolicy;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, OnceLock};

/// The first exception that a callback of a run raised.
#[derive(Clone, Default)]
pub(crate) struct Fault(Arc<OnceLock<PyErr>>);

impl Fault {
    /// Returns `true` if a callback has raised an exception.
    pub(crate) fn found(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns the exception.
    pub(crate) fn take(&self, py: Python<'_>) -> Option<PyErr> {
        self.0.get().map(|error| error.clone_ref(py))
    }

    /// Calls `call` with the interpreter attached. Returns `None` if the call fails, or if an
    /// earlier callback has failed.
    fn unless<T>(&self, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.found() {
            return None;
        }
        // Only the first of several exceptions is stored.
        Python::attach(|py| call(py).map_err(|error| self.0.set(as_failure(py, error))).ok())
    }
}

/// Converts the exception of a callback to an exception that indicates a failure.
///
/// `SystemExit` and similar exceptions would end the process with status 0 and without a message.
/// `KeyboardInterrupt` is Ctrl-C.
fn as_failure(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyException>(py) || error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return error;
    }
    let value = error.value(py).repr().map_or_else(|_| error.to_string(), |shown| shown.to_string());
    let failure =
        PyRuntimeError::new_err(format!("found {value}, expected a return or an exception that means a failure"));
    // The traceback is the traceback in the strategy's file.
    failure.set_traceback(py, error.traceback(py));
    failure.set_cause(py, Some(error));
    failure
}

/// Returns the strategies of a run. Each factory is registered as a policy, as a controller and as
/// a rule of requesting ACKs, because only the scenario determines its kind.
pub(crate) fn strategies(factories: Option<&Bound<'_, PyDict>>, fault: &Fault) -> PyResult<Strategies> {
    let mut strategies = Strategies::default();
    for (name, factory) in factories.into_iter().flatten() {
        let name: String = name.extract()?;
        if !factory.is_callable() {
            let found = factory.get_type().fully_qualified_name()?;
            return Err(UsageError::new_err(format!("strategies[\"{name}\"]: found {found}, expected a class")));
        }
        let factory = Arc::new(factory.unbind());
        let policy = (Arc::clone(&factory), fault.clone(), name.clone());
        let controller = (Arc::clone(&factory), fault.clone(), name.clone());
        let ask = (factory, fault.clone(), name.clone());
        strategies = strategies
            .with_policy(&name, move |start| PythonPolicy::new(&policy.0, &policy.2, start, &policy.1))
            .with_controller(&name, move |start| {
                PythonController::new(&controller.0, &controller.2, start, &controller.1)
            })
            .with_ask(&name, move |start| PythonAsk::new(&ask.0, &ask.2, start, &ask.1));
    }
    Ok(strategies)
}

/// Returns the method of a strategy that every strategy of this `kind` must have.
fn required(strategy: &Bound<'_, PyAny>, name: &str, method: &str, kind: &str) -> PyResult<Py<PyAny>> {
    if let Some(method) = strategy.getattr_opt(method)? {
        return Ok(method.unbind());
    }
    let found = strategy.get_type().fully_qualified_name()?;
    Err(UsageError::new_err(format!("strategies[\"{name}\"]: found {found} without `{method}`, expected {kind}")))
}

/// Returns the method of a strategy if its class overrides it. Returns `None` otherwise, because
/// the method of `base` does nothing.
fn optional(strategy: &Bound<'_, PyAny>, base: &str, method: &str) -> PyResult<Option<Py<PyAny>>> {
    let Some(own) = strategy.getattr_opt(method)? else { return Ok(None) };
    let inherited = strategy.py().import("acklab.strategies")?.getattr(base)?.getattr(method)?;
    let is_own = own.getattr_opt("__func__")?.is_none_or(|function| !function.is(&inherited));
    Ok(is_own.then(|| own.unbind()))
}

/// Returns a seed for the strategy's own random numbers.
fn seed(random: &Stream) -> u64 {
    random.clone().below(u64::MAX)
}
