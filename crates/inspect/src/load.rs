//! Finds whether the sender kept the bottleneck busy.
//!
//! A sender limited by its application, its buffers or the receive window may send evenly spaced
//! packets as well. The bottleneck does not change this spacing. A busy bottleneck is recognised by
//! its queue. Data beyond the rate are queued, so the round-trip time grows while the rate remains
//! the same (Brakmo and Peterson, *TCP Vegas*, IEEE JSAC 13(8), 1995, §4; Cardwell et al., *BBR*,
//! CACM 60(2), 2017, figure 1). Means over spans of time distinguish the queue from jitter, because
//! jitter is equal in all spans.

use crate::quantiles::quantile_of;

/// The maximum number of spans of time. At the limit, pairs are merged.
const MAX_SPANS: usize = 256;
/// The shortest span in nanoseconds: some round trips of a LAN.
const SHORTEST: u64 = 1_000_000;
/// The minimum number of spans at the rate. Chosen.
const MIN_SPANS: usize = 8;
/// The relative deviation within which a span has a given rate.
const NEAR: f64 = 0.1;
/// The share of spans with the shortest round-trip times, and of spans with the longest, that is
/// excluded. These have other causes.
const LEFT_OUT: f64 = 0.05;

/// The traffic in a span of time.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    octets: u64,
    /// The sums of round-trip times in nanoseconds and their numbers, to the receiver and to the
    /// sender.
    times: [(f32, u32); 2],
}

/// The load of a direction over time.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    width: u64,
    begin: Option<u64>,
    spans: Vec<Span>,
}

impl Default for Load {
    fn default() -> Self {
        Self { width: SHORTEST, begin: None, spans: Vec::new() }
    }
}

impl Load {
    /// Records that bytes have arrived at `at`.
    #[inline]
    pub(crate) fn carry(&mut self, at: u64, octets: u64) {
        self.span(at).octets += octets;
    }

    /// Records a round-trip time on one side in nanoseconds. Side 0 is the receiver's side.
    #[inline]
    pub(crate) fn took(&mut self, at: u64, side: usize, nanos: u64) {
        let times = &mut self.span(at).times[side];
        times.0 += nanos as f32;
        times.1 += 1;
    }

    fn span(&mut self, at: u64) -> &mut Span {
        let begin = *self.begin.get_or_insert(at);
        while at.saturating_sub(begin) / self.width >= MAX_SPANS as u64 {
            self.halve();
        }
        let place = (at.saturating_sub(begin) / self.width) as usize;
        if place >= self.spans.len() {
            self.spans.resize(place + 1, Span::default());
        }
        &mut self.spans[place]
    }

    #[cold]
    fn halve(&mut self) {
        let joined = self.spans.chunks(2).map(|two| {
            let [one, other] = [two[0], two.get(1).copied().unwrap_or_default()];
            let sum = |side: usize| (one.times[side].0 + other.times[side].0, one.times[side].1 + other.times[side].1);
            Span { octets: one.octets + other.octets, times: [sum(0), sum(1)] }
        });
        self.spans = joined.collect();
        self.width *= 2;
    }

    /// Returns the difference between the mean round-trip times of spans at the rate `rate`, in
    /// nanoseconds, on the side where it is larger. `rate` is in bytes per second. Returns `None`
    /// if too few spans have this rate.
    pub(crate) fn queue(&self, rate: f64) -> Option<f64> {
        let expected = rate * self.width as f64 / 1e9;
        let is_near = |span: &&Span| (span.octets as f64 / expected - 1.0).abs() <= NEAR;
        let sides = [0, 1].map(|side| {
            let times = self.spans.iter().filter(is_near).map(|span| span.times[side]).filter(|times| times.1 > 0);
            let mut means: Vec<f64> = times.map(|(sum, count)| f64::from(sum) / f64::from(count)).collect();
            means.sort_by(f64::total_cmp);
            let ends = quantile_of(&means, 1.0 - LEFT_OUT).zip(quantile_of(&means, LEFT_OUT));
            ends.filter(|_| means.len() >= MIN_SPANS).map(|(long, short)| long - short)
        });
        sides.into_iter().flatten().reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns ten seconds at 1.5 MB/s with an ACK every 2 ms. `nanos` returns the round trip.
    fn load(nanos: impl Fn(u64) -> u64) -> Load {
        let mut load = Load::default();
        for n in 0..5000 {
            load.carry(n * 2 * MS, 3000);
            load.took(n * 2 * MS, 0, nanos(n));
        }
        load
    }

    /// A sawtooth of the window gives round trips of 50 to 90 ms in two seconds, at the same rate.
    #[test]
    fn a_queue_that_grows_and_shrinks_shows_a_busy_bottleneck() {
        let queue = load(|n| 50 * MS + n % 1000 * 40_000).queue(1.5e6).unwrap();
        assert!((34e6..40e6).contains(&queue), "{queue}");
    }

    /// A gate releases ACKs every 20 ms, so round trips differ by 20 ms, equally in each span.
    #[test]
    fn jitter_is_no_queue() {
        let queue = load(|n| 50 * MS + n % 10 * 2 * MS).queue(1.5e6).unwrap();
        assert!(queue < 3e6, "{queue}");
    }

    #[test]
    fn spans_of_another_rate_are_inconclusive() {
        assert_eq!(load(|n| 50 * MS + n * MS / 100).queue(2e6), None);
    }

    #[test]
    fn memory_is_bounded() {
        assert!(load(|_| MS).spans.len() <= MAX_SPANS);
        let mut load = Load::default();
        load.carry(0, 1);
        load.carry(u64::MAX, 1);
        assert_eq!(load.spans.iter().map(|span| span.octets).sum::<u64>(), 2);
    }
}
