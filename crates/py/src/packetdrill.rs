//! Runs scripts of packetdrill.

use crate::errors::{RunError, UsageError, failed, refused};
use crate::strategies::{Fault, strategies as named};
use acklab_base::Duration;
use acklab_lab::packetdrill::{Subject, Verdict, play_at_kernel, scenario_of};
use acklab_lab::{Strategies, scenario};
use acklab_transport::tcp::Preset;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The name of the TCP of this machine's kernel, instead of a preset.
const KERNEL: &str = "kernel";

/// Plays `scripts` against the TCP of the first flow of the scenario `text`. Without `text`, plays
/// them against the TCP of `preset`. Returns a JSON list with an object for each script.
///
/// `tolerance` in microseconds overrides the script's tolerance. Raises `ScenarioError`, `RunError`
/// if a script cannot be read, and the exceptions of strategies.
#[pyfunction]
#[pyo3(signature = (scripts, text, name, preset, sets, tolerance=None, strategies=None))]
#[expect(clippy::needless_pass_by_value, clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn packetdrill(
    py: Python<'_>,
    scripts: Vec<PathBuf>,
    text: Option<String>,
    name: &str,
    preset: &str,
    sets: Vec<String>,
    tolerance: Option<u64>,
    strategies: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let fault = Fault::default();
    let strategies = named(strategies, &fault)?;
    let subject = match (text, preset) {
        (None, KERNEL) => None,
        (Some(text), _) => Some(subject(&text, name, &sets, strategies)?),
        (None, preset) => Some(subject(&scenario_of(preset_named(preset)?), name, &sets, strategies)?),
    };
    let tolerance = tolerance.map(Duration::from_micros);
    let mut played = Vec::new();
    for script in &scripts {
        py.check_signals()?;
        let verdict = py.detach(|| match &subject {
            Some(subject) => subject.play(script, tolerance),
            None => play_at_kernel(script, tolerance),
        });
        if let Some(raised) = fault.take(py) {
            return Err(raised);
        }
        let verdict = verdict.map_err(|why| RunError::new_err(why.to_string()))?;
        played.push(described(script, &verdict));
    }
    Ok(Value::Array(played).to_string())
}

fn subject(text: &str, name: &str, sets: &[String], strategies: Strategies) -> PyResult<Subject> {
    let scenario = scenario::load_for(text, name, sets, None, &strategies).map_err(|why| refused(&why))?;
    Subject::new(&scenario, strategies).map_err(|why| failed(name, &why))
}

fn preset_named(name: &str) -> PyResult<Preset> {
    let presets = [Preset::Linux, Preset::Ns3, Preset::Rfc];
    let known = presets.into_iter().find(|preset| preset.name() == name);
    known.ok_or_else(|| UsageError::new_err(format!("preset: found \"{name}\", expected linux, ns3 or rfc")))
}

fn described(script: &Path, verdict: &Verdict) -> Value {
    let failures: Vec<Value> = match verdict {
        Verdict::Failed(failures) => failures
            .iter()
            .map(|failure| json!({ "line": failure.line, "expected": failure.expected, "found": failure.found }))
            .collect(),
        _ => Vec::new(),
    };
    let refusal = match verdict {
        Verdict::OutOfScope(refusal) | Verdict::Malformed(refusal) => {
            json!({ "line": refusal.line, "message": refusal.message })
        }
        Verdict::Passed | Verdict::Failed(_) => Value::Null,
    };
    json!({ "script": script.to_string_lossy(), "verdict": verdict.name(), "failures": failures, "refusal": refusal })
}
