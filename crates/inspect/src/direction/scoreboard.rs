//! Data that have passed the point and are not acknowledged.

use super::sequence::SequenceSpace;
use acklab_base::is_after;
use acklab_wire::tcp::SackBlock;
use std::collections::VecDeque;

/// The maximum number of segments that are followed until they are acknowledged.
const MAX_OUTSTANDING: usize = 1 << 17;

/// Data that are not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) at: u64,
    /// The timestamp of the first transmission.
    pub(super) stamp: Option<u32>,
    pub(super) retransmissions: u32,
    /// The timestamp of the first retransmission.
    pub(super) value: Option<u32>,
    pub(super) is_sacked: bool,
}

/// The scoreboard of a direction (RFC 6675, §3).
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    outstanding: VecDeque<Sent>,
    /// Bytes of these that the receiver holds out of order.
    sacked: u64,
    /// The blocks of the last ACK: start and end.
    blocks: [(u64, u64); 4],
}

/// The data that an ACK covers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Covered {
    /// The newest packet that it covers completely.
    pub(super) newest: Option<Sent>,
    /// Retransmitted segments whose first transmission arrived, by the timestamp that the ACK
    /// echoes (Eifel, RFC 3522, §3.2).
    pub(super) needless: u64,
    /// The covered segments, in order.
    pub(super) segments: Segments,
}

/// The segments that an ACK covers, and those of them with the timestamp that it echoes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segments {
    /// The number of segments.
    pub(crate) count: u32,
    /// `true` if some were retransmitted, or reported before.
    pub(crate) is_disturbed: bool,
    /// The index of the first segment with the echoed timestamp, and the index after the last one.
    pub(crate) echoed: Option<(u32, u32)>,
    /// When the first segment passed, and when the first one with the echoed timestamp passed.
    pub(crate) passed: (u64, u64),
}

impl Segments {
    fn add(&mut self, sent: &Sent, octets: u64, mss: u32, echo: Option<u32>) {
        let first = self.count;
        if first == 0 {
            self.passed.0 = sent.at;
        }
        self.count = first.saturating_add(octets.div_ceil(mss.into()) as u32);
        self.is_disturbed |= sent.retransmissions > 0 || sent.is_sacked;
        if echo.is_some() && sent.stamp == echo {
            if self.echoed.is_none() {
                self.passed.1 = sent.at;
            }
            self.echoed = Some((self.echoed.map_or(first, |echoed| echoed.0), self.count));
        }
    }
}

/// The data that the blocks of an ACK report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    /// Octets that arrived twice at the receiver (D-SACK, RFC 2883, §4).
    pub(super) duplicate: u64,
    /// The last segment that is reported for the first time, in a block that is new in this ACK.
    pub(super) newest: Option<Sent>,
}

impl Scoreboard {
    /// Returns the number of bytes that the receiver holds out of order.
    pub(super) const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Adds data after all others.
    pub(super) fn follow(&mut self, sent: Sent) {
        if self.outstanding.len() == MAX_OUTSTANDING
            && let Some(oldest) = self.outstanding.pop_front()
        {
            self.sacked -= if oldest.is_sacked { oldest.end - oldest.start } else { 0 };
        }
        self.outstanding.push_back(sent);
    }

    /// Adds data that pass after later data.
    #[cold]
    pub(super) fn insert(&mut self, sent: Sent) {
        if self.outstanding.len() < MAX_OUTSTANDING {
            let place = self.outstanding.partition_point(|one| one.start < sent.start);
            self.outstanding.insert(place, sent);
        }
    }

    /// Records that data from `start` to `end` have passed again, with the timestamp `value`.
    #[cold]
    pub(super) fn retransmit(&mut self, start: u64, end: u64, value: Option<u32>) {
        let first = self.outstanding.partition_point(|sent| sent.end <= start);
        for sent in self.outstanding.iter_mut().skip(first).take_while(|sent| sent.start < end) {
            sent.retransmissions += 1;
            sent.value = sent.value.or(value);
        }
    }

    /// Records that all octets before `ack` have arrived. `echo` is the timestamp that the ACK
    /// echoes, and `mss` the payload of a full-sized segment.
    #[inline]
    pub(super) fn acknowledge(&mut self, ack: u64, echo: Option<u32>, mss: u32) -> Covered {
        let mut covered = Covered::default();
        while let Some(sent) = self.outstanding.front_mut() {
            if sent.end > ack {
                if sent.start < ack {
                    covered.segments.add(sent, ack - sent.start, mss, echo);
                    self.sacked -= if sent.is_sacked { ack - sent.start } else { 0 };
                    sent.start = ack;
                }
                break;
            }
            if sent.is_sacked {
                self.sacked -= sent.end - sent.start;
            }
            if sent.retransmissions > 0 {
                let is_older = |value: u32| echo.is_some_and(|echo| is_after(value, echo));
                covered.needless += u64::from(!sent.is_sacked && sent.value.is_some_and(is_older));
            }
            covered.segments.add(sent, sent.end - sent.start, mss, echo);
            covered.newest = Some(*sent);
            self.outstanding.pop_front();
        }
        covered
    }

