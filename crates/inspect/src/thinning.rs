//! Whether ACKs are thinned or compressed on their way.
//!
//! A receiver acknowledges by a rule, so that most of its ACKs cover the same number of segments, or leave at the same distance. A box that removes ACKs
//! (RFC 3449, §5.2) leaves ACKs that cover as many as happened to wait. Where the receiver numbers the packets of each
//! connection, as Linux does over IPv4, the numbers of the missing ones tell it at once.
//!
//! A box that holds ACKs back and releases them together (RFC 3449, §3.2; Zhang, Shenker, Clark, SIGCOMM 1991) shows in their timestamps: ACKs
//! that arrive together were not sent together.

use crate::bursts::starts;
use crate::quantiles::{half_sample_mode, median};
use crate::rate::{Point, tidy};
use crate::receiver_clock::tick_between;
use crate::way::Ack;
use serde::Serialize;
use std::collections::BTreeMap;

/// What happens to ACKs between the receiver and the point of capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinning {
    /// Nothing removes any.
    None,
    /// The receiver itself acknowledges more than two segments at a time.
    SparseReceiver,
    /// A box removes some.
    Thinned,
    /// They were captured where the receiver sends them.
    NotVisible,
    /// There are too few.
    Unknown,
}

/// Evidence about ACKs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evidence {
    /// The share of ACKs that cover the number of segments that most cover.
    pub(crate) agreement: f64,
    /// The segments that most ACKs cover.
    pub(crate) usual: u32,
    /// The mean number of segments that an ACK covers.
    pub(crate) mean: f64,
    /// The share of ACKs that a receiver sends by a number of segments or by its timer: they cover the usual number, or fewer and waited.
    pub(crate) by_rule: f64,
    /// The share of ACKs that cover more segments than a receiver acknowledges together by RFC 5681, §4.2.
    pub(crate) beyond: f64,
    pub(crate) count: usize,
    /// What the return path tells.
    pub(crate) pace: Pace,
}

/// ACKs that follow each other as fast as a link carries them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pace {
    /// The share of the time in which they do.
    pub(crate) share: f64,
    /// Of these, the share that does not cover the number of segments that most cover.
    pub(crate) varies: f64,
    /// How many acknowledge data in order.
    pub(crate) count: usize,
    /// Octets per second.
    pub(crate) rate: f64,
}

impl Pace {
    /// Whether the return path sets it, and not the bottleneck of the data.
    pub(crate) fn is_of_return_path(&self) -> bool {
        let exceptions = VARIES.0.max(VARIES.1 / self.count as f64);
        self.count >= PACED && self.share >= BUSY && self.varies > exceptions
    }
}

/// ACKs that are left out at the start of a connection, in which receivers acknowledge more often (Linux's quick ACKs) and windows are small.
const START: usize = 64;
/// ACKs that a verdict needs.
const LEAST: usize = 60;
/// Segments that a receiver acknowledges together at most, by RFC 5681, §4.2, and some for an ACK that came late.
const STANDARD: f64 = 2.2;
/// A receiver follows a rule if so many of its ACKs do.
const RULE: f64 = 0.95;
/// A number of segments that fewer of its ACKs cover is not that of its rule: it may be an ACK that was lost.
const OFTEN: f64 = 0.01;
/// The shortest timer of a receiver in nanoseconds: that of neqo, 20 ms (Linux has 40 ms, RFC 9000, §18.2, 25 ms).
const TIMER: f64 = 20e6;
/// So many missing numbers are a thinner; fewer may be losses.
const MISSING: f64 = 0.1;
/// A receiver of two segments never covers more: so many ACKs that do are a thinner. Fitted: 260 simulated paths without a thinner had none.
const BEYOND: f64 = 0.005;
/// ACKs at the pace of a link that tell something.
const PACED: usize = 10;
/// A return path that is busy for less of the time thins little. A gate that releases ACKs together keeps its link busy for a moment only.
const BUSY: f64 = 0.2;
/// If the bottleneck of the data sets the pace, equal distances are equal numbers of segments, but for this share and number of exceptions.
const VARIES: (f64, f64) = (0.02, 1.0);
/// Distances within this ratio are equal.
const NEAR: f64 = 0.02;

