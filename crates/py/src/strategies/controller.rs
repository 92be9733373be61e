//! A congestion controller written in Python.

use super::facts::{Ack, Lost, Sent, Transmission, Window, phase_named, state_name};
use super::{Fault, optional, required, seed};
use crate::errors::UsageError;
use acklab_base::{Duration, Instant, Rate};
use acklab_transport::ack::tack::law::Law;
use acklab_transport::cc::{self, CongestionControl, Dialect, Growth, Phase, Signal, SlowStart};
use acklab_transport::pacing::Burst;
use acklab_transport::recovery::{CongestionState, transmission};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The size of a send buffer in congestion windows. It is the default of a controller in Rust
/// (`CongestionControl::send_buffer_windows`).
const SEND_BUFFER_WINDOWS: u64 = 2;

/// The argument of a controller's constructor.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
pub(crate) struct ControllerStart {
    mss: u64,
    initial_window: u64,
    growth: &'static str,
    slow_start: &'static str,
    dialect: &'static str,
    paced: bool,
    burst: Option<(u32, u64, bool)>,
    seed: u64,
}

impl ControllerStart {
    fn new(start: &cc::Start) -> Self {
        // Each field is named, so that a new field causes a compile error until Python provides it.
        let cc::Start { mss, initial_window, growth, slow_start, dialect, paced, burst, random } = start;
        Self {
            mss: *mss,
            initial_window: *initial_window,
            growth: match growth {
                Growth::PerAck => "per-ack",
                Growth::PerSegment => "per-segment",
                Growth::ByteCounting => "byte-counting",
            },
            slow_start: match slow_start {
                SlowStart::Classic {} => "classic",
                SlowStart::HystartPlusPlus(_) => "hystart-plus-plus",
                SlowStart::LinuxHystart(_) => "linux-hystart",
                SlowStart::Ns3Hystart(_) => "ns3-hystart",
                SlowStart::QuicheHystart(_) => "quiche-hystart",
            },
            dialect: match dialect {
                Dialect::Reference => "reference",
                Dialect::Linux => "linux",
                Dialect::Ns3 => "ns3",
            },
            paced: *paced,
            burst: burst.map(|Burst { packets, time, catches_up }| (packets, time.as_nanos(), catches_up)),
            seed: seed(random),
        }
    }
}

fn signal_name(py: Python<'_>, signal: Signal) -> &Bound<'_, PyString> {
    match signal {
        Signal::Loss => intern!(py, "loss"),
        Signal::Mark => intern!(py, "mark"),
        Signal::Timeout => intern!(py, "timeout"),
    }
}

/// The controller of one flow.
pub(super) struct PythonController {
    name: String,
    /// The methods. `None` if the constructor failed.
    methods: Option<Methods>,
    /// The deadline after the last call.
    deadline: Option<Instant>,
    fault: Fault,
}

struct Methods {
    /// The window object in Python. It is set to the sender's window at each call.
    window: Py<Window>,
    on_ack: Py<PyAny>,
    ssthresh: Py<PyAny>,
    on_established: Option<Py<PyAny>>,
    on_state: Option<Py<PyAny>>,
    on_undo: Option<Py<PyAny>>,
    on_lost: Option<Py<PyAny>>,
    on_sent: Option<Py<PyAny>>,
    limits_itself: Option<Py<PyAny>>,
    pacing_rate: Option<Py<PyAny>>,
    on_frequency: Option<Py<PyAny>>,
    on_outcomes: Option<Py<PyAny>>,
    on_deadline: Option<Py<PyAny>>,
    deadline: Option<Py<PyAny>>,
    phase: Option<Py<PyAny>>,
    governs_window: bool,
    wants_delivery_rate: bool,
    send_buffer_windows: u64,
}

impl Methods {
    fn of(controller: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let method = |method: &str| optional(controller, "CongestionController", method);
        let flag = |flag: &str| controller.getattr_opt(flag)?.map_or(Ok(false), |flag| flag.extract::<bool>());
        Ok(Self {
            window: Py::new(controller.py(), Window::default())?,
            on_ack: required(controller, name, "on_ack", "a congestion controller")?,
            ssthresh: required(controller, name, "ssthresh", "a congestion controller")?,
            on_established: method("on_established")?,
            on_state: method("on_state")?,
            on_undo: method("on_undo")?,
            on_lost: method("on_lost")?,
            on_sent: method("on_sent")?,
            limits_itself: method("limits_itself")?,
            pacing_rate: method("pacing_rate")?,
            on_frequency: method("on_frequency")?,
            on_outcomes: method("on_outcomes")?,
            on_deadline: method("on_deadline")?,
            deadline: method("deadline")?,
            phase: method("phase")?,
            governs_window: flag("governs_window")?,
            wants_delivery_rate: flag("wants_delivery_rate")?,
            send_buffer_windows: controller
                .getattr_opt("send_buffer_windows")?
                .map_or(Ok(SEND_BUFFER_WINDOWS), |windows| windows.extract())?,
        })
    }

    /// Copies the sender's window to the Python object.
    fn show<'py>(&self, py: Python<'py>, window: &cc::Window) -> PyResult<&Bound<'py, Window>> {
        let shown = self.window.bind(py);
        *shown.try_borrow_mut()? = Window { cwnd: window.cwnd, ssthresh: window.ssthresh, mss: window.mss };
        Ok(shown)
    }
}

