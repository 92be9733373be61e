//! What a link has done in the window of measurement.

use acklab_base::{Bytes, Duration, FlowKey, Instant};
use std::ops::Range;

/// Counts and sums of one link direction. Octets are those of IP packets unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that arrived at the queue.
    pub packets_in: u64,
    /// Octets that arrived at the queue.
    pub bytes_in: Bytes,
    /// Packets that the queue turned away.
    pub dropped: u64,
    /// Octets that the queue turned away.
    pub bytes_dropped: Bytes,
    /// Packets that the queue marked Congestion Experienced.
    pub marked: u64,
    /// Octets of those.
    pub bytes_marked: Bytes,
    /// Pure ACKs that left the queue unsent, for a newer one of their flow.
    pub filtered: u64,
    /// Octets of those.
    pub bytes_filtered: Bytes,
    /// Packets that left the queue to be sent.
    pub served: u64,
    /// Octets of those with the link's own overhead.
    pub bytes_on_wire: Bytes,
    /// Packets that the wire lost after they were sent.
    pub lost: u64,
    /// Octets of those.
    pub bytes_lost: Bytes,
    /// Packets that the wire carried twice.
    pub duplicated: u64,
    /// Octets of those.
    pub bytes_duplicated: Bytes,
    /// Packets that came out at the far end.
    pub packets_out: u64,
    /// Octets of those.
    pub bytes_out: Bytes,
    /// Sum of the waiting times of the packets served.
    pub waited: Duration,
    /// The queue's length over time.
    pub queue: QueueLength,
}

/// Counters at work: they count what happens inside the window and pass over the rest.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) counters: Counters,
    pub(crate) window: Range<Instant>,
    /// Whose packets were turned away, until somebody asks.
    pub(crate) turned_away: Vec<FlowKey>,
    /// Every change of the queue's length, for those who ask.
    pub(crate) lengths: Option<Vec<(Instant, u64)>>,
    /// The owner counts who comes, waits and goes: here it is only told whose packets were turned away.
    pub(crate) is_counted_elsewhere: bool,
}

impl Tally {
    /// Everything counts.
    pub(crate) fn new() -> Self {
        Self {
            counters: Counters::default(),
            window: Instant::ZERO..Instant::FAR_FUTURE,
            turned_away: Vec::new(),
            lengths: None,
            is_counted_elsewhere: false,
        }
    }

    fn at(&mut self, at: Instant) -> Option<&mut Counters> {
        self.window.contains(&at).then_some(&mut self.counters)
    }

    pub(crate) fn arrives(&mut self, at: Instant, size: Bytes) {
        if !self.is_counted_elsewhere
            && let Some(counters) = self.at(at)
        {
            counters.packets_in += 1;
            counters.bytes_in += size;
        }
    }

    pub(crate) fn drops(&mut self, at: Instant, flow: FlowKey, size: Bytes) {
        if let Some(counters) = self.at(at) {
            counters.dropped += 1;
            counters.bytes_dropped += size;
            self.turned_away.push(flow);
        }
    }

    pub(crate) fn marks(&mut self, at: Instant, size: Bytes) {
        if let Some(counters) = self.at(at) {
            counters.marked += 1;
            counters.bytes_marked += size;
        }
    }

    pub(crate) fn filters(&mut self, at: Instant, size: Bytes) {
        if let Some(counters) = self.at(at) {
            counters.filtered += 1;
            counters.bytes_filtered += size;
        }
    }

    pub(crate) fn serves(&mut self, at: Instant, on_wire: Bytes, waited: Duration) {
        if !self.is_counted_elsewhere
            && let Some(counters) = self.at(at)
        {
            counters.served += 1;
            counters.bytes_on_wire += on_wire;
            counters.waited += waited;
        }
    }

    pub(crate) fn duplicates(&mut self, at: Instant, size: Bytes) {
        if let Some(counters) = self.at(at) {
            counters.duplicated += 1;
            counters.bytes_duplicated += size;
        }
    }

    pub(crate) fn loses(&mut self, at: Instant, size: Bytes) {
        if let Some(counters) = self.at(at) {
            counters.lost += 1;
            counters.bytes_lost += size;
        }
    }

    pub(crate) fn delivers(&mut self, at: Instant, size: Bytes) {
        if let Some(counters) = self.at(at) {
            counters.packets_out += 1;
            counters.bytes_out += size;
        }
    }

    /// From `at` on, `length` packets wait.
    pub(crate) fn waits(&mut self, at: Instant, length: usize) {
        if self.is_counted_elsewhere {
            return;
        }
        self.counters.queue.change(at, length as u64, &self.window);
        if let Some(lengths) = &mut self.lengths
            && self.window.contains(&at)
        {
            lengths.push((at, length as u64));
        }
    }
}

/// How many packets wait, over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// Packets that wait now; the one in service is not among them.
    now: u64,
    /// The most that waited at once.
    pub max: u64,
    /// Packets × nanoseconds, inside the window.
    area: u128,
    since: Instant,
}

impl QueueLength {
    /// From `at` on there are `length` packets. Only what lies in `window` counts.
    pub fn change(&mut self, at: Instant, length: u64, window: &Range<Instant>) {
        // Many come and go at one instant, between which no time passes.
        if at != self.since {
            self.area += self.area_until(at, window);
            self.since = at;
        }
        self.now = length;
        if window.contains(&at) {
            self.max = self.max.max(length);
        }
    }

    fn area_until(&self, at: Instant, window: &Range<Instant>) -> u128 {
        let (begin, end) = (self.since.max(window.start), at.min(window.end));
        u128::from(self.now) * u128::from(end.since(begin).as_nanos())
    }

    /// Mean length over `window`, the one that it was measured in.
    #[must_use]
    pub fn mean(&self, window: &Range<Instant>) -> f64 {
        let area = self.area + self.area_until(window.end, window);
        area as f64 / window.end.since(window.start).as_nanos() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_length_is_that_of_the_window() {
        let at = Instant::from_nanos;
        let window = at(100)..at(200);
        let mut queue = QueueLength::default();
        queue.change(at(50), 4, &window);
        queue.change(at(150), 2, &window);
        queue.change(at(250), 9, &window);
        assert!((queue.mean(&window) - 3.0).abs() < 1e-12);
        assert_eq!(queue.max, 2, "the four came before the window, the nine after it");
    }
}
