//! What a link has done since its window opened.

use acklab_base::{Bytes, Duration, Instant};

/// Counts and sums of one link direction. Octets are those of IP packets unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that arrived at the queue.
    pub packets_in: u64,
    /// Octets that arrived at the queue.
    pub bytes_in: Bytes,
    /// Packets that the queue turned away.
    pub dropped: u64,
    /// Octets that the queue turned away.
    pub bytes_dropped: Bytes,
    /// Pure ACKs that a newer one of their flow has overwritten in the queue.
    pub filtered: u64,
    /// Octets of those.
    pub bytes_filtered: Bytes,
    /// Packets whose service has begun.
    pub served: u64,
    /// Octets of those.
    pub bytes_served: Bytes,
    /// Octets of those with the link's own overhead.
    pub bytes_on_wire: Bytes,
    /// Packets that the wire lost after their service.
    pub lost: u64,
    /// Octets of those.
    pub bytes_lost: Bytes,
    /// Packets that came out at the far end.
    pub packets_out: u64,
    /// Octets of those.
    pub bytes_out: Bytes,
    /// Sum of the waiting times of the packets served.
    pub waited: Duration,
    /// The queue's length over time.
    pub queue: QueueLength,
}

/// How many packets wait, by time and by change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// Packets that wait now; the one in service is not among them.
    pub now: u64,
    /// The most that ever waited.
    pub max: u64,
    /// Sum of the lengths after each change, for the mean over changes.
    pub sum_over_changes: u64,
    /// Number of changes.
    pub changes: u64,
    /// Packets × nanoseconds, for the mean over time.
    area: u128,
    since: Instant,
}

impl QueueLength {
    pub(crate) fn change(&mut self, at: Instant, length: u64) {
        self.area += u128::from(self.now) * u128::from(at.since(self.since).as_nanos());
        self.since = at;
        self.now = length;
        self.max = self.max.max(length);
        self.sum_over_changes += length;
        self.changes += 1;
    }

    /// Mean length from the window's opening to `until`, weighted by time; `opened` is when the window opened.
    #[must_use]
    pub fn time_mean(&self, opened: Instant, until: Instant) -> f64 {
        let area = self.area + u128::from(self.now) * u128::from(until.since(self.since).as_nanos());
        area as f64 / until.since(opened).as_nanos() as f64
    }

    /// Mean of the lengths after each change, as a traced value is averaged; zero if nothing changed.
    #[must_use]
    pub fn change_mean(&self) -> f64 {
        if self.changes == 0 { 0.0 } else { self.sum_over_changes as f64 / self.changes as f64 }
    }
}

impl Counters {
    /// A packet of `size` begins its service, `on_wire` octets long with the link's overhead.
    pub(crate) fn serve(&mut self, size: Bytes, on_wire: Bytes) {
        self.served += 1;
        self.bytes_served += size;
        self.bytes_on_wire += on_wire;
    }

    /// Start a new window at `now`: everything is forgotten but who waits.
    #[must_use]
    pub fn reopened(&self, now: Instant) -> Self {
        let waiting = self.queue.now;
        Self {
            queue: QueueLength { now: waiting, max: waiting, since: now, ..QueueLength::default() },
            ..Self::default()
        }
    }
}
