//! The rate of the bottleneck, by dispersion.
//!
//! Packets leave a busy bottleneck one transmission time apart. The data after the bottleneck, and
//! the ACKs that they cause, keep that distance (Keshav, *A Control-Theoretic Approach to Flow
//! Control*, SIGCOMM 1991; Paxson, *End-to-End Internet Packet Dynamics*, SIGCOMM 1997, §4).
//! Competing traffic and bursts disturb single distances. So the estimate is a mode: of single
//! distances if they agree, otherwise of trains (Dovrolis, Ramanathan, Moore, *Packet-Dispersion
//! Techniques and a Capacity-Estimation Methodology*, IEEE/ACM ToN 12(6), 2004). Both are taken
//! within [busy periods](crate::busy) only.
//!
//! Distances must be long compared with two times: the tick of the clock, and the delay of
//! interrupts by an interface. The distance of packets that one interrupt fetches depends on the
//! processor (Prasad, Jain, Dovrolis, *Effects of Interrupt Coalescence on Network Measurements*,
//! PAM 2004). Trains that are long enough span many ticks and interrupts (Chen et al., *Estimating
//! Link Capacity in High Speed Networks*, Networking 2006, use bulks instead of pairs for the same
//! reason).

use crate::finding::Finding;
use crate::quantiles::{half_sample_mode, median, quantile_of};

/// The number of points of a train: large enough that it hardly matters where in a burst or a pair
/// the train begins and ends.
const TRAIN: usize = 32;
/// The number of bursts of a train, for the same reason.
const BURSTS: f64 = 12.0;
/// The number of ticks of the capture's clock in a sample. Its ends are exact to a tick, so its
/// rate is exact to a fortieth, half of the width of a mode.
const TICKS: f64 = 40.0;
/// The shortest train in nanoseconds: forty times [`COALESCED`], for the same reason.
const MIN_TRAIN: f64 = 4e6;
/// Below this distance, in nanoseconds, one interrupt may have fetched both packets: interfaces
/// delay interrupts by some tens of microseconds, up to 100 (Prasad et al., PAM 2004, §2).
const COALESCED: f64 = 1e5;
/// The time in nanoseconds in which a processor fetches the next packet of an interrupt, with a
/// margin. If at least the given share of distances is below half of the mode, interrupts fetch
/// several packets.
const FETCHED: f64 = 2e4;
const TOGETHER: f64 = 0.05;
/// The relative deviation within which values belong to a mode.
const NEAR: f64 = 0.05;
/// The minimum share of the octets near a mode that is sharp.
const SHARP: f64 = 0.3;
/// The minimum share of the octets in a frequent distance: that of a line of the receiver's clock.
const FREQUENT: f64 = 0.1;
/// The maximum number of other flows' packets between two of this flow, plus one. Up to this
/// number, distances of packets of all sizes are not multiples at random.
const MAX_BETWEEN: u32 = 4;
/// The minimum number of full-sized segments that agree on a rate. Chosen, for 20 trains of eight
/// segments or 160 pairs. CapProbe stops after 40 to 100 pairs (Kapoor et al., *CapProbe: A Simple
/// and Accurate Capacity Estimation Technique*, SIGCOMM 2004, §4), which it chooses by their delay.
const MIN_SEGMENTS: u64 = 160;

/// The minimum share of the octets of trains near their mode if the bottleneck was busy for most of
/// the time. If the sender leaves it idle, the rates of trains vary with the window.
const BUSY: f64 = 0.4;
/// The share of a rate by which its interval is wider than the samples show. It covers the choice
/// of the mode, and senders that pace below the bottleneck, as Linux's BBR does by 1 %
/// (`bbr_pacing_margin_percent`). Fitted: with it, 95 % of the intervals for the simulated paths 0
/// to 119 contain the true value.
const MARGIN: f64 = 0.01;
/// The ratio below which two estimates are considered equal. Differences may be noise on the return
/// path, or a tick of the receiver's clock.
const APART: f64 = 1.1;

/// A point of a curve: a time in nanoseconds, and the number of octets that had arrived by then.
pub(crate) type Point = (u64, u64);

/// An estimate with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The share of the octets that agree with the estimate.
    pub(crate) share: f64,
    /// The number of these octets.
    pub(crate) octets: f64,
}

