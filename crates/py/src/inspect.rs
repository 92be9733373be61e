//! Reads captures.

use crate::cancel::Cancel;
use crate::errors::{Cancelled, RunError, UsageError};
use acklab_lab::Error;
use acklab_lab::inspect::inspect as read;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Reads the capture or the log at `path`, with the interpreter detached. `trace` selects one trace
/// of a log. Without it, all traces are read. Returns the report as JSON. Also returns the reason
/// why the rest of the file was not read, or `None` if the whole file was read.
///
/// Calls `watch` repeatedly with the share of the file that has been read. Raises `UsageError` for
/// a file that is not a capture, `RunError` for a log without data, `Cancelled` after `cancel` is
/// cancelled. In the main thread, Ctrl-C stops the reading.
#[pyfunction]
#[pyo3(signature = (path, cancel=None, watch=None, trace=None))]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
pub(crate) fn inspect(
    py: Python<'_>,
    path: PathBuf,
    cancel: Option<&Cancel>,
    watch: Option<Py<PyAny>>,
    trace: Option<usize>,
) -> PyResult<(String, Option<String>)> {
    let flag = cancel.map(Cancel::flag).unwrap_or_default();
    let mut raised: Option<PyErr> = None;
    let read = py.detach(|| {
        read(&path, trace, |share| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                watch.as_ref().map_or(Ok(()), |watch| watch.call1(py, (share,)).map(|_| ()))
            });
            raised = told.err();
            raised.is_none() && !flag.load(Ordering::Relaxed)
        })
    });
    if let Some(raised) = raised {
        return Err(raised);
    }
    let inspected = read.map_err(|why| match why {
        Error::Stopped => Cancelled::new_err(why.to_string()),
        Error::EmptyLog { .. } => RunError::new_err(why.to_string()),
        _ => UsageError::new_err(why.to_string()),
    })?;
    let report = serde_json::to_string(&inspected.report).map_err(|why| PyValueError::new_err(why.to_string()))?;
    Ok((report, inspected.cut))
}
