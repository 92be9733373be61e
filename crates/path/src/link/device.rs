//! The device between queue and server, which takes packets from the queue before it sends them.

use acklab_base::Instant;

/// A FIFO of fixed capacity between queue and server. With a capacity of n, a packet can enter it
/// when the n-th packet before it begins its service.
#[derive(Clone, Debug)]
pub(super) struct Device {
    capacity: usize,
    /// The times at which the last packets begin their service: at most `capacity` times. The
    /// newest replaces the oldest.
    starts: Vec<Instant>,
    /// The index of the oldest time, once there are `capacity` times; until then the index of the
    /// next one.
    next: usize,
}

impl Device {
    pub(super) const fn new(capacity: usize) -> Self {
        Self { capacity, starts: Vec::new(), next: 0 }
    }

    /// Returns when a packet that reaches the head of the queue at `ready` and begins its service
    /// at `start` leaves the queue.
    #[inline]
    pub(super) fn entry(&self, ready: Instant, start: Instant) -> Instant {
        if self.capacity == 0 {
            return start;
        }
        self.starts.get(self.next).map_or(ready, |vacated| ready.max(*vacated))
    }

    #[inline]
    pub(super) fn enter(&mut self, start: Instant) {
        if self.capacity == 0 {
            return;
        }
        match self.starts.get_mut(self.next) {
            Some(oldest) => *oldest = start,
            None => self.starts.push(start),
        }
        self.next += 1;
        if self.next == self.capacity {
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_packet_enters_when_the_one_that_makes_room_begins_its_service(
            capacity in 0usize..4,
            packets in proptest::collection::vec((0u64..20, 0u64..20), 1..40),
        ) {
            let (mut device, mut starts) = (Device::new(capacity), VecDeque::new());
            let (mut ready, mut start) = (Instant::ZERO, Instant::ZERO);
            for (pause, service) in packets {
                let after = |at: Instant, nanos| Instant::from_nanos(at.as_nanos() + nanos);
                ready = after(ready, pause);
                start = after(start, service).max(ready);
                let vacated = if starts.len() < capacity { None } else { starts.pop_front() };
                let expected = if capacity == 0 { start } else { ready.max(vacated.unwrap_or(Instant::ZERO)) };
                prop_assert_eq!(device.entry(ready, start), expected);
                device.enter(start);
                starts.push_back(start);
            }
        }
    }
}
