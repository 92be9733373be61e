//! The number of segments that ACKs cover.
//!
//! A receiver acknowledges by a rule: most of its ACKs cover the same number of segments, or are
//! sent when its timer expires.

use crate::direction::Ack;
use crate::receiver_clock::tick_between;
use std::collections::BTreeMap;

/// The number of ACKs that are excluded at the start of a connection. There, receivers acknowledge
/// more often (Linux's quick ACKs), and windows are small.
const START: usize = 64;
/// The minimum share of ACKs that cover a number of segments, if this number is the receiver's
/// rule. A rarer number may be due to a lost ACK.
const OFTEN: f64 = 0.01;
/// The shortest timer of a receiver in nanoseconds: 20 ms in neqo. (Linux has 40 ms; RFC 9000,
/// §18.2, has 25 ms.)
const TIMER: f64 = 20e6;

/// The coverage of the ACKs of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Coverage {
    /// The most frequent number of segments that an ACK covers.
    pub(crate) usual: u32,
    /// The share of ACKs that cover this number.
    pub(crate) agreement: f64,
    /// The mean number of segments that an ACK covers.
    pub(crate) mean: f64,
    /// The number of segments that 99 % of the ACKs do not exceed.
    pub(crate) largest: u32,
    /// The share of ACKs that a receiver sends by a number of segments or by its timer. They cover
    /// the usual number, or fewer after a wait.
    pub(crate) by_rule: f64,
    pub(crate) count: usize,
}

impl Coverage {
    /// Returns the coverage of these ACKs, without those at the start of the connection.
    pub(super) fn of(acks: &[Arrived]) -> Self {
        let in_order = by_number_or_timer(acks);
        let settled = in_order.get(START..).unwrap_or_default();
        let count = settled.len();
        let (usual, frequency) = most_frequent(settled.iter().map(|ack| ack.segments));
        let total: u64 = settled.iter().map(|ack| u64::from(ack.segments)).sum();
        let share =
            |is: &dyn Fn(&Arrived) -> bool| settled.iter().filter(|ack| is(ack)).count() as f64 / count.max(1) as f64;
        let mut sorted: Vec<u32> = settled.iter().map(|ack| ack.segments).collect();
        sorted.sort_unstable();
        Self {
            usual,
            agreement: frequency as f64 / count.max(1) as f64,
            mean: total as f64 / count.max(1) as f64,
            largest: sorted.get((count * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default(),
            // If the timer dominates, most ACKs cover fewer segments than the rule's number.
            by_rule: numbers(settled)
                .map(|number| share(&|ack| ack.segments == number || ack.segments < number && ack.waited >= TIMER))
                .fold(0.0, f64::max),
            count,
        }
    }
}

/// Returns ACKs of data in order, except those of single segments after a gap: a receiver sends
/// these immediately (RFC 5681, §4.2).
fn by_number_or_timer(acks: &[Arrived]) -> Vec<&Arrived> {
    let mut is_after_gap = false;
    acks.iter()
        .filter(|ack| {
            is_after_gap = ack.segments == 0 || is_after_gap && ack.segments == 1;
            !is_after_gap
        })
        .collect()
}

/// Returns the numbers of segments that may be the rule's.
fn numbers(acks: &[&Arrived]) -> impl Iterator<Item = u32> {
    let mut counts = BTreeMap::<u32, usize>::new();
    acks.iter().for_each(|ack| *counts.entry(ack.segments).or_default() += 1);
    let minimum = acks.len() as f64 * OFTEN;
    counts.into_iter().filter(move |&(_, count)| count as f64 >= minimum).map(|(number, _)| number)
}

/// A pure ACK after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// The number of segments that the ACK acknowledges in order, if none is missing.
    pub(super) segments: u32,
    /// The time since the previous ACK in nanoseconds, by the receiver's clock if known.
    pub(super) waited: f64,
    /// The time since the previous ACK in nanoseconds, as captured.
    pub(super) gap: f64,
    pub(super) octets: f64,
}

/// Returns the pure ACKs of a stretch, with segments of `mss` octets.
pub(super) fn arrived(stretch: &[Ack], mss: u32) -> Vec<Arrived> {
    let tick = stretch.first().zip(stretch.last()).and_then(|(first, last)| tick_between(first, last));
    let pairs = stretch.windows(2).filter(|two| two[1].is_pure);
    pairs
        .map(|two| {
            let gap = two[1].at.saturating_sub(two[0].at) as f64;
            let ticks =
                two[1].value.zip(two[0].value).map(|(one, other)| f64::from(one.wrapping_sub(other).cast_signed()));
            Arrived {
                segments: two[1].covers.div_ceil(mss),
                waited: ticks.zip(tick).map_or(gap, |(ticks, (tick, _))| ticks * tick),
                gap,
                octets: two[1].octets.into(),
            }
        })
        .collect()
}

/// Returns the most frequent value and its count. Of two equally frequent values, returns the
/// smaller.
pub(super) fn most_frequent(values: impl Iterator<Item = u32>) -> (u32, usize) {
    let mut counts = BTreeMap::<u32, usize>::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts.iter().rev().max_by_key(|&(_, count)| *count).map_or((0, 0), |(&value, &count)| (value, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acks(covers: impl Fn(u32) -> u32, waited: impl Fn(u32) -> f64) -> Vec<Arrived> {
        (0..500).map(|n| Arrived { segments: covers(n), waited: waited(n), gap: waited(n), octets: 52.0 }).collect()
    }

    #[test]
    fn most_acks_cover_the_number_of_the_rule() {
        let found = Coverage::of(&acks(|n| if n % 100 == 0 { 4 } else { 2 }, |_| 1e6));
        assert_eq!((found.usual, found.largest, found.count), (2, 2, 436));
        assert!(found.by_rule > 0.98 && (found.mean - 2.02).abs() < 0.01, "{found:?}");
        assert!(Coverage::of(&acks(|n| 2 + n * 7 % 11, |_| 1e6)).by_rule < 0.2);
    }

    /// A receiver acknowledges eight segments, or fewer after 25 ms: mostly six, sometimes eight,
    /// and each segment immediately after a gap.
    #[test]
    fn a_timer_that_rules_is_the_receivers() {
        let covers = |n: u32| match n % 20 {
            0 | 1 => 0,
            2 | 3 => 1,
            4 => 8,
            n => 5 + n % 2,
        };
        let waited = |n: u32| if covers(n) <= 1 { 4.6e6 } else { 25e6 + f64::from(n % 7) * 1.1e6 };
        let found = Coverage::of(&acks(covers, waited));
        assert!(found.by_rule > 0.99, "{found:?}");
    }

    /// Flights of 18 segments arrive at a receiver that acknowledges eight, or fewer after 25 ms.
    #[test]
    fn a_timer_is_the_receivers() {
        let found = Coverage::of(&acks(|n| if n % 3 == 2 { 2 } else { 8 }, |n| [63e6, 10e6, 27e6][n as usize % 3]));
        assert!(found.by_rule > 0.99, "{found:?}");
    }
}
