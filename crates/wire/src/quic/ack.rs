//! ACK frames (RFC 9000, §19.3).

use super::AckRanges;
use super::kind;
use crate::varint;

/// An ACK frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The packet numbers that have arrived.
    pub ranges: AckRanges,
    /// ACK Delay: the time between the arrival of the largest number and this frame, in units of
    /// 2^`ack_delay_exponent` microseconds.
    pub delay: u64,
    /// Optional fields, which few frames have.
    rare: Option<Box<Rare>>,
}

/// Fields that few frames have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rare {
    ecn: Option<EcnCounts>,
    timestamps: Option<Vec<TimestampRange>>,
}

/// Arrival times of packets with contiguous numbers (draft-ietf-quic-receive-ts, §4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimestampRange {
    /// Delta Largest Acknowledged: the largest number that the frame acknowledges, minus the
    /// largest number of this range.
    pub below: u64,
    /// The Timestamp Deltas, from the largest number downwards, in units of
    /// 2^`receive_timestamps_exponent` microseconds. The first delta of the frame is the time since
    /// the time basis of the sender of the frame. Each other delta is the time by which a packet
    /// arrived before the previous one in the list.
    pub deltas: Vec<u64>,
}

/// Counts of packets by the ECN field with which they arrived (§19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// ECT(0).
    pub ect0: u64,
    /// ECT(1).
    pub ect1: u64,
    /// CE.
    pub ce: u64,
}

impl Ack {
    /// Returns a frame that acknowledges these numbers and has no optional fields.
    #[must_use]
    #[inline]
    pub const fn new(ranges: AckRanges, delay: u64) -> Self {
        Self { ranges, delay, rare: None }
    }

    /// Adds these ECN counts, if any, and returns the frame.
    #[must_use]
    #[inline]
    pub fn with_ecn(self, counts: Option<EcnCounts>) -> Self {
        if counts == self.ecn().copied() { self } else { self.with(|rare| rare.ecn = counts) }
    }

    /// Adds these timestamps, if any, and returns the frame.
    #[must_use]
    #[inline]
    pub fn with_timestamps(self, timestamps: Option<Vec<TimestampRange>>) -> Self {
        if timestamps.as_deref() == self.timestamps() { self } else { self.with(|rare| rare.timestamps = timestamps) }
    }

    fn with(mut self, set: impl FnOnce(&mut Rare)) -> Self {
        set(self.rare.get_or_insert_default());
        Self { rare: self.rare.filter(|rare| **rare != Rare::default()), ..self }
    }

    /// Returns the ECN counts of this packet number space, if the frame reports them.
    #[must_use]
    #[inline]
    pub fn ecn(&self) -> Option<&EcnCounts> {
        self.rare.as_ref()?.ecn.as_ref()
    }

    /// Returns the arrival times of packets. A frame with timestamps is `ACK_RECEIVE_TIMESTAMPS`
    /// (draft-ietf-quic-receive-ts, §4).
    #[must_use]
    #[inline]
    pub fn timestamps(&self) -> Option<&[TimestampRange]> {
        self.rare.as_ref()?.timestamps.as_deref()
    }

    /// Returns the number of octets of the frame.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        let plain = varint::len(self.delay) + self.ranges.wire_len();
        if self.rare.is_none() { 1 + plain } else { plain + self.rare_len() }
    }

    /// Returns the number of octets of the type and of the optional fields.
    #[inline(never)]
    fn rare_len(&self) -> u64 {
        let ecn = self.ecn().map_or(0, |counts| [counts.ect0, counts.ect1, counts.ce].map(varint::len).iter().sum());
        varint::len(self.kind()) + ecn + self.timestamp_fields().map(varint::len).sum::<u64>()
    }

    /// Returns the type of the frame.
    pub(super) fn kind(&self) -> u64 {
        match (self.timestamps().is_some(), self.ecn().is_some()) {
            (false, false) => kind::ACK,
            (false, true) => kind::ACK_ECN,
            (true, false) => kind::ACK_RECEIVE_TIMESTAMPS,
            (true, true) => kind::ACK_RECEIVE_TIMESTAMPS_ECN,
        }
    }

    /// Returns the timestamp fields, which follow the fields of an ACK frame.
    pub(super) fn timestamp_fields(&self) -> impl Iterator<Item = u64> {
        let ranges = self.timestamps().into_iter().flatten();
        let fields = ranges.flat_map(|TimestampRange { below, deltas }| {
            [*below, deltas.len() as u64].into_iter().chain(deltas.iter().copied())
        });
        self.timestamps().into_iter().map(|ranges| ranges.len() as u64).chain(fields)
    }

    /// Returns the numbers of the packets whose arrival times the frame reports, each with its
    /// arrival time. Packets are in the order of their fields. Times are relative to the sender's
    /// basis, in the unit of the frame. An invalid packet number yields `None`, which ends the
    /// iteration.
    pub fn receive_times(&self) -> impl Iterator<Item = Option<(u64, u64)>> {
        let largest = self.ranges.largest();
        let mut at = None;
        let ranges = self.timestamps().into_iter().flatten();
        let packets = ranges.flat_map(move |range| {
            let largest = largest.checked_sub(range.below);
            (0..).zip(&range.deltas).map(move |(index, delta)| Some((largest?.checked_sub(index)?, *delta)))
        });
        packets.map(move |packet| {
            let (number, delta) = packet?;
            let time = at.map_or(Some(delta), |at: u64| at.checked_sub(delta))?;
            at = Some(time);
            Some((number, time))
        })
    }
}