    /// Processes the SACK blocks of an ACK for all octets before `ack`.
    #[cold]
    pub(super) fn sack(&mut self, space: &SequenceSpace, ack: u64, blocks: &[SackBlock]) -> Reported {
        let mut seen = [(0, 0); 4];
        for (place, block) in seen.iter_mut().zip(blocks) {
            *place = (space.place_in_block(block.start), space.place_in_block(block.end));
        }
        let mut reported = Reported::default();
        for (number, &(start, end)) in seen.iter().enumerate().take(blocks.len()) {
            if end <= start || end > space.highest {
                continue;
            }
            // The first block reports a duplicate if it lies below the ACK or within the second
            // block (RFC 2883, §4).
            let second = seen[1];
            let is_within_second = number == 0 && blocks.len() > 1 && second.0 <= start && end <= second.1;
            if number == 0 && (end <= ack || is_within_second) {
                if self.blocks[0] != (start, end) {
                    reported.duplicate += end - start;
                }
                continue;
            }
            let newest = self.mark(start, end);
            reported.newest = reported.newest.or(newest.filter(|_| number == 0));
        }
        self.blocks = seen;
        reported
    }

    /// Marks the data from `start` to `end` as held by the receiver. Returns the last segment that
    /// was not marked before.
    fn mark(&mut self, start: u64, end: u64) -> Option<Sent> {
        // The part of a block that an earlier ACK has reported is already marked.
        let known = self.blocks.iter().find(|block| block.0 == start && block.1 <= end).map_or(start, |block| block.1);
        let first = self.outstanding.partition_point(|sent| sent.start < known);
        let mut newest = None;
        for sent in self.outstanding.iter_mut().skip(first).take_while(|sent| sent.end <= end) {
            if !sent.is_sacked {
                sent.is_sacked = true;
                self.sacked += sent.end - sent.start;
                newest = Some(*sent);
            }
        }
        newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direction::sequence::START;
    use acklab_wire::tcp::SeqNumber;

    /// Returns ten unacknowledged segments of 100 bytes, one per millisecond. A tick of the
    /// sender's clock is two milliseconds.
    fn ten() -> (Scoreboard, SequenceSpace) {
        let (mut board, mut space) = (Scoreboard::default(), SequenceSpace::default());
        space.begin(SeqNumber(0));
        for number in 0..10 {
            let start = START + 100 * number;
            let stamp = Some(50 + number as u32 / 2);
            board.follow(Sent { start, end: start + 100, at: number * 1_000_000, stamp, ..Sent::default() });
        }
        space.highest = START + 1000;
        (board, space)
    }

    fn block(start: u32, end: u32) -> SackBlock {
        SackBlock { start: SeqNumber(start), end: SeqNumber(end) }
    }

    #[test]
    fn an_ack_covers_the_segments_before_it() {
        let (mut board, _) = ten();
        let covered = board.acknowledge(START + 250, None, 100);
        assert_eq!(covered.newest.unwrap().end, START + 200);
        assert_eq!(board.acknowledge(START + 300, None, 100).newest.unwrap().start, START + 250);
    }

    #[test]
    fn the_echo_shows_which_segments_were_sent_in_its_tick() {
        let (mut board, _) = ten();
        let segments = board.acknowledge(START + 600, Some(51), 100).segments;
        let expected = Segments { count: 6, is_disturbed: false, echoed: Some((2, 4)), passed: (0, 2_000_000) };
        assert_eq!(segments, expected);
        // The ACK covers half of a packet of two segments.
        let (mut board, mut space) = (Scoreboard::default(), SequenceSpace::default());
        space.begin(SeqNumber(0));
        board.follow(Sent { start: START, end: START + 200, stamp: Some(7), ..Sent::default() });
        let segments = board.acknowledge(START + 100, Some(7), 100).segments;
        assert_eq!((segments.count, segments.echoed), (1, Some((0, 1))));
    }

    #[test]
    fn an_older_echo_shows_that_a_retransmission_was_needless() {
        let (mut board, _) = ten();
        board.retransmit(START, START + 100, Some(70));
        assert_eq!(board.acknowledge(START + 100, Some(60), 100).needless, 1);
        board.retransmit(START + 100, START + 200, Some(70));
        assert_eq!(board.acknowledge(START + 200, Some(70), 100).needless, 0);
    }

    #[test]
    fn blocks_are_counted_once() {
        let (mut board, space) = ten();
        assert_eq!(board.sack(&space, START, &[block(200, 400)]).newest.unwrap().start, START + 300);
        assert_eq!(board.sacked(), 200);
        assert_eq!(board.sack(&space, START, &[block(200, 500)]).newest.unwrap().start, START + 400);
        assert_eq!(board.sacked(), 300);
        board.acknowledge(START + 500, None, 100);
        assert_eq!(board.sacked(), 0);
    }

    #[test]
    fn a_first_block_below_the_ack_or_within_the_second_reports_a_duplicate() {
        let (mut board, space) = ten();
        board.acknowledge(START + 300, None, 100);
        assert_eq!(board.sack(&space, START + 300, &[block(100, 200)]).duplicate, 100);
        // The same block in the next ACK reports nothing new.
        assert_eq!(board.sack(&space, START + 300, &[block(100, 200)]).duplicate, 0);
        assert_eq!(board.sack(&space, START + 300, &[block(500, 600), block(400, 700)]).duplicate, 100);
    }
}
