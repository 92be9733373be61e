//! The packet numbers that an ACK frame acknowledges.

use crate::varint;
use std::ops::Range;
use std::sync::Arc;

/// Ranges of packet numbers, the highest first. There is at least one range, no range is empty, and
/// there is a gap between any two ranges.
///
/// From one frame to the next, usually only the newest range has grown. So the list of older ranges
/// is built and measured once, and frames share it. The cost of a frame is then independent of the
/// number of ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckRanges {
    newest: Range<u64>,
    older: Option<OlderRanges>,
}

/// The ranges below the newest range. There is at least one.
#[derive(Clone, Debug)]
pub struct OlderRanges(Arc<List>);

#[derive(Debug)]
struct List {
    ranges: Vec<Range<u64>>,
    /// The number of octets of the fields of these ranges in a frame, without the gap before the
    /// first range.
    octets: u64,
}

impl PartialEq for OlderRanges {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.0.ranges == other.0.ranges
    }
}

impl Eq for OlderRanges {}

impl OlderRanges {
    /// Returns a list of these ranges, the highest first. Returns `None` if `ranges` is empty.
    #[must_use]
    pub fn new(ranges: Vec<Range<u64>>) -> Option<Self> {
        let first = ranges.first()?;
        let octets = varint::len(length(first)) + fields(&ranges).map(|(gap, length)| octets(gap, length)).sum::<u64>();
        Some(Self(Arc::new(List { ranges, octets })))
    }

    /// Returns `true` if both share one list in memory. Returns `false` for lists that are equal
    /// but not shared.
    #[must_use]
    #[inline]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl AckRanges {
    /// Returns these ranges.
    #[must_use]
    #[inline]
    pub const fn new(newest: Range<u64>, older: Option<OlderRanges>) -> Self {
        Self { newest, older }
    }

    /// Returns the ranges below the newest range.
    #[must_use]
    #[inline]
    pub const fn older(&self) -> Option<&OlderRanges> {
        self.older.as_ref()
    }

    fn list(&self) -> &[Range<u64>] {
        self.older.as_ref().map_or(&[], |older| &older.0.ranges)
    }

    /// Returns all ranges, the highest first.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Range<u64>> + Clone {
        std::iter::once(&self.newest).chain(self.list())
    }

    /// Returns the number of ranges.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub fn len(&self) -> usize {
        1 + self.list().len()
    }

    /// Returns the largest number.
    #[must_use]
    #[inline]
    pub const fn largest(&self) -> u64 {
        self.newest.end - 1
    }

    /// Returns the field First ACK Range: the count of numbers below the largest in its range (RFC
    /// 9000, §19.3).
    pub(super) const fn first_field(&self) -> u64 {
        length(&self.newest)
    }

    /// Returns the fields of the ranges after the first range: gap and length of each (§19.3.1).
    pub(super) fn fields(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = self.list().first().map(|first| (gap(&self.newest, first), length(first)));
        first.into_iter().chain(fields(self.list()))
    }

    /// Returns the number of octets of the fields that describe the ranges.
    #[inline]
    pub(super) fn wire_len(&self) -> u64 {
        let own = varint::len(self.largest()) + varint::len(self.first_field());
        let Some(OlderRanges(list)) = &self.older else { return own + 1 };
        own + varint::len(list.ranges.len() as u64) + varint::len(gap(&self.newest, &list.ranges[0])) + list.octets
    }
}

impl From<Range<u64>> for AckRanges {
    fn from(range: Range<u64>) -> Self {
        Self::new(range, None)
    }
}

/// Returns the count of missing numbers between two ranges, minus one.
const fn gap(above: &Range<u64>, below: &Range<u64>) -> u64 {
    above.start - below.end - 1
}

/// Returns the count of numbers in a range, minus one.
const fn length(range: &Range<u64>) -> u64 {
    range.end - range.start - 1
}

/// Returns the gap and the length of each range except the first.
fn fields(ranges: &[Range<u64>]) -> impl Iterator<Item = (u64, u64)> {
    ranges.windows(2).map(|pair| (gap(&pair[0], &pair[1]), length(&pair[1])))
}

const fn octets(gap: u64, length: u64) -> u64 {
    varint::len(gap) + varint::len(length)
}
