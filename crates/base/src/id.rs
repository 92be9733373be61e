//! Identifiers that all crates share.
//!
//! A packet carries the [`NodeId`] of its destination and the [`FlowKey`] of its flow. The
//! [`PortId`] identifies the attachment of an endpoint to a network. No packet carries a
//! [`PortId`].

use std::fmt;

/// A node of a network, counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The destination of a packet whose address belongs to no node. The network counts and drops
    /// such a packet.
    pub const NOWHERE: Self = Self(u32::MAX);

    /// Returns the index in a list of all nodes.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NOWHERE { f.write_str("nowhere") } else { write!(f, "node {}", self.0) }
    }
}

/// The attachment of an endpoint to a network, counted from zero in the order in which endpoints
/// joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

impl PortId {
    /// Returns the index in a list of all ports.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One direction of one connection: a hash of the protocol, the addresses and the ports of its
/// packets.
///
/// The two directions of a connection have different keys. The 64-bit hash is treated as unique:
/// the probability that any two of ten thousand flows share a key is below 10⁻¹¹.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey(pub u64);

impl FlowKey {
    /// Returns the key of the five-tuple encoded in `words`, whose order matters.
    #[must_use]
    pub fn of_words(words: &[u64]) -> Self {
        Self(words.iter().fold(0, |hash, word| mix(hash ^ word)))
    }
}

impl fmt::Debug for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flow {:016x}", self.0)
    }
}

/// Mixes a 64-bit word so that each input bit affects every output bit, and different inputs have
/// different outputs. This is the finaliser of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014,
/// `mix64variant13`). An odd constant is added first, so that zero does not map to zero.
const fn mix(word: u64) -> u64 {
    let mut word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn order_and_value_of_the_words_count() {
        let keys: BTreeSet<FlowKey> =
            (0..100_u64).flat_map(|one| (0..100_u64).map(move |other| FlowKey::of_words(&[one, other]))).collect();
        assert_eq!(keys.len(), 10_000);
    }
}
