//! Memory for octets that have arrived out of order.
//!
//! An octet has its place in a page, so that what is kept never takes more memory than the window
//! of the stream, however small the pieces are that the peer sends, and in whatever order.

use std::collections::{BTreeMap, TryReserveError};
use std::ops::Range;

/// The octets of a page: chosen, those of a page of memory, and two packets of Ethernet.
pub(super) const PAGE: u64 = 4096;

#[derive(Clone, Debug, Default)]
pub(super) struct Pages(BTreeMap<u64, Vec<u8>>);

/// Returns the parts of `range` that lie in one page each: the page, and the place in it.
fn parts(range: Range<u64>) -> impl Iterator<Item = (u64, Range<usize>)> {
    let pages = if range.is_empty() { 0..0 } else { range.start / PAGE..range.end.div_ceil(PAGE) };
    pages.map(move |page| {
        let start = page * PAGE;
        let place = |offset: u64| (offset.clamp(start, start + PAGE) - start) as usize;
        (page, place(range.start)..place(range.end))
    })
}

impl Pages {
    /// Keeps octets that begin at `offset`.
    ///
    /// # Errors
    /// If the host has no memory for them. A part of them may be kept.
    pub(super) fn write(&mut self, offset: u64, mut octets: &[u8]) -> Result<(), TryReserveError> {
        for (page, place) in parts(offset..offset + octets.len() as u64) {
            let (head, tail) = octets.split_at(place.len());
            let memory = self.0.entry(page).or_default();
            if memory.is_empty() {
                memory.try_reserve_exact(PAGE as usize)?;
                memory.resize(PAGE as usize, 0);
            }
            memory[place].copy_from_slice(head);
            octets = tail;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls `take` with the octets of `range`, which were kept, piece by piece.
    pub(super) fn read<E>(&self, range: Range<u64>, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        parts(range).try_for_each(|(page, place)| take(&self.0[&page][place]))
    }

    /// Frees the pages of which all octets lie below `offset`.
    pub(super) fn free(&mut self, offset: u64) {
        while let Some(first) = self.0.first_entry().filter(|first| (first.key() + 1) * PAGE <= offset) {
            first.remove();
        }
    }

    /// Frees all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    #[cfg(test)]
    pub(super) fn octets(&self) -> u64 {
        self.0.len() as u64 * PAGE
    }
}