/// The rate of a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) estimate: Estimate,
    /// `true` if the bottleneck may be faster: it was not busy, and no distances show its rate.
    pub(crate) is_lower_bound: bool,
}

/// The arrivals in [busy periods](crate::busy).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Busy<'a> {
    /// Pairs and trains of data after the bottleneck. Empty if the data were captured before it.
    pub(crate) data: [&'a [Vec<Point>]; 2],
    /// Pairs and trains of the data that ACKs report.
    pub(crate) acks: [&'a [Vec<Point>]; 2],
    /// `true` if the data have certainly passed the bottleneck.
    pub(crate) is_behind: bool,
    /// The payload of a full-sized segment.
    pub(crate) segment: u64,
    /// The bytes of data in the capture. ACKs may acknowledge more.
    pub(crate) captured: u64,
    /// The tick of the capture's clock in nanoseconds.
    pub(crate) tick: f64,
    /// The bytes that arrived per second over the whole time.
    pub(crate) goodput: f64,
}

/// Returns the points at which data have arrived.
pub(crate) fn advancing(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for (at, octets) in points {
        if kept.last().is_none_or(|last| octets > last.1 && at >= last.0) {
            kept.push((at, octets));
        }
    }
    kept
}

/// Returns the points without those at which no data have arrived. Points with the same time are
/// merged.
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

impl Busy<'_> {
    /// Returns the rate of the bottleneck in octets per second. `period` is the period of bursts of
    /// ACKs in nanoseconds, if they come in bursts. `clock` is the rate by the receiver's clock.
    pub(crate) fn rate(&self, period: Option<f64>, clock: Option<Estimate>) -> Finding<Rate> {
        let [curves, all_acks] = [self.trains(), self.acks[1]];
        let trains = trains(curves, period, self.tick);
        let mode = mode_of(&trains, self.tick).filter(|trains| trains.share >= BUSY && self.is_supported(trains));
        let clock = clock.filter(|clock| self.is_supported(clock));
        let is_apart = |one: &Estimate| clock.is_some_and(|clock| !agree(one, &clock));
        let sharp = |curves: &[Vec<Point>]| {
            let samples = singles(curves, self.tick);
            let mode = mode_of(&samples, self.tick)?;
            let is_sharp = mode.share >= SHARP && self.is_supported(&mode) && self.is_apart(&samples, &mode);
            is_sharp.then_some(mode)
        };
        let ack = sharp(self.acks[0]).filter(|_| period.is_none());
        match (sharp(self.data[0]), ack) {
            (Some(single), _) if self.is_behind => {
                self.finding(without_others(&singles(self.data[0], self.tick), single, self.tick), "distances of data")
            }
            // Data and their ACKs agree.
            (Some(single), Some(ack)) if agree(&single, &ack) && !is_apart(&single) => {
                self.finding(single, "distances of data and of ACKs")
            }
            _ if let Some(clock) = clock => self.finding(clock, "arrivals by the receiver's clock"),
            _ if let Some(mode) = mode => self.finding(mode, "trains"),
            (_, Some(ack))
                if self.data[1].is_empty()
                    && train_rate(curves, period, self.tick).is_some_and(|trains| ack.value > trains.value) =>
            {
                self.finding(ack, "distances of ACKs")
            }
            _ => self.bound(&trains, !self.is_behind && all_acks.iter().all(Vec::is_empty)),
        }
    }

    fn finding(&self, estimate: Estimate, by: &str) -> Finding<Rate> {
        let Estimate { value, low, high, share, octets } = estimate;
        let margin = MARGIN * value;
        let estimate = Estimate { low: low - margin, high: high + margin, ..estimate };
        let (segments, share) = (self.segments(octets), 100.0 * share);
        let evidence = format!("{by}: {segments:.0} back-to-back full-sized segments agree, {share:.0} % of all");
        if estimate.low <= 0.0 {
            return Finding::not_known(format!("{evidence}, but only to ± {:.0} %", 100.0 * (high / value - 1.0)));
        }
        Finding::known(Rate { estimate, is_lower_bound: false }, evidence)
    }

    /// Returns a lower bound. A bottleneck that was not busy is at least as fast as the mean of
    /// busy periods, and as the fastest trains without the twentieth that noise has shortened. Data
    /// that have not passed the bottleneck may arrive at any rate for a short time, so only the
    /// mean counts for them.
    fn bound(&self, trains: &[(f64, f64)], is_by_data: bool) -> Finding<Rate> {
        let curves = self.trains();
        let segments = self.segments(octets_of(curves).min(self.captured) as f64);
        if segments < MIN_SEGMENTS as f64 {
            return Finding::not_known(format!(
                "{segments:.0} back-to-back full-sized segments, expected at least {MIN_SEGMENTS}"
            ));
        }
        let (Some(mean), Some(fastest)) = (mean(curves), quantile(trains, 0.95)) else {
            let shortest = MIN_TRAIN.max(TICKS * self.tick) / 1e6;
            return Finding::not_known(format!(
                "no train of {segments:.0} back-to-back full-sized segments lasts {shortest} ms and {TRAIN} distances"
            ));
        };
        let fastest = if is_by_data { 0.0 } else { fastest };
        let value = mean.max(fastest).max(self.goodput);
        let of = if value <= fastest { "the 95th percentile of trains" } else { "the mean rate" };
        let estimate = Estimate { value, low: value, high: value, share: 0.0, octets: 0.0 };
        let evidence = format!("lower bound: {of} of {segments:.0} back-to-back segments, whose trains differ in rate");
        Finding::known(Rate { estimate, is_lower_bound: true }, evidence)
    }

    /// Returns the curves from which trains are taken.
    fn trains(&self) -> &[Vec<Point>] {
        if self.acks[1].iter().all(Vec::is_empty) { self.data[1] } else { self.acks[1] }
    }

    fn segments(&self, octets: f64) -> f64 {
        octets / self.segment.max(1) as f64
    }

    /// Returns `true` if enough segments agree on an estimate.
    fn is_supported(&self, estimate: &Estimate) -> bool {
        self.segments(estimate.octets.min(self.captured as f64)) >= MIN_SEGMENTS as f64
    }

    /// Returns `true` if no interrupt has fetched several full-sized segments at this rate, because
    /// they are too far apart, or because none directly follows another.
    fn is_apart(&self, samples: &[(f64, f64)], single: &Estimate) -> bool {
        let nanos = self.segment as f64 / single.value * 1e9;
        let fetched = samples.iter().filter(|(octets, seconds)| octets / seconds > 2.0 * single.value).count();
        nanos >= COALESCED || nanos >= FETCHED && fetched as f64 <= TOGETHER * samples.len() as f64
    }
}

