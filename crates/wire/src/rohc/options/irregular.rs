//! The items of TCP options in the irregular chain (RFC 6846, §8.2: `tcp_opt_*`).

use super::generic::{FULL, STABLE};
use super::layout::items;
use super::list::{Received, contains};
use super::table::ItemTable;
use super::{index, sack, timestamps};
use crate::rohc::Error;
use crate::rohc::context::{References, State};
use crate::rohc::octets::{Octets, Reader, put};
use crate::rohc::wlsb::Lsb;
use crate::tcp::{Options, Timestamps};

/// Writes the values of the options of `new`, which are encoded in these `octets`, except for items
/// that a list contains.
#[inline]
pub(in crate::rohc) fn write_irregular(
    octets: &[u8],
    new: &State,
    references: &References,
    has_list: bool,
    out: &mut Octets,
) {
    for index in new.list.indices() {
        if !has_list || !contains(index, new, Some(references)) {
            write_item(index, octets, new, references, out);
        }
    }
}

fn write_item(index: u8, octets: &[u8], new: &State, references: &References, out: &mut Octets) {
    let options = &new.ack.segment.options;
    match (index, options.timestamps) {
        (index::TIMESTAMPS, Some(Timestamps { value, echo })) => {
            let reaches = |lsb: Lsb, field: fn(Timestamps) -> u32, value| {
                references.all_timestamps(|old| lsb.reaches(field(old), value))
            };
            timestamps::write(value, |lsb| reaches(lsb, |old| old.value, value), out);
            timestamps::write(echo, |lsb| reaches(lsb, |old| old.echo, echo), out);
        }
        (index::SACK, _) => {
            if references.all(|state| state.ack.segment.options.sack == options.sack) {
                out.push(sack::UNCHANGED);
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
                let item = items(octets).flatten().find(|item| item.index == index);
                put(out, item.map_or(&[], |item| &item.octets[2..]));
            }
        }
        _ => {}
    }
}

/// Reads the values of the items that `received` did not contain. These values refer to the items
/// in `options`, and replace them.
#[inline]
pub(in crate::rohc) fn read_irregular(
    ack: u32,
    received: &Received,
    table: &ItemTable,
    options: &mut Options,
    reader: &mut Reader,
) -> Result<(), Error> {
    received.absent().try_for_each(|index| read_item(index, ack, table, options, reader))
}

fn read_item(index: u8, ack: u32, table: &ItemTable, options: &mut Options, reader: &mut Reader) -> Result<(), Error> {
    match index {
        index::TIMESTAMPS => {
            let unknown = Error::Options { what: "unknown item", found: index };
            let Timestamps { value, echo } = options.timestamps.ok_or(unknown)?;
            let value = timestamps::read(value, reader)?;
            options.timestamps = Some(Timestamps { value, echo: timestamps::read(echo, reader)? });
        }
        index::SACK => options.sack = sack::read(ack, Some(&options.sack), reader)?,
        index::GENERIC.. => {
            let mut generic = table.generic(index)?;
            generic.update(options);
            generic.read_irregular(reader)?;
            generic.put(options);
        }
        _ => {}
    }
    Ok(())
}