/// Evidence from ACKs, with segments of `mss` octets.
pub(crate) fn evidence(stretches: &[Vec<Ack>], mss: u32) -> Evidence {
    let acks: Vec<Arrived> = stretches.iter().flat_map(|stretch| arrived(stretch, mss)).collect();
    let in_order = by_number_or_timer(&acks);
    let settled = in_order.get(START..).unwrap_or_default();
    let (usual, most) = most_frequent(settled.iter().map(|ack| ack.segments));
    let total: u64 = settled.iter().map(|ack| u64::from(ack.segments)).sum();
    let share = |is: &dyn Fn(&Arrived) -> bool| {
        settled.iter().filter(|ack| is(ack)).count() as f64 / settled.len().max(1) as f64
    };
    Evidence {
        agreement: most as f64 / settled.len().max(1) as f64,
        usual,
        mean: total as f64 / settled.len().max(1) as f64,
        // Where the timer rules, most ACKs cover fewer than the number.
        by_rule: numbers(settled)
            .map(|number| share(&|ack| ack.segments == number || ack.segments < number && ack.waited >= TIMER))
            .fold(0.0, f64::max),
        beyond: share(&|ack| ack.segments > 2),
        count: settled.len(),
        pace: pace(&acks),
    }
}

/// ACKs of data in order, but for those of single segments that follow a gap: a receiver sends these at once (RFC 5681, §4.2).
fn by_number_or_timer(acks: &[Arrived]) -> Vec<&Arrived> {
    let mut is_after_gap = false;
    acks.iter()
        .filter(|ack| {
            is_after_gap = ack.segments == 0 || is_after_gap && ack.segments == 1;
            !is_after_gap
        })
        .collect()
}

/// Numbers of segments that a rule may have.
fn numbers(acks: &[&Arrived]) -> impl Iterator<Item = u32> {
    let mut counts = BTreeMap::<u32, usize>::new();
    acks.iter().for_each(|ack| *counts.entry(ack.segments).or_default() += 1);
    let least = acks.len() as f64 * OFTEN;
    counts.into_iter().filter(move |&(_, count)| count as f64 >= least).map(|(number, _)| number)
}

/// A pure ACK after another.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// Segments that it acknowledges in order, if nothing is missing.
    segments: u32,
    /// Nanoseconds since the ACK before, by the receiver's clock if it tells.
    waited: f64,
    /// Nanoseconds since the ACK before, as captured.
    gap: f64,
    octets: f64,
}

