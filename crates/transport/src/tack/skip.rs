//! Skips packet numbers to detect a receiver that acknowledges packets before they arrive (RFC
//! 9000, §21.4).
//!
//! Such a receiver makes its sender too fast for the path. It cannot detect which numbers are
//! skipped, so it acknowledges one of them, and the connection ends. An honest receiver reports a
//! skipped number lost, and nothing is retransmitted for it. Each such report is an IACK, so the
//! distances double: a million packets skip some fifteen numbers.

use acklab_base::random::Stream;

/// Bits of the first distance. In quinn-proto's `PacketNumberFilter` the first distance is also
/// uniform in 2⁶.
const FIRST_BITS: u32 = 6;
/// Maximum number of bits of a distance: half the space in which feedback is unambiguous.
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
    /// Creates a generator. Without `random`, it skips nothing.
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

    /// Returns `true` if `number`, the next one, should be skipped.
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
