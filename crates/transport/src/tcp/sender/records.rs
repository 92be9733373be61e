//! The ends of records: a segment ends where its record ends (`MSG_EOR` of `sendmsg`). Linux's
//! `tcp_skb_can_collapse_to` appends no data to a `struct sk_buff` whose `eor` is set.

use std::collections::VecDeque;

/// The ends of unsent records: the offsets after their last bytes, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    ends: VecDeque<u64>,
}

impl Records {
    /// Records that a record ends at `end`, the end of the written data.
    pub(super) fn end_at(&mut self, end: u64) {
        self.ends.push_back(end);
    }

    /// Removes the ends of records below `nxt`, which have been sent.
    #[inline]
    pub(super) fn forget(&mut self, nxt: u64) {
        while self.ends.pop_front_if(|end| *end <= nxt).is_some() {}
    }

    /// Returns how many of the `unsent` bytes from `nxt` on belong to the first record. `sendable`
    /// is the end of the data. A record that ends there may include the FIN, which is counted as a
    /// byte (Linux's `tcp_send_fin` uses the last segment even if it ends a record).
    #[inline]
    pub(super) fn first_of(&self, unsent: u64, nxt: u64, sendable: u64) -> u64 {
        match self.ends.front() {
            Some(end) if *end < sendable => end - nxt,
            _ => unsent,
        }
    }

    /// Returns the number of segments of at most `full` bytes from `nxt` to `written`, and the
    /// bytes by which the last segment can grow.
    pub(super) fn segments(&self, nxt: u64, written: u64, full: u64) -> (u64, u64) {
        let (mut start, mut segments) = (nxt, 0);
        for end in &self.ends {
            segments += (end - start).div_ceil(full);
            start = *end;
        }
        let rest = written.saturating_sub(start);
        (segments + rest.div_ceil(full), rest.next_multiple_of(full) - rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(ends: &[u64]) -> Records {
        Records { ends: ends.iter().copied().collect() }
    }

    #[test]
    fn data_are_divided_where_a_record_ends() {
        let mut records = records(&[400, 3400]);
        assert_eq!(records.first_of(5000, 0, 5000), 400);
        records.forget(400);
        assert_eq!(records.first_of(4600, 400, 5000), 3000);
        records.forget(1400);
        assert_eq!(records.first_of(3600, 1400, 5000), 2000);
        records.forget(3400);
        assert_eq!(records.first_of(1600, 3400, 5000), 1600);
    }

    #[test]
    fn the_fin_leaves_with_the_last_record() {
        assert_eq!(records(&[400]).first_of(401, 0, 400), 401);
    }

    /// A send buffer in segments of 1000 bytes. The records have 2 segments and 1 segment. The last
    /// segment can grow by 800 bytes.
    #[test]
    fn the_last_segment_grows_unless_it_ends_a_record() {
        assert_eq!(records(&[1400, 1800]).segments(0, 2000, 1000), (4, 800));
        assert_eq!(records(&[1400, 1800]).segments(0, 1800, 1000), (3, 0));
        assert_eq!(records(&[]).segments(500, 2000, 1000), (2, 500));
        assert_eq!(records(&[]).segments(2000, 2000, 1000), (0, 0));
    }
}
