//! Runs a scenario in real time.

use crate::cancel::Cancel;
use crate::errors::{RunError, failed, refused};
use crate::run::arrow_tables;
use crate::threads::in_a_thread;
use acklab_lab::emulate::permission::{self, Permission};
use acklab_lab::emulate::{Calibration, EmulateOptions, Foreground, IdleProcessors, Pace};
use acklab_lab::{RunOptions, scenario};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

/// The results of an emulation.
#[pyclass(module = "acklab._core", frozen, get_all)]
pub(crate) struct EmulationResult {
    /// The complete scenario, as JSON.
    scenario: String,
    /// The seed that was used.
    seed: u64,
    /// Arrow record batches by name.
    tables: Py<PyDict>,
    /// The reasons why the results are unreliable. Empty if they are reliable.
    reasons: Vec<String>,
    /// The exit status of the command that uses the terminal, if there is one.
    exit_status: Option<i32>,
    /// When the run was stopped before its planned end, in seconds.
    stopped: Option<f64>,
}

/// Measures the capacity of this machine, and returns it as JSON. `processors` has the same meaning
/// as for `emulate`. Raises `ValueError` and `RunError`. Ctrl-C stops the measurement.
#[pyfunction]
#[pyo3(signature = (processors="auto"))]
pub(crate) fn calibrate(py: Python<'_>, processors: &str) -> PyResult<String> {
    let processors = idle_processors(processors)?;
    let calibrate = |goes_on: &mut dyn FnMut() -> bool| acklab_lab::emulate::calibrate(processors, goes_on);
    let measured = in_a_thread(py, true, &AtomicBool::new(false), calibrate, |_| Ok(()))?;
    let Calibration {
        packets_per_second,
        mbps,
        cpu_us_per_packet,
        p50_lateness_us,
        p99_lateness_us,
        standstill,
        stolen,
        granted,
    } = measured.map_err(|why| failed("calibration", &why))?;
    let micros = |time: acklab_base::Duration| time.as_secs_f64() * 1e6;
    let document = serde_json::json!({
        "packets_per_second": packets_per_second.round(),
        "mbps": mbps.round(),
        "cpu_us_per_packet": cpu_us_per_packet,
        "lateness_us": { "p50": p50_lateness_us, "p99": p99_lateness_us },
        "standstill_us": { "longest": micros(standstill.longest), "total": micros(standstill.total) },
        "worst_second_stolen": stolen,
        "priority": granted.priority(),
        "processors": granted.idling.name(),
    });
    Ok(document.to_string())
}

/// Returns the requested behavior of idle processors, by its name.
pub(crate) fn idle_processors(name: &str) -> PyResult<IdleProcessors> {
    name.parse().map_err(|why| PyValueError::new_err(format!("processors: {why}")))
}

/// Acquires the permission to emulate. Call this while the process has only one thread. Without
/// root, the process enters a user namespace permanently. Returns `true` if it did. Raises
/// `RunError`, whose message states how to grant the permission.
#[pyfunction]
pub(crate) fn acquire_permission() -> PyResult<bool> {
    let acquired = permission::acquire().map_err(|why| RunError::new_err(why.to_string()))?;
    Ok(acquired == Permission::UserNamespace)
}

/// Runs a scenario in real time, in a separate thread.
///
/// `outputs` is the folder for the output of applications. `words` is a command that uses the
/// terminal, and `node` is its node. `watch` is called each second with a sample of the run as
/// JSON. `processors` is the behavior of idle processors: "auto", "awake" or "halt". `internet` is
/// the node that connects to the networks of this machine. `takes_time` is false in a guest in
/// virtual time, whose programs take no time. The other arguments are the same as for `run`. Raises
/// `ScenarioError` and `RunError`. After `cancel` is cancelled, it returns the measurements up to
/// that time, or raises `Cancelled` if there are none. Ctrl-C stops a run of the main thread.
#[pyfunction]
#[pyo3(signature = (text, name, sets, base, captures=None, outputs=None, node=None, words=None, cancel=None, watch=None, processors="auto", internet=None, takes_time=true))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keyword arguments of Python")]
pub(crate) fn emulate(
    py: Python<'_>,
    text: &str,
    name: &str,
    sets: Vec<String>,
    base: PathBuf,
    captures: Option<PathBuf>,
    outputs: Option<PathBuf>,
    node: Option<String>,
    words: Option<Vec<String>>,
    cancel: Option<&Cancel>,
    watch: Option<Py<PyAny>>,
    processors: &str,
    internet: Option<String>,
    takes_time: bool,
) -> PyResult<EmulationResult> {
    let scenario = scenario::load(text, name, &sets, None).map_err(|why| refused(&why))?;
    let processors = idle_processors(processors)?;
    let pace = if takes_time { Pace::Sliced } else { Pace::AtOnce };
    let flag = cancel.map(Cancel::flag).unwrap_or_default();
    let run = RunOptions { base, captures, ..RunOptions::default() };
    let foreground = node.zip(words).map(|(node, words)| Foreground { node, words });
    // If a command uses the terminal, the command receives Ctrl-C.
    let has_terminal = foreground.is_some();
    let (to, samples) = mpsc::channel();
    let options =
        EmulateOptions { run, outputs, internet, foreground, live: watch.is_some().then_some(to), processors, pace };
    let show = move |py: Python<'_>| {
        let Some(watch) = &watch else { return Ok(()) };
        samples.try_iter().try_for_each(|sample| {
            let text = serde_json::to_string(&sample).unwrap_or_default();
            watch.call1(py, (text,)).map(drop)
        })
    };
    let emulate = |goes_on: &mut dyn FnMut() -> bool| acklab_lab::emulate(&scenario, &options, goes_on);
    let done = in_a_thread(py, !has_terminal, &flag, emulate, show)?;
    let emulation = done.map_err(|why| failed(name, &why))?;
    Ok(EmulationResult {
        scenario: scenario.canonical_json().to_string(),
        seed: scenario.seed,
        tables: arrow_tables(py, emulation.results.tables)?,
        reasons: emulation.verdict.reasons,
        exit_status: emulation.exit_status,
        stopped: emulation.stopped.map(acklab_base::Instant::as_secs_f64),
    })
}
