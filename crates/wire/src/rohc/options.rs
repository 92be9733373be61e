//! The compressed list of TCP options (RFC 6846, §6.3). A header carries the list when its
//! structure changes. The irregular chain carries the values that change from header to header.
//!
//! | module | contents |
//! |---|---|
//! | `layout` | the options of an uncompressed header, as indices in their order |
//! | `list` | the compressed list: the indices, and the items that go with them |
//! | `irregular` | the values in the irregular chain |
//! | `table` | the item table of the decompressor |
//! | `generic`, `sack`, `timestamps` | the items of single options |

mod generic;
mod irregular;
mod layout;
mod list;
mod sack;
mod table;
mod timestamps;

pub(super) use irregular::{read_irregular, write_irregular};
pub(super) use layout::List;
pub(super) use list::{Received, is_unchanged, read_list, write_list};
pub(super) use table::ItemTable;

/// Indices of the item table (RFC 6846, §6.3.4).
pub(super) mod index {
    pub(in super::super) const NOP: u8 = 0;
    pub(in super::super) const TIMESTAMPS: u8 = 4;
    pub(in super::super) const SACK: u8 = 6;
    /// The first of nine indices that a compressor assigns freely to other options. The compressor
    /// here assigns 7 and 8 to the generic options of a header, in their order: AccECN, and
    /// experiments. A pure ACK of acklab has no options with the indices of EOL, MSS, window scale
    /// and SACK-permitted (1, 2, 3 and 5).
    pub(in super::super) const GENERIC: u8 = 7;
    /// The number of indices.
    pub(in super::super) const COUNT: u8 = 16;
}
