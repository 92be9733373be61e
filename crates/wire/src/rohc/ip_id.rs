//! How the IPv4 identification goes from one packet to the next.

/// The behaviours of the innermost IP-ID (RFC 6846, §6.1.2 and §8.2), with their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behavior {
    /// One more with each packet.
    Sequential = 0,
    /// The same with the two octets swapped, as little-endian hosts send it that do not care.
    SequentialSwapped = 1,
    /// No rule.
    Random = 2,
    /// Always zero.
    Zero = 3,
}

/// An increase up to this is a sequence, one beyond that is not: the value of librohc (`IPID_MAX_DELTA`).
const STEP: u16 = 20;
/// Packets in a row that go by another rule before the compressor goes over to it; the first goes in full. A single jump
/// costs less than to change the behaviour twice.
const PATIENCE: u8 = 2;

impl Behavior {
    const ALL: [Self; 4] = [Self::Sequential, Self::SequentialSwapped, Self::Random, Self::Zero];

    pub(super) const fn from_bits(bits: u32) -> Self {
        Self::ALL[(bits & 0b11) as usize]
    }

    /// What the first packet of a flow says: nothing but that it is zero. Both ends of TCP/HACK take it from an
    /// uncompressed ACK by this rule.
    pub(super) const fn of_first(identification: u16) -> Self {
        if identification == 0 { Self::Zero } else { Self::Sequential }
    }

    /// Do the formats `seq_*` apply, rather than `rnd_*` (RFC 6846, §8.2)?
    pub(super) const fn is_sequential(self) -> bool {
        matches!(self, Self::Sequential | Self::SequentialSwapped)
    }

    /// The identification as the number that goes up.
    const fn number(self, identification: u16) -> u16 {
        if matches!(self, Self::SequentialSwapped) { identification.swap_bytes() } else { identification }
    }

    /// What is left when the part that goes up with the MSN is taken off (RFC 6846, §8.2: `ip_id_lsb`).
    pub(super) const fn offset(self, identification: u16, msn: u16) -> u16 {
        self.number(identification).wrapping_sub(msn)
    }

    /// The identification with this offset.
    pub(super) const fn identification(self, offset: u16, msn: u16) -> u16 {
        self.number(offset.wrapping_add(msn))
    }

    /// The rule that leads from one identification to the next.
    fn of_step(last: u16, next: u16) -> Self {
        let goes_up = |behavior: Self| {
            let step = behavior.number(next).wrapping_sub(behavior.number(last));
            step > 0 && step <= STEP
        };
        if last == 0 && next == 0 {
            Self::Zero
        } else if goes_up(Self::Sequential) {
            Self::Sequential
        } else if goes_up(Self::SequentialSwapped) {
            Self::SequentialSwapped
        } else {
            Self::Random
        }
    }
}

/// Watches a flow for another behaviour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    misfits: u8,
}

impl Watch {
    /// The behaviour to code `next` with, after `last`, which went by `current`.
    pub(super) fn next(&mut self, current: Behavior, last: u16, next: u16) -> Behavior {
        let found = Behavior::of_step(last, next);
        let is_possible = current != Behavior::Zero || next == 0;
        if found == current || (is_possible && self.misfits < PATIENCE) {
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
    fn swapped_numbers_go_up_in_their_high_octet() {
        let swapped = Behavior::SequentialSwapped;
        assert_eq!(Behavior::of_step(0xff00, 0x0001), swapped, "255 and 256 in little-endian order");
        assert_eq!(swapped.offset(0x0700, 3), 4);
        assert_eq!(swapped.identification(4, 3), 0x0700);
    }

    #[test]
    fn one_jump_changes_nothing_and_a_rule_does() {
        let mut watch = Watch::default();
        let mut last = 10;
        let mut go = |behavior, next| {
            let found = watch.next(behavior, last, next);
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
    fn zero_is_left_at_once() {
        let mut watch = Watch::default();
        assert_eq!(watch.next(Behavior::Zero, 0, 0), Behavior::Zero);
        assert_eq!(watch.next(Behavior::Zero, 0, 5), Behavior::Sequential);
        assert_eq!(watch.next(Behavior::Zero, 0, 500), Behavior::Random);
    }
}
