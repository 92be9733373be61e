//! The structure of the list (RFC 6846, §6.3.3, §6.3.5) and its items (§8.2: `tcp_opt_*`).

use super::{index, sack, timestamps};
use crate::rohc::Error;
use crate::rohc::ack::FIXED_HEADERS;
use crate::rohc::context::{References, State};
use crate::rohc::octets::{Octets, Reader, put};
use crate::tcp::octets::{KIND_ACCURATE_ECN, KIND_EXPERIMENT, take};
use crate::tcp::{Options, Timestamps};
use arrayvec::ArrayVec;
use etherparse::tcp_option::{KIND_NOOP, KIND_SELECTIVE_ACK, KIND_TIMESTAMP};

/// The most items that the four bits of `m` count.
const MOST: usize = 15;
/// The flag `PS` of the list: indices take eight bits each rather than four.
const WIDE: u8 = 0x10;
/// The flag X of an index: its item is in the list.
const PRESENT: u8 = 0x80;
/// A generic option is as it was, or has these contents (`generic_stable_irregular`, `generic_full_irregular`).
const STABLE: u8 = 0xff;
const FULL: u8 = 0x00;

/// An option as it stands in a header.
#[derive(Clone, Copy)]
struct Item<'a> {
    index: u8,
    octets: &'a [u8],
}

/// The items in the octets of options that acklab's endpoints lay out for an ACK; an option that none has ends them with
/// None.
fn items(mut octets: &[u8]) -> impl Iterator<Item = Option<Item<'_>>> {
    std::iter::from_fn(move || {
        let (&kind, tail) = octets.split_first()?;
        let (index, len) = match kind {
            KIND_NOOP => (index::NOP, 1),
            KIND_TIMESTAMP => (index::TIMESTAMPS, tail[0]),
            KIND_SELECTIVE_ACK => (index::SACK, tail[0]),
            kind if kind == KIND_ACCURATE_ECN[0] => (index::GENERIC, tail[0]),
            kind if kind == KIND_ACCURATE_ECN[1] => (index::GENERIC + 1, tail[0]),
            KIND_EXPERIMENT => (index::GENERIC + 2, tail[0]),
            _ => return Some(None),
        };
        let (item, rest) = octets.split_at(usize::from(len));
        octets = rest;
        Some(Some(Item { index, octets: item }))
    })
}

/// Which options stand in which order: what a list carries besides values. The length of a generic option belongs to it,
/// as the irregular chain cannot change that.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(in crate::rohc) struct List {
    indices: [u8; MOST],
    len: u8,
    generic: [u8; 3],
}

impl Copy for List {}

impl List {
    /// The list of a header; None if it has an option that an ACK has not.
    #[inline]
    pub(in crate::rohc) fn of(headers: &[u8]) -> Option<Self> {
        let mut list = Self::default();
        for item in items(&headers[FIXED_HEADERS..]) {
            let Item { index, octets } = item?;
            *list.indices.get_mut(usize::from(list.len))? = index;
            list.len += 1;
            if index >= index::GENERIC {
                list.generic[usize::from(index - index::GENERIC)] = octets.len() as u8;
            }
        }
        Some(list)
    }

    /// Has a list that was read these options, in this order?
    pub(in crate::rohc) fn is(&self, listed: &[Listed]) -> bool {
        listed.iter().map(|listed| listed.index).eq(self.indices().iter().copied())
    }

    fn indices(&self) -> &[u8] {
        &self.indices[..usize::from(self.len)]
    }
}

/// An index that was read, and whether its item was in the list; the irregular chain has something of the others only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rohc) struct Listed {
    index: u8,
    is_present: bool,
}

/// Is the item in a list that goes along with `references`? Timestamps need not be that the other end holds near ones of;
/// NOP is empty.
fn is_in_list(index: u8, new: &State, references: Option<&References>) -> bool {
    let near = |state: &State| match (state.ack.segment.options.timestamps, new.ack.segment.options.timestamps) {
        (Some(old), Some(new)) => timestamps::is_near(old.value, new.value) && timestamps::is_near(old.echo, new.echo),
        _ => false,
    };
    index != index::TIMESTAMPS || !references.is_some_and(|references| references.all(near))
}

