//! ACK frames (RFC 9000, §19.3).

use super::frame::kind;
use crate::varint;
use std::ops::Range;

/// An ACK frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The packet numbers that have arrived: one range at least, the highest first, none empty, and with a gap between any two.
    pub ranges: Vec<Range<u64>>,
    /// How long the largest of them has waited for this frame, in units of 2^`ack_delay_exponent` microseconds.
    pub delay: u64,
    /// How the packets of this packet number space were marked on arrival, if that is reported.
    pub ecn: Option<EcnCounts>,
    /// When packets have arrived: the frame is `ACK_RECEIVE_TIMESTAMPS` then (draft-ietf-quic-receive-ts, §4).
    pub timestamps: Option<Vec<TimestampRange>>,
}

/// When packets of contiguous numbers have arrived (draft-ietf-quic-receive-ts, §4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimestampRange {
    /// Delta Largest Acknowledged: the largest of them lies below the largest number that the frame acknowledges by this.
    pub below: u64,
    /// The Timestamp Deltas, from the largest number downwards, in units of 2^`receive_timestamps_exponent` microseconds: the first of the frame is
    /// the time since the basis, each other one how much earlier a packet came than the one before it.
    pub deltas: Vec<u64>,
}

impl Clone for Ack {
    fn clone(&self) -> Self {
        Self { ranges: self.ranges.clone(), timestamps: self.timestamps.clone(), ..*self }
    }

    /// Uses the memory of `self` again.
    fn clone_from(&mut self, source: &Self) {
        self.ranges.clone_from(&source.ranges);
        self.timestamps.clone_from(&source.timestamps);
        (self.delay, self.ecn) = (source.delay, source.ecn);
    }
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
    /// The largest number that is acknowledged, or `None` if there is no range.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        self.ranges.first().map(|range| range.end - 1)
    }

    /// The fields of the ranges behind the first, with the first ACK range among them: gap and length of each.
    pub(super) fn fields(&self) -> impl Iterator<Item = (u64, u64)> {
        let behind = self.ranges.iter().skip(1);
        self.ranges.iter().zip(behind).map(|(above, range)| (above.start - range.end - 1, range.end - range.start - 1))
    }

    /// The first ACK range: the numbers below the largest that are acknowledged with it.
    pub(super) fn first_range(&self) -> u64 {
        self.ranges.first().map_or(0, |range| range.end - range.start - 1)
    }

    /// Octets of the frame.
    #[must_use]
    pub fn wire_len(&self) -> u64 {
        let ranges: u64 = self.fields().map(|(gap, length)| varint::len(gap) + varint::len(length)).sum();
        let ecn = self.ecn.map_or(0, |counts| [counts.ect0, counts.ect1, counts.ce].map(varint::len).iter().sum());
        let fixed = [self.largest().unwrap_or(0), self.delay, self.ranges.len() as u64 - 1, self.first_range()];
        varint::len(self.kind()) + fixed.map(varint::len).iter().sum::<u64>() + ranges + ecn + self.timestamps_len()
    }

    /// The type of the frame.
    pub(super) const fn kind(&self) -> u64 {
        match (self.timestamps.is_some(), self.ecn.is_some()) {
            (false, false) => kind::ACK,
            (false, true) => kind::ACK_ECN,
            (true, false) => kind::ACK_RECEIVE_TIMESTAMPS,
            (true, true) => kind::ACK_RECEIVE_TIMESTAMPS_ECN,
        }
    }

    /// The fields behind those of an ACK frame.
    pub(super) fn timestamp_fields(&self) -> impl Iterator<Item = u64> {
        let ranges = self.timestamps.iter().flatten();
        let fields = ranges.flat_map(|TimestampRange { below, deltas }| {
            [*below, deltas.len() as u64].into_iter().chain(deltas.iter().copied())
        });
        self.timestamps.iter().map(|ranges| ranges.len() as u64).chain(fields)
    }

    fn timestamps_len(&self) -> u64 {
        self.timestamp_fields().map(varint::len).sum()
    }

    /// The packets whose arrival it tells, from the last one that came backwards, and when they came since the basis of its sender, in the
    /// frame's unit. Returns `None` in place of what is no packet number, and ends there.
    pub fn receive_times(&self) -> impl Iterator<Item = Option<(u64, u64)>> {
        let largest = self.largest();
        let mut at = None;
        let ranges = self.timestamps.iter().flatten();
        let packets = ranges.flat_map(move |range| {
            let largest = largest.and_then(|largest| largest.checked_sub(range.below));
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
