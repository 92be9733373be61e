//! The behavior of the IPv4 identification (IP-ID) from packet to packet.

/// The behaviors of the innermost IP-ID and their codes (RFC 6846, §6.1.2 and §8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behavior {
    /// The IP-ID increases by one with each packet.
    Sequential = 0,
    /// The IP-ID, in little-endian byte order, increases by one with each packet.
    SequentialSwapped = 1,
    /// The IP-ID is unpredictable.
    Random = 2,
    /// The IP-ID is always zero.
    Zero = 3,
}

/// The largest increment of a sequential IP-ID: the value of librohc (`IPID_MAX_DELTA`).
const MAX_INCREMENT: u16 = 20;
/// The number of consecutive packets of another behavior for which the compressor does not change
/// the current behavior. The first of them carries the full IP-ID. A single jump of the IP-ID costs
/// less than two changes of the behavior.
const TOLERATED_MISFITS: u8 = 2;

impl Behavior {
    const ALL: [Self; 4] = [Self::Sequential, Self::SequentialSwapped, Self::Random, Self::Zero];

    pub(super) const fn from_bits(bits: u32) -> Self {
        Self::ALL[(bits & 0b11) as usize]
    }

    /// Returns the behavior assumed for the first packet of a flow. Both ends of TCP/HACK derive it
    /// from an uncompressed ACK.
    pub(super) const fn initial(identification: u16) -> Self {
        if identification == 0 { Self::Zero } else { Self::Sequential }
    }

    /// Returns `true` if the formats `seq_*` apply, rather than `rnd_*` (RFC 6846, §8.2).
    pub(super) const fn is_sequential(self) -> bool {
        matches!(self, Self::Sequential | Self::SequentialSwapped)
    }

    /// Converts between the IP-ID and the number that increases.
    const fn swap(self, identification: u16) -> u16 {
        if matches!(self, Self::SequentialSwapped) { identification.swap_bytes() } else { identification }
    }

    /// Returns the offset of the IP-ID from the MSN (RFC 6846, §8.2: `ip_id_lsb`).
    pub(super) const fn offset(self, identification: u16, msn: u16) -> u16 {
        self.swap(identification).wrapping_sub(msn)
    }

    /// Returns the IP-ID with this offset from the MSN.
    pub(super) const fn identification(self, offset: u16, msn: u16) -> u16 {
        self.swap(offset.wrapping_add(msn))
    }

    /// Returns the behavior that fits two consecutive IP-IDs.
    fn of_step(last: u16, next: u16) -> Self {
        let increments = |behavior: Self| {
            let step = behavior.swap(next).wrapping_sub(behavior.swap(last));
            step > 0 && step <= MAX_INCREMENT
        };
        if last == 0 && next == 0 {
            Self::Zero
        } else if increments(Self::Sequential) {
            Self::Sequential
        } else if increments(Self::SequentialSwapped) {
            Self::SequentialSwapped
        } else {
            Self::Random
        }
    }
}

/// Decides in the compressor when the behavior changes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BehaviorEstimator {
    misfits: u8,
}

impl BehaviorEstimator {
    /// Returns the behavior for the IP-ID `next`, which follows `last` under the behavior
    /// `current`.
    pub(super) fn next(&mut self, current: Behavior, last: u16, next: u16) -> Behavior {
        let found = Behavior::of_step(last, next);
        let can_encode = current != Behavior::Zero || next == 0;
        if found == current || (can_encode && self.misfits < TOLERATED_MISFITS) {
            self.misfits = if found == current { 0 } else { self.misfits + 1 };
            return current;
        }
        self.misfits = 0;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_numbers_increment_their_high_octet() {
        let swapped = Behavior::SequentialSwapped;
        assert_eq!(Behavior::of_step(0xff00, 0x0001), swapped, "255 and 256 in little-endian order");
        assert_eq!(swapped.offset(0x0700, 3), 4);
        assert_eq!(swapped.identification(4, 3), 0x0700);
    }

    #[test]
    fn the_behavior_changes_after_three_misfits() {
        let mut estimator = BehaviorEstimator::default();
        let mut last = 10;
        let mut go = |behavior, next| {
            let found = estimator.next(behavior, last, next);
            last = next;
            found
        };
        let current = Behavior::Sequential;
        assert_eq!([11, 900, 901, 902].map(|next| go(current, next)), [current; 4]);
        assert_eq!([7, 9_000].map(|next| go(current, next)), [current; 2]);
        assert_eq!(go(current, 33), Behavior::Random);
        let current = Behavior::Random;
        assert_eq!([34, 35].map(|next| go(current, next)), [current; 2]);
        assert_eq!(go(current, 36), Behavior::Sequential);
    }

    #[test]
    fn an_id_other_than_zero_ends_the_behavior_zero_at_once() {
        let mut estimator = BehaviorEstimator::default();
        assert_eq!(estimator.next(Behavior::Zero, 0, 0), Behavior::Zero);
        assert_eq!(estimator.next(Behavior::Zero, 0, 5), Behavior::Sequential);
        assert_eq!(estimator.next(Behavior::Zero, 0, 500), Behavior::Random);
    }
}
