//! Stores arrived bytes.

use super::BLOCK;
use super::pages::Pages;
use crate::ack::Ranges;
use std::collections::{TryReserveError, VecDeque};

/// Appends bytes to the last block until it is full, and then to new blocks.
fn append(blocks: &mut VecDeque<Vec<u8>>, mut octets: &[u8]) -> Result<(), TryReserveError> {
    while !octets.is_empty() {
        let room = blocks.back().map_or(0, |block| block.capacity().min(BLOCK).saturating_sub(block.len()));
        if room == 0 {
            // A short stream needs little memory. From the second block on, blocks have the full
            // size.
            let capacity = if blocks.is_empty() { octets.len().min(BLOCK) } else { BLOCK };
            let mut block = Vec::new();
            block.try_reserve_exact(capacity)?;
            blocks.push_back(block);
            continue;
        }
        let (head, tail) = octets.split_at(room.min(octets.len()));
        blocks.back_mut().into_iter().for_each(|block| block.extend_from_slice(head));
        octets = tail;
    }
    Ok(())
}

/// The bytes that have arrived, in order or not, from the first byte that the application has not
/// read.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    start: u64,
    /// Contiguous bytes from `start` on. The first `place` bytes of the first block have been read.
    blocks: VecDeque<Vec<u8>>,
    place: usize,
    /// The offsets that have arrived.
    held: Ranges,
    /// The bytes beyond the first gap.
    pages: Pages,
}

impl Arrived {
    /// Returns the offset of the next byte to read.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Stores bytes that begin at `offset`, and drops those that arrived before. The endpoint's
    /// receive window limits the distance between `start` and `offset`, and therefore the memory.
    ///
    /// # Errors
    /// If the host has no memory for the bytes. The stream cannot continue.
    #[inline]
    pub fn put(&mut self, offset: u64, octets: &[u8]) -> Result<(), TryReserveError> {
        let (next, end) = (self.held.next(), offset + octets.len() as u64);
        if offset > next {
            return self.put_beyond(offset, octets);
        }
        let Some(octets) = octets.get((next - offset) as usize..) else { return Ok(()) };
        append(&mut self.blocks, octets)?;
        self.join(end)
    }

    /// Returns the offset of the first byte that has not arrived.
    #[must_use]
    #[inline]
    pub const fn next(&self) -> u64 {
        self.held.next()
    }

    /// Stores a block that begins with [the first missing byte](Self::next), without copying it.
    ///
    /// # Errors
    /// If the host has no memory for the following bytes. The stream cannot continue.
    pub fn push(&mut self, block: Vec<u8>) -> Result<(), TryReserveError> {
        let end = self.held.next() + block.len() as u64;
        self.blocks.push_back(block);
        self.join(end)
    }

    /// Calls `memory` if a new block is needed for the next arrival, and uses its result.
    pub fn offer(&mut self, memory: impl FnOnce() -> Option<Vec<u8>>) {
        if self.blocks.is_empty()
            && let Some(mut block) = memory()
        {
            block.clear();
            self.blocks.push_back(block);
        }
    }

    #[inline(never)]
    fn put_beyond(&mut self, offset: u64, octets: &[u8]) -> Result<(), TryReserveError> {
        self.pages.write(offset, octets)?;
        let _ = self.held.insert(offset..offset + octets.len() as u64);
        Ok(())
    }

    /// Moves bytes that follow `end` without a gap into blocks. All bytes up to `end` are in blocks
    /// already.
    #[inline]
    fn join(&mut self, end: u64) -> Result<(), TryReserveError> {
        let _ = self.held.insert(self.held.next()..end);
        if self.pages.is_empty() { Ok(()) } else { self.take_pages(end) }
    }

    #[inline(never)]
    fn take_pages(&mut self, end: u64) -> Result<(), TryReserveError> {
        let Self { blocks, held, pages, .. } = self;
        pages.read(end..held.next(), |octets| append(blocks, octets))?;
        if held.beyond().is_empty() {
            pages.clear()
        } else {
            pages.free(held.next())
        }
        Ok(())
    }

    /// Drops the next `count` bytes, which the endpoint has recorded as read.
    ///
    /// # Panics
    /// If fewer contiguous bytes are available.
    pub fn drop(&mut self, count: u64) {
        self.give(count, |_| ());
    }

    /// Moves the next `count` bytes, which the endpoint has recorded as read, to the end of `to`.
    ///
    /// # Panics
    /// If fewer contiguous bytes are available.
    pub fn take(&mut self, count: u64, to: &mut Vec<u8>) {
        self.give(count, |octets| to.extend_from_slice(octets));
    }

