//! The rate of the bottleneck of a direction, and bursts.

use super::{Estimate, Limits, Position, RoundTrip};
use crate::bursts::{Bursts, bursts};
use crate::busy::{self, Arrivals};
use crate::direction;
use crate::finding::Finding;
use crate::rate::{self, Busy, Point, advancing, tidy, train_rate};
use crate::receiver_clock::ReceiverClock;
use crate::writes::Pause;

/// The minimum change of the queue of a busy bottleneck, in full-sized segments. Fitted to the
/// flows 0 to 299 of `validation/inspection/controllers.py`. A sender that sends two segments at a
/// time, as for each delayed ACK, has one waiting.
const QUEUED: f64 = 3.0;

/// The properties of the arrivals of data and ACKs.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) ack_stretches: Vec<Vec<direction::Ack>>,
    pub(super) rate: Finding<rate::Rate>,
    pub(super) bursts: Option<Bursts>,
    /// The change of the queue in full-sized segments while the bottleneck kept its rate, if this
    /// was visible.
    queue: Option<f64>,
}

impl Seen {
    /// Returns the arrivals of a direction that was captured at `position`, with a clock of `tick`
    /// nanoseconds.
    pub(super) fn of(
        direction: &direction::Direction,
        position: Position,
        round_trip: &RoundTrip,
        is_quic: bool,
        tick: f64,
    ) -> Self {
        let ack_stretches = direction.trace.ack_stretches();
        let data_stretches = direction.trace.data_stretches();
        let reported = |acks: &Vec<direction::Ack>| advancing(acks.iter().map(|ack| (ack.at, ack.delivered)));
        let (seen, stride): (Vec<Vec<Point>>, u64) = if is_quic || position == Position::Receiver {
            (data_stretches.iter().map(|stretch| arrivals(stretch)).collect(), direction.trace.stride())
        } else {
            (ack_stretches.iter().map(reported).collect(), direction.trace.stride())
        };
        let rough = rough_rate(&seen, tick);
        let is_saturated = rough.and_then(|rate| queue(direction, rate, tick)).is_some_and(|queue| queue >= QUEUED);
        let lull = round_trip.base.value().filter(|_| is_saturated).map(|millis| (millis * 1e6) as u64);
        let data = Arrivals::of(&data_stretches, direction.mss(), lull);
        let of_acks = |pause| busy::of_acks(&ack_stretches, pause);
        let [pairs, trains] =
            [Pause::Possible, if is_saturated { Pause::Certain } else { Pause::Possible }].map(of_acks);
        let clock = ReceiverClock::of(&trains).and_then(|clock| clock.rate());
        let together =
            |curves: &[Vec<Point>]| curves.iter().map(|curve| tidy(curve.iter().copied())).collect::<Vec<_>>();
        let [pairs, trains] = [&pairs, &trains].map(|acks| together(&acks.iter().map(reported).collect::<Vec<_>>()));
        // In a capture at the sender, no data have passed the bottleneck yet. In others they may
        // have.
        let has_passed = is_quic || position != Position::Sender;
        let data = [&data.pairs, if is_saturated { &data.saturated } else { &data.writes }]
            .map(|curves| if has_passed { together(curves) } else { Vec::new() });
        let busy = Busy {
            data: [&data[0], &data[1]],
            acks: [&pairs, &trains],
            is_behind: position == Position::Receiver,
            segment: direction.mss().into(),
            captured: direction.volume.octets,
            tick,
            goodput: goodput(direction),
        };
        let (rate, bursts) = rate_and_bursts(&busy, (&seen, stride), rough.or(clock.map(|clock| clock.value)), clock);
        let queue = rate.value().and_then(|rate| queue(direction, rate.estimate.value, tick));
        Self { ack_stretches, rate, bursts, queue }
    }

    /// Returns the rate in Mbps of IP packets. Also returns `true` if the rate is a lower bound.
    /// `overhead` is the size of packets divided by the size of their payload.
    pub(super) fn rate_of_ip(&self, overhead: f64, limits: Option<Limits>) -> (Finding<Estimate>, bool) {
        let Some((rate, evidence)) = self.rate.value().zip(self.rate.evidence()) else {
            return (Finding::not_known(self.rate.reason().unwrap_or_default()), false);
        };
        let factor = overhead * 8e-6;
        let rate::Estimate { value, low, high, .. } = rate.estimate;
        let estimate = Estimate { value: value * factor, low: low * factor, high: high * factor };
        let is_idle = |queue: &f64| !rate.is_lower_bound && *queue < QUEUED;
        let reason = limits.and_then(|limits| limits.rule()).or_else(|| {
            let queue = self.queue.filter(is_idle)?;
            Some(format!("at this rate the queue changed by {queue:.1} segments only, expected at least {QUEUED}"))
        });
        match reason {
            Some(reason) => (Finding::known(estimate, format!("lower bound, as {reason}; {evidence}")), true),
            None => (Finding::known(estimate, evidence), rate.is_lower_bound),
        }
    }
}

/// Returns the change of the queue in full-sized segments at a `rate` in bytes per second, as far
/// as it exceeds two ticks of the clock.
fn queue(direction: &direction::Direction, rate: f64, tick: f64) -> Option<f64> {
    let nanos = direction.load.queue(rate)? - 2.0 * tick;
    Some((nanos / 1e9 * rate / f64::from(direction.mss())).max(0.0))
}

/// Returns the captured bytes that arrived per second. ACKs may acknowledge more.
fn goodput(direction: &direction::Direction) -> f64 {
    let captured = (direction.volume.octets as f64 / direction.carried().max(1) as f64).min(1.0);
    direction.goodput().value().map_or(0.0, |mbps| mbps * 1e6 / 8.0 * captured)
}

/// Returns a first rate in bytes per second, by long trains, which are insensitive to bursts.
fn rough_rate(seen: &[Vec<Point>], tick: f64) -> Option<f64> {
    let single: Vec<Vec<Point>> = seen.iter().map(|curve| tidy(curve.iter().copied())).collect();
    let whole = |curve: &Vec<Point>| Some((curve.last()?.0.checked_sub(curve.first()?.0)?) as f64);
    let longest = seen.iter().filter_map(whole).fold(0.0, f64::max);
    train_rate(&single, Some(longest / 400.0), tick).map(|rate| rate.value).or_else(|| rate::mean(&single))
}

/// Returns the rate, and the bursts. They depend on each other: the rate separates bursts, and a
/// rate is measured over whole bursts. The curves `seen` have a point for each arrival. Bursts are
/// found in them, with the stride of their samples and the `rough` rate. `clock` is the rate by the
/// receiver's clock.
fn rate_and_bursts(
    busy: &Busy<'_>,
    (seen, stride): (&[Vec<Point>], u64),
    rough: Option<f64>,
    clock: Option<rate::Estimate>,
) -> (Finding<rate::Rate>, Option<Bursts>) {
    let Some(rough) = rough else { return (busy.rate(None, clock), None) };
    let period = bursts(seen, stride, rough).and_then(|found| found.period);
    let rate = busy.rate(period, clock);
    let found = bursts(seen, stride, rate.value().map_or(rough, |rate| rate.estimate.value));
    (rate, found)
}

/// Returns the octets that have arrived, over time. Retransmitted data are added again, because the
/// bottleneck has carried them.
fn arrivals(stretch: &[direction::Data]) -> Vec<Point> {
    let mut octets = 0;
    advancing(stretch.iter().map(|data| {
        octets += u64::from(data.length);
        (data.at, octets)
    }))
}
