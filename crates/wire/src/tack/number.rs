//! PKT.SEQ: the number of a transmission.

use std::fmt;

/// A PKT.SEQ in the form of packets: the number of a transmission, modulo 2³². Retransmitted data
/// have a new number (Li et al., SIGCOMM 2020, §5.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PktSeq(pub u32);

impl PktSeq {
    /// Returns the number as a packet carries it.
    #[must_use]
    pub const fn of(number: u64) -> Self {
        Self(number as u32)
    }

    /// Returns the full number that is nearest to `near`, as in RFC 9000, appendix A.3.
    #[must_use]
    pub const fn near(self, near: u64) -> u64 {
        let distance = self.0.wrapping_sub(near as u32).cast_signed() as i64;
        match near.checked_add_signed(distance) {
            Some(number) => number,
            // There are no numbers below zero, so this number is ahead of `near` by more than half
            // of the number space.
            None => near.saturating_add_signed(distance + (1 << 32)),
        }
    }
}

impl fmt::Debug for PktSeq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_wrap() {
        for number in [0, 5, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 40) + 3] {
            for drift in [-1000i64, 0, 1000] {
                let near = u64::saturating_add_signed(number, drift);
                assert_eq!(PktSeq::of(number).near(near), number);
            }
        }
        assert_eq!(PktSeq(u32::MAX).near(0), u64::from(u32::MAX), "none is below zero");
    }
}
