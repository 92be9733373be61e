//! The rate of the bottleneck, by dispersion.
//!
//! Packets leave a busy bottleneck one transmission time apart, and what follows them keeps that distance, be it the data behind the bottleneck or the
//! ACKs that they cause (Keshav, *A Control-Theoretic Approach to Flow Control*, SIGCOMM 1991; Paxson, *End-to-End Internet Packet
//! Dynamics*, SIGCOMM 1997, §4). Single distances suffer from what competes and from bursts, so the estimate is a mode: of single distances where
//! they agree, else of trains (Dovrolis, Ramanathan, Moore, *Packet-Dispersion Techniques and a Capacity-Estimation
//! Methodology*, IEEE/ACM ToN 12(6), 2004).

use crate::quantiles::{half_sample_mode, median, quantile_of};

/// Points of a train: enough that the place of its ends within a burst or a pair weighs little.
const TRAIN: usize = 32;
/// Bursts of a train, for the same reason.
const BURSTS: f64 = 12.0;
/// Values within this ratio of a mode belong to it.
const NEAR: f64 = 0.05;
/// A mode is sharp if this share of the octets is near it.
const SHARP: f64 = 0.3;
/// Of the octets, in distances that occur often: that of a line of the receiver's clock.
const FREQUENT: f64 = 0.1;
/// Packets of others between two of this flow, and one: up to here, distances of packets of all sizes do not fall on multiples by chance.
const MOST_BETWEEN: u32 = 4;
/// The bottleneck was busy for most of the time if this share of the octets of trains is near their mode: where the sender leaves it idle, their
/// rates vary with its window.
const BUSY: f64 = 0.4;
/// Two estimates tell the same rate if they differ by less than this: noise on the return path, or a tick of the receiver's clock.
const APART: f64 = 1.1;

/// A point of a curve: at an instant in nanoseconds, so many octets had arrived.
pub(crate) type Point = (u64, u64);

/// An estimate with its interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The share of the octets that agree with it.
    pub(crate) share: f64,
}

/// The rate of a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) estimate: Estimate,
    /// Whether the bottleneck may be faster: it was not busy, and no distances tell its rate.
    pub(crate) is_lower_bound: bool,
}

/// The points at which something has arrived.
pub(crate) fn advancing(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for (at, octets) in points {
        if kept.last().is_none_or(|last| octets > last.1 && at >= last.0) {
            kept.push((at, octets));
        }
    }
    kept
}

/// Points at which nothing has arrived are dropped, and those of one instant are one.
pub(crate) fn tidy(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut tidy: Vec<Point> = Vec::new();
    for point in advancing(points) {
        match tidy.last_mut() {
            Some(last) if point.0 == last.0 => *last = point,
            _ => tidy.push(point),
        }
    }
    tidy
}

/// The rate in octets per second of the bottleneck behind which `data` arrive, or whose passage `acks` report. `data` are empty where they were captured
/// before it; `is_behind` says that they are certain to have passed it. `period` is that of bursts of ACKs, in nanoseconds, if they come in bursts, and `clock` what the receiver's clock tells. Returns `None` if there are too few points.
pub(crate) fn of_bottleneck(
    data: &[Vec<Point>],
    acks: &[Vec<Point>],
    is_behind: bool,
    period: Option<f64>,
    clock: Option<Estimate>,
) -> Option<Rate> {
    let told = |estimate| Some(Rate { estimate, is_lower_bound: false });
    let trains = train_rate(if acks.iter().all(Vec::is_empty) { data } else { acks }, period);
    let is_busy = |trains: &Estimate| trains.share >= BUSY;
    let is_apart = |one: &Estimate| clock.is_some_and(|clock| !agree(one, &clock));
    let sharp = |curves: &[Vec<Point>]| mode_of(&singles(curves)).filter(|single| single.share >= SHARP);
    match (trains, sharp(data), sharp(acks).filter(|_| period.is_none())) {
        (_, Some(single), _) if is_behind => told(without_others(&singles(data), single)),
        // Data and their ACKs agree.
        (_, Some(single), Some(ack)) if agree(&single, &ack) && !is_apart(&single) => told(single),
        _ if clock.is_some() => clock.and_then(told),
        (None, None, _) => None,
        (Some(trains), ..) if is_busy(&trains) => told(trains),
        (Some(trains), _, Some(ack)) if data.is_empty() && ack.value > trains.value => told(ack),
        // Data that have not passed the bottleneck yet come as fast as the sender likes, but not for long.
        (Some(_), ..) if acks.iter().all(Vec::is_empty) => mean(data).map(at_least),
        (Some(_), ..) => fastest(acks, period),
        (None, Some(single), _) => Some(Rate { estimate: single, is_lower_bound: true }),
    }
}

/// The rate by distances of packets of which most have others' packets between them: these distances are multiples of the shortest that is frequent, which is the bottleneck's own.
fn without_others(samples: &[(f64, f64)], single: Estimate) -> Estimate {
    let octets: f64 = samples.iter().map(|one| one.0).sum();
    let multiples = (2..=MOST_BETWEEN).rev().filter_map(|times| near(samples, single.value * f64::from(times), octets));
    multiples.into_iter().find(|one| one.share >= FREQUENT).unwrap_or(single)
}

/// A bottleneck that was not busy is at least as fast as the fastest trains, but for the twentieth that noise has shortened.
fn fastest(curves: &[Vec<Point>], period: Option<f64>) -> Option<Rate> {
    let trains = trains(curves, period);
    let mut rates: Vec<f64> = trains.iter().map(|(octets, seconds)| octets / seconds).collect();
    rates.sort_by(f64::total_cmp);
    quantile_of(&rates, 0.95).map(at_least)
}

