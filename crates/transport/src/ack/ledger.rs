//! Arrived data that are not yet acknowledged.

use super::Reason;
use super::delivery::Delivery;
use super::round_trip::RoundTrip;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// The position of a segment relative to the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It continued the stream, and no gap is known.
    InOrder,
    /// It lies beyond a gap.
    OutOfOrder,
    /// It continued the stream while data beyond a gap was waiting; `closed` if no gap is left.
    FillsGap {
        /// All waiting data is in order now.
        closed: bool,
    },
    /// All of it had arrived before.
    Duplicate,
}

impl Arrival {
    /// Returns the reason for which RFC 5681, §4.2, requires an immediate ACK, if it does.
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

/// Segments with data, and the octets of stream that they covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Segments.
    pub segments: u64,
    /// Octets.
    pub octets: u64,
}

/// A piece of the number line: octets of a stream by their offset, or one packet number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first number.
    pub start: u64,
    /// The number after the last.
    pub end: u64,
}

/// One segment or packet as it enters the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Where it lies on the number line.
    pub span: Span,
    /// Its payload.
    pub octets: u64,
    /// Of a stream, the octets by which rcv.nxt advanced. Of a numbered packet, its payload.
    pub advanced: u64,
    /// `true` if the packet continues the stream, or has a number of its own. A packet without
    /// payload has a number and no octets.
    pub continues: bool,
}

impl Packet {
    /// Creates the entry of a segment that carries the octets `range` of a stream and lets rcv.nxt
    /// advance by `advanced`.
    #[must_use]
    pub const fn of_stream(range: Range<u64>, advanced: u64) -> Self {
        let span = Span { start: range.start, end: range.end };
        Self { span, octets: range.end - range.start, advanced, continues: advanced > 0 }
    }

    /// Creates the entry of the packet of this number with `octets` of payload. It counts whether a
    /// lower number is missing or not. A number is never used again: the contents of a lost packet
    /// come under a new one, and the gap stays.
    #[must_use]
    pub const fn numbered(number: u64, octets: u64) -> Self {
        let span = Span { start: number, end: number + 1 };
        Self { span, octets, advanced: octets, continues: true }
    }
}

/// Arrived data that are not yet acknowledged. Counts and sizes are octets; places and distances
/// are on the number line.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Segments that continued the stream, or numbered packets, since the last ACK.
    pub segments: u32,
    /// Octets that continued the stream, or of numbered packets, since the last ACK.
    pub bytes: u64,
    /// Arrival of the first of these.
    pub since: Option<Instant>,
    /// Arrival of the newest data of all, acknowledged or not.
    pub newest: Instant,
    /// The largest segment so far, in octets.
    pub full_size: u64,
    /// The distance on the number line of a full-sized packet: `full_size` of a stream, and 1 of
    /// packet numbers.
    pub unit: u64,
    /// All that has arrived since the last ACK, in order or not.
    pub arrived: Tally,
    /// All that has ever arrived.
    pub total: Tally,
    /// The segment that arrived last.
    pub last: Span,
    /// The segment that lies highest on the number line.
    pub highest: Span,
    /// The segment that lay highest when the last ACK left.
    pub reported: Span,
    /// Round-trip times, if the policy uses them.
    pub round_trip: Option<Box<RoundTrip>>,
    /// The delivery rate, if the policy uses it.
    pub delivery: Option<Box<Delivery>>,
}

impl Ledger {
    /// Adds round-trip times, whose minimum is that of the last `window`.
    #[must_use]
    pub fn with_round_trip(self, window: Duration) -> Self {
        Self { round_trip: Some(Box::new(RoundTrip::new(window))), ..self }
    }

    /// Adds the delivery rate: the maximum of the last `round_trips` round trips, each with
    /// `intervals` intervals, at least one. It requires [round-trip times](Self::with_round_trip).
    #[must_use]
    pub fn with_delivery(self, intervals: u32, round_trips: u32) -> Self {
        Self { delivery: Some(Box::new(Delivery::new(intervals.max(1), round_trips))), ..self }
    }

    /// Enters `packet`, which has arrived.
    #[inline]
    pub fn enter(&mut self, now: Instant, packet: Packet) {
        let Packet { span, octets, advanced, continues } = packet;
        self.newest = now;
        self.full_size = self.full_size.max(octets);
        self.unit = self.unit.max(span.end - span.start);
        self.last = span;
        if span.end > self.highest.end {
            self.highest = self.last;
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

    /// Sets an upper bound of the full size: packets that were longer than `octets` held several
    /// segments.
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
