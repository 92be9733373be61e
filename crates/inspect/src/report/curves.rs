//! Points for figures.

use crate::trace::Trace;
use crate::way;
use serde::Serialize;

/// Points of a curve in the report.
const POINTS: usize = 3000;

/// Points for figures: seconds from the first data, and octets.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Curves {
    /// New data: time, first octet, octets.
    pub data: Vec<(f64, u64, u32)>,
    /// Data that had passed before, or came out of order.
    pub repeated: Vec<(f64, u64, u32)>,
    /// Acknowledgments: time, octets acknowledged.
    pub acks: Vec<(f64, u64)>,
}

impl Curves {
    pub(super) fn of(way: &way::Way, first: u64) -> Self {
        let seconds = |at: u64| at.saturating_sub(first) as f64 / 1e9;
        let data: Vec<way::Data> = way.data.stretches().concat();
        let begin = data.first().map_or(0, |data| data.start);
        let point = |data: &way::Data| (seconds(data.at), data.start.saturating_sub(begin), data.length);
        let (new, repeated): (Vec<&way::Data>, Vec<&way::Data>) = data.iter().partition(|data| data.is_new);
        let acks: Vec<way::Ack> = Trace::stretches(&way.acks).concat();
        Self {
            data: every(&new).map(|data| point(data)).collect(),
            repeated: every(&repeated).map(|data| point(data)).collect(),
            acks: every(&acks).map(|ack| (seconds(ack.at), ack.ack.saturating_sub(begin))).collect(),
        }
    }
}

/// So many items, evenly spaced, that no more than a figure can show are left.
fn every<T>(items: &[T]) -> impl Iterator<Item = &T> {
    items.iter().step_by(items.len().div_ceil(POINTS).max(1))
}