fn arrived(stretch: &[Ack], mss: u32) -> Vec<Arrived> {
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

/// The pace of ACKs: a return path that is busy takes a time for each that its octets need, whatever it acknowledges.
fn pace(acks: &[Arrived]) -> Pace {
    let rate = |ack: &Arrived| ack.octets / ack.gap;
    let mut rates: Vec<f64> = acks.iter().filter(|ack| ack.gap > 0.0).map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let Some(mode) = half_sample_mode(&rates) else { return Pace::default() };
    let near: Vec<&Arrived> = acks.iter().filter(|ack| (rate(ack) / mode - 1.0).abs() < NEAR).collect();
    let in_order: Vec<u32> = near.iter().map(|ack| ack.segments).filter(|&segments| segments > 0).collect();
    let (_, most) = most_frequent(in_order.iter().copied());
    let time = |acks: &mut dyn Iterator<Item = &Arrived>| acks.map(|ack| ack.gap).sum::<f64>();
    Pace {
        share: time(&mut near.iter().copied()) / time(&mut acks.iter()).max(1.0),
        varies: 1.0 - most as f64 / in_order.len().max(1) as f64,
        count: in_order.len(),
        rate: mode * 1e9,
    }
}

/// The most frequent value and how often it occurs; the smaller of two.
fn most_frequent(values: impl Iterator<Item = u32>) -> (u32, usize) {
    let mut counts = BTreeMap::<u32, usize>::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts.iter().rev().max_by_key(|&(_, count)| *count).map_or((0, 0), |(&value, &count)| (value, count))
}

/// The verdict. `missing` is the share of packets of the receiver that did not arrive by their numbers, if it numbers them. What a box cannot read, because it is
/// encrypted, it cannot thin.
pub(crate) fn verdict(evidence: &Evidence, missing: Option<f64>, is_at_receiver: bool, is_encrypted: bool) -> Thinning {
    if is_at_receiver {
        return Thinning::NotVisible;
    }
    let missing = if is_encrypted { Some(0.0) } else { missing };
    match missing {
        Some(missing) if missing >= MISSING => Thinning::Thinned,
        None if evidence.pace.is_of_return_path() => Thinning::Thinned,
        _ if evidence.count < LEAST => Thinning::Unknown,
        None if evidence.by_rule < RULE && (evidence.mean > STANDARD || evidence.beyond > BEYOND) => Thinning::Thinned,
        _ if evidence.mean <= STANDARD => Thinning::None,
        _ => Thinning::SparseReceiver,
    }
}

/// Whether bursts of ACKs, which have this period in nanoseconds, were sent over that time and not together. Returns `None` if timestamps
/// are missing or too coarse.
pub(crate) fn are_compressed(stretches: &[Vec<Ack>], rate: f64, period: f64) -> Option<bool> {
    let mut spreads = Vec::new();
    for stretch in stretches {
        let (first, last) = (stretch.first()?, stretch.last()?);
        // A burst must last some ticks.
        let Some((tick, _)) = tick_between(first, last).filter(|(tick, _)| tick * 4.0 <= period) else { continue };
        let curve: Vec<Point> = tidy(stretch.iter().map(|ack| (ack.at, ack.delivered)));
        let value_at = |at: u64| {
            let place = stretch.partition_point(|ack| ack.at <= at);
            place.checked_sub(1).and_then(|place| stretch[place].value)
        };
        for burst in starts(&curve, rate).windows(2) {
            let length = burst[1] - burst[0];
            if length < 3 {
                continue;
            }
            let sent = f64::from(value_at(curve[burst[1] - 1].0)?.wrapping_sub(value_at(curve[burst[0]].0)?)) * tick;
            spreads.push(sent / (period * (length - 1) as f64 / length as f64));
        }
    }
    // Sent together they differ by a tick at most; sent evenly, by the whole period.
    (spreads.len() >= 8).then(|| median(&mut spreads)).flatten().map(|spread| spread > 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acks(covers: impl Fn(usize) -> u32) -> Vec<Vec<Ack>> {
        let ack = |n: usize| Ack {
            at: n as u64 * 1_000_000,
            ack: 0,
            delivered: 0,
            value: None,
            covers: covers(n) * 1000,
            octets: 52,
            window: None,
            is_pure: true,
            pause: crate::writes::Pause::None,
        };
        vec![(0..500).map(ack).collect()]
    }

    #[test]
    fn a_rule_is_the_receivers() {
        let found = |covers: &dyn Fn(usize) -> u32| verdict(&evidence(&acks(covers), 1000), None, false, false);
        assert_eq!(found(&|_| 2), Thinning::None);
        assert_eq!(found(&|_| 8), Thinning::SparseReceiver);
        assert_eq!(found(&|n| 2 + (n * 7 % 11) as u32), Thinning::Thinned);
    }

    #[test]
    fn missing_numbers_decide() {
        let irregular = evidence(&acks(|n| 2 + (n * 7 % 11) as u32), 1000);
        assert_eq!(verdict(&irregular, Some(0.0), false, false), Thinning::SparseReceiver);
        assert_eq!(verdict(&irregular, Some(0.6), false, false), Thinning::Thinned);
        assert_eq!(verdict(&irregular, Some(0.6), true, false), Thinning::NotVisible);
    }

    #[test]
    fn what_is_encrypted_is_the_receivers() {
        let irregular = evidence(&acks(|n| 2 + (n * 7 % 11) as u32), 1000);
        assert_eq!(verdict(&irregular, None, false, true), Thinning::SparseReceiver);
    }

    /// ACKs at the pace of a link, some of which cover one segment and others two, are those that a full queue has left of ACKs for each segment.
    #[test]
    fn equal_distances_of_different_numbers_are_those_of_the_return_path() {
        let halved = evidence(&acks(|n| 1 + u32::from(n % 5 != 0)), 1000);
        assert!(halved.pace.share > 0.99 && halved.mean < 2.0, "{halved:?}");
        assert!((halved.pace.rate / 52e3 - 1.0).abs() < 1e-9 && halved.pace.is_of_return_path(), "{halved:?}");
        assert_eq!(verdict(&halved, None, false, false), Thinning::Thinned);
    }

    /// A receiver that acknowledges eight, or what it has after 25 ms: six mostly, eight at times, and each segment at once after a gap.
    #[test]
    fn a_timer_that_rules_is_the_receivers() {
        let mut acks = acks(|n| match n % 20 {
            0 | 1 => 0,
            2 | 3 => 1,
            4 => 8,
            n => 5 + n as u32 % 2,
        });
        let mut at = 0;
        acks[0].iter_mut().enumerate().for_each(|(n, ack)| {
            at += if ack.covers <= 1000 { 4_600_000 } else { 25_000_000 + n as u64 % 7 * 1_100_000 };
            ack.at = at;
        });
        let found = evidence(&acks, 1000);
        assert_eq!(verdict(&found, None, false, false), Thinning::SparseReceiver, "{found:?}");
    }

    /// Flights of 18 segments at a receiver that acknowledges eight, or what it has after 25 ms.
    #[test]
    fn a_timer_is_the_receivers() {
        let mut acks = acks(|n| if n % 3 == 2 { 2 } else { 8 });
        acks[0]
            .iter_mut()
            .enumerate()
            .for_each(|(n, ack)| ack.at = n as u64 / 3 * 100_000_000 + [10, 20, 47][n % 3] * 1_000_000);
        let found = evidence(&acks, 1000);
        assert_eq!(verdict(&found, None, false, false), Thinning::SparseReceiver, "{found:?}");
    }
}