/// Returns the number of bytes that arrive in curves.
fn octets_of(curves: &[Vec<Point>]) -> u64 {
    curves.iter().filter_map(|curve| Some(curve.last()?.1 - curve.first()?.1)).sum()
}

/// Returns the rate if most packets have packets of other flows between them. Their distances are
/// multiples of the shortest frequent one, which is that of the bottleneck.
fn without_others(samples: &[(f64, f64)], single: Estimate, tick: f64) -> Estimate {
    let octets: f64 = samples.iter().map(|one| one.0).sum();
    let multiples =
        (2..=MAX_BETWEEN).rev().filter_map(|times| near(samples, single.value * f64::from(times), octets, tick));
    multiples.into_iter().find(|one| one.share >= FREQUENT).unwrap_or(single)
}

/// Returns a quantile of the rates of trains.
fn quantile(trains: &[(f64, f64)], share: f64) -> Option<f64> {
    let mut rates: Vec<f64> = trains.iter().map(|(octets, seconds)| octets / seconds).collect();
    rates.sort_by(f64::total_cmp);
    quantile_of(&rates, share)
}

/// Returns the mean rate of curves in octets per second. Returns `None` if no time passes in them.
pub(crate) fn mean(curves: &[Vec<Point>]) -> Option<f64> {
    let ends = curves.iter().filter_map(|curve| Some((curve.first()?, curve.last()?)));
    let (octets, time) =
        ends.fold((0, 0), |(octets, time), (first, last)| (octets + last.1 - first.1, time + last.0 - first.0));
    (octets > 0 && time > 0).then(|| octets as f64 / time as f64 * 1e9)
}

fn agree(one: &Estimate, other: &Estimate) -> bool {
    (one.value / other.value).max(other.value / one.value) < APART
}

/// Returns the rate of trains, which is that of the bottleneck while it is busy.
pub(crate) fn train_rate(curves: &[Vec<Point>], period: Option<f64>, tick: f64) -> Option<Estimate> {
    mode_of(&trains(curves, period, tick), tick)
}

