//! The octets of a stream, which a driver keeps by their offsets: endpoints count them, and tell by
//! [stream events](acklab_base::StreamEvent) which of them have arrived and which need not be kept.
//!
//! Octets lie in blocks, so that whoever has a block may hand it over instead of copying it.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Octets of a block at most, unless it was handed over as a whole: what stays in the caches of a processor on its way.
pub const BLOCK: usize = 64 << 10;

/// Appends octets to the last block as far as it has room, and to new ones.
fn append(blocks: &mut VecDeque<Vec<u8>>, mut octets: &[u8]) {
    while !octets.is_empty() {
        let room = blocks.back().map_or(0, |block| block.capacity().min(BLOCK).saturating_sub(block.len()));
        if room == 0 {
            // A stream of few octets takes little memory; the second block of a long one is whole.
            let capacity = if blocks.is_empty() { octets.len().min(BLOCK) } else { BLOCK };
            blocks.push_back(Vec::with_capacity(capacity));
            continue;
        }
        let (head, tail) = octets.split_at(room.min(octets.len()));
        blocks.back_mut().into_iter().for_each(|block| block.extend_from_slice(head));
        octets = tail;
    }
}

/// A block that was written, and the offset of its first octet.
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

/// The octets that an application has written, from the first that the peer has not acknowledged, in blocks of whatever memory the driver has.
#[derive(Clone, Debug)]
pub struct Written<B = Vec<u8>> {
    start: u64,
    end: u64,
    blocks: VecDeque<Block<B>>,
    /// The place of the block from which octets were copied last, which the next are likely to be in, or in the one behind it.
    last: usize,
}

impl<B> Default for Written<B> {
    fn default() -> Self {
        Self { start: 0, end: 0, blocks: VecDeque::new(), last: 0 }
    }
}

impl Written {
    /// Keeps a copy of what was written, as far as the endpoint has accepted it.
    pub fn append(&mut self, octets: &[u8]) {
        self.push(octets.to_vec());
    }
}

impl<B: AsRef<[u8]>> Written<B> {
    /// The offset behind the last octet.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// The octets that are kept.
    #[must_use]
    pub const fn kept(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Keeps a block that was written, as far as the endpoint has accepted it.
    pub fn push(&mut self, octets: B) {
        let length = octets.as_ref().len() as u64;
        if length > 0 {
            self.blocks.push_back(Block { start: self.end, octets });
            self.end += length;
        }
    }

    /// Appends the octets of `range` to `to`. Returns `false`, and appends nothing, if they are not all kept.
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

    /// Frees the octets below `offset`, which the peer has acknowledged.
    pub fn free(&mut self, offset: u64) {
        self.start = offset.clamp(self.start, self.end);
        while self.blocks.pop_front_if(|block| block.end() <= self.start).is_some() {
            self.last = self.last.saturating_sub(1);
        }
    }
}

/// The octets that have arrived, in order or not, from the first that the application has not read.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    start: u64,
    /// Octets in order, from `start` on; of the first block, `place` octets were given away.
    blocks: VecDeque<Vec<u8>>,
    place: usize,
    /// The offset of the first octet that is missing.
    next: u64,
    /// What has arrived beyond it, by its offset.
    beyond: BTreeMap<u64, Vec<u8>>,
}

impl Arrived {
    /// The offset of the octet that is read next.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Keeps octets that begin at `offset`. What has arrived before is dropped. The endpoint's receive window bounds how far
    /// they lie ahead, and so what is kept.
    #[inline]
    pub fn put(&mut self, offset: u64, octets: &[u8]) {
        if offset > self.next {
            return self.put_beyond(offset, octets);
        }
        let Some(octets) = octets.get((self.next - offset) as usize..) else { return };
        append(&mut self.blocks, octets);
        self.next += octets.len() as u64;
        if !self.beyond.is_empty() {
            self.take_beyond();
        }
    }

    /// The offset of the first octet that has not arrived.
    #[must_use]
    #[inline]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Keeps a block of octets that begins with [the first that has not arrived](Self::next), without copying it.
    pub fn push(&mut self, block: Vec<u8>) {
        self.next += block.len() as u64;
        self.blocks.push_back(block);
        if !self.beyond.is_empty() {
            self.take_beyond();
        }
    }

