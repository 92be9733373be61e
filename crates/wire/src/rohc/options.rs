//! The list of TCP options (RFC 6846, §6.3): its structure goes when it changes, what changes with every header goes in
//! the irregular chain.

mod list;
mod sack;
mod timestamps;

pub(super) use list::{List, is_known, read_irregular, read_list, write_irregular, write_list};

/// Indices of the table of options (RFC 6846, §6.3.4).
pub(super) mod index {
    pub(in super::super) const NOP: u8 = 0;
    pub(in super::super) const END: u8 = 1;
    pub(in super::super) const MAXIMUM_SEGMENT_SIZE: u8 = 2;
    pub(in super::super) const WINDOW_SCALE: u8 = 3;
    pub(in super::super) const TIMESTAMPS: u8 = 4;
    pub(in super::super) const SACK_PERMITTED: u8 = 5;
    pub(in super::super) const SACK: u8 = 6;
    /// The first of the indices that a compressor gives to other options as it likes. Ours gives them to AccECN0, AccECN1
    /// and experiments.
    pub(in super::super) const GENERIC: u8 = 7;
}
