//! The rate of the bottleneck, by the receiver's clock.
//!
//! An ACK with a timestamp reports the data that the receiver had, and the time by its own clock
//! (RFC 7323, §3). Thus each ACK is a point of the arrival curve at the receiver, to a tick of its
//! clock, even if ACKs wait on the path, are released together, or are thinned. While the
//! bottleneck is busy, these points follow a straight line, and no data arrive faster. So the rate
//! is the steepest slope that a substantial part of the octets follows. If the sender leaves the
//! bottleneck idle, each flight of its window is a separate line.

use crate::direction::Ack;
use crate::rate::{Estimate, Point, tidy};

/// The minimum length of a line in ticks: long enough that an error of one tick has little effect.
const TICKS: f64 = 10.0;
/// The minimum number of points of a line.
const POINTS: usize = 4;
/// The number of ticks by which points of a line may differ from it. Two readings of a clock are
/// exact to a tick, and a receiver needs some time for an ACK.
const OFF: f64 = 1.25;
/// The ratio of neighbouring slopes that are tried. A line of the minimum length fits slopes within
/// an eighth.
const STEP: f64 = 1.05;
/// The number of slopes that are tried. They reach 17,000 times the mean rate, which exceeds any
/// bottleneck that a sender would leave so idle.
const SLOPES: usize = 200;
/// The minimum share of the octets that follow the slope of a bottleneck.
const SHARE: f64 = 0.1;
/// The slope of the bottleneck is the steepest one with at least this share of the octets of the
/// most frequent slope. A sender that leaves the bottleneck idle in each round trip also causes a
/// flatter line.
const STEEP: f64 = 0.5;
/// The ratio within which slopes fit the same lines of the minimum length: a tick and a quarter at
/// either end.
const BLUR: f64 = 1.25;
/// The ratio of neighbouring slopes that are tried in the second step.
const FINE: f64 = 1.005;

/// Ticks of stacks, in nanoseconds: 1 ms of Linux (`TCP_TS_HZ`), FreeBSD and Windows, the 4 and 10
/// ms of Linux before 4.13 with `HZ` of 250 and 100, and the microsecond of Linux's
/// `RTAX_FEATURE_TCP_USEC_TS`. RFC 7323, §5.4, permits 1 ms to 1 s.
const KNOWN: [f64; 4] = [1e6, 4e6, 1e7, 1e3];
/// The ratio within which a measured tick is taken for a known one. ACKs that wait on the path for
/// a large part of a capture make ticks appear longer.
const MEASURED: f64 = 1.5;

/// Returns the tick of the receiver's clock in nanoseconds, and the number of ticks between two of
/// its ACKs. Returns `None` without timestamps, or if both are equal.
pub(crate) fn tick_between(first: &Ack, last: &Ack) -> Option<(f64, f64)> {
    let ticks = f64::from(last.value?.wrapping_sub(first.value?));
    let measured = last.at.saturating_sub(first.at) as f64 / ticks;
    (ticks > 0.0).then(|| (known_tick(measured).unwrap_or(measured), ticks))
}

/// Returns the known tick that fits a measured one, in nanoseconds.
pub(crate) fn known_tick(measured: f64) -> Option<f64> {
    KNOWN.into_iter().find(|known| (measured / known).max(known / measured) < MEASURED)
}

/// The curve of arrivals at the receiver.
#[derive(Clone, Debug)]
pub(crate) struct ReceiverClock {
    curves: Vec<Vec<Point>>,
    /// The tick in nanoseconds.
    tick: f64,
}

/// Lines of one slope.
#[derive(Clone, Debug, Default)]
struct Lines {
    /// The octets and nanoseconds of each line.
    lines: Vec<(f64, f64)>,
}

impl Lines {
    fn octets(&self) -> f64 {
        self.lines.iter().map(|line| line.0).sum()
    }

    /// Returns the sum of the octets multiplied by the length.
    fn length(&self) -> f64 {
        self.lines.iter().map(|(octets, time)| octets * time).sum()
    }

    fn slope(&self) -> f64 {
        self.octets() / self.lines.iter().map(|line| line.1).sum::<f64>()
    }
}

impl ReceiverClock {
    /// Returns the clock shown by ACKs. Returns `None` if they have no timestamps or arrived within
    /// few ticks.
    pub(crate) fn of(stretches: &[Vec<Ack>]) -> Option<Self> {
        let (first, last) = (stretches.first()?.first()?, stretches.last()?.last()?);
        let origin = first.value?;
        let (tick, ticks) = tick_between(first, last)?;
        if ticks < TICKS * TICKS {
            return None;
        }
        let point = |ack: &Ack| Some(((f64::from(ack.value?.wrapping_sub(origin)) * tick) as u64, ack.delivered));
        let curves = stretches.iter().map(|stretch| tidy(stretch.iter().filter_map(point))).collect();
        Some(Self { curves, tick })
    }

