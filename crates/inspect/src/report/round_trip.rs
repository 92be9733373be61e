//! Round-trip times of a direction.

use super::Position;
use crate::direction;
use crate::finding::{Finding, Statements};
use crate::quantiles::Quantiles;
use crate::quic::spin::Spins;
use serde::Serialize;

/// If the part of the round-trip time on one side is below this share, the point of capture is at
/// the end on this side.
const AT_END: f64 = 0.1;
/// The shortest tick that is assumed, in nanoseconds. A kernel needs longer to record the time of a
/// packet.
const MIN_TICK: f64 = 1e3;

/// The minimum ratio of the tick of the clock to a time at which the tick is mentioned.
const COARSE: f64 = 0.01;

/// Round-trip times in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct RoundTrip {
    /// The minimum round-trip time: the sum of the minimums of both sides of the point.
    pub base: Finding<f64>,
    /// The tick of the clock, if the minimum is below the tick.
    pub base_below: Option<f64>,
    /// The part of the minimum between the point and the receiver.
    pub ahead: Option<f64>,
    /// The part of the minimum between the point and the sender.
    pub behind: Option<f64>,
    /// The median of all samples of data. The minimum of the other side is added to each sample.
    pub median: Finding<f64>,
    /// The mean of the samples of `median`.
    pub mean: Option<f64>,
    /// The 95 % confidence interval of the mean.
    pub mean_interval: Option<[f64; 2]>,
    /// The 95th percentile of the samples of `median`.
    pub p95: Option<f64>,
    /// The number of samples of data.
    pub samples: u64,
    /// The number of samples of lone segments, whose ACK a receiver may delay. They are used only
    /// for the minimum.
    pub lone: u64,
    /// The number of echoes of timestamps that are late because of a pause of the sender or a
    /// retransmission. They are ignored.
    pub late: u64,
    /// `true` if the parts on both sides are derived from the spin bit.
    pub by_spin_bit: bool,
    /// The tick of the capture's clock, in milliseconds. Times below it cannot be distinguished
    /// from zero.
    pub tick: f64,
}

/// Samples of one side, and the time added for the other side, in nanoseconds.
struct Samples<'a> {
    times: &'a Quantiles,
    other: f64,
    /// The index of the side in snapshots of batches.
    side: usize,
}

impl RoundTrip {
    /// Returns the round-trip times of a direction. `spins` are the spin bits, if they are used,
    /// with the end that sends in this direction. `tick` is the tick of the capture's clock in
    /// nanoseconds.
    pub(super) fn of(direction: &direction::Direction, spins: Option<(&Spins, usize)>, tick: f64) -> Self {
        let tick = tick.max(MIN_TICK);
        let millis = |nanos: u64| nanos as f64 / 1e6;
        let minimum = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        let (ahead, behind) = direction.round_trip.minimum();
        let ahead = minimum(ahead, spins.and_then(|(spins, from)| spins.min_to(1 - from)));
        let behind = minimum(behind, spins.and_then(|(spins, from)| spins.min_to(from)));
        let both = ahead.zip(behind).map(|(one, other)| one + other);
        let base = minimum(both, spins.and_then(|(spins, _)| spins.min_whole()));
        let position = position(ahead, behind, tick);
        let samples = if spins.is_some() {
            Ok(Samples { times: &direction.round_trip.whole, other: 0.0, side: 2 })
        } else {
            under_load(direction, position, [ahead, behind])
        };
        let of = |nanos: f64, samples: &Samples<'_>| (nanos + samples.other) / 1e6;
        let samples = samples.and_then(|samples| {
            let median = samples.times.quantile(0.5).ok_or_else(|| none_of(direction))?;
            let median = of(median, &samples);
            if median * 1e6 < tick { Err(below(tick)) } else { Ok((samples, median)) }
        });
        let found = samples.as_ref().ok().map(|(samples, _)| samples);
        Self {
            base: match base {
                None => Finding::not_known(unseen(ahead, behind)),
                Some(nanos) if (nanos as f64) < tick => Finding::not_known(below(tick)),
                Some(nanos) => Finding::known(millis(nanos), sides(ahead, behind) + &precision(nanos as f64, tick)),
            },
            base_below: base.filter(|nanos| (*nanos as f64) < tick).map(|_| tick / 1e6),
            ahead: ahead.map(millis),
            behind: behind.map(millis),
            mean: found.and_then(|samples| Some(of(samples.times.mean()?, samples))),
            mean_interval: found.and_then(|samples| {
                let nanos =
                    direction.interval(|taken| (taken.times[samples.side].0, taken.times[samples.side].1 as f64))?;
                Some(nanos.map(|nanos| of(nanos, samples)))
            }),
            p95: found.and_then(|samples| Some(of(samples.times.quantile(0.95)?, samples))),
            samples: found.map_or(0, |samples| samples.times.count()),
            median: match &samples {
                Ok((samples, median)) => Finding::known(*median, counted(direction, samples)),
                Err(reason) => Finding::not_known(reason.clone()),
            },
            lone: direction.round_trip.lone,
            late: direction.round_trip.late,
            by_spin_bit: spins.is_some(),
            tick: tick / 1e6,
        }
    }

