//! Counts the memory of unread data per segment, as Linux does (`sk_receive_queue`, `truesize`).

use std::collections::VecDeque;

/// The memory of a segment in addition to its payload, in the half pages into which drivers
/// receive: headroom, headers and `struct skb_shared_info`. A `struct sk_buff` is added. Some
/// drivers differ.
const OVERHEAD: u64 = 64 + 66 + 320;
const HALF_PAGE: u64 = 2048;
const SK_BUFF: u64 = 256;

/// Returns the memory (`truesize`) of a segment with `octets` bytes.
pub(super) const fn memory_of(octets: u64) -> u64 {
    (octets + OVERHEAD).next_multiple_of(HALF_PAGE) + SK_BUFF
}

/// Segments that the application has not read completely.
#[derive(Clone, Debug)]
pub(super) struct Unread {
    segments: VecDeque<Queued>,
    octets: u64,
    memory: u64,
}

/// Segments that share a `struct sk_buff`.
#[derive(Clone, Copy, Debug)]
struct Queued {
    octets: u64,
    /// The number of bytes that were read. Their memory is occupied until all bytes are read
    /// (`tcp_eat_recv_skb`).
    read: u64,
}

impl Unread {
    pub(super) const fn new() -> Self {
        Self { segments: VecDeque::new(), octets: 0, memory: 0 }
    }

    /// Returns the number of unread bytes.
    pub(super) const fn octets(&self) -> u64 {
        self.octets
    }

    /// Returns the memory of the unread segments.
    pub(super) const fn memory(&self) -> u64 {
        self.memory
    }

    /// Returns the number of unread bytes in the first segment.
    pub(super) fn first(&self) -> u64 {
        self.segments.front().map_or(0, |first| first.octets - first.read)
    }

    /// Adds a segment of `octets` bytes. The stream advanced by `advanced` bytes. These include
    /// segments of `full_size` bytes that were beyond a gap.
    pub(super) fn queue(&mut self, advanced: u64, octets: u64, full_size: u64) {
        let (mut left, mut next) = (advanced, octets);
        while left > 0 {
            let octets = next.min(left);
            self.push(octets);
            left -= octets;
            next = full_size.max(1);
        }
    }

    /// Adds a segment. A short segment is appended to the last `struct sk_buff` if that has room
    /// (`skb_try_coalesce`).
    fn push(&mut self, octets: u64) {
        self.octets += octets;
        match self.segments.back_mut() {
            Some(last) if memory_of(last.octets + octets) == memory_of(last.octets) => last.octets += octets,
            _ => {
                self.segments.push_back(Queued { octets, read: 0 });
                self.memory += memory_of(octets);
            }
        }
    }

    /// Removes the first `octets` bytes, which the application reads.
    pub(super) fn take(&mut self, octets: u64) {
        self.octets -= octets;
        let mut left = octets;
        while let Some(first) = self.segments.front_mut().filter(|_| left > 0) {
            let taken = left.min(first.octets - first.read);
            first.read += taken;
            left -= taken;
            if first.read == first.octets {
                self.memory -= memory_of(first.octets);
                self.segments.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_segments_share_the_memory_of_one() {
        let mut unread = Unread::new();
        for _ in 0..32 {
            unread.queue(100, 100, 100);
        }
        assert_eq!((unread.octets(), unread.memory()), (3200, 3 * 2304), "15 in each");
        unread.take(1499);
        assert_eq!((unread.first(), unread.memory()), (1, 3 * 2304), "a segment of which something is left");
        unread.take(101);
        assert_eq!((unread.octets(), unread.memory()), (1600, 2 * 2304));
    }

    #[test]
    fn the_segment_that_fills_a_gap_brings_those_behind_it() {
        let mut unread = Unread::new();
        unread.queue(3000, 1000, 1448);
        assert_eq!((unread.first(), unread.memory()), (1000, 3 * 2304), "1000, 1448 and 552 octets");
        unread.take(3000);
        assert_eq!((unread.octets(), unread.memory()), (0, 0));
    }
}
