//! A rule of requesting ACKs written in Python.

use super::facts::phase_name;
use super::{Fault, required, seed};
use crate::errors::UsageError;
use acklab_base::{Duration, Instant};
use acklab_transport::quic::ask::{self, AskRule, Request};
use pyo3::prelude::*;

/// The argument of a rule's constructor.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
pub(crate) struct AskStart {
    mss: u64,
    seed: u64,
}

/// The sender's facts about its path.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct AskPath {
    mss: u64,
    cwnd: u64,
    in_slow_start: bool,
    is_reno: bool,
    phase: Option<&'static str>,
    srtt: u64,
    min_rtt: u64,
    delivery_rate: Option<u64>,
    recoveries: u64,
    lost_acks: u64,
}

impl AskPath {
    fn new(path: &ask::Path) -> Self {
        // Each field is named, so that a new field causes a compile error until Python provides it.
        let ask::Path { mss, cwnd, in_slow_start, is_reno, phase, srtt, min_rtt, rate, recoveries, lost_acks } = *path;
        Self {
            mss,
            cwnd,
            in_slow_start,
            is_reno,
            phase: phase.map(phase_name),
            srtt: srtt.as_nanos(),
            min_rtt: min_rtt.as_nanos(),
            delivery_rate: rate.map(|octets| octets.saturating_mul(8)),
            recoveries,
            lost_acks,
        }
    }
}

#[pymethods]
impl AskPath {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// The request to the peer.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct AckRequest {
    threshold: u64,
    max_ack_delay: u64,
    reordering: u64,
}

#[pymethods]
impl AckRequest {
    #[new]
    #[pyo3(signature = (threshold, max_ack_delay, reordering = 1))]
    const fn new(threshold: u64, max_ack_delay: u64, reordering: u64) -> Self {
        Self { threshold, max_ack_delay, reordering }
    }

    fn __repr__(&self) -> String {
        let Self { threshold, max_ack_delay, reordering } = self;
        format!("AckRequest({threshold}, {max_ack_delay}, {reordering})")
    }
}

/// The rule of one end.
pub(super) struct PythonAsk {
    name: String,
    /// The method `request`. `None` if the constructor failed.
    request: Option<Py<PyAny>>,
    fault: Fault,
}

impl PythonAsk {
    pub(super) fn new(factory: &Py<PyAny>, name: &str, start: &ask::Start, fault: &Fault) -> Self {
        let request = fault.unless(|py| {
            let rule = factory.bind(py).call1((AskStart { mss: start.mss, seed: seed(&start.random) },))?;
            required(&rule, name, "request", "a rule of requesting ACKs")
        });
        Self { name: name.to_owned(), request, fault: fault.clone() }
    }
}

impl AskRule for PythonAsk {
    fn request(&mut self, now: Instant, path: &ask::Path) -> Option<Request> {
        let Self { name, request: Some(request), fault } = self else { return None };
        let asked = fault.unless(|py| {
            let returned = request.bind(py).call1((now.as_nanos(), AskPath::new(path)))?;
            if returned.is_none() {
                return Ok(None);
            }
            if let Ok(asked) = returned.cast::<AckRequest>() {
                let AckRequest { threshold, max_ack_delay, reordering } = *asked.get();
                return Ok(Some(Request { threshold, max_ack_delay: Duration::from_nanos(max_ack_delay), reordering }));
            }
            let message = format!(
                "strategies[\"{name}\"]: request: found {}, expected acklab.AckRequest(threshold, nanoseconds) or None",
                returned.repr()?
            );
            Err(UsageError::new_err(message))
        });
        asked.flatten()
    }
}