    /// Uses this memory for what arrives next, if a block is needed.
    pub fn offer(&mut self, memory: impl FnOnce() -> Vec<u8>) {
        if self.blocks.is_empty() {
            let mut block = memory();
            block.clear();
            self.blocks.push_back(block);
        }
    }

    #[inline(never)]
    fn put_beyond(&mut self, offset: u64, octets: &[u8]) {
        let before = self.beyond.get(&offset).map_or(0, Vec::len);
        if octets.len() > before {
            self.beyond.insert(offset, octets.to_vec());
        }
    }

    #[inline(never)]
    fn take_beyond(&mut self) {
        while let Some(entry) = self.beyond.first_entry()
            && *entry.key() <= self.next
        {
            let (offset, octets) = entry.remove_entry();
            if let Some(octets) = octets.get((self.next - offset) as usize..) {
                append(&mut self.blocks, octets);
                self.next += octets.len() as u64;
            }
        }
    }

    /// Forgets the next `count` octets, which the endpoint has let its application read.
    ///
    /// # Panics
    /// If fewer are there in order.
    pub fn drop(&mut self, count: u64) {
        self.give(count, |_| ());
    }

    /// Moves the next `count` octets, which the endpoint has let its application read, to the end of `to`.
    ///
    /// # Panics
    /// If fewer are there in order.
    pub fn take(&mut self, count: u64, to: &mut Vec<u8>) {
        self.give(count, |octets| to.extend_from_slice(octets));
    }

    /// Gives the next `count` octets, which the endpoint has let its application read, to `to`, piece by piece.
    ///
    /// # Panics
    /// If fewer are there in order.
    pub fn give(&mut self, count: u64, mut to: impl FnMut(&[u8])) {
        assert!(count <= self.next - self.start, "found {} octets, expected {count}", self.next - self.start);
        let mut left = count as usize;
        while left > 0 {
            let rest = &self.blocks[0][self.place..];
            let taken = rest.len().min(left);
            to(&rest[..taken]);
            left -= taken;
            self.place += taken;
            if self.place == self.blocks[0].len() {
                self.blocks.pop_front();
                self.place = 0;
            }
        }
        self.start += count;
    }

    /// Hands over the blocks of all octets that are there in order.
    pub fn take_blocks(&mut self, mut take: impl FnMut(Vec<u8>)) {
        if self.place > 0 {
            self.blocks[0].drain(..std::mem::take(&mut self.place));
        }
        self.start = self.next;
        self.blocks.drain(..).filter(|block| !block.is_empty()).for_each(&mut take);
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
    fn what_arrives_is_read_in_order() {
        let (mut arrived, mut read) = (Arrived::default(), Vec::new());
        arrived.put(4, b"owledge");
        arrived.put(0, b"ackn");
        arrived.take(6, &mut read);
        arrived.put(3, b"now");
        arrived.put(4, b"owl");
        arrived.take(5, &mut read);
        assert_eq!((read.as_slice(), arrived.start()), (b"acknowledge".as_slice(), 11));
    }

    #[test]
    fn octets_are_copied_from_wherever_they_are() {
        let all: Vec<u8> = (0..60u8).collect();
        for free in 0..60 {
            let mut written = Written::default();
            all.chunks(7).for_each(|block| written.push(block.to_vec()));
            // Each copy begins where another one, before the octets were freed, has left off.
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
    fn blocks_are_handed_over_as_a_whole() {
        let mut written = Written::default();
        let all: Vec<u8> = (0..100u8).collect();
        all.chunks(7).for_each(|block| written.push(block.to_vec()));
        let mut copied = Vec::new();
        assert!(written.copy(5..93, &mut copied));
        assert_eq!(copied, all[5..93], "across the borders of blocks");
        written.free(15);
        assert_eq!((written.blocks.len(), written.kept()), (13, 85), "two blocks of seven are free");

        let mut arrived = Arrived::default();
        arrived.put(40, &all[40..]);
        arrived.put(30, &all[30..50]);
        arrived.put(0, &all[..20]);
        arrived.push(all[20..35].to_vec());
        assert_eq!(arrived.next(), 100, "what has arrived beyond follows");
        let mut blocks = Vec::new();
        arrived.give(3, |octets| blocks.push(octets.to_vec()));
        arrived.take_blocks(|block| blocks.push(block));
        assert_eq!((blocks.concat(), arrived.start()), (all, 100));
    }
}
