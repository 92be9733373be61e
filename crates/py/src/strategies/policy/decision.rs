//! The decision of an ACK policy written in Python.

use crate::errors::UsageError;
use acklab_base::Instant;
use acklab_transport::ack::{Decision, OwnReason, Reason};
use pyo3::prelude::*;

/// The reason of an acknowledgment: a reason that all policies share, or a custom reason of this
/// policy.
#[derive(Debug)]
enum Why {
    Known(Reason),
    Custom(String),
}

impl Why {
    fn new(name: String) -> Self {
        match Reason::ALL.into_iter().find(|reason| reason.name() == name) {
            Some(reason) => Self::Known(reason),
            None => Self::Custom(name),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Known(reason) => reason.name(),
            Self::Custom(name) => name,
        }
    }
}

/// Acknowledge immediately.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct Now(Why);

#[pymethods]
impl Now {
    #[new]
    fn new(why: String) -> Self {
        Self(Why::new(why))
    }

    #[getter]
    fn why(&self) -> &str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!("Now({:?})", self.0.name())
    }
}

/// Acknowledge at an instant.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct At(u64, Why);

#[pymethods]
impl At {
    #[new]
    fn new(at: u64, why: String) -> Self {
        Self(at, Why::new(why))
    }

    #[getter]
    const fn at(&self) -> u64 {
        self.0
    }

    #[getter]
    fn why(&self) -> &str {
        self.1.name()
    }

    fn __repr__(&self) -> String {
        format!("At({}, {:?})", self.0, self.1.name())
    }
}

/// Acknowledge with a later arrival or the next data packet.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct Hold;

#[pymethods]
impl Hold {
    #[new]
    const fn new() -> Self {
        Self
    }

    const fn __repr__(&self) -> &'static str {
        "Hold()"
    }
}

/// Returns the decision that `method` returned.
pub(super) fn decision(
    name: &str,
    method: &str,
    reasons: &mut Vec<String>,
    returned: &Bound<'_, PyAny>,
) -> PyResult<Decision> {
    if let Ok(now) = returned.cast::<Now>() {
        return Ok(Decision::Now(reason(name, method, reasons, &now.get().0)?));
    }
    if let Ok(at) = returned.cast::<At>() {
        return Ok(Decision::At(Instant::from_nanos(at.get().0), reason(name, method, reasons, &at.get().1)?));
    }
    if returned.is_instance_of::<Hold>() {
        return Ok(Decision::Hold);
    }
    let message = format!(
        "strategies[\"{name}\"]: {method}: found {}, expected acklab.Now(why), acklab.At(nanoseconds, why) or acklab.Hold()",
        returned.repr()?
    );
    Err(UsageError::new_err(message))
}

/// Returns the reason for an immediate ACK. `method` returned the name of the reason.
pub(super) fn why(
    name: &str,
    method: &str,
    reasons: &mut Vec<String>,
    returned: &Bound<'_, PyAny>,
) -> PyResult<Reason> {
    match returned.extract::<String>() {
        Ok(own) => reason(name, method, reasons, &Why::new(own)),
        Err(_) => Err(UsageError::new_err(format!(
            "strategies[\"{name}\"]: {method}: found {}, expected a reason or None",
            returned.repr()?
        ))),
    }
}

/// Returns the reason `why`. For a custom reason, returns its index in `reasons`, to which a new
/// reason is added.
fn reason(name: &str, method: &str, reasons: &mut Vec<String>, why: &Why) -> PyResult<Reason> {
    let own = match why {
        Why::Known(reason) => return Ok(*reason),
        Why::Custom(own) => own,
    };
    let index = match reasons.iter().position(|known| known == own) {
        Some(index) => index,
        None if reasons.len() < Reason::MAX_CUSTOM => {
            reasons.push(own.clone());
            reasons.len() - 1
        }
        None => {
            let message = format!(
                "strategies[\"{name}\"]: {method}: found \"{own}\", expected one of the {} reasons that it gave before: {}",
                Reason::MAX_CUSTOM,
                reasons.join(", ")
            );
            return Err(UsageError::new_err(message));
        }
    };
    Ok(Reason::Custom(OwnReason::new(index)))
}
