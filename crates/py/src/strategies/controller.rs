//! A congestion controller written in Python.

use super::facts::{Ack, Lost, Sent, Window, state_name};
use super::{Fault, optional, required, seed};
use crate::errors::UsageError;
use acklab_base::{Duration, Instant, Rate};
use acklab_transport::cc::{self, CongestionControl, Growth, Signal};
use acklab_transport::recovery::CongestionState;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The argument of a controller's constructor.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
pub(crate) struct ControllerStart {
    mss: u64,
    initial_window: u64,
    growth: &'static str,
    paced: bool,
    seed: u64,
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
    /// `None` if the constructor failed.
    methods: Option<Methods>,
    fault: Fault,
}

struct Methods {
    /// The window that Python sees. It is set to the sender's window at each call.
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
    governs_window: bool,
    wants_delivery_rate: bool,
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
            governs_window: flag("governs_window")?,
            wants_delivery_rate: flag("wants_delivery_rate")?,
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
        let methods = fault.unless(|py| {
            let growth = match start.growth {
                Growth::PerAck => "per-ack",
                Growth::PerSegment => "per-segment",
                Growth::ByteCounting => "byte-counting",
            };
            let (mss, initial_window) = (start.mss, start.initial_window);
            let start = ControllerStart { mss, initial_window, growth, paced: start.paced, seed: seed(&start.random) };
            Methods::of(&factory.bind(py).call1((start,))?, name)
        });
        Self { name: name.to_owned(), methods, fault: fault.clone() }
    }

    /// Calls a method that may change the window, and copies the window back.
    fn call_with_window(
        &self,
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
