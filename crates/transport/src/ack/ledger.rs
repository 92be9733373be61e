//! Records arrived data that are not acknowledged.

use super::Reason;
use super::delivery::Delivery;
use super::round_trip::RoundTrip;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// The position of a segment relative to the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It continued the stream, and there is no gap.
    InOrder,
    /// It lies beyond a gap.
    OutOfOrder,
    /// It continued the stream while data beyond a gap were waiting; `closed` if no gap is left.
    FillsGap {
        /// All waiting data are in order now.
        closed: bool,
    },
    /// All of it had arrived before.
    Duplicate,
}

impl Arrival {
    /// Returns the reason for an immediate ACK by RFC 5681, §4.2, if there is one.
    #[must_use]
    pub const fn disorder(self) -> Option<Reason> {
        match self {
            Self::InOrder => None,
            Self::OutOfOrder => Some(Reason::OutOfOrder),
            Self::FillsGap { .. } => Some(Reason::FillsGap),
            Self::Duplicate => Some(Reason::Duplicate),
        }
    }
}

/// The number of data segments, and the stream bytes that they covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Segments.
    pub segments: u64,
    /// Bytes.
    pub octets: u64,
}

/// An interval of the number line: bytes of a stream by their offset, or one packet number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first number.
    pub start: u64,
    /// The number after the last.
    pub end: u64,
}

/// A segment or packet of the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Its place on the number line.
    pub span: Span,
    /// Its payload, in bytes.
    pub octets: u64,
    /// For a stream, the bytes by which rcv.nxt advanced; for a numbered packet, its payload.
    pub advanced: u64,
    /// `true` if the packet continues the stream, or has its own number. A packet without payload
    /// has a number and no bytes.
    pub continues: bool,
    /// `true` if its place is the number of a packet.
    pub is_numbered: bool,
    /// `true` if it has the push flag (RFC 9293, §3.1), which only TCP has.
    pub push: bool,
    /// The timestamp of its departure by the sender's clock: TSval of TCP (RFC 7323, §3.2), the
    /// departure time of TACK in microseconds.
    pub timestamp: Option<u32>,
}

impl Packet {
    /// Creates the entry of a segment that carries the bytes `range` of a stream and advances
    /// rcv.nxt by `advanced`.
    #[must_use]
    pub const fn of_stream(range: Range<u64>, advanced: u64) -> Self {
        let span = Span { start: range.start, end: range.end };
        let (octets, continues) = (range.end - range.start, advanced > 0);
        Self { span, octets, advanced, continues, is_numbered: false, push: false, timestamp: None }
    }

    /// Creates the entry of a packet with this number and `octets` bytes of payload. It counts even
    /// if a lower number is missing. Numbers are never reused: the content of a lost packet gets a
    /// new number, and the gap remains.
    #[must_use]
    pub const fn numbered(number: u64, octets: u64) -> Self {
        let span = Span { start: number, end: number + 1 };
        Self { span, octets, advanced: octets, continues: true, is_numbered: true, push: false, timestamp: None }
    }

    /// Sets the push flag.
    #[must_use]
    pub const fn pushed(self, push: bool) -> Self {
        Self { push, ..self }
    }

    /// Sets the timestamp of its departure.
    #[must_use]
    pub const fn stamped(self, timestamp: Option<u32>) -> Self {
        Self { timestamp, ..self }
    }
}

/// Arrived data that are not acknowledged. Counts and sizes are bytes; places and distances are on
/// the number line.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Segments since the last ACK that were in order, or were numbered packets.
    pub segments: u32,
    /// Bytes since the last ACK that were in order, or were in numbered packets.
    pub bytes: u64,
    /// The arrival time of the first of these.
    pub since: Option<Instant>,
    /// The arrival time of the newest data, acknowledged or not.
    pub newest: Instant,
    /// The largest segment so far, in bytes.
    pub full_size: u64,
    /// The length of a full-sized packet on the number line: `full_size` for a stream, 1 for packet
    /// numbers.
    pub unit: u64,
    /// All arrivals since the last ACK, in order or not.
    pub arrived: Tally,
    /// All arrivals of the connection.
    pub total: Tally,
    /// The segment that arrived last.
    pub last: Packet,
    /// The segment with the highest place on the number line.
    pub highest: Span,
    /// The segment that had the highest place when the last ACK left.
    pub reported: Span,
    /// Round-trip times, if the policy uses them.
    pub round_trip: Option<Box<RoundTrip>>,
    /// The delivery rate, if the policy uses it.
    pub delivery: Option<Box<Delivery>>,
}

impl Ledger {
    /// Adds round-trip estimates, whose minimum covers the last `window`.
    #[must_use]
    pub fn with_round_trip(self, window: Duration) -> Self {
        Self { round_trip: Some(Box::new(RoundTrip::new(window))), ..self }
    }

    /// Adds the delivery rate: the maximum of the last `round_trips` round trips, each with
    /// `intervals` intervals (at least one). It requires
    /// [round-trip estimates](Self::with_round_trip).
    #[must_use]
    pub fn with_delivery(self, intervals: u32, round_trips: u32) -> Self {
        Self { delivery: Some(Box::new(Delivery::new(intervals.max(1), round_trips))), ..self }
    }

    /// Enters an arrived packet.
    #[inline]
    pub fn enter(&mut self, now: Instant, packet: Packet) {
        let Packet { span, octets, advanced, continues, .. } = packet;
        self.newest = now;
        self.full_size = self.full_size.max(octets);
        self.unit = self.unit.max(span.end - span.start);
        self.last = packet;
        if span.end > self.highest.end {
            self.highest = span;
        }
        for tally in [&mut self.arrived, &mut self.total] {
            tally.segments += 1;
            tally.octets += octets;
        }
        if continues {
            self.segments += 1;
            self.bytes += advanced;
            self.since.get_or_insert(now);
        }
    }

    /// Sets an upper bound on the full size: packets longer than `octets` held several segments.
    pub(crate) fn bound_full_size(&mut self, octets: u64) {
        (self.full_size, self.unit) = (self.full_size.min(octets), self.unit.min(octets));
    }

    /// Records that an ACK has left: nothing is unacknowledged.
    pub fn settle(&mut self) {
        (self.segments, self.bytes, self.since) = (0, 0, None);
        self.arrived = Tally::default();
        self.reported = self.highest;
    }
}
