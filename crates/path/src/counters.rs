//! The counters of a link inside the measurement window.

use crate::thinner::Removed;
use acklab_base::{Bytes, Duration, FlowKey, Instant, mul_div};
use std::ops::Range;

/// Counts and sums of one link direction. Octets are those of IP packets unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that arrived at the queue.
    pub packets_in: u64,
    /// Octets that arrived at the queue.
    pub bytes_in: Bytes,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Octets that the queue dropped.
    pub bytes_dropped: Bytes,
    /// Packets that exceeded the MTU of the link.
    pub excluded: u64,
    /// Octets of the packets that exceeded the MTU.
    pub bytes_excluded: Bytes,
    /// Packets that the queue marked Congestion Experienced.
    pub marked: u64,
    /// Octets of the marked packets.
    pub bytes_marked: Bytes,
    /// Pure ACKs that an ACK filter or a thinner removed in favour of a newer one of their flow.
    pub filtered: u64,
    /// Octets of the filtered ACKs.
    pub bytes_filtered: Bytes,
    /// Packets that left the queue to be sent.
    pub served: u64,
    /// Octets of the served packets, including link-layer overhead.
    pub bytes_served: Bytes,
    /// Octets serialised, including link-layer overhead. Of a packet in service when the window
    /// begins or ends, only the share of its service inside the window is counted.
    pub bytes_on_wire: Bytes,
    /// Packets that were lost after they were sent.
    pub lost: u64,
    /// Octets of the lost packets.
    pub bytes_lost: Bytes,
    /// Packets that were duplicated after they were sent.
    pub duplicated: u64,
    /// Octets of the duplicated packets.
    pub bytes_duplicated: Bytes,
    /// Packets that arrived at the far end.
    pub packets_out: u64,
    /// Octets that arrived at the far end.
    pub bytes_out: Bytes,
    /// Sum of the waiting times of the packets served.
    pub waited: Duration,
    /// Capacity requests sent.
    pub capacity_requests: u64,
    /// Octets of capacity assigned, in superframes that have ended.
    pub bytes_assigned: Bytes,
    /// Octets of assigned capacity that were not used, in superframes that have ended.
    pub bytes_unused: Bytes,
    /// The queue's length over time.
    pub queue: QueueLength,
}

/// The size and times of a queued packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) arrived: Instant,
    pub(crate) leaves: Instant,
    pub(crate) size: Bytes,
}

/// [`Counters`] with the window to which they are restricted, and optional logs.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) counters: Counters,
    /// Packets that have [passed](Self::passes) within the window. Each increments several
    /// counters, which are computed [when they are read](Self::counters_with).
    passed: u64,
    /// Octets of the packets in `passed`.
    bytes_passed: Bytes,
    pub(crate) window: Range<Instant>,
    /// The flows of dropped packets, until the owner takes them.
    pub(crate) dropped_flows: Vec<FlowKey>,
    /// Every change of the queue's length, if logging is enabled.
    pub(crate) lengths: Option<Vec<(Instant, u64)>>,
    /// `true` if the owner counts arrivals, departures and the queue's length. Only drops, marks
    /// and filtered ACKs are then counted here.
    pub(crate) owner_counts_traffic: bool,
}

impl Tally {
    /// Returns counters of the whole run.
    pub(crate) fn new() -> Self {
        Self {
            counters: Counters::default(),
            passed: 0,
            bytes_passed: Bytes::ZERO,
            window: Instant::ZERO..Instant::FAR_FUTURE,
            dropped_flows: Vec::new(),
            lengths: None,
            owner_counts_traffic: false,
        }
    }

    fn at(&mut self, at: Instant) -> Option<&mut Counters> {
        self.window.contains(&at).then_some(&mut self.counters)
    }

