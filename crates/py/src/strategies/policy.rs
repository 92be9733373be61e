//! An ACK policy written in Python.

mod decision;
mod ledger;

pub(crate) use decision::{At, Hold, Now};
pub(crate) use ledger::{Arrival, Ledger};

use super::{Fault, optional, required, seed};
use crate::errors::UsageError;
use acklab_base::{Duration, Instant};
use acklab_transport::ack::tack::law::Law;
use acklab_transport::ack::{self, AckPolicy, Decision, Held, Reason, Room, TcpEvents};
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
    /// The methods. `None` if the constructor failed.
    methods: Option<Methods>,
    /// The custom reasons that the policy has returned up to now, by index.
    reasons: Vec<String>,
    fault: Fault,
}

struct Methods {
    decide: Py<PyAny>,
    on_ack_sent: Option<Py<PyAny>>,
    on_frequency: Option<Py<PyAny>>,
    tcp: TcpMethods,
    goes_by_time: bool,
    meters: Meters,
}

/// The methods for events that only TCP has.
struct TcpMethods {
    on_first_mark: Option<Py<PyAny>>,
    on_window_reduced: Option<Py<PyAny>>,
    on_window_growth: Option<Py<PyAny>>,
    on_push: Option<Py<PyAny>>,
    on_data_sent: Option<Py<PyAny>>,
    on_unread: Option<Py<PyAny>>,
    on_read: Option<Py<PyAny>>,
    on_emptied: Option<Py<PyAny>>,
    on_fin: Option<Py<PyAny>>,
}

impl TcpMethods {
    fn of(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let method = |method: &str| optional(policy, "AckPolicy", method);
        Ok(Self {
            on_first_mark: method("on_first_mark")?,
            on_window_reduced: method("on_window_reduced")?,
            on_window_growth: method("on_window_growth")?,
            on_push: method("on_push")?,
            on_data_sent: method("on_data_sent")?,
            on_unread: method("on_unread")?,
            on_read: method("on_read")?,
            on_emptied: method("on_emptied")?,
            on_fin: method("on_fin")?,
        })
    }
}

/// The measurements that the policy needs from the receiver.
struct Meters {
    /// The time window of the minimum RTT. `None` if RTTs are not measured.
    rtt_window: Option<Duration>,
    /// The time window of the maximum delivery rate, in round trips. `None` if the rate is not
    /// measured.
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
                on_frequency: optional(&policy, "AckPolicy", "on_frequency")?,
                tcp: TcpMethods::of(&policy)?,
                goes_by_time: policy.getattr_opt("goes_by_time")?.map_or(Ok(false), |flag| flag.extract())?,
                meters: Meters::of(&policy, name)?,
            })
        });
        Self { name: name.to_owned(), methods, reasons: Vec::new(), fault: fault.clone() }
    }

    /// Calls a method that returns nothing.
    fn call(
        &self,
        which: impl FnOnce(&Methods) -> &Option<Py<PyAny>>,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        if let Some(method) = self.methods.as_ref().and_then(|methods| which(methods).as_ref()) {
            self.fault.unless(|py| call(method.bind(py)));
        }
    }

    /// Calls a method that may return a value. `read` converts the value. Returns `None` if the
    /// method returns none.
    fn consult<T>(
        &mut self,
        which: impl FnOnce(&TcpMethods) -> &Option<Py<PyAny>>,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
        read: impl FnOnce(&str, &mut Vec<String>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let Self { name, methods: Some(methods), reasons, fault } = self else { return None };
        let method = which(&methods.tcp).as_ref()?;
        let returned = fault.unless(|py| {
            let returned = call(method.bind(py))?;
            if returned.is_none() { Ok(None) } else { read(name, reasons, &returned).map(Some) }
        });
        returned.flatten()
    }
}

impl AckPolicy for PythonPolicy {
    fn decide(&mut self, now: Instant, arrival: &ack::Arrival, ledger: &ack::Ledger, held: Held<'_>) -> Decision {
        let Self { name, methods: Some(methods), reasons, fault } = self else { return Decision::Hold };
        let decided = fault.unless(|py| {
            let facts = (now.as_nanos(), Arrival::new(*arrival, ledger), Ledger::new(ledger, held));
            let returned = methods.decide.bind(py).call1(facts)?;
            decision::decision(name, "decide", reasons, &returned)
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

    fn goes_by_time(&self) -> bool {
        self.methods.as_ref().is_some_and(|methods| methods.goes_by_time)
    }

    fn tcp_events(&mut self) -> Option<&mut dyn TcpEvents> {
        Some(self)
    }

    fn on_ack_sent(&mut self, now: Instant) {
        self.call(|methods| &methods.on_ack_sent, |method| method.call1((now.as_nanos(),)).map(|_| ()));
    }

    fn on_frequency(&mut self, law: Law) {
        let Law { packets, beta } = law;
        self.call(|methods| &methods.on_frequency, |method| method.call1((packets, beta)).map(|_| ()));
    }

    fn reason(&self, own: u8) -> &str {
        self.reasons.get(usize::from(own)).map_or("custom", String::as_str)
    }
}

impl TcpEvents for PythonPolicy {
    fn on_first_mark(&mut self) {
        self.call(|methods| &methods.tcp.on_first_mark, |method| method.call0().map(|_| ()));
    }

    fn on_window_reduced(&mut self) {
        self.call(|methods| &methods.tcp.on_window_reduced, |method| method.call0().map(|_| ()));
    }

    fn on_window_growth(&mut self) {
        self.call(|methods| &methods.tcp.on_window_growth, |method| method.call0().map(|_| ()));
    }

    fn on_push(&mut self, is_read: bool) {
        self.call(|methods| &methods.tcp.on_push, |method| method.call1((is_read,)).map(|_| ()));
    }

    fn on_data_sent(&mut self, now: Instant) {
        self.call(|methods| &methods.tcp.on_data_sent, |method| method.call1((now.as_nanos(),)).map(|_| ()));
    }

    fn on_unread(&mut self, room: Room) {
        let Room { is_short, shrinks } = room;
        self.call(|methods| &methods.tcp.on_unread, |method| method.call1((is_short, shrinks)).map(|_| ()));
    }

    fn on_read(&mut self, ledger: &ack::Ledger, held: Held<'_>) -> Option<Reason> {
        self.consult(
            |methods| &methods.on_read,
            |method| method.call1((Ledger::new(ledger, held),)),
            |name, reasons, returned| decision::why(name, "on_read", reasons, returned),
        )
    }

    fn on_emptied(&mut self) -> Option<Reason> {
        self.consult(
            |methods| &methods.on_emptied,
            |method| method.call0(),
            |name, reasons, returned| decision::why(name, "on_emptied", reasons, returned),
        )
    }

    fn on_fin(&mut self, now: Instant, ledger: &ack::Ledger, held: Held<'_>) -> Option<Decision> {
        let decided = self.consult(
            |methods| &methods.on_fin,
            |method| method.call1((now.as_nanos(), Ledger::new(ledger, held))),
            |name, reasons, returned| decision::decision(name, "on_fin", reasons, returned),
        );
        decided.map(|decision| match decision {
            Decision::At(at, reason) => Decision::At(at.max(now), reason),
            decision => decision,
        })
    }
}
