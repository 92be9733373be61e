//! Selects the segments that carry PSH (RFC 9293, §3.9.1.2).

use super::super::rules::Push;
use super::Sender;
use std::collections::VecDeque;
use std::ops::Range;

/// The ends of unacknowledged pushed data, as offsets in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Pushes {
    ends: VecDeque<u64>,
    /// The last offset that was pushed (`pushed_seq`).
    last: u64,
    /// The number of offsets below the newest new segment.
    passed: usize,
    /// `true` if the end of the last write is not pushed, because the application announced more
    /// data (`MSG_MORE`).
    leaves_end: bool,
}

impl Pushes {
    pub(super) fn push(&mut self, end: u64) {
        self.ends.push_back(end);
        (self.last, self.leaves_end) = (end, false);
    }

    /// Returns `true` if the retransmitted `range` contains pushed data.
    fn is_within(&self, range: &Range<u64>) -> bool {
        let next = self.ends.partition_point(|end| *end <= range.start);
        self.ends.get(next).is_some_and(|end| *end <= range.end)
    }

    /// Returns `true` if `range` of new data contains pushed data.
    #[inline]
    fn is_within_new(&mut self, range: &Range<u64>) -> bool {
        while let Some(end) = self.ends.get(self.passed) {
            if *end > range.start {
                return *end <= range.end;
            }
            self.passed += 1;
        }
        false
    }

    /// Removes the offsets below `una`, which are acknowledged.
    #[inline]
    pub(super) fn forget(&mut self, una: u64) {
        while self.ends.pop_front_if(|end| *end <= una).is_some() {
            self.passed = self.passed.saturating_sub(1);
        }
    }
}

impl Sender {
    /// Records a write up to the present end of the buffer. `more` is `true` if the application
    /// announced more data.
    #[inline]
    pub(super) fn note_write(&mut self, more: bool) {
        if self.rules.push == Push::EachWrite {
            self.push_write(more);
        }
    }

    /// Pushes the end of a write, unless more data are announced. Within a write, pushes data at
    /// each half of the peer's window (Linux's `tcp_push` and `forced_push`).
    fn push_write(&mut self, more: bool) {
        let (written, nxt, full) = (self.buffer.written(), self.board.nxt(), self.full_payload());
        loop {
            // Linux makes this check at each full segment (`forced_push`).
            let beyond = (self.pushes.last + self.peer_window.largest() / 2).max(nxt);
            let end = nxt + (beyond + 1 - nxt).next_multiple_of(full);
            if end >= written {
                break;
            }
            self.pushes.push(end);
        }
        if more && written <= self.pushes.last + self.peer_window.largest() / 2 {
            self.pushes.leaves_end = true;
        } else {
            self.pushes.push(written);
        }
    }

    /// Returns `true` if the segment that contains `range` carries PSH. `is_new` is `true` if the
    /// segment is sent for the first time.
    #[inline]
    pub(super) fn is_pushed(&mut self, range: &Range<u64>, is_new: bool) -> bool {
        (range.end >= self.buffer.sendable() && !self.pushes.leaves_end)
            || if is_new { self.pushes.is_within_new(range) } else { self.pushes.is_within(range) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_pushed_if_a_write_ends_in_it() {
        let mut pushes = Pushes::default();
        pushes.push(1500);
        pushes.push(4000);
        const SEGMENTS: [Range<u64>; 5] = [0..1000, 1000..2000, 2000..3000, 3000..4000, 4000..5000];
        let within = |pushes: &Pushes| SEGMENTS.map(|of| pushes.is_within(&of));
        let within_new = |pushes: &mut Pushes, of: &[Range<u64>]| -> Vec<bool> {
            of.iter().map(|of| pushes.is_within_new(of)).collect()
        };
        assert_eq!(within(&pushes), [false, true, false, true, false]);
        assert_eq!(within_new(&mut pushes, &SEGMENTS[..3]), [false, true, false], "the same as it leaves first");
        pushes.forget(2000);
        assert_eq!(within(&pushes), [false, false, false, true, false]);
        assert_eq!(within_new(&mut pushes, &SEGMENTS[3..]), [true, false]);
        pushes.push(5500);
        assert_eq!(within_new(&mut pushes, &[5000..6000]), [true]);
    }
}
