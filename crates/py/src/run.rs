//! Checks and runs a scenario.

use crate::cancel::Cancel;
use crate::errors::{failed, refused};
use crate::strategies::{Fault, strategies as named};
use crate::table::Table;
use acklab_lab::{Results, RunOptions, scenario};
use acklab_measure::qlog::{Options, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The interval between checks for Ctrl-C. It is short for a user, and long relative to the cost of
/// a check.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// The results of a run.
#[pyclass(module = "acklab._core", frozen, get_all)]
pub(crate) struct RunResult {
    /// The complete scenario, as JSON.
    scenario: String,
    /// The seed that was used.
    seed: u64,
    /// Arrow record batches by name.
    tables: Py<PyDict>,
}

impl RunResult {
    /// Returns the results of `scenario`.
    pub(crate) fn of(py: Python<'_>, scenario: &scenario::Scenario, results: Results) -> PyResult<Self> {
        let tables = arrow_tables(py, results.tables)?;
        Ok(Self { scenario: scenario.canonical_json().to_string(), seed: scenario.seed, tables })
    }
}

/// Checks a scenario. Returns the complete scenario as JSON, with all presets resolved.
///
/// `name` is the name of the file in messages; `sets` are overrides such as
/// `flow.0.congestion=cubic`. Raises `ScenarioError`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
pub(crate) fn load(text: &str, name: &str, sets: Vec<String>) -> PyResult<String> {
    let scenario = scenario::load(text, name, &sets, None).map_err(|why| refused(&why))?;
    Ok(scenario.canonical_json().to_string())
}

/// Like `load`, but also checks what a run requires: the scenario's trace files, relative to the
/// folder `base`, its cells and its routes. Raises `ScenarioError`, as `run` does.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
pub(crate) fn check(py: Python<'_>, text: &str, name: &str, sets: Vec<String>, base: PathBuf) -> PyResult<String> {
    let scenario = scenario::load(text, name, &sets, None).map_err(|why| refused(&why))?;
    let options = RunOptions { base, ..RunOptions::default() };
    py.detach(|| acklab_lab::check(&scenario, &options)).map_err(|why| failed(name, &why))?;
    Ok(scenario.canonical_json().to_string())
}

/// Runs a scenario with the interpreter detached.
///
/// `base` is the folder to which the paths of trace files are relative. `captures` is the folder
/// for captures, or `None` for no captures. `qlog` is the folder for logs of endpoints, or `None`
/// for none, and `qlog_version` their version. `strategies` are classes by their name in the
/// scenario; the interpreter is attached while they are called. `watch` is called repeatedly with
/// the share of the duration that has passed. Raises `ScenarioError`, `RunError`, the exceptions of
/// strategies and of `watch`, and `Cancelled` after `cancel` is cancelled. Ctrl-C stops a run of
/// the main thread.
#[pyfunction]
#[pyo3(signature = (text, name, sets, base, seed=None, captures=None, qlog=None, qlog_version=None, cancel=None, strategies=None, watch=None))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keyword arguments of Python")]
pub(crate) fn run(
    py: Python<'_>,
    text: &str,
    name: &str,
    sets: Vec<String>,
    base: PathBuf,
    seed: Option<u64>,
    captures: Option<PathBuf>,
    qlog: Option<PathBuf>,
    qlog_version: Option<&str>,
    cancel: Option<&Cancel>,
    strategies: Option<&Bound<'_, PyDict>>,
    watch: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let fault = Fault::default();
    let strategies = named(strategies, &fault)?;
    let scenario = scenario::load_for(text, name, &sets, seed, &strategies).map_err(|why| refused(&why))?;
    let flag = cancel.map(Cancel::flag).unwrap_or_default();
    let schema: Schema = qlog_version.map_or(Ok(Schema::default()), str::parse).map_err(PyValueError::new_err)?;
    let qlog = qlog.map(|folder| Options { folder, schema });
    let options = RunOptions { base, captures, qlog, strategies, ..RunOptions::default() };
    let progress = options.progress.clone();
    let mut signal = None;
    let mut checked = Instant::now();
    let outcome = py.detach(|| {
        acklab_lab::run(&scenario, &options, || {
            if checked.elapsed() >= SIGNAL_CHECK {
                checked = Instant::now();
                let told = |py: Python<'_>| {
                    py.check_signals()?;
                    watch.as_ref().map_or(Ok(()), |watch| watch.call1(py, (progress.share(),)).map(drop))
                };
                signal = Python::attach(told).err();
            }
            signal.is_none() && !fault.found() && !flag.load(Ordering::Relaxed)
        })
    });
    if let Some(signal) = signal {
        return Err(signal);
    }
    if let Some(raised) = fault.take(py) {
        return Err(raised);
    }
    RunResult::of(py, &scenario, outcome.map_err(|why| failed(name, &why))?)
}

/// Returns Arrow record batches by name.
pub(crate) fn arrow_tables(py: Python<'_>, tables: Vec<acklab_measure::Table>) -> PyResult<Py<PyDict>> {
    let batches = PyDict::new(py);
    for table in tables {
        let name = table.name();
        let batch = table.into_arrow().map_err(|why| failed(name, &why.into()))?;
        batches.set_item(name, Py::new(py, Table::from(batch))?)?;
    }
    Ok(batches.unbind())
}

/// Returns the descriptions of the columns of the metrics tables, as JSON.
#[pyfunction]
pub(crate) fn metrics() -> String {
    serde_json::to_string(&acklab_measure::metrics()).unwrap_or_default()
}

/// Returns the JSON Schema of a scenario, as JSON.
#[pyfunction]
pub(crate) fn schema() -> String {
    scenario::schema().to_string()
}