    pub(crate) fn arrives(&mut self, at: Instant, size: Bytes) {
        if !self.owner_counts_traffic
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
            self.dropped_flows.push(flow);
        }
    }

    pub(crate) fn excludes(&mut self, at: Instant, size: Bytes) {
        if let Some(counters) = self.at(at) {
            counters.excluded += 1;
            counters.bytes_excluded += size;
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

    /// Counts ACKs that a thinner removed. These ACKs have arrived at the link, but do not enter
    /// the queue.
    pub(crate) fn thins(&mut self, at: Instant, removed: Removed) {
        if let Some(counters) = self.at(at) {
            counters.packets_in += removed.packets;
            counters.bytes_in += removed.bytes;
            counters.filtered += removed.packets;
            counters.bytes_filtered += removed.bytes;
        }
    }

    pub(crate) fn serves(&mut self, at: Instant, on_wire: Bytes, waited: Duration) {
        if !self.owner_counts_traffic
            && let Some(counters) = self.at(at)
        {
            counters.served += 1;
            counters.bytes_served += on_wire;
            counters.waited += waited;
        }
    }

    /// Counts a packet that passes a FIFO whose departures are known on arrival, and its server.
    /// The packet reaches the far end at `arrival`. `arrival` is `None` if it is unknown or
    /// [counted](Self::delivers) elsewhere.
    #[inline(always)]
    pub(crate) fn passes(&mut self, passage: Passage, arrival: Option<Instant>) {
        let Passage { arrived, leaves, start, end, size, on_wire } = passage;
        if arrived < self.window.start || arrival.unwrap_or(end) >= self.window.end {
            // Written to memory only in the rare case.
            return self.passes_in_part(&Passage { arrived, leaves, start, end, size, on_wire }, arrival);
        }
        if leaves != arrived {
            let waited = leaves.since(arrived);
            self.counters.waited += waited;
            self.counters.queue.area += u128::from(waited.as_nanos());
        }
        self.passed += 1;
        self.bytes_passed += size;
    }

    /// Counts a packet like `passes` that may arrive before the window or leave after it.
    #[inline(never)]
    fn passes_in_part(&mut self, passage: &Passage, arrival: Option<Instant>) {
        let Passage { arrived, leaves, start, end, size, on_wire } = *passage;
        self.arrives(arrived, size);
        self.serves(leaves, on_wire, leaves.since(arrived));
        self.counters.queue.area += waiting_time(arrived, leaves, &self.window);
        self.sends(start, end, on_wire);
        if let Some(arrival) = arrival {
            self.delivers(arrival, size);
        }
    }

    /// Returns the counters at `now`. Packets that [pass](Self::passes) have been counted ahead,
    /// and `waiting` have not left their FIFO yet. `delivers_all` means that each packet that
    /// passes is delivered, at an arrival that was known when it passed.
    pub(crate) fn counters_with<'a>(
        &self,
        now: Instant,
        waiting: impl ExactSizeIterator<Item = &'a Waiting>,
        overhead: Bytes,
        delivers_all: bool,
    ) -> Counters {
        let mut counters = self.counters.clone();
        let on_wire = self.bytes_passed + Bytes(overhead.get() * self.passed);
        counters.packets_in += self.passed;
        counters.bytes_in += self.bytes_passed;
        counters.served += self.passed;
        counters.bytes_served += on_wire;
        counters.bytes_on_wire += on_wire;
        if delivers_all {
            counters.packets_out += self.passed;
            counters.bytes_out += self.bytes_passed;
        }
        (counters.queue.now, counters.queue.since) = (waiting.len() as u64, now);
        for &Waiting { arrived, leaves, size } in waiting {
            counters.queue.area -= waiting_time(arrived.max(now), leaves, &self.window);
            if self.window.contains(&leaves) {
                counters.served -= 1;
                counters.bytes_served -= size + overhead;
                counters.waited = counters.waited - leaves.since(arrived);
            }
        }
        counters
    }

    /// Counts octets that are serialised from `start` to `end`.
    #[inline]
    pub(crate) fn sends(&mut self, start: Instant, end: Instant, on_wire: Bytes) {
        if start >= self.window.start && end < self.window.end {
            self.counters.bytes_on_wire += on_wire;
        } else {
            self.sends_in_part(start, end, on_wire);
        }
    }

    #[inline(never)]
    fn sends_in_part(&mut self, start: Instant, end: Instant, on_wire: Bytes) {
        let within = end.min(self.window.end).since(start.max(self.window.start)).as_nanos();
        if within > 0 {
            self.counters.bytes_on_wire += Bytes(mul_div(on_wire.get(), within, end.since(start).as_nanos()));
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

    pub(crate) fn requests_capacity(&mut self, at: Instant) {
        if let Some(counters) = self.at(at) {
            counters.capacity_requests += 1;
        }
    }

    /// Counts the capacity of a superframe that ended at `at`, or of several that ended at `at` or
    /// later in the window.
    pub(crate) fn ends_superframe(&mut self, at: Instant, assigned: Bytes, unused: Bytes) {
        if let Some(counters) = self.at(at) {
            counters.bytes_assigned += assigned;
            counters.bytes_unused += unused;
        }
    }

    /// Sets the queue's length from `at` on.
    pub(crate) fn records_length(&mut self, at: Instant, length: usize) {
        if self.owner_counts_traffic {
            return;
        }
        self.counters.queue.change(at, length as u64, &self.window);
        self.logs_length(at, length);
    }

    /// Records the queue's length from `at` on, if the waits of its packets are
    /// [counted](Self::passes) separately.
    #[inline]
    pub(crate) fn notes_length(&mut self, at: Instant, length: usize) {
        if length as u64 > self.counters.queue.max && self.window.contains(&at) {
            self.counters.queue.max = length as u64;
        }
        self.logs_length(at, length);
    }

    /// Appends the queue's length from `at` on to the log, if there is one.
    #[inline]
    fn logs_length(&mut self, at: Instant, length: usize) {
        if let Some(lengths) = &mut self.lengths
            && self.window.contains(&at)
        {
            lengths.push((at, length as u64));
        }
    }
}

/// The times of a packet in a FIFO and its server: it arrives, leaves the queue, and is served from
/// `start` to `end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub(crate) arrived: Instant,
    pub(crate) leaves: Instant,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(crate) size: Bytes,
    pub(crate) on_wire: Bytes,
}

/// Returns the part of a wait within `window`, in nanoseconds. The integral of a queue's length is
/// the sum of these parts over its packets.
fn waiting_time(from: Instant, until: Instant, window: &Range<Instant>) -> u128 {
    u128::from(until.min(window.end).since(from.max(window.start)).as_nanos())
}

/// The length of a queue over time, in packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// The length now, without the packet in service.
    now: u64,
    /// The maximum length.
    pub max: u64,
    /// The integral of the length over the window, in packets × nanoseconds.
    area: u128,
    /// The instant of the last change.
    since: Instant,
}

