//! Runs many points of a sweep in one call. The scenario is parsed once, and the interpreter is
//! detached until the last point is done.

use crate::cancel::Cancel;
use crate::errors::{failed, refused};
use crate::strategies::{Fault, strategies as named};
use acklab_lab::scenario::Base;
use acklab_lab::{Error, RunOptions, Strategies};
use acklab_measure::Table;
use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use indexmap::IndexMap;
use indexmap::map::Entry;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The interval of checks for Ctrl-C.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// A valid point: its complete scenario as JSON with the seed 0, the trace files that it reads, and
/// the custom strategies that it names. Each strategy is listed with the key that names it.
type Checked = (String, Vec<String>, Vec<(String, String)>);

/// Checks many scenarios on `threads` threads. The scenarios differ only in assignments: `sets`
/// apply to all scenarios, and `points` contains the further assignments of each scenario. Returns
/// the facts about each scenario. Raises the `ScenarioError` of the first invalid scenario, as
/// `check` does.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
pub(crate) fn check_many(
    py: Python<'_>,
    text: &str,
    name: &str,
    sets: Vec<String>,
    points: Vec<Vec<String>>,
    base: PathBuf,
    threads: usize,
) -> PyResult<Vec<Checked>> {
    let common = Base::new(text, name, &sets).map_err(|why| refused(&why))?;
    let options = RunOptions { base, ..RunOptions::default() };
    let check = |own: &[String]| -> PyResult<Checked> {
        let mut scenario = common.load(own, None).map_err(|why| refused(&why))?;
        acklab_lab::check(&scenario, &options).map_err(|why| failed(name, &why))?;
        let traces = scenario.trace_files().into_iter().map(str::to_owned).collect();
        scenario.seed = 0;
        Ok((scenario.canonical_json().to_string(), traces, scenario.custom_names()))
    };
    let (next, first_fault) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let work = || {
        let mut checked = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= points.len() || index > first_fault.load(Ordering::Relaxed) {
                return checked;
            }
            let point = check(&points[index]);
            if point.is_err() {
                first_fault.fetch_min(index, Ordering::Relaxed);
            }
            checked.push((index, point));
        }
    };
    let mut checked: Vec<(usize, PyResult<Checked>)> = py.detach(|| {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    });
    checked.sort_unstable_by_key(|(index, _)| *index);
    checked.into_iter().map(|(_, point)| point).collect()
}

/// The results of many points.
#[pyclass(module = "acklab._core", frozen, get_all)]
pub(crate) struct BatchResult {
    /// The outcome of each point that was run, in order: its complete scenario as JSON, or its
    /// exception.
    outcomes: Vec<Py<PyAny>>,
    /// The names of the tables of each of these points. Empty for a failed point.
    names: Vec<Vec<&'static str>>,
    /// Arrow record batches by name. Each contains the rows of all points. The first column,
    /// `point`, is the index of the point in `outcomes`.
    tables: Py<PyDict>,
}

/// Runs many scenarios one after the other. The scenarios differ only in assignments: `sets` apply
/// to all scenarios, and `points` contains the further assignments of each scenario. Ends early
/// after `seconds`, or when `cancel` is cancelled. The result then has fewer points. A failed point
/// does not stop the others.
///
/// The other arguments are the same as for `run`. Raises the exceptions of signal handlers, such as
/// `KeyboardInterrupt`.
#[pyfunction]
#[pyo3(signature = (text, name, sets, points, base, cancel=None, strategies=None, seconds=None))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keyword arguments of Python")]
pub(crate) fn run_many(
    py: Python<'_>,
    text: &str,
    name: &str,
    sets: Vec<String>,
    points: Vec<Vec<String>>,
    base: PathBuf,
    cancel: Option<&Cancel>,
    strategies: Option<Py<PyDict>>,
    seconds: Option<f64>,
) -> PyResult<BatchResult> {
    let common = Base::new(text, name, &sets).map_err(|why| refused(&why))?;
    let flag = cancel.map(Cancel::flag).unwrap_or_default();
    let started = Instant::now();
    let budget = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(Duration::MAX);
    let mut batch = Batch::default();
    let (mut signal, mut fault) = (None, None);
    py.detach(|| {
        let mut checked = Instant::now();
        for own in &points {
            let mut goes_on = || {
                if checked.elapsed() >= SIGNAL_CHECK {
                    checked = Instant::now();
                    signal = Python::attach(|py| py.check_signals()).err();
                }
                signal.is_none() && !flag.load(Ordering::Relaxed)
            };
            if !goes_on() || (started.elapsed() >= budget && !batch.points.is_empty()) {
                break;
            }
            match run_point(&common, own, name, &base, strategies.as_ref(), &mut goes_on) {
                Ok(None) => break,
                Ok(Some((scenario, tables))) => {
                    if let Err(why) = batch.add(scenario, tables) {
                        fault = Some(why);
                        break;
                    }
                }
                Err(why) => batch.points.push((Err(why), Vec::new())),
            }
        }
    });
    match (signal, fault) {
        (Some(signal), _) => Err(signal),
        (None, Some(why)) => Err(failed(name, &why.into())),
        (None, None) => batch.finish(py).map_err(|why| failed(name, &why.into()))?,
    }
}

