//! The item table of a decompressor (RFC 6846, §6.3.2).

use super::generic::Generic;
use super::index;
use super::layout::{List, items};
use crate::rohc::{Ack, Error};
use crate::tcp::{Options, SackBlocks, Timestamps};

/// The last item of each index. The items of the last header are stored here only when a list is
/// received.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::rohc) struct ItemTable {
    timestamps: Option<Timestamps>,
    sack: SackBlocks,
    generic: [Option<Generic>; (index::COUNT - index::GENERIC) as usize],
}

impl ItemTable {
    /// Assigns the generic options of an uncompressed ACK to the indices that the compressor here
    /// uses for them.
    pub(in crate::rohc) fn assign_uncompressed(&mut self, list: List, ack: &Ack) {
        if !list.has_generic() {
            return;
        }
        let Ok(headers) = ack.header_words() else { return };
        for item in items(headers.options()).flatten() {
            if let Some(slot) = self.slot(item.index) {
                *slot = Generic::of(item.octets);
            }
        }
    }

    /// Stores the items of a header.
    #[inline]
    pub(in crate::rohc) fn store(&mut self, list: List, options: &Options) {
        if list.len() == 0 {
            return;
        }
        self.timestamps = options.timestamps.or(self.timestamps);
        if !options.sack.is_empty() {
            self.sack = options.sack;
        }
        for index in list.indices() {
            if let Some(generic) = self.slot(index) {
                generic.iter_mut().for_each(|generic| generic.update(options));
            }
        }
    }

    /// Assigns a generic index to an option.
    pub(super) fn assign(&mut self, index: u8, generic: Generic) {
        if let Some(slot) = self.slot(index) {
            *slot = Some(generic);
        }
    }

    fn slot(&mut self, index: u8) -> Option<&mut Option<Generic>> {
        self.generic.get_mut(usize::from(index.checked_sub(index::GENERIC)?))
    }

    /// Adds the item of `index` to the options of a header. A header that refers to an unknown item
    /// must be discarded.
    pub(super) fn put(&self, index: u8, options: &mut Options) -> Result<(), Error> {
        let unknown = || Error::Options { what: "unknown item", found: index };
        match index {
            index::NOP => {}
            index::TIMESTAMPS => options.timestamps = Some(self.timestamps.ok_or_else(unknown)?),
            index::SACK if self.sack.is_empty() => return Err(unknown()),
            index::SACK => options.sack = self.sack,
            _ => self.generic(index)?.put(options),
        }
        Ok(())
    }

    /// Returns the generic option of `index`.
    pub(super) fn generic(&self, index: u8) -> Result<Generic, Error> {
        let slot = index.checked_sub(index::GENERIC).and_then(|slot| self.generic.get(usize::from(slot)));
        slot.copied().flatten().ok_or(Error::Options { what: "unknown item", found: index })
    }

    /// Returns `true` if these are the options of `list`, in the order of `list`.
    pub(in crate::rohc) fn is_layout_of(&self, list: List, options: &[u8]) -> bool {
        if list.len() == 0 {
            return options.is_empty();
        }
        let mut items = items(options);
        let has_all = list.indices().all(|index| match items.next().flatten() {
            Some(item) if item.index < index::GENERIC => item.index == index,
            Some(item) => self.generic(index).is_ok_and(|generic| generic.is_like(item.octets)),
            None => false,
        });
        has_all && items.next().is_none()
    }
}
