//! The pace of ACKs.
//!
//! On a busy return path, the time of each ACK depends only on its octets. If the data set the
//! pace, equal distances mean equal numbers of segments. A receiver that acknowledges by a timer,
//! once per interrupt of its NIC, paces its ACKs as well. The pace therefore does not identify a
//! thinner. It yields the rate of the return path if ACKs are known to be missing.

use super::coverage::{Arrived, most_frequent};
use crate::quantiles::half_sample_mode;

/// The minimum number of ACKs at the pace of a link.
const MIN_PACED: usize = 10;
/// The minimum share of the time at this pace. A return path that is less busy thins few ACKs. A
/// gate that releases ACKs together keeps its link busy only for a moment.
const BUSY: f64 = 0.2;
/// If the bottleneck of the data sets the pace, equal distances mean equal numbers of segments,
/// except for this share and number of ACKs.
const VARIES: (f64, f64) = (0.02, 1.0);
/// The relative deviation within which distances are considered equal.
const NEAR: f64 = 0.02;

/// ACKs that follow each other as fast as a link carries them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pace {
    /// The share of the time for which ACKs have this pace.
    pub(crate) share: f64,
    /// The share of these ACKs that do not cover the usual number of segments.
    pub(crate) varies: f64,
    /// The number of these ACKs that acknowledge data in order.
    pub(crate) count: usize,
    /// The rate in octets per second.
    pub(crate) rate: f64,
}

impl Pace {
    /// Returns `true` if the return path sets the pace, not the bottleneck of the data.
    pub(crate) fn is_of_return_path(&self) -> bool {
        let exceptions = VARIES.0.max(VARIES.1 / self.count as f64);
        self.count >= MIN_PACED && self.share >= BUSY && self.varies > exceptions
    }

    /// Returns the pace of ACKs.
    pub(super) fn of(acks: &[Arrived]) -> Self {
        let rate = |ack: &Arrived| ack.octets / ack.gap;
        let mut rates: Vec<f64> = acks.iter().filter(|ack| ack.gap > 0.0).map(rate).collect();
        rates.sort_by(f64::total_cmp);
        let Some(mode) = half_sample_mode(&rates) else { return Self::default() };
        let near: Vec<&Arrived> = acks.iter().filter(|ack| (rate(ack) / mode - 1.0).abs() < NEAR).collect();
        let in_order: Vec<u32> = near.iter().map(|ack| ack.segments).filter(|&segments| segments > 0).collect();
        let (_, frequency) = most_frequent(in_order.iter().copied());
        let time = |acks: &mut dyn Iterator<Item = &Arrived>| acks.map(|ack| ack.gap).sum::<f64>();
        Self {
            share: time(&mut near.iter().copied()) / time(&mut acks.iter()).max(1.0),
            varies: 1.0 - frequency as f64 / in_order.len().max(1) as f64,
            count: in_order.len(),
            rate: mode * 1e9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ACKs at the pace of a link cover one segment or two: a full queue has passed some of the
    /// ACKs, of which each segment had one.
    #[test]
    fn equal_distances_of_different_numbers_are_those_of_the_return_path() {
        let acks = |covers: &dyn Fn(u32) -> u32| -> Vec<Arrived> {
            (0..500).map(|n| Arrived { segments: covers(n), waited: 1e6, gap: 1e6, octets: 52.0 }).collect()
        };
        let pace = Pace::of(&acks(&|n| 1 + u32::from(n % 5 != 0)));
        assert!(pace.share > 0.99 && pace.is_of_return_path(), "{pace:?}");
        assert!((pace.rate / 52e3 - 1.0).abs() < 1e-9, "{pace:?}");
        assert!(!Pace::of(&acks(&|_| 2)).is_of_return_path());
    }
}
