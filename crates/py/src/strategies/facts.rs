//! The arguments of a congestion controller written in Python.

use acklab_base::{Duration, Instant};
use acklab_transport::cc::{self, Phase};
use acklab_transport::recovery::CongestionState;
use acklab_transport::recovery::delivery_rate::Sample;
use acklab_transport::recovery::transmission::{self, Outcome};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The congestion window, in octets.
#[pyclass(module = "acklab.strategies")]
#[derive(Debug, Default)]
pub(crate) struct Window {
    #[pyo3(get, set)]
    pub(super) cwnd: u64,
    #[pyo3(get, set)]
    pub(super) ssthresh: u64,
    #[pyo3(get)]
    pub(super) mss: u64,
}

#[pymethods]
impl Window {
    #[getter]
    const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// An ACK.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct Ack(pub(super) cc::Ack);

#[pymethods]
impl Ack {
    #[getter]
    const fn now(&self) -> u64 {
        self.0.now.as_nanos()
    }

    #[getter]
    const fn acked_bytes(&self) -> u64 {
        self.0.acked.bytes
    }

    #[getter]
    const fn acked_segments(&self) -> u64 {
        self.0.acked.segments
    }

    #[getter]
    const fn delivered(&self) -> u64 {
        self.0.delivered
    }

    #[getter]
    const fn total_delivered(&self) -> u64 {
        self.0.total_delivered
    }

    #[getter]
    const fn lost(&self) -> u64 {
        self.0.lost
    }

    #[getter]
    const fn marked(&self) -> u64 {
        self.0.marked
    }

    #[getter]
    const fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    const fn prior_in_flight(&self) -> u64 {
        self.0.prior_in_flight
    }

    #[getter]
    const fn acked_to(&self) -> u64 {
        self.0.acked_to.0
    }

    #[getter]
    const fn sent_to(&self) -> u64 {
        self.0.sent_to.0
    }

    #[getter]
    const fn una(&self) -> u64 {
        self.acked_to()
    }

    #[getter]
    const fn nxt(&self) -> u64 {
        self.sent_to()
    }

    #[getter]
    fn rtt(&self) -> Option<u64> {
        self.0.rtt.map(Duration::as_nanos)
    }

    #[getter]
    fn newest_rtt(&self) -> Option<u64> {
        self.0.newest_rtt.map(Duration::as_nanos)
    }

    #[getter]
    fn newest_sent_at(&self) -> Option<u64> {
        self.0.newest_sent_at.map(Instant::as_nanos)
    }

    #[getter]
    fn srtt(&self) -> Option<u64> {
        self.0.srtt.map(Duration::as_nanos)
    }

    #[getter]
    fn min_rtt(&self) -> Option<u64> {
        self.0.min_rtt.map(Duration::as_nanos)
    }

    #[getter]
    fn rate(&self) -> Option<RateSample> {
        self.0.rate.map(RateSample)
    }

    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        state_name(py, self.0.state)
    }

    #[getter]
    const fn has_sack(&self) -> bool {
        self.0.has_sack
    }

    #[getter]
    const fn window_limited(&self) -> bool {
        self.0.window_limited
    }

    #[getter]
    const fn departure(&self) -> u64 {
        self.0.departure.as_nanos()
    }