/// Runs a point. Returns its complete scenario and its tables. Returns `None` if `goes_on` has
/// stopped the run.
fn run_point(
    common: &Base<'_>,
    own: &[String],
    name: &str,
    base: &Path,
    strategies: Option<&Py<PyDict>>,
    goes_on: &mut impl FnMut() -> bool,
) -> PyResult<Option<(String, Vec<Table>)>> {
    let fault = Fault::default();
    let strategies = match strategies {
        Some(strategies) => Python::attach(|py| named(Some(strategies.bind(py)), &fault))?,
        None => Strategies::default(),
    };
    let scenario = common.load(own, Some(&strategies)).map_err(|why| refused(&why))?;
    let options = RunOptions { base: base.to_owned(), strategies, ..RunOptions::default() };
    let outcome = acklab_lab::run(&scenario, &options, || !fault.found() && goes_on());
    if fault.found() {
        return Python::attach(|py| fault.take(py)).map_or(Ok(None), Err);
    }
    match outcome {
        Ok(results) => Ok(Some((scenario.canonical_json().to_string(), results.tables))),
        Err(Error::Stopped) => Ok(None),
        Err(why) => Err(failed(name, &why)),
    }
}

/// Points that are done.
#[derive(Default)]
struct Batch {
    points: Vec<(PyResult<String>, Vec<&'static str>)>,
    tables: IndexMap<&'static str, Joined>,
}

/// A table over several points.
struct Joined {
    table: Table,
    /// The index of the point, for each row.
    points: Vec<u32>,
}

impl Batch {
    /// Adds the results of a point. Fails if the columns of a table differ from its columns in an
    /// earlier point.
    fn add(&mut self, scenario: String, tables: Vec<Table>) -> Result<(), ArrowError> {
        let point = self.points.len() as u32;
        self.points.push((Ok(scenario), tables.iter().map(Table::name).collect()));
        for table in tables {
            let indices = std::iter::repeat_n(point, table.rows());
            match self.tables.entry(table.name()) {
                Entry::Vacant(entry) => {
                    entry.insert(Joined { points: indices.collect(), table });
                }
                Entry::Occupied(mut entry) => {
                    let joined = entry.get_mut();
                    joined.points.extend(indices);
                    joined.table.append(table)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the Python object. The outer error occurs if the columns of a table differ in
    /// length.
    fn finish(self, py: Python<'_>) -> Result<PyResult<BatchResult>, ArrowError> {
        let tables = py.detach(|| {
            let whole = self.tables.into_iter().map(|(name, joined)| Ok((name, joined.into_arrow()?)));
            whole.collect::<Result<Vec<(&str, RecordBatch)>, ArrowError>>()
        })?;
        Ok((|| {
            let batches = PyDict::new(py);
            for (name, batch) in tables {
                batches.set_item(name, Py::new(py, crate::table::Table::from(batch))?)?;
            }
            let (points, names): (Vec<_>, Vec<_>) = self.points.into_iter().unzip();
            let outcome = |point: PyResult<String>| match point {
                Ok(scenario) => Ok(scenario.into_pyobject(py)?.into_any().unbind()),
                Err(why) => Ok(why.into_value(py).into_any()),
            };
            let outcomes = points.into_iter().map(outcome).collect::<PyResult<Vec<_>>>()?;
            Ok(BatchResult { outcomes, names, tables: batches.unbind() })
        })())
    }
}

impl Joined {
    fn into_arrow(self) -> Result<RecordBatch, ArrowError> {
        let rows = self.table.into_arrow()?;
        let indices: ArrayRef = Arc::new(UInt32Array::from(self.points));
        let fields = std::iter::once(Arc::new(Field::new("point", DataType::UInt32, false)));
        let schema = Schema::new(fields.chain(rows.schema().fields().iter().cloned()).collect::<Vec<_>>());
        RecordBatch::try_new(Arc::new(schema), std::iter::once(indices).chain(rows.columns().iter().cloned()).collect())
    }
}
