//! An ACK policy written in Python.

mod decision;
mod ledger;

pub(crate) use decision::{At, Hold, Now};
pub(crate) use ledger::{Arrival, Ledger};

use super::{Fault, optional, required, seed};
use crate::errors::UsageError;
use acklab_base::{Duration, Instant};
use acklab_transport::ack::{self, AckPolicy, Decision, Held, TcpEvents};
use pyo3::prelude::*;

/// The argument of a policy's constructor.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
pub(crate) struct PolicyStart {
    mss: u64,
    seed: u64,
}

/// The policy of one flow.
pub(super) struct PythonPolicy {
    name: String,
    /// `None` if the constructor failed.
    methods: Option<Methods>,
    /// The custom reasons that the policy has given so far, by index.
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

/// The measurements that the policy needs from the receiver.
struct Meters {
    /// The window of the minimum RTT, if RTTs are measured.
    rtt_window: Option<Duration>,
    /// The window of the maximum delivery rate in round trips, if the rate is measured.
    bandwidth_window: Option<u32>,
    /// The number of rate samples per round trip.
    bandwidth_intervals: u32,
}

/// The default number of rate samples per round trip: β of the TACK policy.
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

/// Returns the attribute `key` of the policy: a whole number above zero, or `None`.
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
    fn decide(&mut self, now: Instant, arrival: &ack::Arrival, ledger: &ack::Ledger, held: Held<'_>) -> Decision {
        let Self { name, methods: Some(methods), reasons, fault } = self else { return Decision::Hold };
        let decided = fault.unless(|py| {
            let facts = (now.as_nanos(), Arrival(*arrival), Ledger::new(ledger, held));
            let returned = methods.decide.bind(py).call1(facts)?;
            decision::decision(name, reasons, &returned)
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

    fn tcp_events(&mut self) -> Option<&mut dyn TcpEvents> {
        Some(self)
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

impl TcpEvents for PythonPolicy {
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
}