impl PythonController {
    pub(super) fn new(factory: &Py<PyAny>, name: &str, start: &cc::Start, fault: &Fault) -> Self {
        let methods = fault.unless(|py| Methods::of(&factory.bind(py).call1((ControllerStart::new(start),))?, name));
        Self { name: name.to_owned(), methods, deadline: None, fault: fault.clone() }
    }

    /// Reads the deadline after a call that may have changed it.
    fn read_deadline(&mut self) {
        let Some(method) = self.methods.as_ref().and_then(|methods| methods.deadline.as_ref()) else { return };
        let read = self.fault.unless(|py| method.bind(py).call0()?.extract::<Option<u64>>());
        self.deadline = read.flatten().map(Instant::from_nanos);
    }

    /// Calls a method that may change the window, and copies the window back.
    fn call_with_window(
        &mut self,
        window: &mut cc::Window,
        which: impl FnOnce(&Methods) -> Option<&Py<PyAny>>,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, Window>) -> PyResult<()>,
    ) {
        let Some((methods, method)) = self.methods.as_ref().and_then(|methods| Some((methods, which(methods)?))) else {
            return;
        };
        let changed = self.fault.unless(|py| {
            let shown = methods.show(py, window)?;
            call(method.bind(py), shown)?;
            let shown = shown.try_borrow()?;
            Ok((shown.cwnd, shown.ssthresh))
        });
        if let Some(changed) = changed {
            (window.cwnd, window.ssthresh) = changed;
        }
        self.read_deadline();
    }
}

impl CongestionControl for PythonController {
    fn on_established(&mut self, now: Instant, window: &mut cc::Window, rtt: Option<Duration>) {
        self.call_with_window(
            window,
            |methods| methods.on_established.as_ref(),
            |method, window| method.call1((now.as_nanos(), window, rtt.map(Duration::as_nanos))).map(|_| ()),
        );
    }

    fn on_ack(&mut self, window: &mut cc::Window, ack: &cc::Ack) {
        self.call_with_window(
            window,
            |methods| Some(&methods.on_ack),
            |method, window| method.call1((window, Ack(*ack))).map(|_| ()),
        );
    }

    fn ssthresh(&mut self, now: Instant, window: &cc::Window, flight: u64, signal: Signal) -> u64 {
        let Some(methods) = &self.methods else { return window.ssthresh };
        let threshold = self.fault.unless(|py| {
            let arguments = (now.as_nanos(), methods.show(py, window)?, flight, signal_name(py, signal));
            methods.ssthresh.bind(py).call1(arguments)?.extract()
        });
        threshold.unwrap_or(window.ssthresh)
    }

    fn on_state(&mut self, now: Instant, window: &mut cc::Window, state: CongestionState) {
        self.call_with_window(
            window,
            |methods| methods.on_state.as_ref(),
            |method, window| method.call1((now.as_nanos(), window, state_name(method.py(), state))).map(|_| ()),
        );
    }

    fn on_undo(&mut self, now: Instant, window: &mut cc::Window) {
        self.call_with_window(
            window,
            |methods| methods.on_undo.as_ref(),
            |method, window| method.call1((now.as_nanos(), window)).map(|_| ()),
        );
    }

