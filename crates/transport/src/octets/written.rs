//! Stores the bytes that an application has written.

use std::collections::VecDeque;
use std::ops::Range;

/// A written block, and the offset of its first byte.
#[derive(Clone, Debug)]
struct Block<B> {
    start: u64,
    octets: B,
}

impl<B: AsRef<[u8]>> Block<B> {
    fn end(&self) -> u64 {
        self.start + self.octets.as_ref().len() as u64
    }
}

/// The bytes that an application has written, from the first byte that the peer has not
/// acknowledged. They are stored in blocks of a type that the driver defines.
#[derive(Clone, Debug)]
pub struct Written<B = Vec<u8>> {
    start: u64,
    end: u64,
    blocks: VecDeque<Block<B>>,
    /// The block from which bytes were copied last. The next bytes are probably in it or in the
    /// following block.
    last: usize,
}

impl<B> Default for Written<B> {
    fn default() -> Self {
        Self { start: 0, end: 0, blocks: VecDeque::new(), last: 0 }
    }
}

impl Written {
    /// Stores a copy of written bytes that the endpoint has accepted.
    pub fn append(&mut self, octets: &[u8]) {
        self.push(octets.to_vec());
    }
}

impl<B: AsRef<[u8]>> Written<B> {
    /// Returns the offset after the last byte.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Returns the number of stored bytes.
    #[must_use]
    pub const fn kept(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Stores a written block whose bytes the endpoint has accepted.
    pub fn push(&mut self, octets: B) {
        let length = octets.as_ref().len() as u64;
        if length > 0 {
            self.blocks.push_back(Block { start: self.end, octets });
            self.end += length;
        }
    }

    /// Appends the bytes of `range` to `to`. Returns `false`, and appends nothing, unless all are
    /// stored.
    pub fn copy(&mut self, range: Range<u64>, to: &mut Vec<u8>) -> bool {
        if range.start < self.start || range.end > self.end {
            return false;
        }
        let mut at = range.start;
        let holds = |place: usize| self.blocks.get(place).is_some_and(|block| block.start <= at && at < block.end());
        let first = if holds(self.last) {
            self.last
        } else if holds(self.last + 1) {
            self.last + 1
        } else {
            self.blocks.partition_point(|block| block.end() <= at)
        };
        self.last = first;
        for block in self.blocks.range(first..) {
            if at >= range.end {
                break;
            }
            let (from, until) = (at - block.start, range.end.min(block.end()) - block.start);
            to.extend_from_slice(&block.octets.as_ref()[from as usize..until as usize]);
            at = block.start + until;
        }
        true
    }

    /// Frees the bytes below `offset`, which the peer has acknowledged.
    pub fn free(&mut self, offset: u64) {
        self.start = offset.clamp(self.start, self.end);
        while self.blocks.pop_front_if(|block| block.end() <= self.start).is_some() {
            self.last = self.last.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_kept_until_it_is_acknowledged() {
        let mut written = Written::default();
        written.append(b"acknowledge");
        let copy = |written: &mut Written, range| {
            let mut octets = Vec::new();
            written.copy(range, &mut octets).then_some(octets)
        };
        assert_eq!(copy(&mut written, 2..5), Some(b"kno".to_vec()));
        written.free(5);
        written.free(3);
        assert_eq!((written.kept(), written.end()), (6, 11));
        assert_eq!((copy(&mut written, 4..6), copy(&mut written, 5..12)), (None, None));
        assert_eq!(copy(&mut written, 5..11), Some(b"wledge".to_vec()));
    }

    #[test]
    fn octets_are_copied_from_wherever_they_are() {
        let all: Vec<u8> = (0..60u8).collect();
        for free in 0..60 {
            let mut written = Written::default();
            all.chunks(7).for_each(|block| written.push(block.to_vec()));
            // Each copy begins where a previous copy ended, before the bytes of that copy were
            // freed.
            for (before, start) in (0..60).flat_map(|before| (free..60).map(move |start| (before, start))) {
                let mut written = written.clone();
                let mut copied = Vec::new();
                assert!(written.copy(before..before + 1, &mut copied));
                written.free(free);
                let range = start..(start + 9).min(60);
                assert!(written.copy(range.clone(), &mut copied));
                assert_eq!(copied[1..], all[range.start as usize..range.end as usize]);
            }
        }
    }

    #[test]
    fn blocks_are_freed_as_a_whole() {
        let mut written = Written::default();
        let all: Vec<u8> = (0..100u8).collect();
        all.chunks(7).for_each(|block| written.push(block.to_vec()));
        let mut copied = Vec::new();
        assert!(written.copy(5..93, &mut copied));
        assert_eq!(copied, all[5..93], "across the borders of blocks");
        written.free(15);
        assert_eq!((written.blocks.len(), written.kept()), (13, 85), "two blocks of seven are free");
    }
}
