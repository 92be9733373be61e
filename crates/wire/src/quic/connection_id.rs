//! Connection IDs (RFC 9000, §5.1).

use std::fmt;

/// The maximum length of a connection ID of version 1 (§17.2).
pub const LONGEST: usize = 20;

/// A connection ID, chosen by the endpoint that receives packets with it: up to 20 octets.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    length: u8,
    octets: [u8; LONGEST],
}

impl ConnectionId {
    /// Returns the connection ID of these octets, or `None` if there are more than 20.
    #[must_use]
    pub fn new(octets: &[u8]) -> Option<Self> {
        let mut id = Self { length: u8::try_from(octets.len()).ok()?, octets: [0; LONGEST] };
        id.octets.get_mut(..octets.len())?.copy_from_slice(octets);
        Some(id)
    }

    /// Returns the connection ID of eight octets with this value.
    #[must_use]
    pub fn of_word(word: u64) -> Self {
        let mut octets = [0; LONGEST];
        octets[..8].copy_from_slice(&word.to_be_bytes());
        Self { length: 8, octets }
    }

    /// Returns the octets of the connection ID.
    #[must_use]
    #[inline]
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }

    /// Returns the number of octets of the connection ID.
    #[must_use]
    #[inline]
    pub const fn wire_len(&self) -> u64 {
        self.length as u64
    }
}

impl fmt::Debug for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.octets().iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}