    fn on_lost(&mut self, window: &cc::Window, lost: &cc::Lost) {
        let Some(methods) = &self.methods else { return };
        let Some(on_lost) = &methods.on_lost else { return };
        self.fault.unless(|py| on_lost.bind(py).call1((methods.show(py, window)?, Lost(*lost))).map(|_| ()));
    }

    fn on_sent(&mut self, window: &mut cc::Window, sent: &cc::Sent) {
        self.call_with_window(
            window,
            |methods| methods.on_sent.as_ref(),
            |method, window| method.call1((window, Sent(*sent))).map(|_| ()),
        );
    }

    fn on_frequency(&mut self, law: Law) {
        let Law { packets, beta } = law;
        let Some(method) = self.methods.as_ref().and_then(|methods| methods.on_frequency.as_ref()) else { return };
        self.fault.unless(|py| method.bind(py).call1((packets, beta)).map(|_| ()));
    }

    fn on_outcomes(&mut self, outcomes: &[transmission::Transmission]) {
        let Some(method) = self.methods.as_ref().and_then(|methods| methods.on_outcomes.as_ref()) else { return };
        self.fault.unless(|py| {
            let outcomes: Vec<Transmission> = outcomes.iter().copied().map(Transmission).collect();
            method.bind(py).call1((outcomes,)).map(|_| ())
        });
    }

    fn wants_outcomes(&self) -> bool {
        self.methods.as_ref().is_some_and(|methods| methods.on_outcomes.is_some())
    }

    fn keeps_time(&self) -> bool {
        self.methods.as_ref().is_some_and(|methods| methods.deadline.is_some())
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn on_deadline(&mut self, now: Instant, window: &mut cc::Window, in_flight: u64) {
        self.call_with_window(
            window,
            |methods| methods.on_deadline.as_ref(),
            |method, window| method.call1((now.as_nanos(), window, in_flight)).map(|_| ()),
        );
        if let Some(deadline) = self.deadline.filter(|deadline| *deadline <= now) {
            let (name, found, now) = (&self.name, deadline.as_nanos(), now.as_nanos());
            self.fault.unless(|_| -> PyResult<()> {
                Err(UsageError::new_err(format!(
                    "strategies[\"{name}\"]: deadline: found {found} after on_deadline, expected a time after {now}, or None"
                )))
            });
            self.deadline = None;
        }
    }

    fn send_buffer_windows(&self) -> u64 {
        self.methods.as_ref().map_or(SEND_BUFFER_WINDOWS, |methods| methods.send_buffer_windows)
    }

    fn phase(&self) -> Option<Phase> {
        let method = self.methods.as_ref()?.phase.as_ref()?;
        let phase = self.fault.unless(|py| {
            let Some(name) = method.bind(py).call0()?.extract::<Option<String>>()? else { return Ok(None) };
            phase_named(&name).map(Some).ok_or_else(|| {
                let own = &self.name;
                UsageError::new_err(format!(
                    "strategies[\"{own}\"]: phase: found \"{name}\", expected probes, cruises, probes-rtt or None"
                ))
            })
        });
        phase.flatten()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let method = self.methods.as_ref()?.pacing_rate.as_ref()?;
        let rate = self.fault.unless(|py| {
            let Some(bits) = method.bind(py).call0()?.extract::<Option<u64>>()? else { return Ok(None) };
            let rate = Rate::from_bits_per_second(bits).ok_or_else(|| {
                let name = &self.name;
                UsageError::new_err(format!(
                    "strategies[\"{name}\"]: pacing_rate: found 0, expected bits per second above zero, or None"
                ))
            })?;
            Ok(Some(rate))
        });
        rate.flatten()
    }

    fn limits_itself(&self) -> bool {
        let method = self.methods.as_ref().and_then(|methods| methods.limits_itself.as_ref());
        method.is_some_and(|method| self.fault.unless(|py| method.bind(py).call0()?.extract()).unwrap_or(false))
    }

    fn governs_window(&self) -> bool {
        self.methods.as_ref().is_some_and(|methods| methods.governs_window)
    }

    fn wants_delivery_rate(&self) -> bool {
        self.methods.as_ref().is_some_and(|methods| methods.wants_delivery_rate)
    }
}