    #[getter]
    const fn may_grow(&self) -> bool {
        self.0.may_grow
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// The delivery rate sample of an ACK.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct RateSample(Sample);

#[pymethods]
impl RateSample {
    #[getter]
    const fn bits_per_second(&self) -> u64 {
        self.0.bits_per_second()
    }

    #[getter]
    const fn delivered(&self) -> u64 {
        self.0.delivered
    }

    #[getter]
    const fn interval(&self) -> u64 {
        self.0.interval.as_nanos()
    }

    #[getter]
    const fn volume(&self) -> u64 {
        self.0.volume
    }

    #[getter]
    const fn send_elapsed(&self) -> u64 {
        self.0.send_elapsed.as_nanos()
    }

    #[getter]
    fn reported_interval(&self) -> Option<u64> {
        self.0.reported_interval.map(Duration::as_nanos)
    }

    #[getter]
    const fn since_silence(&self) -> u64 {
        self.0.since_silence.as_nanos()
    }

    #[getter]
    const fn prior_delivered(&self) -> u64 {
        self.0.prior_delivered
    }

    #[getter]
    const fn tx_in_flight(&self) -> u64 {
        self.0.tx_in_flight
    }

    #[getter]
    const fn lost(&self) -> u64 {
        self.0.lost
    }

    #[getter]
    const fn is_app_limited(&self) -> bool {
        self.0.is_app_limited
    }

    #[getter]
    const fn is_retransmission(&self) -> bool {
        self.0.is_retransmission
    }

    #[getter]
    const fn rtt(&self) -> u64 {
        self.0.rtt.as_nanos()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A transmission.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct Sent(pub(super) cc::Sent);

#[pymethods]
impl Sent {
    #[getter]
    const fn now(&self) -> u64 {
        self.0.now.as_nanos()
    }

    #[getter]
    const fn bytes(&self) -> u64 {
        self.0.bytes
    }

    #[getter]
    const fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    const fn end(&self) -> u64 {
        self.0.end.0
    }

    #[getter]
    const fn is_retransmission(&self) -> bool {
        self.0.is_retransmission
    }

    #[getter]
    const fn is_app_limited(&self) -> bool {
        self.0.is_app_limited
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A transmission that was marked lost.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct Lost(pub(super) cc::Lost);

#[pymethods]
impl Lost {
    #[getter]
    const fn now(&self) -> u64 {
        self.0.now.as_nanos()
    }

    #[getter]
    const fn sent_at(&self) -> u64 {
        self.0.sent_at.as_nanos()
    }

    #[getter]
    const fn bytes(&self) -> u64 {
        self.0.bytes
    }

    #[getter]
    const fn start(&self) -> u64 {
        self.0.start.0
    }

    #[getter]
    const fn end(&self) -> u64 {
        self.0.end.0
    }

    #[getter]
    const fn total_delivered(&self) -> u64 {
        self.0.total_delivered
    }

    #[getter]
    const fn total_lost(&self) -> u64 {
        self.0.total_lost
    }

    #[getter]
    const fn tx_in_flight(&self) -> u64 {
        self.0.stamp.in_flight
    }

    #[getter]
    const fn prior_delivered(&self) -> u64 {
        self.0.stamp.delivered
    }

    #[getter]
    const fn prior_lost(&self) -> u64 {
        self.0.stamp.lost
    }

    #[getter]
    const fn delivered_at(&self) -> u64 {
        self.0.stamp.delivered_at.as_nanos()
    }

    #[getter]
    const fn first_sent_at(&self) -> u64 {
        self.0.stamp.first_sent_at.as_nanos()
    }

    #[getter]
    fn received_at(&self) -> Option<u64> {
        Some(self.0.stamp.received_at.as_nanos()).filter(|at| *at > 0)
    }

    #[getter]
    const fn is_app_limited(&self) -> bool {
        self.0.stamp.is_app_limited
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A transmission and its outcome.
#[pyclass(module = "acklab.strategies", frozen)]
#[derive(Debug)]
pub(crate) struct Transmission(pub(super) transmission::Transmission);

#[pymethods]
impl Transmission {
    #[getter]
    const fn sent_at(&self) -> u64 {
        self.0.sent_at.as_nanos()
    }

    #[getter]
    fn outcome<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0.outcome {
            Outcome::Delivered { was_lost: _ } => intern!(py, "delivered"),
            Outcome::Unknown => intern!(py, "unknown"),
        }
    }

    #[getter]
    const fn was_lost(&self) -> bool {
        matches!(self.0.outcome, Outcome::Delivered { was_lost: true })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Returns the name of a controller's phase in Python.
pub(super) const fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Probes => "probes",
        Phase::Cruises => "cruises",
        Phase::ProbesRtt => "probes-rtt",
    }
}

/// Returns the phase of this name.
pub(super) fn phase_named(name: &str) -> Option<Phase> {
    [Phase::Probes, Phase::Cruises, Phase::ProbesRtt].into_iter().find(|phase| phase_name(*phase) == name)
}

/// Returns the name of a congestion state in Python.
pub(super) fn state_name(py: Python<'_>, state: CongestionState) -> &Bound<'_, PyString> {
    match state {
        CongestionState::Open => intern!(py, "open"),
        CongestionState::Disorder => intern!(py, "disorder"),
        CongestionState::Reduced => intern!(py, "reduced"),
        CongestionState::Recovery => intern!(py, "recovery"),
        CongestionState::Loss => intern!(py, "loss"),
    }
}
