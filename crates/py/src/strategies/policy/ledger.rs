//! The arguments of an ACK policy written in Python: an arrival and the ledger.

use acklab_base::{Duration, Instant};
use acklab_transport::ack::{self, Held, Span};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The meaning of a segment for the receiver.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct Arrival(pub(super) ack::Arrival);

#[pymethods]
impl Arrival {
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0 {
            ack::Arrival::InOrder => intern!(py, "in-order"),
            ack::Arrival::OutOfOrder => intern!(py, "out-of-order"),
            ack::Arrival::FillsGap { .. } => intern!(py, "fills-gap"),
            ack::Arrival::Duplicate => intern!(py, "duplicate"),
        }
    }

    #[getter]
    const fn closes_gap(&self) -> bool {
        matches!(self.0, ack::Arrival::FillsGap { closed: true })
    }

    fn __repr__(&self) -> String {
        format!("Arrival({:?})", self.0)
    }
}

/// The segments that have arrived, and those that are not yet acknowledged.
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
    pub(super) fn new(ledger: &ack::Ledger, held: Held<'_>) -> Self {
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
