//! Memory for bytes that have arrived out of order.
//!
//! Each byte has a fixed place in a page. So the memory never exceeds the window of the stream,
//! whatever the size and order of the peer's pieces.

use std::collections::{BTreeMap, TryReserveError};
use std::ops::Range;

/// The number of bytes of a page. Chosen: a page of memory, and two packets of Ethernet.
pub(super) const PAGE: u64 = 4096;

#[derive(Clone, Debug, Default)]
pub(super) struct Pages(BTreeMap<u64, Vec<u8>>);

/// Splits `range` at the bounds of pages. Returns, for each part, its page and its range within the
/// page.
fn parts(range: Range<u64>) -> impl Iterator<Item = (u64, Range<usize>)> {
    let pages = if range.is_empty() { 0..0 } else { range.start / PAGE..range.end.div_ceil(PAGE) };
    pages.map(move |page| {
        let start = page * PAGE;
        let place = |offset: u64| (offset.clamp(start, start + PAGE) - start) as usize;
        (page, place(range.start)..place(range.end))
    })
}

impl Pages {
    /// Stores bytes that begin at `offset`.
    ///
    /// # Errors
    /// If the host has no memory for the bytes. Some of them may be stored.
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

    /// Calls `take` with the stored bytes of `range`, piece by piece.
    pub(super) fn read<E>(&self, range: Range<u64>, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        parts(range).try_for_each(|(page, place)| take(&self.0[&page][place]))
    }

    /// Frees the pages whose bytes all lie below `offset`.
    pub(super) fn free(&mut self, offset: u64) {
        while let Some(first) = self.0.first_entry().filter(|first| (first.key() + 1) * PAGE <= offset) {
            first.remove();
        }
    }

    /// Frees all pages.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    #[cfg(test)]
    pub(super) fn octets(&self) -> u64 {
        self.0.len() as u64 * PAGE
    }
}