    /// Adds the texts of the findings to `statements`.
    pub(super) fn state(&self, statements: &mut Statements) {
        statements.add("base", &self.base);
        statements.add("round_trip", &self.median);
    }

    pub(super) fn position(&self) -> Position {
        let nanos = |millis: f64| (millis * 1e6).round() as u64;
        position(self.ahead.map(nanos), self.behind.map(nanos), self.tick * 1e6)
    }
}

fn position(ahead: Option<u64>, behind: Option<u64>, tick: f64) -> Position {
    match (ahead.map(|nanos| nanos as f64), behind.map(|nanos| nanos as f64)) {
        (Some(ahead), Some(behind)) if ahead + behind < tick => Position::Unknown,
        (Some(ahead), Some(behind)) if behind < AT_END * (ahead + behind) => Position::Sender,
        (Some(ahead), Some(behind)) if ahead < AT_END * (ahead + behind) => Position::Receiver,
        (Some(_), Some(_)) => Position::Middle,
        // The log belongs to a receiver that sends no data. The other part can therefore not be
        // measured.
        (Some(0.0), None) => Position::Receiver,
        _ => Position::Unknown,
    }
}

/// Computes samples under load. Samples of the two sides are not simultaneous. Samples of the side
/// that varies are therefore combined with the median of the other side, or with its minimum if
/// that side is an end. Returns an error with the reason if the queue may be on a side without
/// samples.
fn under_load(
    direction: &direction::Direction,
    position: Position,
    [ahead, behind]: [Option<u64>; 2],
) -> Result<Samples<'_>, String> {
    let times = [&direction.round_trip.ahead, &direction.round_trip.behind];
    let has = times.map(|times| times.count() > 0);
    let minimum = [ahead, behind].map(|nanos| nanos.unwrap_or_default() as f64);
    let one = |side: usize| {
        let other = times[1 - side].quantile(0.5).unwrap_or(minimum[1 - side]);
        Ok(Samples { times: times[side], other, side })
    };
    let spread = |side: usize| times[side].quantile(0.95).zip(times[side].quantile(0.05)).map(|(high, low)| high - low);
    match (position, has) {
        (_, [true, true]) => one(usize::from(spread(1) > spread(0))),
        (Position::Sender, [true, _]) => one(0),
        (Position::Receiver, [_, true]) => one(1),
        (_, [false, false]) => Err(none_of(direction)),
        (_, [true, _]) => Err(format!("no sample of the sender's side: {}", none_of(direction))),
        _ => Err(format!("no sample of the receiver's side: {}", none_of(direction))),
    }
}

/// Returns a text that names the excluded samples.
fn none_of(direction: &direction::Direction) -> String {
    let times = &direction.round_trip;
    format!(
        "0 samples of a sender that had more to send; {} ACKs of lone segments, {} late echoes of timestamps",
        times.lone, times.late
    )
}

fn counted(direction: &direction::Direction, samples: &Samples<'_>) -> String {
    let side = ["to the receiver", "to the sender", "by the spin bit"][samples.side];
    let times = &direction.round_trip;
    let left_out = [(times.lone, "ACKs of lone segments"), (times.late, "late echoes of timestamps")];
    let left_out: Vec<String> =
        left_out.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let without = if left_out.is_empty() { String::new() } else { format!("; without {}", left_out.join(", ")) };
    format!("{} samples {side}{without}", samples.times.count())
}

fn sides(ahead: Option<u64>, behind: Option<u64>) -> String {
    match ahead.zip(behind) {
        Some((ahead, behind)) => {
            format!("{} ms to the receiver and back, {} ms to the sender", ahead as f64 / 1e6, behind as f64 / 1e6)
        }
        None => "whole round trips by the spin bit".to_owned(),
    }
}

/// Returns a text with the precision of a time in nanoseconds, if the tick matters.
fn precision(nanos: f64, tick: f64) -> String {
    if tick < COARSE * nanos { String::new() } else { format!("; a tick of the clock is {} ms", tick / 1e6) }
}

fn unseen(ahead: Option<u64>, behind: Option<u64>) -> String {
    let side = match (ahead, behind) {
        (None, None) => "neither side",
        (None, _) => "only the sender's side",
        _ => "only the receiver's side",
    };
    format!("{side} of the round trip was seen, by handshake, ACKs or timestamps, expected both")
}

fn below(tick: f64) -> String {
    format!("below the tick of the capture's clock of {} ms", tick / 1e6)
}