/// May the list stay away: is it what all references have, with timestamps that are near theirs?
pub(in crate::rohc) fn is_known(new: &State, references: &References) -> bool {
    references.all(|state| state.list == new.list)
        && (new.ack.segment.options.timestamps.is_none() || !is_in_list(index::TIMESTAMPS, new, Some(references)))
}

/// The list with the indices and items that it needs; without references, as in a dynamic chain, with all items.
pub(in crate::rohc) fn write_list(headers: &[u8], new: &State, references: Option<&References>, out: &mut Octets) {
    let indices = new.list.indices();
    let is_wide = indices.iter().any(|&index| index > 7);
    out.push(indices.len() as u8 | if is_wide { WIDE } else { 0 });
    let flagged = |&index: &u8| index | if is_in_list(index, new, references) { PRESENT } else { 0 };
    if is_wide {
        indices.iter().for_each(|index| out.push(flagged(index)));
    } else {
        // The flag and three bits of index, two of them in an octet.
        let narrow = |index| flagged(index) >> 4 & 0x8 | index;
        indices.chunks(2).for_each(|pair| out.push(narrow(&pair[0]) << 4 | pair.get(1).map_or(0, narrow)));
    }
    for Item { index, octets } in items(&headers[FIXED_HEADERS..]).flatten() {
        match index {
            index::TIMESTAMPS if is_in_list(index, new, references) => put(out, &octets[2..]),
            index::SACK => sack::write(new.ack_number(), &new.ack.segment.options.sack, out),
            index::GENERIC.. => put(out, octets),
            _ => {}
        }
    }
}

/// What the options of `new` have in the irregular chain; of those that a list has brought, nothing.
pub(in crate::rohc) fn write_irregular(
    headers: &[u8],
    new: &State,
    references: &References,
    has_list: bool,
    out: &mut Octets,
) {
    let options = &new.ack.segment.options;
    for &index in new.list.indices() {
        if has_list && is_in_list(index, new, Some(references)) {
            continue;
        }
        match (index, options.timestamps) {
            (index::TIMESTAMPS, Some(Timestamps { value, echo })) => {
                let of = |state: &State| state.ack.segment.options.timestamps;
                let reaches = |lsb: super::super::wlsb::Lsb, of_both: fn(Timestamps) -> u32, new: u32| {
                    references.all(|state| of(state).is_some_and(|old| lsb.reaches(of_both(old), new)))
                };
                timestamps::write(value, |lsb| reaches(lsb, |both| both.value, value), out);
                timestamps::write(echo, |lsb| reaches(lsb, |both| both.echo, echo), out);
            }
            (index::SACK, _) => {
                if references.all(|state| state.ack.segment.options.sack == options.sack) {
                    out.push(0);
                } else {
                    sack::write(new.ack_number(), &options.sack, out);
                }
            }
            (index::GENERIC.., _) => {
                let is_same = |state: &State| {
                    let old = &state.ack.segment.options;
                    (old.accurate_ecn, old.ack_ratio) == (options.accurate_ecn, options.ack_ratio)
                };
                if references.all(is_same) {
                    out.push(STABLE);
                } else {
                    out.push(FULL);
                    let item = items(&headers[FIXED_HEADERS..]).flatten().find(|item| item.index == index);
                    put(out, item.map_or(&[], |item| &item.octets[2..]));
                }
            }
            _ => {}
        }
    }
}

