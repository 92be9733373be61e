//! An ACK policy written in Python.

use super::{Fault, optional, required, seed};
use crate::errors::UsageError;
use acklab_base::{Duration, Instant};
use acklab_transport::ack::{self, AckPolicy, Arrival as Meaning, Decision, Held, Reason, Span};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// What a policy is given at its birth.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
pub(crate) struct PolicyStart {
    mss: u64,
    seed: u64,
}

/// What one segment meant to the receiver.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct Arrival(Meaning);

#[pymethods]
impl Arrival {
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0 {
            Meaning::InOrder => intern!(py, "in-order"),
            Meaning::OutOfOrder => intern!(py, "out-of-order"),
            Meaning::FillsGap { .. } => intern!(py, "fills-gap"),
            Meaning::Duplicate => intern!(py, "duplicate"),
        }
    }

    #[getter]
    const fn closes_gap(&self) -> bool {
        matches!(self.0, Meaning::FillsGap { closed: true })
    }

    fn __repr__(&self) -> String {
        format!("Arrival({:?})", self.0)
    }
}

/// What has arrived, and what of it is not yet acknowledged.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct Ledger {
    segments: u32,
    bytes: u64,
    since: Option<u64>,
    newest: u64,
    full_size: u64,
    arrived_segments: u64,
    arrived_bytes: u64,
    total_segments: u64,
    total_bytes: u64,
    last: (u64, u64),
    highest: (u64, u64),
    reported: (u64, u64),
    next: u64,
    beyond: Vec<(u64, u64)>,
    has_sack: bool,
    handshake_rtt: Option<u64>,
    srtt: Option<u64>,
    min_rtt: Option<u64>,
    delivery_rate: Option<u64>,
}

impl Ledger {
    fn new(ledger: &ack::Ledger, held: Held<'_>) -> Self {
        let span = |span: Span| (span.start, span.end);
        let round_trip = ledger.round_trip.as_deref();
        Self {
            segments: ledger.segments,
            bytes: ledger.bytes,
            since: ledger.since.map(Instant::as_nanos),
            newest: ledger.newest.as_nanos(),
            full_size: ledger.full_size,
            arrived_segments: ledger.arrived.segments,
            arrived_bytes: ledger.arrived.octets,
            total_segments: ledger.total.segments,
            total_bytes: ledger.total.octets,
            last: span(ledger.last),
            highest: span(ledger.highest),
            reported: span(ledger.reported),
            next: held.next,
            beyond: held.beyond.iter().map(|range| (range.start, range.end)).collect(),
            has_sack: held.sack,
            handshake_rtt: round_trip.and_then(ack::RoundTrip::handshake).map(Duration::as_nanos),
            srtt: round_trip.and_then(ack::RoundTrip::smoothed).map(Duration::as_nanos),
            min_rtt: round_trip.and_then(ack::RoundTrip::least).map(Duration::as_nanos),
            delivery_rate: ledger
                .delivery
                .as_deref()
                .and_then(ack::Delivery::rate)
                .map(|octets| octets.saturating_mul(8)),
        }
    }
}