/// Returns the octets and seconds of each distance, or of sums of distances that are at least
/// [`TICKS`] long.
fn singles(curves: &[Vec<Point>], tick: f64) -> Vec<(f64, f64)> {
    let shortest = TICKS * tick / 1e9;
    let mut samples = Vec::new();
    for curve in curves {
        let Some(mut first) = curve.first() else { continue };
        for point in &curve[1..] {
            let sample = between(*first, *point);
            if sample.1 >= shortest {
                samples.push(sample);
                first = point;
            }
        }
    }
    samples
}

/// Returns octets and seconds of successive trains.
fn trains(curves: &[Vec<Point>], period: Option<f64>, tick: f64) -> Vec<(f64, f64)> {
    let mut gaps: Vec<f64> =
        curves.iter().flat_map(|curve| curve.windows(2)).map(|two| between(two[0], two[1]).1).collect();
    let Some(gap) = median(&mut gaps) else { return Vec::new() };
    let shortest = MIN_TRAIN.max(TICKS * tick).max(period.map_or(0.0, |period| period * BURSTS)) / 1e9;
    let shortest = shortest.max(gap * TRAIN as f64);
    let mut trains = Vec::new();
    for curve in curves {
        let Some(mut first) = curve.first() else { continue };
        let mut inside = 0;
        for point in curve {
            inside += 1;
            let train = between(*first, *point);
            if train.1 >= shortest && inside > TRAIN / 4 {
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

/// Returns the mode of the rates of samples: the mean of those near it. `tick` is that of the
/// clock, in nanoseconds.
fn mode_of(samples: &[(f64, f64)], tick: f64) -> Option<Estimate> {
    let mut rates: Vec<f64> = samples.iter().map(|(octets, seconds)| octets / seconds).collect();
    if rates.len() < 4 {
        return None;
    }
    rates.sort_by(f64::total_cmp);
    let mode = half_sample_mode(&rates)?;
    near(samples, mode, samples.iter().map(|one| one.0).sum(), tick)
}

/// Returns the mean of the rates of samples near `mode`. The octets of all samples are `all`.
fn near(samples: &[(f64, f64)], mode: f64, all: f64, tick: f64) -> Option<Estimate> {
    let is_near = |(octets, seconds): &&(f64, f64)| (octets / seconds / mode - 1.0).abs() < NEAR;
    let near: Vec<&(f64, f64)> = samples.iter().filter(is_near).collect();
    let [octets, seconds] = [near.iter().map(|one| one.0).sum::<f64>(), near.iter().map(|one| one.1).sum()];
    if near.is_empty() {
        return None;
    }
    let value = octets / seconds;
    let count = near.len() as f64;
    let variance = near.iter().map(|one| (one.0 / one.1 - value) * (one.0 / one.1 - value)).sum::<f64>() / count;
    let half = 1.96 * (variance / count).sqrt() + value * tick / 1e9 * count.sqrt() / seconds;
    Some(Estimate { value, low: value - half, high: value + half, share: octets / all, octets })
}
#[cfg(test)]
mod tests {
    use super::*;

    /// Returns packets of 1500 octets over 12 Mbps, one per millisecond, with a pause after every
    /// hundred.
    fn busy_and_idle() -> Vec<Point> {
        (0..1000u64).map(|packet| (packet * 1_000_000 + packet / 100 * 37_000_000, 1500 * (packet + 1))).collect()
    }

    /// Returns data at a receiver whose clock has a tick of 1 µs.
    fn at_receiver(data: &[Vec<Point>]) -> Busy<'_> {
        Busy { data: [data; 2], is_behind: true, segment: 1500, captured: u64::MAX, tick: 1e3, ..Busy::default() }
    }

    fn value(found: &Finding<Rate>) -> f64 {
        let rate = found.value().unwrap_or_else(|| panic!("{found:?}"));
        let Estimate { value, low, high, .. } = rate.estimate;
        assert!(0.0 < low && low <= value && value <= high, "{rate:?}");
        value
    }

    #[test]
    fn pauses_do_not_count() {
        let rate = at_receiver(&[busy_and_idle()]).rate(None, None);
        assert!((value(&rate) - 1.5e6).abs() < 1.0, "{rate:?}");
        assert_eq!(rate.evidence(), Some("distances of data: 990 back-to-back full-sized segments agree, 99 % of all"));
    }

    /// Between three of four pairs of packets, one packet of another flow has passed.
    #[test]
    fn others_in_between_do_not_count() {
        let mut at = 0;
        let mut curve = Vec::new();
        for n in 0..1000u64 {
            at += if n % 4 == 0 { 1_000_000 } else { 2_000_000 };
            curve.push((at, 1500 * (n + 1)));
        }
        let rate = at_receiver(&[curve]).rate(None, None);
        assert!((value(&rate) - 1.5e6).abs() < 1.0, "{rate:?}");
    }

    #[test]
    fn bursts_are_averaged() {
        // Five packets every five milliseconds.
        let acks = [(0..1000u64).map(|n| (n / 5 * 5_000_000 + n % 5 * 10_000, 1500 * (n + 1))).collect()];
        let busy = Busy { acks: [&acks; 2], segment: 1500, captured: u64::MAX, tick: 1e3, ..Busy::default() };
        let rate = busy.rate(Some(5e6), None);
        assert!((value(&rate) / 1.5e6 - 1.0).abs() < 0.03, "{rate:?}");
    }

    /// A hundred packets are fewer than the 160 that must agree.
    #[test]
    fn few_packets_are_inconclusive() {
        let rate = at_receiver(&[busy_and_idle()[..101].to_vec()]).rate(None, None);
        assert_eq!(rate.reason(), Some("100 back-to-back full-sized segments, expected at least 160"));
    }

    /// Every 100 µs, an interrupt fetches eight packets, with times 1 µs apart. The rate is 960
    /// Mbps, not the 12 Gbps of their distances.
    #[test]
    fn packets_of_one_interrupt_are_averaged() {
        let data = [(0..40_000u64).map(|n| (n / 8 * 100_000 + n % 8 * 1_000, 1500 * (n + 1))).collect()];
        let rate = at_receiver(&data).rate(None, None);
        assert!((value(&rate) / 120e6 - 1.0).abs() < 0.03, "{rate:?}");
    }

    /// 240 Mbps with even distances of 50 µs; and the same rate with two packets per interrupt.
    #[test]
    fn short_distances_count_if_no_two_packets_come_together() {
        let data = |together: u64| {
            let at = move |n: u64| n / together * together * 50_000 + n % together * 2_000;
            [(0..20_000u64).map(|n| (at(n), 1500 * (n + 1))).collect::<Vec<_>>()]
        };
        let rate = |together| Busy { tick: 1.0, ..at_receiver(&data(together)) }.rate(None, None);
        let [even, pairs] = [1, 2].map(rate);
        assert!((value(&even) / 30e6 - 1.0).abs() < 1e-6 && even.evidence().unwrap().starts_with("distances of data"));
        assert!(
            (value(&pairs) / 30e6 - 1.0).abs() < 0.02 && pairs.evidence().unwrap().starts_with("trains"),
            "{pairs:?}"
        );
    }

    /// 120 Mbps with a clock of 10 ms: distances of single packets are 0 or 10 ms. Trains of 40
    /// ticks show the rate, and the interval contains it.
    #[test]
    fn a_coarse_clock_needs_long_trains() {
        let data = [(0..40_000u64).map(|n| (n / 100 * 10_000_000, 1500 * (n + 1))).collect::<Vec<_>>()];
        let data = data.map(tidy);
        let rate = Busy { tick: 1e7, ..at_receiver(&data) }.rate(None, None);
        assert!((value(&rate) / 15e6 - 1.0).abs() < 0.02, "{rate:?}");
    }

    /// The rates of half-second trains vary from 1 to 4 Mbps. The bottleneck is at least as fast as
    /// the fastest.
    #[test]
    fn trains_that_differ_are_a_lower_bound() {
        let mut at = 0;
        let mut curve = Vec::new();
        for n in 0..4000u64 {
            at += 3_000_000 + (n / 100 * 7919 % 40) * 225_000;
            curve.push((at, 1500 * (n + 1)));
        }
        let rate = at_receiver(&[curve]).rate(None, None);
        let bound = value(&rate);
        assert!(rate.value().unwrap().is_lower_bound && (0.3e6..=0.5e6).contains(&bound), "{rate:?}");
    }

    #[test]
    fn points_without_arrivals_are_dropped() {
        assert_eq!(tidy([(0, 1), (5, 1), (5, 3), (5, 4), (9, 2), (10, 6)]), [(0, 1), (5, 4), (10, 6)]);
    }
}