    /// Returns the rate of the bottleneck in octets per second. Returns `None` if no slope has
    /// enough octets.
    pub(crate) fn rate(&self) -> Option<Estimate> {
        let ends = self.curves.iter().filter_map(|curve| Some((curve.first()?, curve.last()?)));
        let (octets, time) = ends.fold((0.0, 0.0), |(octets, time), (first, last)| {
            (octets + (last.1 - first.1) as f64, time + (last.0 - first.0) as f64)
        });
        let (minimum, maximum) = (octets / time, self.steepest() * STEP);
        if !minimum.is_finite() || minimum <= 0.0 {
            return None;
        }
        let tried = std::iter::successors(Some(minimum / STEP), |slope| Some(slope * STEP)).take(SLOPES);
        let tried: Vec<(f64, f64)> =
            tried.take_while(|&slope| slope <= maximum).map(|slope| (slope, self.lines(slope).octets())).collect();
        let best = tried.iter().map(|one| one.1).fold(0.0, f64::max);
        let enough = (best * STEEP).max(octets * SHARE);
        let place = tried.iter().rposition(|&(_, followed)| followed > 0.0 && followed >= enough)?;
        // Short lines fit several slopes. Long lines fit only their own.
        let from = tried[place].0 / BLUR;
        let fine = std::iter::successors(Some(from), |slope| Some(slope * FINE))
            .take_while(|&slope| slope <= tried[place].0 * STEP);
        let lines = fine.map(|slope| self.lines(slope)).max_by(|one, other| one.length().total_cmp(&other.length()))?;
        let value = lines.slope();
        let count = lines.lines.len() as f64;
        // The slopes of lines, each weighted by its time.
        let whole: f64 = lines.lines.iter().map(|line| line.1).sum();
        let squares: f64 =
            lines.lines.iter().map(|(octets, time)| (octets - value * time) * (octets - value * time)).sum();
        let spread = 1.96 * (squares * count / (count - 1.0).max(1.0)).sqrt() / whole;
        // The ends of a line are exact to a tick.
        let half = spread.max(value * self.tick * count.sqrt() / whole);
        let share = lines.octets() / octets;
        Some(Estimate {
            value: value * 1e9,
            low: (value - half) * 1e9,
            high: (value + half) * 1e9,
            share,
            octets: lines.octets(),
        })
    }

    /// Returns the steepest slope between two points of a possible line.
    fn steepest(&self) -> f64 {
        let mut steepest = 0.0_f64;
        for curve in &self.curves {
            let mut last = 0;
            for first in curve {
                let time = |point: &Point| point.0.saturating_sub(first.0) as f64;
                while curve.get(last).is_some_and(|point| time(point) < TICKS * self.tick) {
                    last += 1;
                }
                let Some(point) = curve.get(last) else { break };
                steepest = steepest.max(point.1.saturating_sub(first.1) as f64 / time(point));
            }
        }
        steepest
    }

    /// Returns the lines with this slope in octets per nanosecond.
    fn lines(&self, slope: f64) -> Lines {
        let mut lines = Lines::default();
        let off = OFF * self.tick;
        for curve in &self.curves {
            let mut first = 0;
            while first + POINTS <= curve.len() {
                let (mut low, mut high) = (0.0_f64, 0.0_f64);
                let mut last = first;
                for place in first + 1..curve.len() {
                    let late =
                        (curve[place].0 - curve[first].0) as f64 - (curve[place].1 - curve[first].1) as f64 / slope;
                    (low, high) = (low.min(late), high.max(late));
                    if high - low > off {
                        break;
                    }
                    last = place;
                }
                let time = (curve[last].0 - curve[first].0) as f64;
                if last - first + 1 >= POINTS && time >= TICKS * self.tick {
                    lines.lines.push(((curve[last].1 - curve[first].1) as f64, time));
                    first = last + 1;
                } else {
                    first += 1;
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns ACKs for two segments of 1000 octets each. They were sent at these times in
    /// microseconds by the receiver's clock, and are all released every 50 ms.
    fn acks(sent: impl IntoIterator<Item = u64>) -> Vec<Vec<Ack>> {
        let ack = |(place, micros): (usize, u64)| Ack {
            at: (micros / 50_000 + 1) * 50_000_000 + place as u64,
            ack: 0,
            delivered: 2000 * (place as u64 + 1),
            value: Some((micros / 1000) as u32),
            covers: 2000,
            octets: 52,
            window: None,
            is_pure: true,
            pause: crate::writes::Pause::None,
        };
        vec![sent.into_iter().enumerate().map(ack).collect()]
    }

    #[test]
    fn acks_that_are_released_together_show_when_they_were_sent() {
        // Two segments every 1.7 ms, without a pause.
        let rate = ReceiverClock::of(&acks((0..2000).map(|n| n * 1700))).unwrap().rate().unwrap();
        assert!((rate.value / (2000.0 / 1.7e-3) - 1.0).abs() < 0.005, "{rate:?}");
        assert!(rate.share > 0.9);
    }

    #[test]
    fn flights_show_the_rate_of_a_bottleneck_that_is_mostly_idle() {
        // Twelve ACKs, one every 1.7 ms, every 70 ms.
        let sent = (0..200).flat_map(|flight| (0..12).map(move |n| flight * 70_300 + n * 1700));
        let rate = ReceiverClock::of(&acks(sent)).unwrap().rate().unwrap();
        assert!((rate.value / (2000.0 / 1.7e-3) - 1.0).abs() < 0.02, "{rate:?}");
    }

    #[test]
    fn points_without_a_line_are_inconclusive() {
        let mut state = 1_u64;
        let sent = (0..2000).scan(0, |at, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *at += (state >> 33) % 40_000;
            Some(*at)
        });
        assert!(ReceiverClock::of(&acks(sent)).unwrap().rate().is_none());
    }
}