/// Read a list into `options`.
pub(in crate::rohc) fn read_list(
    ack: u32,
    options: &mut Options,
    reader: &mut Reader,
) -> Result<ArrayVec<Listed, MOST>, Error> {
    let first = reader.u8()?;
    if first & 0xe0 != 0 {
        return Err(Error::Options { what: "reserved bits", found: first });
    }
    let count = usize::from(first & 0x0f);
    let mut listed = ArrayVec::<Listed, MOST>::new();
    if first & WIDE != 0 {
        let octets = reader.take(count)?.iter();
        listed.extend(octets.map(|&octet| Listed { index: octet & 0x0f, is_present: octet & PRESENT != 0 }));
    } else {
        let octets = reader.take(count.div_ceil(2))?.iter();
        let halves = octets.flat_map(|&octet| [octet >> 4, octet & 0x0f]).take(count);
        listed.extend(halves.map(|half| Listed { index: half & 0x7, is_present: half & 0x8 != 0 }));
    }
    *options = Options::default();
    for Listed { index, is_present } in &listed {
        if *is_present {
            read_item(*index, ack, options, reader)?;
        }
    }
    Ok(listed)
}

fn read_item(index: u8, ack: u32, options: &mut Options, reader: &mut Reader) -> Result<(), Error> {
    match index {
        index::NOP => {}
        index::TIMESTAMPS => options.timestamps = Some(Timestamps { value: reader.u32()?, echo: reader.u32()? }),
        index::SACK => options.sack = sack::read(ack, None, reader)?,
        index::GENERIC.. => {
            let [kind, len] = reader.array()?;
            let contents = (len & 0x7f).checked_sub(2).ok_or(Error::Options { what: "length", found: len })?;
            read_generic(kind, reader.take(usize::from(contents))?, options)?;
        }
        // No ACK has them: an end of the list, which acklab's endpoints do not write, and what stands on a SYN.
        index::END | index::MAXIMUM_SEGMENT_SIZE | index::WINDOW_SCALE | index::SACK_PERMITTED => {
            return Err(Error::Options { what: "index", found: index });
        }
    }
    Ok(())
}

fn read_generic(kind: u8, contents: &[u8], options: &mut Options) -> Result<(), Error> {
    let before = *options;
    let is_taken = take(kind, contents, options) && *options != before;
    is_taken.then_some(()).ok_or(Error::Options { what: "option kind", found: kind })
}

/// Read what the irregular chain has of the options, which are those of `reference` or were `listed`.
pub(in crate::rohc) fn read_irregular(
    ack: u32,
    reference: &State,
    listed: Option<&[Listed]>,
    options: &mut Options,
    reader: &mut Reader,
) -> Result<(), Error> {
    let Some(listed) = listed else {
        return reference
            .list
            .indices()
            .iter()
            .try_for_each(|&index| read_changes(index, ack, reference, options, reader));
    };
    let others = listed.iter().filter(|listed| !listed.is_present);
    others.map(|listed| listed.index).try_for_each(|index| read_changes(index, ack, reference, options, reader))
}

fn read_changes(
    index: u8,
    ack: u32,
    reference: &State,
    options: &mut Options,
    reader: &mut Reader,
) -> Result<(), Error> {
    let old = &reference.ack.segment.options;
    let unknown = Error::Options { what: "unknown item", found: index };
    match index {
        index::NOP => {}
        index::TIMESTAMPS => {
            let Timestamps { value, echo } = old.timestamps.ok_or(unknown)?;
            let value = timestamps::read(value, reader)?;
            options.timestamps = Some(Timestamps { value, echo: timestamps::read(echo, reader)? });
        }
        index::SACK => options.sack = sack::read(ack, Some(&old.sack), reader)?,
        index::GENERIC.. => {
            let headers = reference.ack.headers().map_err(|_| unknown.clone())?;
            let mut known = items(&headers[FIXED_HEADERS..]).flatten();
            let item = known.find(|item| item.index == index).ok_or(unknown)?;
            let contents = match reader.u8()? {
                STABLE => &item.octets[2..],
                FULL => reader.take(item.octets.len() - 2)?,
                found => return Err(Error::Options { what: "generic option", found }),
            };
            let before = *options;
            if !take(item.octets[0], contents, options) {
                *options = before;
                return Err(Error::Options { what: "option kind", found: item.octets[0] });
            }
        }
        index::END | index::MAXIMUM_SEGMENT_SIZE | index::WINDOW_SCALE | index::SACK_PERMITTED => {
            return Err(Error::Options { what: "index", found: index });
        }
    }
    Ok(())
}
