//! Numbers that are never sent, against a receiver that acknowledges what has not arrived (RFC
//! 9000, §21.4).
//!
//! A receiver that acknowledges ahead of arrival makes its sender too fast for the path. It cannot
//! know which numbers are skipped, so it acknowledges one of them, and the connection ends. An
//! honest receiver reports a skipped number lost, for which nothing leaves again. Each such report
//! is an IACK, so that the distances double: a million packets skip some fifteen numbers.

use acklab_base::random::Stream;

/// Bits of the first distance (quinn-proto, `PacketNumberFilter`, whose first is uniform in 2⁶ as
/// well).
const FIRST_BITS: u32 = 6;
/// Distances grow no more beyond this many bits, half the space in which feedback is unambiguous.
const MAX_BITS: u32 = 30;

/// Chooses the numbers.
#[derive(Debug)]
pub(super) struct Skip {
    random: Option<Stream>,
    /// The number that is skipped next.
    next: u64,
    bits: u32,
}

impl Skip {
    /// Without `random`, nothing is skipped.
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

    /// Returns `true` if `number`, the next one, is to be skipped.
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
