//! Skips packet numbers to detect a receiver that acknowledges packets before they arrive (RFC
//! 9000, §21.4).
//!
//! With premature ACKs, a receiver makes its sender exceed the rate of the path. The receiver
//! cannot detect which numbers are skipped. It therefore acknowledges a skipped number, and the
//! connection ends. A correct receiver reports a skipped number lost, and no data are
//! retransmitted. Each report is an IACK, so the distances between skipped numbers double. In a
//! million packets, some fifteen numbers are skipped.

use acklab_base::random::Stream;

/// Bits of the first distance between skipped numbers. quinn-proto's `PacketNumberFilter` also
/// draws the first distance from 2⁶ values.
const FIRST_BITS: u32 = 6;
/// Maximum number of bits of a distance: half the number space in which feedback is unambiguous.
const MAX_BITS: u32 = 30;

/// Chooses the numbers that are skipped.
#[derive(Debug)]
pub(super) struct Skip {
    random: Option<Stream>,
    /// The number that is skipped next.
    next: u64,
    bits: u32,
}

impl Skip {
    /// Creates the generator of skipped numbers. Without `random`, no number is skipped.
    pub(super) fn new(random: Option<Stream>) -> Self {
        let mut skip = Self { random, next: u64::MAX, bits: FIRST_BITS };
        skip.choose(0);
        skip
    }

    fn choose(&mut self, from: u64) {
        if let Some(random) = &mut self.random {
            let least = 1 << self.bits;
            self.next = from + least + random.below(least);
            self.bits = (self.bits + 1).min(MAX_BITS);
        }
    }

    /// Returns `true` if `number`, the next packet number, should be skipped.
    #[inline]
    pub(super) fn takes(&mut self, number: u64) -> bool {
        if number < self.next {
            return false;
        }
        self.choose(number);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;

    #[test]
    fn distances_double() {
        let mut skip = Skip::new(Some(Seed(1).stream("skip")));
        let skipped: Vec<u64> = (0..1_000_000).filter(|number| skip.takes(*number)).collect();
        assert!((11..=14).contains(&skipped.len()), "{skipped:?}");
        assert!((64..128).contains(&skipped[0]));
        assert!((0..1_000_000).all(|number| !Skip::new(None).takes(number)));
    }
}
