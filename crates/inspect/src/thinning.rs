//! Whether ACKs are thinned or compressed on their way.
//!
//! A receiver acknowledges by a rule, so that most of its ACKs cover the same number of segments, or leave at the same distance. A box that removes ACKs
//! (RFC 3449, §5.2) leaves ACKs that cover as many as happened to wait. Where the receiver numbers the packets of each
//! connection, as Linux does over IPv4, the numbers of the missing ones tell it at once.
//!
//! A box that holds ACKs back and releases them together (RFC 3449, §3.2; Zhang, Shenker, Clark, SIGCOMM 1991) shows in their timestamps: ACKs
//! that arrive together were not sent together.

use crate::bursts::starts;
use crate::quantiles::median;
use crate::rate::{Point, tidy};
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
    /// `usual` and `agreement` of the ACKs at the start, when a queue of ACKs grows and drains.
    pub(crate) early: (u32, f64),
    /// The share of ACKs that cover more segments than a receiver acknowledges together by RFC 5681, §4.2.
    pub(crate) beyond: f64,
    /// Whether the start is complete.
    pub(crate) starts: bool,
    pub(crate) count: usize,
}

/// ACKs that are left out at the start of a connection, in which receivers acknowledge more often (Linux's quick ACKs) and windows are small.
const START: usize = 64;
/// ACKs that a verdict needs.
const LEAST: usize = 60;
/// Segments that a receiver acknowledges together at most, by RFC 5681, §4.2, and some for an ACK that came late.
const STANDARD: f64 = 2.2;
/// A receiver follows a rule if so many of its ACKs do, and so many at the start, where its timer interferes. Fitted: receivers of simulated paths
/// reached 0.98 and 0.91, paths with a filter at most 0.98 and 0.69 of both at once.
const RULE: f64 = 0.95;
const EARLY_RULE: f64 = 0.8;
/// So many missing numbers are a thinner; fewer may be losses.
const MISSING: f64 = 0.1;
/// A receiver of two segments never covers more: so many ACKs that do are a thinner. Fitted, as the next two: 260 simulated paths without a thinner had none.
const BEYOND: f64 = 0.005;
/// So many ACKs that follow a rule follow that of the receiver, whatever its start was like: paths with a filter reached 0.98.
const STRICT_RULE: f64 = 0.99;
/// If there are few ACKs, those at the start decide if fewer than this follow a rule: receivers of simulated paths reached 0.62, paths with a filter at most 0.43.
const NO_RULE: f64 = 0.5;

/// Evidence from ACKs that acknowledged data in order, with segments of `mss` octets.
pub(crate) fn evidence(stretches: &[Vec<Ack>], mss: u32) -> Evidence {
    let acks: Vec<&Ack> = stretches.iter().flatten().filter(|ack| ack.is_pure && ack.covers > 0).collect();
    let segments: Vec<u32> = acks.iter().map(|ack| ack.covers.div_ceil(mss)).collect();
    let settled = segments.get(START..).unwrap_or_default();
    let (usual, most) = most_frequent(settled);
    let total: u64 = settled.iter().map(|&count| u64::from(count)).sum();
    let start = &segments[..segments.len().min(START)];
    let (early, agree) = most_frequent(start);
    Evidence {
        agreement: most as f64 / settled.len().max(1) as f64,
        usual,
        mean: total as f64 / settled.len().max(1) as f64,
        early: (early, agree as f64 / start.len().max(1) as f64),
        starts: start.len() == START,
        beyond: settled.iter().filter(|&&count| count > 2).count() as f64 / settled.len().max(1) as f64,
        count: settled.len(),
    }
}

/// The most frequent value and how often it occurs; the smaller of two.
fn most_frequent(values: &[u32]) -> (u32, usize) {
    let mut counts = BTreeMap::<u32, usize>::new();
    values.iter().for_each(|&value| *counts.entry(value).or_default() += 1);
    counts.iter().rev().max_by_key(|&(_, count)| *count).map_or((0, 0), |(&value, &count)| (value, count))
}

/// The verdict. `missing` is the share of packets of the receiver that did not arrive by their numbers, if it numbers them.
pub(crate) fn verdict(evidence: &Evidence, missing: Option<f64>, is_at_receiver: bool) -> Thinning {
    if is_at_receiver {
        return Thinning::NotVisible;
    }
    if evidence.count < LEAST {
        let (usual, agreement) = evidence.early;
        let is_thinned = evidence.starts && f64::from(usual) > STANDARD && agreement < NO_RULE;
        return if is_thinned { Thinning::Thinned } else { Thinning::Unknown };
    }
    match missing {
        Some(missing) if missing >= MISSING => Thinning::Thinned,
        None if evidence.mean <= STANDARD && evidence.beyond > BEYOND => Thinning::Thinned,
        _ if evidence.mean <= STANDARD => Thinning::None,
        Some(_) => Thinning::SparseReceiver,
        None if evidence.agreement >= STRICT_RULE => Thinning::SparseReceiver,
        None if evidence.agreement >= RULE && evidence.early.0 == evidence.usual && evidence.early.1 >= EARLY_RULE => {
            Thinning::SparseReceiver
        }
        None => Thinning::Thinned,
    }
}

/// Whether bursts of ACKs, which have this period in nanoseconds, were sent over that time and not together. Returns `None` if timestamps
/// are missing or too coarse.
pub(crate) fn are_compressed(stretches: &[Vec<Ack>], rate: f64, period: f64) -> Option<bool> {
    let mut spreads = Vec::new();
    for stretch in stretches {
        let (first, last) = (stretch.first()?, stretch.last()?);
        let ticks = f64::from(last.value?.wrapping_sub(first.value?));
        let tick = last.at.saturating_sub(first.at) as f64 / ticks;
        // A burst must last some ticks.
        if !tick.is_finite() || tick * 4.0 > period {
            continue;
        }
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
            is_pure: true,
        };
        vec![(0..500).map(ack).collect()]
    }

    #[test]
    fn a_rule_is_the_receivers() {
        let found = |covers: &dyn Fn(usize) -> u32| verdict(&evidence(&acks(covers), 1000), None, false);
        assert_eq!(found(&|_| 2), Thinning::None);
        assert_eq!(found(&|_| 8), Thinning::SparseReceiver);
        assert_eq!(found(&|n| 2 + (n * 7 % 11) as u32), Thinning::Thinned);
    }

    #[test]
    fn missing_numbers_decide() {
        let irregular = evidence(&acks(|n| 2 + (n * 7 % 11) as u32), 1000);
        assert_eq!(verdict(&irregular, Some(0.0), false), Thinning::SparseReceiver);
        assert_eq!(verdict(&irregular, Some(0.6), false), Thinning::Thinned);
        assert_eq!(verdict(&irregular, Some(0.6), true), Thinning::NotVisible);
    }
}