#[pymethods]
impl Ledger {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// Why a policy acknowledges: for a reason that others have too, or for one of its own.
#[derive(Debug)]
enum Why {
    Known(Reason),
    Own(String),
}

impl Why {
    fn new(name: String) -> Self {
        match Reason::ALL.into_iter().find(|reason| reason.name() == name) {
            Some(reason) => Self::Known(reason),
            None => Self::Own(name),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Known(reason) => reason.name(),
            Self::Own(name) => name,
        }
    }
}

/// Acknowledge at once.
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

/// Acknowledge with what follows.
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

/// The policy of one flow.
pub(super) struct PythonPolicy {
    name: String,
    /// None if it could not be made.
    methods: Option<Methods>,
    /// The reasons of its own that it has given so far, by number.
    reasons: Vec<String>,
    fault: Fault,
}

struct Methods {
    decide: Py<PyAny>,
    on_ack_sent: Option<Py<PyAny>>,
    on_first_mark: Option<Py<PyAny>>,
    on_window_reduced: Option<Py<PyAny>>,
    meters: Meters,
}

/// What the receiver is to measure for the policy.
struct Meters {
    /// For so long the shortest round trip counts, if round trips are measured.
    rtt_window: Option<Duration>,
    /// The delivery rate is the largest of so many round trips, if it is measured.
    bandwidth_window: Option<u32>,
    /// So many rates are taken in a round trip.
    bandwidth_intervals: u32,
}

/// The rates that a round trip gives if the policy does not say: β of the TACK policy.
const INTERVALS: u32 = 4;

impl Meters {
    fn of(policy: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let rtt_window = meter(policy, name, "rtt_window")?;
        let bandwidth_window = meter(policy, name, "bandwidth_window")?;
        if bandwidth_window.is_some() && rtt_window.is_none() {
            return Err(UsageError::new_err(format!(
                "strategies[\"{name}\"]: bandwidth_window counts round trips: expected rtt_window as well, in nanoseconds"
            )));
        }
        Ok(Self {
            rtt_window: rtt_window.map(Duration::from_nanos),
            bandwidth_window,
            bandwidth_intervals: meter(policy, name, "bandwidth_intervals")?.unwrap_or(INTERVALS),
        })
    }
}

/// The whole number above zero that the policy says of a meter, if it says one.
fn meter<T>(policy: &Bound<'_, PyAny>, name: &str, key: &str) -> PyResult<Option<T>>
where
    T: Default + PartialEq + for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let Some(value) = policy.getattr_opt(key)? else { return Ok(None) };
    let value = value.extract::<Option<T>>()?;
    if value.as_ref().is_some_and(|value| *value == T::default()) {
        let message = format!("strategies[\"{name}\"]: {key}: found 0, expected a whole number of at least 1, or None");
        return Err(UsageError::new_err(message));
    }
    Ok(value)
}

impl PythonPolicy {
    pub(super) fn new(factory: &Py<PyAny>, name: &str, start: &ack::Start, fault: &Fault) -> Self {
        let methods = fault.unless(|py| {
            let policy = factory.bind(py).call1((PolicyStart { mss: start.mss, seed: seed(&start.random) },))?;
            Ok(Methods {
                decide: required(&policy, name, "decide", "an ACK policy")?,
                on_ack_sent: optional(&policy, "AckPolicy", "on_ack_sent")?,
                on_first_mark: optional(&policy, "AckPolicy", "on_first_mark")?,
                on_window_reduced: optional(&policy, "AckPolicy", "on_window_reduced")?,
                meters: Meters::of(&policy, name)?,
            })
        });
        Self { name: name.to_owned(), methods, reasons: Vec::new(), fault: fault.clone() }
    }
}

impl AckPolicy for PythonPolicy {
    fn decide(&mut self, now: Instant, arrival: &Meaning, ledger: &ack::Ledger, held: Held<'_>) -> Decision {
        let Self { name, methods: Some(methods), reasons, fault } = self else { return Decision::Hold };
        let decided = fault.unless(|py| {
            let facts = (now.as_nanos(), Arrival(*arrival), Ledger::new(ledger, held));
            let answer = methods.decide.bind(py).call1(facts)?;
            decision(name, reasons, &answer)
        });
        decided.unwrap_or(Decision::Hold)
    }

    fn ledger(&self) -> ack::Ledger {
        let ledger = ack::Ledger::default();
        let Some(Methods { meters, .. }) = &self.methods else { return ledger };
        let Some(rtt_window) = meters.rtt_window else { return ledger };
        let ledger = ledger.with_round_trip(rtt_window);
        match meters.bandwidth_window {
            Some(round_trips) => ledger.with_delivery(meters.bandwidth_intervals, round_trips),
            None => ledger,
        }
    }

    fn on_first_mark(&mut self) {
        if let Some(Methods { on_first_mark: Some(on_first_mark), .. }) = &self.methods {
            self.fault.unless(|py| on_first_mark.bind(py).call0().map(|_| ()));
        }
    }

    fn on_window_reduced(&mut self) {
        if let Some(Methods { on_window_reduced: Some(on_window_reduced), .. }) = &self.methods {
            self.fault.unless(|py| on_window_reduced.bind(py).call0().map(|_| ()));
        }
    }

    fn on_ack_sent(&mut self, now: Instant) {
        if let Some(Methods { on_ack_sent: Some(on_ack_sent), .. }) = &self.methods {
            self.fault.unless(|py| on_ack_sent.bind(py).call1((now.as_nanos(),)).map(|_| ()));
        }
    }

    fn reason(&self, own: u8) -> &str {
        self.reasons.get(usize::from(own)).map_or("custom", String::as_str)
    }
}

fn decision(name: &str, reasons: &mut Vec<String>, answer: &Bound<'_, PyAny>) -> PyResult<Decision> {
    if let Ok(now) = answer.cast::<Now>() {
        return Ok(Decision::Now(reason(name, reasons, &now.get().0)?));
    }
    if let Ok(at) = answer.cast::<At>() {
        return Ok(Decision::At(Instant::from_nanos(at.get().0), reason(name, reasons, &at.get().1)?));
    }
    if answer.is_instance_of::<Hold>() {
        return Ok(Decision::Hold);
    }
    let message = format!(
        "strategies[\"{name}\"]: decide: found {}, expected acklab.Now(why), acklab.At(nanoseconds, why) or acklab.Hold()",
        answer.repr()?
    );
    Err(UsageError::new_err(message))
}

fn reason(name: &str, reasons: &mut Vec<String>, why: &Why) -> PyResult<Reason> {
    let own = match why {
        Why::Known(reason) => return Ok(*reason),
        Why::Own(own) => own,
    };
    let number = match reasons.iter().position(|known| known == own) {
        Some(number) => number,
        None if reasons.len() < Reason::MOST_CUSTOM => {
            reasons.push(own.clone());
            reasons.len() - 1
        }
        None => {
            let message = format!(
                "strategies[\"{name}\"]: decide: found \"{own}\", expected one of the {} reasons that it gave before: {}",
                Reason::MOST_CUSTOM,
                reasons.join(", ")
            );
            return Err(UsageError::new_err(message));
        }
    };
    Ok(Reason::Custom(number as u8))
}
