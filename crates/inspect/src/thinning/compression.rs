//! Finds whether ACKs that arrive together were sent at different times.
//!
//! A box that holds ACKs and releases them together (RFC 3449, §3.2; Zhang, Shenker, Clark, SIGCOMM
//! 1991) is visible in their timestamps: ACKs that arrive together were not sent together.

use crate::bursts::starts;
use crate::direction::Ack;
use crate::quantiles::median;
use crate::rate::{Point, tidy};
use crate::receiver_clock::tick_between;

/// Returns `true` if bursts of ACKs were sent over the whole period, not together. `period` is in
/// nanoseconds. Returns `None` if timestamps are missing or too coarse.
pub(crate) fn are_compressed(stretches: &[Vec<Ack>], rate: f64, period: f64) -> Option<bool> {
    let mut spreads = Vec::new();
    for stretch in stretches {
        let (first, last) = (stretch.first()?, stretch.last()?);
        // A burst must last several ticks.
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
    // ACKs that were sent together differ by at most a tick. ACKs that were sent evenly differ by
    // the whole period.
    (spreads.len() >= 8).then(|| median(&mut spreads)).flatten().map(|spread| spread > 0.5)
}
