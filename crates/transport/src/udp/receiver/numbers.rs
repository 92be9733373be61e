//! Stores which numbers have arrived, for as long as a datagram may be late.

/// The number of stored numbers below the highest. It is the maximum lateness that WireGuard
/// permits (Linux, `COUNTER_BITS_TOTAL` in `drivers/net/wireguard/messages.h`). The numbers are
/// stored as the bit ring of RFC 6479.
const REMEMBERED: u64 = 8192;
const BITS: u64 = u64::BITS as u64;

/// The classification of an arrived datagram by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The number is above all earlier ones, and may skip some numbers.
    Next {
        /// The number of skipped numbers.
        passed_over: u64,
    },
    /// The number was skipped before.
    Late,
    /// The number arrived before.
    Duplicate,
}

/// The numbers, starting with 1, that have arrived.
#[derive(Debug)]
pub(super) struct Numbers {
    highest: u64,
    /// One bit per recent number, at the number modulo the size of the array.
    arrived: Box<[u64; (REMEMBERED / BITS) as usize]>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { highest: 0, arrived: Box::new([0; (REMEMBERED / BITS) as usize]) }
    }
}

impl Numbers {
    /// Records the arrival of `number`. A number too far below the highest to be stored is
    /// classified as late.
    pub(super) fn take(&mut self, number: u64) -> Arrival {
        if number > self.highest {
            let passed_over = number - self.highest - 1;
            // Only the last of the skipped numbers have a bit to clear.
            for forgotten in number.saturating_sub(REMEMBERED).max(self.highest) + 1..number {
                self.set(forgotten, false);
            }
            self.set(number, true);
            self.highest = number;
            return Arrival::Next { passed_over };
        }
        if self.highest - number >= REMEMBERED {
            return Arrival::Late;
        }
        if self.has(number) {
            return Arrival::Duplicate;
        }
        self.set(number, true);
        Arrival::Late
    }

    fn has(&self, number: u64) -> bool {
        let place = number % REMEMBERED;
        self.arrived[(place / BITS) as usize] >> (place % BITS) & 1 == 1
    }

    fn set(&mut self, number: u64, has_arrived: bool) {
        let place = number % REMEMBERED;
        let (word, bit) = (&mut self.arrived[(place / BITS) as usize], 1 << (place % BITS));
        *word = if has_arrived { *word | bit } else { *word & !bit };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn beyond_memory_all_is_late() {
        let mut numbers = Numbers::default();
        numbers.take(1);
        numbers.take(1 + REMEMBERED);
        assert_eq!(numbers.take(2), Arrival::Late);
        assert_eq!(numbers.take(2), Arrival::Duplicate);
        assert_eq!((numbers.take(1), numbers.take(1)), (Arrival::Late, Arrival::Late));
    }

    #[test]
    fn a_leap_forgets_all() {
        let mut numbers = Numbers::default();
        assert!((1..=REMEMBERED).all(|number| numbers.take(number) == Arrival::Next { passed_over: 0 }));
        assert_eq!(numbers.take(1 << 60), Arrival::Next { passed_over: (1 << 60) - REMEMBERED - 1 });
        assert!((1..REMEMBERED).all(|below| numbers.take((1 << 60) - below) == Arrival::Late));
    }

    proptest! {
        /// Compares the ring with a set of all numbers, for steps in both directions within the
        /// stored range.
        #[test]
        fn it_is_a_set(steps in vec(prop_oneof![1i64..4, 1i64..200, -300i64..1], 1..400)) {
            let (mut numbers, mut set, mut number) = (Numbers::default(), BTreeSet::new(), 0i64);
            for step in steps {
                number = (number + step).max(1);
                let highest = set.last().copied().unwrap_or(0);
                prop_assume!(highest - number < REMEMBERED as i64);
                let expected = match (number > highest, set.insert(number)) {
                    (true, _) => Arrival::Next { passed_over: (number - highest - 1) as u64 },
                    (false, true) => Arrival::Late,
                    (false, false) => Arrival::Duplicate,
                };
                prop_assert_eq!(numbers.take(number as u64), expected);
            }
        }
    }
}
