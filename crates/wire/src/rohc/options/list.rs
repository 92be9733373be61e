//! The compressed list (RFC 6846, §6.3.3): indices, and the items that belong to them (§8.2:
//! `tcp_opt_*`).
//!
//! ```text
//! +---+---+---+---+---+---+---+---+
//! |   Reserved    |PS |     m     |
//! +---+---+---+---+---+---+---+---+
//! / X and index of m items        /  m octets, or m half octets and padding
//! / items                         /
//! +---+---+---+---+---+---+---+---+
//! ```

use super::generic::Generic;
use super::layout::{Item, List, MAX_ITEMS, items};
use super::table::ItemTable;
use super::{index, sack, timestamps};
use crate::rohc::Error;
use crate::rohc::context::{References, State};
use crate::rohc::octets::{Octets, Reader, put};
use crate::tcp::{Options, Timestamps};
use arrayvec::ArrayVec;

/// The reserved bits of the first octet, which must be zero.
const RESERVED: u8 = 0xe0;
/// The flag PS: indices take eight bits each instead of four.
const WIDE: u8 = 0x10;
/// The flag X of an index of eight bits: the list contains the item.
const PRESENT: u8 = 0x80;
/// The reserved bits of an index of eight bits, which must be zero.
const INDEX_RESERVED: u8 = 0x70;

/// A received list: its structure, and the items that it contained. The irregular chain has values
/// only for the other items.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::rohc) struct Received {
    pub(in crate::rohc) list: List,
    /// Bit i is set if the list contained the item at position i.
    present: u16,
}

impl Received {
    /// Returns a list that was omitted, because its structure is unchanged.
    pub(in crate::rohc) const fn unchanged(list: List) -> Self {
        Self { list, present: 0 }
    }

    /// Returns the indices whose items were not in the list.
    pub(super) fn absent(&self) -> impl Iterator<Item = u8> + '_ {
        let is_absent = |position: u32| self.present >> position & 1 == 0;
        (0..).zip(self.list.indices()).filter(move |(position, _)| is_absent(*position)).map(|(_, index)| index)
    }
}

/// Returns `true` if the list contains the item of `index` when it is sent with `references`. The
/// list omits timestamps if low bits in the irregular chain can encode them relative to the item
/// table of the decompressor.
pub(super) fn contains(index: u8, new: &State, references: Option<&References>) -> bool {
    let (index::TIMESTAMPS, Some(new), Some(references)) = (index, new.ack.segment.options.timestamps, references)
    else {
        return true;
    };
    !references.all_timestamps(|old: Timestamps| {
        timestamps::is_near(old.value, new.value) && timestamps::is_near(old.echo, new.echo)
    })
}

/// Returns `true` if the list can be omitted, because its structure is unchanged and the irregular
/// chain can encode the timestamps.
pub(in crate::rohc) fn is_unchanged(new: &State, references: &References) -> bool {
    references.all(|state| state.list == new.list)
        && (new.ack.segment.options.timestamps.is_none() || !contains(index::TIMESTAMPS, new, Some(references)))
}

/// Writes the list. In a dynamic chain, which has no references, the list contains all items.
pub(in crate::rohc) fn write_list(options: &[u8], new: &State, references: Option<&References>, out: &mut Octets) {
    let indices: ArrayVec<u8, MAX_ITEMS> = new.list.indices().collect();
    let is_wide = indices.iter().any(|&index| index > 7);
    out.push(indices.len() as u8 | if is_wide { WIDE } else { 0 });
    let flagged = |&index: &u8| index | if contains(index, new, references) { PRESENT } else { 0 };
    if is_wide {
        indices.iter().for_each(|index| out.push(flagged(index)));
    } else {
        let narrow = |index| flagged(index) >> 4 & 0x8 | index;
        indices.chunks(2).for_each(|pair| out.push(narrow(&pair[0]) << 4 | pair.get(1).map_or(0, narrow)));
    }
    for Item { index, octets } in items(options).flatten() {
        match index {
            index::TIMESTAMPS if contains(index, new, references) => put(out, &octets[2..]),
            index::SACK => sack::write(new.ack_number(), &new.ack.segment.options.sack, out),
            index::GENERIC.. => put(out, octets),
            _ => {}
        }
    }
}

/// Reads a list. Replaces `options` by the items in the list and by the items of `table` to which
/// the list refers.
pub(in crate::rohc) fn read_list(
    ack: u32,
    table: &mut ItemTable,
    options: &mut Options,
    reader: &mut Reader,
) -> Result<Received, Error> {
    let mut received = Received::default();
    *options = Options::default();
    for (position, (index, is_present)) in read_indices(reader)?.into_iter().enumerate() {
        received.list.push(index).ok_or(Error::Options { what: "number of items", found: position as u8 })?;
        received.present |= u16::from(is_present) << position;
        if is_present {
            read_item(index, ack, table, options, reader)?;
        } else {
            table.put(index, options)?;
        }
    }
    Ok(received)
}

/// Reads the indices, each with its flag X. Reserved bits and padding must be zero; otherwise the
/// header must be discarded.
fn read_indices(reader: &mut Reader) -> Result<ArrayVec<(u8, bool), MAX_ITEMS>, Error> {
    let reserved = |found| Err(Error::Options { what: "reserved bits", found });
    let first = reader.u8()?;
    if first & RESERVED != 0 {
        return reserved(first);
    }
    let count = usize::from(first & 0x0f);
    if first & WIDE != 0 {
        let octets = reader.take(count)?;
        if let Some(octet) = octets.iter().find(|octet| **octet & INDEX_RESERVED != 0) {
            return reserved(*octet);
        }
        return Ok(octets.iter().map(|octet| (octet & 0x0f, octet & PRESENT != 0)).collect());
    }
    let octets = reader.take(count.div_ceil(2))?;
    match octets.last() {
        Some(&octet) if count % 2 == 1 && octet & 0x0f != 0 => return reserved(octet),
        _ => {}
    }
    let halves = octets.iter().flat_map(|octet| [octet >> 4, octet & 0x0f]).take(count);
    Ok(halves.map(|half| (half & 0x7, half & 0x8 != 0)).collect())
}

fn read_item(
    index: u8,
    ack: u32,
    table: &mut ItemTable,
    options: &mut Options,
    reader: &mut Reader,
) -> Result<(), Error> {
    match index {
        index::NOP => {}
        index::TIMESTAMPS => options.timestamps = Some(Timestamps { value: reader.u32()?, echo: reader.u32()? }),
        index::SACK => options.sack = sack::read(ack, None, reader)?,
        index::GENERIC.. => {
            let generic = Generic::read(reader)?;
            table.assign(index, generic);
            generic.put(options);
        }
        _ => return Err(Error::Options { what: "index", found: index }),
    }
    Ok(())
}
