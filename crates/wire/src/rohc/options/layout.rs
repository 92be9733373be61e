//! The options of an uncompressed header.

use super::index;
use crate::rohc::Ack;
use crate::tcp::octets::{KIND_ACCURATE_ECN, KIND_EXPERIMENT};
use etherparse::tcp_option::{KIND_NOOP, KIND_SELECTIVE_ACK, KIND_TIMESTAMP};

/// The maximum number of items: the field `m` of a list has four bits (RFC 6846, §6.3.3).
pub(super) const MAX_ITEMS: usize = 15;

/// The largest number of generic options in an ACK: AccECN and ACK Ratio.
const GENERIC: usize = 2;

/// An option of a header.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    /// The index that the compressor here uses: 7 for the first generic option of a header (the
    /// only generic index that fits in four bits), and 8 for the second.
    pub(super) index: u8,
    /// Kind, length and contents.
    pub(super) octets: &'a [u8],
}

/// Iterates over the options of an ACK from acklab's encoder. Ends with `None` at an option without
/// an index here.
pub(super) fn items(options: &[u8]) -> impl Iterator<Item = Option<Item<'_>>> {
    let mut octets = options;
    let mut generic = index::GENERIC..;
    std::iter::from_fn(move || {
        let (&kind, tail) = octets.split_first()?;
        let (index, len) = match kind {
            KIND_NOOP => (index::NOP, 1),
            KIND_TIMESTAMP => (index::TIMESTAMPS, tail[0]),
            KIND_SELECTIVE_ACK => (index::SACK, tail[0]),
            KIND_EXPERIMENT => (generic.next()?, tail[0]),
            kind if KIND_ACCURATE_ECN.contains(&kind) => (generic.next()?, tail[0]),
            _ => return Some(None),
        };
        let (item, rest) = octets.split_at(usize::from(len));
        octets = rest;
        Some(Some(Item { index, octets: item }))
    })
}

/// The structure of the options of a header: their indices in order.
///
/// A compressor chooses the indices. It also compares the kinds and lengths of generic options,
/// because the irregular chain cannot change them. A decompressor uses the indices of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::rohc) struct List {
    /// Four bits for each index. The lowest bits contain the first index.
    indices: u64,
    len: u8,
    generic: [[u8; 2]; GENERIC],
}

impl List {
    /// Returns the options of an ACK. Returns `None` if an option has no index, or if the options
    /// do not fit in a header.
    #[inline]
    pub(in crate::rohc) fn of_ack(ack: &Ack) -> Option<Self> {
        Self::common(ack).or_else(|| Self::of(ack.header_words().ok()?.options()))
    }

    /// Returns the list of [`of_ack`](Self::of_ack) from encoded options.
    #[inline]
    pub(in crate::rohc) fn of_ack_with(ack: &Ack, options: &[u8]) -> Option<Self> {
        Self::common(ack).or_else(|| Self::of(options))
    }

    /// Returns the options of an ACK in the common case: no options, or only timestamps.
    #[inline]
    fn common(ack: &Ack) -> Option<Self> {
        let options = &ack.segment.options;
        let common = if options.timestamps.is_some() { Self::TIMESTAMPS } else { Self::default() };
        options.has_nothing_but_timestamps().then_some(common)
    }

    /// Timestamps after two NOPs, the usual form.
    const TIMESTAMPS: Self = {
        let [nop, timestamps] = [index::NOP as u64, index::TIMESTAMPS as u64];
        Self { indices: nop | nop << 4 | timestamps << 8, len: 3, generic: [[0; 2]; GENERIC] }
    };

    /// Returns these options. Returns `None` if an option has no index.
    #[inline]
    pub(in crate::rohc) fn of(options: &[u8]) -> Option<Self> {
        let mut list = Self::default();
        for item in items(options) {
            let Item { index, octets } = item?;
            list.push(index)?;
            if index >= index::GENERIC {
                *list.generic.get_mut(usize::from(index - index::GENERIC))? = [octets[0], octets[1]];
            }
        }
        Some(list)
    }

    /// Returns `true` if this list of a compressor has a generic option.
    pub(super) fn has_generic(self) -> bool {
        self.generic != [[0; 2]; GENERIC]
    }

    /// Appends an index. Returns `None` if the list is full.
    pub(super) fn push(&mut self, index: u8) -> Option<()> {
        if usize::from(self.len) == MAX_ITEMS {
            return None;
        }
        self.indices |= u64::from(index) << (4 * self.len);
        self.len += 1;
        Some(())
    }

    /// Returns the number of options.
    pub(in crate::rohc) const fn len(self) -> u8 {
        self.len
    }

    pub(super) fn indices(self) -> impl Iterator<Item = u8> {
        (0..self.len).map(move |place| (self.indices >> (4 * place)) as u8 & (index::COUNT - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoints;
    use crate::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};

    #[test]
    fn the_list_of_an_ack_is_that_of_its_headers() {
        for timestamps in [None, Some(Timestamps { value: 1, echo: 2 })] {
            for ack_ratio in [None, Some(2)] {
                let segment = Segment {
                    ecn: acklab_base::Ecn::NotEct,
                    seq: SeqNumber(1),
                    ack: SeqNumber(1),
                    flags: Flags::ACK,
                    window: 1,
                    options: Options { timestamps, ack_ratio, ..Options::default() },
                    payload: 0,
                };
                let ack = Ack::of(segment, Endpoints::of_connection(0));
                assert_eq!(List::of_ack(&ack), List::of(ack.header_words().unwrap().options()), "{segment:?}");
            }
        }
    }
}
