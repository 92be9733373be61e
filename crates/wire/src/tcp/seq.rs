//! Sequence numbers (RFC 9293, §3.4).

use std::fmt;

/// A point in sequence space, modulo 2³².
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// Returns the number of the octet at `offset` in a stream whose first octet has the number
    /// `initial`.
    #[must_use]
    pub const fn at(initial: Self, offset: u64) -> Self {
        Self(initial.0.wrapping_add(offset as u32))
    }

    /// Returns the stream offset from `initial` that corresponds to this number: the candidate
    /// nearest to `near`.
    #[must_use]
    pub const fn offset_near(self, initial: Self, near: u64) -> u64 {
        let distance = self.0.wrapping_sub(initial.0).wrapping_sub(near as u32).cast_signed();
        near.saturating_add_signed(distance as i64)
    }

    /// Returns `true` if this number is after `other`, by less than half of the sequence space.
    #[must_use]
    pub const fn is_after(self, other: Self) -> bool {
        acklab_base::is_after(self.0, other.0)
    }
}

impl fmt::Debug for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_survive_the_wrap() {
        let initial = SeqNumber(u32::MAX - 10);
        for offset in [0, 5, 11, 1 << 31, 1 << 32, (1 << 40) + 3] {
            for drift in [-1000i64, 0, 1000] {
                let near = u64::saturating_add_signed(offset, drift);
                assert_eq!(SeqNumber::at(initial, offset).offset_near(initial, near), offset);
            }
        }
    }

    #[test]
    fn order_is_modular() {
        assert!(SeqNumber(3).is_after(SeqNumber(u32::MAX)));
        assert!(!SeqNumber(u32::MAX).is_after(SeqNumber(3)));
        assert!(!SeqNumber(3).is_after(SeqNumber(3)));
    }
}
