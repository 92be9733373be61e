//! Records arrived data that are not acknowledged.

use super::Reason;
use super::delivery::Delivery;
use super::round_trip::RoundTrip;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// The position of a segment relative to the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The segment continued the stream, and there is no gap.
    InOrder,
    /// The segment is beyond a gap.
    OutOfOrder,
    /// The segment continued the stream while later data were waiting beyond a gap.
    FillsGap {
        /// `true` if no gap is left.
        closed: bool,
    },
    /// All bytes of the segment had arrived before.
    Duplicate,
}

impl Arrival {
    /// Returns the reason for an immediate ACK that RFC 5681, §4.2, requires, if any.
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

/// A number of data segments, and the number of stream bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of segments.
    pub segments: u64,
    /// The number of bytes.
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

/// A segment or packet entered in the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Its interval of the number line.
    pub span: Span,
    /// Its payload, in bytes.
    pub octets: u64,
    /// For a stream: the number of bytes by which rcv.nxt advanced. For a numbered packet: the size
    /// of its payload, in bytes.
    pub advanced: u64,
    /// `true` if the packet continues the stream, or has a packet number. A packet without payload
    /// has a packet number but no bytes.
    pub continues: bool,
    /// `true` if `span` is a packet number.
    pub is_numbered: bool,
    /// `true` if the segment has TCP's push flag (RFC 9293, §3.1).
    pub push: bool,
    /// The time at which the packet was sent, by the sender's clock. TCP: TSval (RFC 7323, §3.2).
    /// TACK: the time in microseconds.
    pub timestamp: Option<u32>,
}

impl Packet {
    /// Creates the entry of a segment that contains the bytes `range` of a stream and advances
    /// rcv.nxt by `advanced`.
    #[must_use]
    pub const fn of_stream(range: Range<u64>, advanced: u64) -> Self {
        let span = Span { start: range.start, end: range.end };
        let (octets, continues) = (range.end - range.start, advanced > 0);
        Self { span, octets, advanced, continues, is_numbered: false, push: false, timestamp: None }
    }

    /// Creates the entry of a packet with this number and `octets` bytes of payload. The packet is
    /// counted even if a lower number is missing. Numbers are never reused: the content of a lost
    /// packet gets a new number, and the gap remains.
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

    /// Sets the time at which the packet was sent.
    #[must_use]
    pub const fn stamped(self, timestamp: Option<u32>) -> Self {
        Self { timestamp, ..self }
    }
}

/// Arrived data that are not acknowledged. Counts and sizes are in bytes; positions and distances
/// are on the number line.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The number of segments since the last ACK that were in order or were numbered packets.
    pub segments: u32,
    /// The number of bytes since the last ACK that were in order or in numbered packets.
    pub bytes: u64,
    /// The arrival time of the first of these bytes.
    pub since: Option<Instant>,
    /// The arrival time of the newest data, acknowledged or not.
    pub newest: Instant,
    /// The size of the largest segment so far, in bytes.
    pub full_size: u64,
    /// The length of a full-sized packet on the number line: `full_size` for a stream, 1 for packet
    /// numbers.
    pub unit: u64,
    /// All data that have arrived since the last ACK, in order or not.
    pub arrived: Tally,
    /// All data that have arrived in the connection.
    pub total: Tally,
    /// The segment that arrived last.
    pub last: Packet,
    /// The interval of the segment with the highest position on the number line.
    pub highest: Span,
    /// The interval of the segment that had the highest position when the last ACK was sent.
    pub reported: Span,
    /// Round-trip times, if the policy uses them.
    pub round_trip: Option<Box<RoundTrip>>,
    /// The delivery rate, if the policy uses it.
    pub delivery: Option<Box<Delivery>>,
}

impl Ledger {
    /// Adds round-trip estimates, whose minimum covers the last `window` of time.
    #[must_use]
    pub fn with_round_trip(self, window: Duration) -> Self {
        Self { round_trip: Some(Box::new(RoundTrip::new(window))), ..self }
    }

    /// Adds the delivery rate: the maximum over the last `round_trips` round trips, each with
    /// `intervals` intervals (at least one). Requires
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

    /// Sets an upper bound on the full size. A packet longer than `octets` bytes contained several
    /// segments.
    pub(crate) fn bound_full_size(&mut self, octets: u64) {
        (self.full_size, self.unit) = (self.full_size.min(octets), self.unit.min(octets));
    }

    /// Records that an ACK was sent, so that no data are unacknowledged.
    pub fn settle(&mut self) {
        (self.segments, self.bytes, self.since) = (0, 0, None);
        self.arrived = Tally::default();
        self.reported = self.highest;
    }
}
