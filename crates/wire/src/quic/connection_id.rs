//! Connection ids (RFC 9000, §5.1).

use std::fmt;

/// The longest connection id of version 1 (§17.2).
pub const LONGEST: usize = 20;

/// A connection, as the end that is addressed calls it: up to 20 octets.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    length: u8,
    octets: [u8; LONGEST],
}

impl ConnectionId {
    /// The connection id of these octets. Returns `None` if they are more than 20.
    #[must_use]
    pub fn new(octets: &[u8]) -> Option<Self> {
        let mut id = Self { length: u8::try_from(octets.len()).ok()?, octets: [0; LONGEST] };
        id.octets.get_mut(..octets.len())?.copy_from_slice(octets);
        Some(id)
    }

    /// The connection id of eight octets with this value.
    #[must_use]
    pub fn of_word(word: u64) -> Self {
        let mut octets = [0; LONGEST];
        octets[..8].copy_from_slice(&word.to_be_bytes());
        Self { length: 8, octets }
    }

    /// Its octets.
    #[must_use]
    #[inline]
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }

    /// Octets that it has.
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
