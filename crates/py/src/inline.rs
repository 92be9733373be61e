//! Runs the path of a scenario between two interfaces.

use crate::cancel::Cancel;
use crate::emulate::idle_processors;
use crate::errors::{failed, refused};
use crate::run::RunResult;
use crate::threads::in_a_thread;
use acklab_lab::inline::{InlineOptions, Method};
use acklab_lab::{RunOptions, scenario};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::mpsc;

/// Runs the path of a scenario between its two interfaces, in a separate thread. The run ends in
/// order at the scenario's end, at Ctrl-C or at `cancel`.
///
/// `stands` is called when traffic begins to use the path. Its arguments are the means of
/// forwarding, the method by which frames reach this process, and the priority. `watch` is called
/// each second with a sample as JSON. `method` is `ring` or `tap`. The other arguments are the same
/// as for `emulate`. Raises `ScenarioError` and `RunError`.
#[pyfunction]
#[pyo3(signature = (text, name, sets, base, captures=None, cancel=None, stands=None, watch=None, processors="auto", method=None))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keyword arguments of Python")]
pub(crate) fn inline(
    py: Python<'_>,
    text: &str,
    name: &str,
    sets: Vec<String>,
    base: PathBuf,
    captures: Option<PathBuf>,
    cancel: Option<&Cancel>,
    stands: Option<Py<PyAny>>,
    watch: Option<Py<PyAny>>,
    processors: &str,
    method: Option<&str>,
) -> PyResult<RunResult> {
    let scenario = scenario::load(text, name, &sets, None).map_err(|why| refused(&why))?;
    let processors = idle_processors(processors)?;
    let flag = cancel.map(Cancel::flag).unwrap_or_default();
    let method = match method {
        None => None,
        Some("ring") => Some(Method::Ring),
        Some("tap") => Some(Method::Tap),
        Some(other) => return Err(PyValueError::new_err(format!("method: found {other:?}, expected ring or tap"))),
    };
    let run = RunOptions { base, captures, ..RunOptions::default() };
    let (to, samples) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let options = InlineOptions { run, live: watch.is_some().then_some(to), processors, method };
    let show = move |py: Python<'_>| {
        if let (Some(stands), Ok((forwarding, method, priority))) = (&stands, told.try_recv()) {
            stands.call1(py, (forwarding, method, priority))?;
        }
        let Some(watch) = &watch else { return Ok(()) };
        samples.try_iter().try_for_each(|sample| {
            let text = serde_json::to_string(&sample).unwrap_or_default();
            watch.call1(py, (text,)).map(drop)
        })
    };
    let inline = |goes_on: &mut dyn FnMut() -> bool| {
        let stands = |standing: &acklab_lab::inline::Standing| {
            // The caller may have ended; the path continues.
            let _ = tell.send((standing.forwarding, standing.method, standing.priority));
        };
        acklab_lab::inline(&scenario, &options, stands, goes_on)
    };
    let results = in_a_thread(py, true, &flag, inline, show)?.map_err(|why| failed(name, &why))?;
    RunResult::of(py, &scenario, results)
}
