//! The arguments of an ACK policy written in Python: an arrival and the ledger.
//!
//! Each field of the arguments in Rust is named here, so that a new field causes a compile error
//! until Python provides it.

use acklab_base::{Duration, Instant};
use acklab_transport::ack::{self, Held, Packet, Span, Tally};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The newest segment, and its meaning for the receiver.
#[pyclass(module = "acklab.strategies", frozen)]
pub(crate) struct Arrival {
    kind: ack::Arrival,
    packet: Packet,
}

impl Arrival {
    pub(super) const fn new(kind: ack::Arrival, ledger: &ack::Ledger) -> Self {
        Self { kind, packet: ledger.last }
    }
}

#[pymethods]
impl Arrival {
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.kind {
            ack::Arrival::InOrder => intern!(py, "in-order"),
            ack::Arrival::OutOfOrder => intern!(py, "out-of-order"),
            ack::Arrival::FillsGap { closed: _ } => intern!(py, "fills-gap"),
            ack::Arrival::Duplicate => intern!(py, "duplicate"),
        }
    }

    #[getter]
    const fn closes_gap(&self) -> bool {
        matches!(self.kind, ack::Arrival::FillsGap { closed: true })
    }

    #[getter]
    const fn span(&self) -> (u64, u64) {
        span(self.packet.span)
    }

    #[getter]
    const fn number(&self) -> Option<u64> {
        if self.packet.is_numbered { Some(self.packet.span.start) } else { None }
    }

    #[getter]
    const fn bytes(&self) -> u64 {
        self.packet.octets
    }

    #[getter]
    const fn advanced(&self) -> u64 {
        self.packet.advanced
    }

    #[getter]
    const fn continues(&self) -> bool {
        self.packet.continues
    }

    #[getter]
    const fn push(&self) -> bool {
        self.packet.push
    }

    #[getter]
    const fn timestamp(&self) -> Option<u32> {
        self.packet.timestamp
    }

    fn __repr__(&self) -> String {
        format!("Arrival({:?}, {:?})", self.kind, self.packet)
    }
}

/// The segments that have arrived, and the segments that are not acknowledged yet.
#[pyclass(module = "acklab.strategies", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct Ledger {
    segments: u32,
    bytes: u64,
    since: Option<u64>,
    newest: u64,
    full_size: u64,
    unit: u64,
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
    newer: usize,
    handshake_rtt: Option<u64>,
    srtt: Option<u64>,
    min_rtt: Option<u64>,
    delivery_rate: Option<u64>,
}

const fn span(span: Span) -> (u64, u64) {
    let Span { start, end } = span;
    (start, end)
}

impl Ledger {
    pub(super) fn new(ledger: &ack::Ledger, held: Held<'_>) -> Self {
        let ack::Ledger {
            segments,
            bytes,
            since,
            newest,
            full_size,
            unit,
            arrived: Tally { segments: arrived_segments, octets: arrived_bytes },
            total: Tally { segments: total_segments, octets: total_bytes },
            last,
            highest,
            reported,
            round_trip,
            delivery,
        } = ledger;
        let Held { next, beyond, sack, newer } = held;
        let round_trip = round_trip.as_deref();
        Self {
            segments: *segments,
            bytes: *bytes,
            since: since.map(Instant::as_nanos),
            newest: newest.as_nanos(),
            full_size: *full_size,
            unit: *unit,
            arrived_segments: *arrived_segments,
            arrived_bytes: *arrived_bytes,
            total_segments: *total_segments,
            total_bytes: *total_bytes,
            last: span(last.span),
            highest: span(*highest),
            reported: span(*reported),
            next,
            beyond: beyond.iter().map(|range| (range.start, range.end)).collect(),
            has_sack: sack,
            newer,
            handshake_rtt: round_trip.and_then(ack::RoundTrip::handshake).map(Duration::as_nanos),
            srtt: round_trip.and_then(ack::RoundTrip::smoothed).map(Duration::as_nanos),
            min_rtt: round_trip.and_then(ack::RoundTrip::least).map(Duration::as_nanos),
            delivery_rate: delivery.as_deref().and_then(ack::Delivery::rate).map(|octets| octets.saturating_mul(8)),
        }
    }
}

#[pymethods]
impl Ledger {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}