impl QueueLength {
    /// Sets the length to `length` from `at` on. Only the part inside `window` is counted.
    pub fn change(&mut self, at: Instant, length: u64, window: &Range<Instant>) {
        // Many changes occur at one instant, so no time passes between them.
        if at != self.since {
            self.area += self.area_until(at, window);
            self.since = at;
        }
        self.now = length;
        if window.contains(&at) {
            self.max = self.max.max(length);
        }
    }

    /// Returns the length now, without the packet in service.
    #[must_use]
    pub const fn current(&self) -> u64 {
        self.now
    }

    fn area_until(&self, at: Instant, window: &Range<Instant>) -> u128 {
        u128::from(self.now) * waiting_time(self.since, at, window)
    }

    /// Returns the mean length over `window`, which must be the window of measurement.
    #[must_use]
    pub fn mean(&self, window: &Range<Instant>) -> f64 {
        let area = self.area + self.area_until(window.end, window);
        area as f64 / window.end.since(window.start).as_nanos() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of 100 octets is sent from 50 to 150: half of its service lies within the window.
    /// Another is sent from 190 to 230: a quarter of its service lies within the window.
    #[test]
    fn a_packet_counts_by_the_share_of_its_service_in_the_window() {
        let at = Instant::from_nanos;
        let mut tally = Tally::new();
        tally.window = at(100)..at(200);
        let mut sends = |from, until| {
            tally.sends(at(from), at(until), Bytes(100));
            tally.counters.bytes_on_wire.get()
        };
        assert_eq!(
            [sends(0, 50), sends(50, 150), sends(150, 190), sends(190, 230), sends(230, 240)],
            [0, 50, 150, 175, 175]
        );
        assert_eq!([sends(120, 120), sends(200, 200), sends(50, 250)], [275, 275, 325]);
    }

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