fn at_least(value: f64) -> Rate {
    Rate { estimate: Estimate { value, low: value, high: value, share: 0.0 }, is_lower_bound: true }
}

/// The mean rate of curves in octets per second. Returns `None` if no time passes in them.
pub(crate) fn mean(curves: &[Vec<Point>]) -> Option<f64> {
    let ends = curves.iter().filter_map(|curve| Some((curve.first()?, curve.last()?)));
    let (octets, time) =
        ends.fold((0, 0), |(octets, time), (first, last)| (octets + last.1 - first.1, time + last.0 - first.0));
    (time > 0).then(|| octets as f64 / time as f64 * 1e9)
}

fn agree(one: &Estimate, other: &Estimate) -> bool {
    (one.value / other.value).max(other.value / one.value) < APART
}

/// The rate of trains: that of the bottleneck while it is busy.
pub(crate) fn train_rate(curves: &[Vec<Point>], period: Option<f64>) -> Option<Estimate> {
    mode_of(&trains(curves, period))
}

/// Octets and seconds of each step.
fn singles(curves: &[Vec<Point>]) -> Vec<(f64, f64)> {
    curves.iter().flat_map(|curve| curve.windows(2)).map(|two| between(two[0], two[1])).collect()
}

/// Octets and seconds of trains that follow each other.
fn trains(curves: &[Vec<Point>], period: Option<f64>) -> Vec<(f64, f64)> {
    let mut gaps: Vec<f64> =
        curves.iter().flat_map(|curve| curve.windows(2)).map(|two| between(two[0], two[1]).1).collect();
    let Some(gap) = median(&mut gaps) else { return Vec::new() };
    let least = (gap * TRAIN as f64).max(period.map_or(0.0, |period| period / 1e9 * BURSTS));
    let mut trains = Vec::new();
    for curve in curves {
        let Some(mut first) = curve.first() else { continue };
        let mut inside = 0;
        for point in curve {
            inside += 1;
            let train = between(*first, *point);
            if train.1 >= least && inside > TRAIN / 4 {
                trains.push(train);
                (first, inside) = (point, 0);
            }
        }
    }
    trains
}

fn between(one: Point, other: Point) -> (f64, f64) {
    ((other.1 - one.1) as f64, (other.0 - one.0) as f64 / 1e9)
}

/// The mode of the rates of samples: the mean of what is near it.
fn mode_of(samples: &[(f64, f64)]) -> Option<Estimate> {
    let mut rates: Vec<f64> = samples.iter().map(|(octets, seconds)| octets / seconds).collect();
    if rates.len() < 4 {
        return None;
    }
    rates.sort_by(f64::total_cmp);
    let mode = half_sample_mode(&rates)?;
    near(samples, mode, samples.iter().map(|one| one.0).sum())
}

/// The mean of the rates of samples that are near `mode`, of samples that have `all` octets.
fn near(samples: &[(f64, f64)], mode: f64, all: f64) -> Option<Estimate> {
    let is_near = |(octets, seconds): &&(f64, f64)| (octets / seconds / mode - 1.0).abs() < NEAR;
    let near: Vec<&(f64, f64)> = samples.iter().filter(is_near).collect();
    let [octets, seconds] = [near.iter().map(|one| one.0).sum::<f64>(), near.iter().map(|one| one.1).sum()];
    if near.is_empty() {
        return None;
    }
    let value = octets / seconds;
    let count = near.len() as f64;
    let variance = near.iter().map(|one| (one.0 / one.1 - value) * (one.0 / one.1 - value)).sum::<f64>() / count;
    let half = 1.96 * (variance / count).sqrt();
    Some(Estimate { value, low: value - half, high: value + half, share: octets / all })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1500 octets over 12 Mbps, one a millisecond, with a pause after each hundred.
    fn busy_and_idle() -> Vec<Point> {
        (0..1000u64).map(|packet| (packet * 1_000_000 + packet / 100 * 37_000_000, 1500 * (packet + 1))).collect()
    }

    #[test]
    fn pauses_do_not_count() {
        let rate = of_bottleneck(&[busy_and_idle()], &[], true, None, None).unwrap().estimate;
        assert!((rate.value - 1.5e6).abs() < 1.0, "{rate:?}");
    }

    /// Between three of four packets is one of another flow.
    #[test]
    fn others_in_between_do_not_count() {
        let mut at = 0;
        let mut curve = Vec::new();
        for n in 0..1000u64 {
            at += if n % 4 == 0 { 1_000_000 } else { 2_000_000 };
            curve.push((at, 1500 * (n + 1)));
        }
        let rate = of_bottleneck(&[curve], &[], true, None, None).unwrap().estimate;
        assert!((rate.value - 1.5e6).abs() < 1.0, "{rate:?}");
    }

    #[test]
    fn bursts_are_averaged() {
        // Five packets every five milliseconds.
        let curve: Vec<Point> = (0..1000u64).map(|n| (n / 5 * 5_000_000 + n % 5 * 10_000, 1500 * (n + 1))).collect();
        let rate = of_bottleneck(&[], &[curve], false, Some(5e6), None).unwrap().estimate;
        assert!((rate.value / 1.5e6 - 1.0).abs() < 0.03, "{rate:?}");
    }

    #[test]
    fn points_that_tell_nothing_are_dropped() {
        assert_eq!(tidy([(0, 1), (5, 1), (5, 3), (5, 4), (9, 2), (10, 6)]), [(0, 1), (5, 4), (10, 6)]);
    }
}
