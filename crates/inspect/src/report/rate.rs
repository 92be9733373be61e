//! The rate of the bottleneck of a direction, and bursts.

use super::Position;
use crate::bursts::{Bursts, bursts};
use crate::rate::{self, Point, advancing, of_bottleneck, tidy, train_rate};
use crate::receiver_clock::ReceiverClock;
use crate::way;

/// What arrivals of data and ACKs show.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) ack_stretches: Vec<Vec<way::Ack>>,
    pub(super) rate: Option<rate::Rate>,
    pub(super) bursts: Option<Bursts>,
}

impl Seen {
    /// Arrivals of a direction that was captured at `position`.
    pub(super) fn of(way: &way::Way, position: Position, is_quic: bool) -> Self {
        let ack_stretches = way.acks.stretches();
        let arrivals: Vec<Vec<Point>> = way.data.stretches().iter().map(|stretch| arrivals(stretch)).collect();
        let curve = |stretch: &Vec<way::Ack>| advancing(stretch.iter().map(|ack| (ack.at, ack.delivered)));
        let acknowledged: Vec<Vec<Point>> = ack_stretches.iter().map(curve).collect();
        // At the sender no data have been through the bottleneck; elsewhere they may have.
        let data = (arrivals.as_slice(), way.data.stride());
        let acks = (acknowledged.as_slice(), way.acks.stride());
        let (passed, seen) = match position {
            _ if is_quic => (data.0, data),
            Position::Sender => (&[][..], acks),
            Position::Receiver => (data.0, data),
            Position::Middle | Position::Unknown => (data.0, acks),
        };
        let clock = ReceiverClock::of(&ack_stretches).and_then(|clock| clock.rate());
        let (rate, bursts) = rate_and_bursts(passed, &acknowledged, position == Position::Receiver, seen, clock);
        Self { ack_stretches, rate, bursts }
    }
}

/// Rate and bursts depend on each other: bursts are told apart by the rate, and a rate is measured over whole bursts. The curves have a point for each arrival; `seen` are
/// those in which bursts are looked for, with the stride of their samples. `clock` is the rate by the receiver's clock.
fn rate_and_bursts(
    data: &[Vec<Point>],
    acks: &[Vec<Point>],
    is_behind: bool,
    (seen, stride): (&[Vec<Point>], u64),
    clock: Option<rate::Estimate>,
) -> (Option<rate::Rate>, Option<Bursts>) {
    let together = |curves: &[Vec<Point>]| curves.iter().map(|curve| tidy(curve.iter().copied())).collect::<Vec<_>>();
    let (data, acks, single) = (&together(data), &together(acks), &together(seen));
    // Long trains, which no burst misleads, give the first rate.
    let whole = |curve: &Vec<Point>| Some((curve.last()?.0.checked_sub(curve.first()?.0)?) as f64);
    let longest = seen.iter().filter_map(whole).fold(0.0, f64::max);
    let rough =
        train_rate(single, Some(longest / 400.0)).or(clock).map(|rate| rate.value).or_else(|| rate::mean(single));
    let Some(rough) = rough else { return (of_bottleneck(data, acks, is_behind, None, clock), None) };
    let period = bursts(seen, stride, rough).and_then(|found| found.period);
    let rate = of_bottleneck(data, acks, is_behind, period, clock);
    let found = bursts(seen, stride, rate.map_or(rough, |rate| rate.estimate.value));
    (rate, found)
}

/// The octets that have arrived, over time. What arrives again counts again: the bottleneck has carried it.
fn arrivals(stretch: &[way::Data]) -> Vec<Point> {
    let mut octets = 0;
    advancing(stretch.iter().map(|data| {
        octets += u64::from(data.length);
        (data.at, octets)
    }))
}