    /// Passes the next `count` bytes, which the endpoint has recorded as read, to `to`, piece by
    /// piece.
    ///
    /// # Panics
    /// If fewer contiguous bytes are available.
    pub fn give(&mut self, count: u64, mut to: impl FnMut(&[u8])) {
        let readable = self.next() - self.start;
        assert!(count <= readable, "found {readable} octets, expected {count}");
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

    /// Passes the blocks of all contiguous bytes to `take`.
    pub fn take_blocks(&mut self, mut take: impl FnMut(Vec<u8>)) {
        if self.place > 0 {
            self.blocks[0].drain(..std::mem::take(&mut self.place));
        }
        self.start = self.next();
        self.blocks.drain(..).filter(|block| !block.is_empty()).for_each(&mut take);
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::PAGE;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_arrives_is_read_in_order() {
        let (mut arrived, mut read) = (Arrived::default(), Vec::new());
        arrived.put(4, b"owledge").unwrap();
        arrived.put(0, b"ackn").unwrap();
        arrived.take(6, &mut read);
        arrived.put(3, b"now").unwrap();
        arrived.put(4, b"owl").unwrap();
        arrived.take(5, &mut read);
        assert_eq!((read.as_slice(), arrived.start()), (b"acknowledge".as_slice(), 11));
    }

    #[test]
    fn blocks_are_handed_over_as_a_whole() {
        let all: Vec<u8> = (0..100u8).collect();
        let mut arrived = Arrived::default();
        arrived.put(40, &all[40..]).unwrap();
        arrived.put(30, &all[30..50]).unwrap();
        arrived.put(0, &all[..20]).unwrap();
        arrived.push(all[20..35].to_vec()).unwrap();
        assert_eq!(arrived.next(), 100, "what has arrived beyond follows");
        let mut blocks = Vec::new();
        arrived.give(3, |octets| blocks.push(octets.to_vec()));
        arrived.take_blocks(|block| blocks.push(block));
        assert_eq!((blocks.concat(), arrived.start()), (all, 100));
    }

    /// Every second byte of a window arrives as a single byte. Storing each piece separately would
    /// take fifty times the memory.
    #[test]
    fn small_pieces_take_no_more_memory_than_the_window() {
        const WINDOW: u64 = 1 << 20;
        let mut arrived = Arrived::default();
        (1..WINDOW).step_by(2).for_each(|offset| arrived.put(offset, &[offset as u8]).unwrap());
        assert_eq!(arrived.pages.octets(), WINDOW);
        (0..WINDOW).step_by(2).for_each(|offset| arrived.put(offset, &[offset as u8]).unwrap());
        assert_eq!((arrived.next(), arrived.pages.octets()), (WINDOW, 0));
        let mut all = Vec::new();
        arrived.take_blocks(|block| all.extend(block));
        assert!(all.iter().zip(0..WINDOW).all(|(found, offset)| *found == offset as u8));
    }

    proptest! {
        #[test]
        fn octets_are_read_as_they_were_sent(
            pieces in proptest::collection::vec((0u64..30_000, 0usize..6000, 0u8..4), 1..60),
        ) {
            let octet = |offset: u64| (offset.wrapping_mul(0x9e37) >> 8) as u8;
            let (mut arrived, mut read, mut held) = (Arrived::default(), Vec::new(), vec![false; 36_000]);
            for (offset, length, how) in pieces {
                // Half of the pieces begin at the first missing byte, and some are passed as
                // blocks.
                let offset = if how < 2 { arrived.next() } else { offset };
                let octets: Vec<u8> = (offset..(offset + length as u64).min(36_000)).map(octet).collect();
                held[offset as usize..offset as usize + octets.len()].fill(true);
                if how == 0 { arrived.push(octets).unwrap() } else { arrived.put(offset, &octets).unwrap() }
                let next = held.iter().position(|held| !held).unwrap_or(held.len()) as u64;
                prop_assert_eq!(arrived.next(), next);
                let last = held.iter().rposition(|held| *held).map_or(0, |last| last as u64 + 1);
                prop_assert!(arrived.pages.octets() <= last.saturating_sub(next).next_multiple_of(PAGE) + PAGE);
                if how == 3 {
                    let most = (next - arrived.start()).min(5000);
                    arrived.take(most, &mut read);
                } else if how == 2 {
                    arrived.take_blocks(|block| read.extend(block));
                }
                prop_assert_eq!(arrived.start(), read.len() as u64);
            }
            prop_assert!(read.iter().zip(0..).all(|(found, offset)| *found == octet(offset)));
        }
    }
}
