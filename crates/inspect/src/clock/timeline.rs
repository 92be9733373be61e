//! The order of packets in time.
//!
//! A file may have packets out of order: those of several queues of a NIC, or of merged captures.
//! Packets therefore wait until no earlier one is expected.

use std::collections::VecDeque;

/// The maximum time in nanoseconds by which a packet may be earlier than the previous packet in the
/// file. It is the offset from which NTP steps a clock instead of slewing it (RFC 5905, §11.3,
/// STEPT of 0.125 s, `CLOCK_MAX` of 0.128 s in ntpd). Queues of a NIC differ by less.
pub(super) const WINDOW: u64 = 128_000_000;
/// The maximum number of waiting packets. Chosen: those of 12 ms at 1 Gbps.
const MAX_WAITING: usize = 1024;

/// Packets that are out of order in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disorder {
    /// Packets with an earlier time than a previous packet.
    pub(crate) packets: u64,
    /// The longest such step back, in nanoseconds.
    pub(crate) longest: u64,
}

impl Disorder {
    /// Counts a packet that is earlier than a previous packet by this number of nanoseconds.
    pub(super) fn add(&mut self, nanos: u64) {
        self.packets += 1;
        self.longest = self.longest.max(nanos);
    }
}

/// Packets that wait for earlier ones, in order of time, and in the order of the file if times are
/// equal.
#[derive(Clone, Debug)]
pub(crate) struct Timeline<P> {
    waiting: VecDeque<(u64, P)>,
    newest: u64,
    /// Packets with an earlier time are no longer released.
    released: u64,
    pub(super) disorder: Disorder,
}

impl<P> Default for Timeline<P> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), newest: 0, released: 0, disorder: Disorder::default() }
    }
}

impl<P> Timeline<P> {
    /// Returns the newest time.
    pub(super) const fn newest(&self) -> u64 {
        self.newest
    }

    /// Adds a packet with this time. A packet that is earlier than the last released one gets the
    /// time of that one.
    #[inline]
    pub(super) fn insert(&mut self, at: u64, packet: P) {
        if at >= self.newest {
            self.newest = at;
            self.waiting.push_back((at, packet));
        } else {
            self.insert_earlier(at, packet);
        }
    }

    #[cold]
    fn insert_earlier(&mut self, at: u64, packet: P) {
        self.disorder.add(self.newest - at);
        let at = at.max(self.released);
        let place = self.waiting.partition_point(|(other, _)| *other <= at);
        self.waiting.insert(place, (at, packet));
    }

    /// Removes the first packet, if no earlier one may follow. With `all`, no earlier packet can
    /// follow any of them.
    #[inline]
    pub(super) fn release(&mut self, all: bool) -> Option<(u64, P)> {
        let is_due = |at: u64| all || at.saturating_add(WINDOW) <= self.newest || self.waiting.len() > MAX_WAITING;
        let (at, packet) = if is_due(self.waiting.front()?.0) { self.waiting.pop_front()? } else { return None };
        self.released = at;
        Some((at, packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn released(timeline: &mut Timeline<usize>, all: bool) -> Vec<(u64, usize)> {
        std::iter::from_fn(|| timeline.release(all)).collect()
    }

    #[test]
    fn packets_wait_for_earlier_ones() {
        let mut timeline = Timeline::default();
        for (place, at) in [5_000_000, 9_000_000, 7_000_000, 9_000_000].into_iter().enumerate() {
            timeline.insert(at, place);
        }
        assert_eq!(released(&mut timeline, false), []);
        timeline.insert(WINDOW + 8_000_000, 4);
        assert_eq!(released(&mut timeline, false), [(5_000_000, 0), (7_000_000, 2)]);
        assert_eq!(released(&mut timeline, true), [(9_000_000, 1), (9_000_000, 3), (WINDOW + 8_000_000, 4)]);
        assert_eq!(timeline.disorder, Disorder { packets: 1, longest: 2_000_000 });
    }

    proptest! {
        /// Each packet is released once, and times do not decrease, for any order of the file.
        #[test]
        fn times_do_not_fall(times in prop::collection::vec(0_u64..3 * WINDOW, 0..400), stride in 1_usize..50) {
            let mut timeline = Timeline::default();
            let mut out = Vec::new();
            for (place, at) in times.iter().enumerate() {
                timeline.insert(*at, place);
                if place % stride == 0 {
                    out.extend(released(&mut timeline, false));
                }
            }
            out.extend(released(&mut timeline, true));
            prop_assert!(out.windows(2).all(|two| two[0].0 <= two[1].0));
            let mut places: Vec<usize> = out.iter().map(|one| one.1).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..times.len()).collect::<Vec<_>>());
        }
    }
}
