//! Packet numbers in headers (RFC 9000, §17.1): the least significant octets of a number of up to
//! 2⁶² − 1.

/// A packet number as encoded in a header: one to four octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketNumber {
    value: u32,
    length: u8,
}

impl Default for PacketNumber {
    fn default() -> Self {
        Self::new(0, 1)
    }
}

impl PacketNumber {
    /// Returns the least significant `length` octets of `value`: one to four.
    #[must_use]
    pub const fn new(value: u32, length: u8) -> Self {
        let length = if length < 1 {
            1
        } else if length > 4 {
            4
        } else {
            length
        };
        Self { value: value & (u32::MAX >> (32 - 8 * length as u32)), length }
    }

    /// Returns `full` in as many octets as the receiver needs. `acknowledged` is the largest number
    /// that the receiver has acknowledged. The octets can represent at least twice as many numbers
    /// as are outstanding (§17.1, appendix A.2).
    #[must_use]
    pub fn truncate(full: u64, acknowledged: Option<u64>) -> Self {
        let outstanding = acknowledged.map_or(full + 1, |acknowledged| full.saturating_sub(acknowledged));
        let bits = 64 - outstanding.leading_zeros() + 1;
        Self::new(full as u32, bits.div_ceil(8).min(4) as u8)
    }

    /// Returns the full number that is nearest to the next expected number. `largest` is the
    /// largest number that has arrived (appendix A.3).
    #[must_use]
    pub fn expand(self, largest: Option<u64>) -> u64 {
        let expected = largest.map_or(0, |largest| largest + 1);
        let window = 1u64 << (8 * self.length);
        let candidate = (expected & !(window - 1)) | u64::from(self.value);
        if candidate + window / 2 <= expected && candidate + window < 1 << 62 {
            candidate + window
        } else if candidate > expected + window / 2 && candidate >= window {
            candidate - window
        } else {
            candidate
        }
    }

    /// Returns the octets of the header as a number.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.value
    }

    /// Returns the number of octets: one to four.
    #[must_use]
    #[inline]
    pub const fn length(self) -> u8 {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 9000, appendices A.2 and A.3.
    #[test]
    fn the_examples_of_the_rfc() {
        let acknowledged = Some(0xab_e8b3);
        assert_eq!(PacketNumber::truncate(0xac_5c02, acknowledged), PacketNumber::new(0x5c02, 2));
        assert_eq!(PacketNumber::truncate(0xac_e8fe, acknowledged), PacketNumber::new(0xac_e8fe, 3));
        assert_eq!(PacketNumber::new(0x9b32, 2).expand(Some(0xa82f_30ea)), 0xa82f_9b32);
    }

    #[test]
    fn the_first_numbers_take_one_octet() {
        assert_eq!([0, 1, 126].map(|full| PacketNumber::truncate(full, None).length()), [1; 3]);
        assert_eq!(PacketNumber::truncate(127, None).length(), 2);
        assert_eq!(PacketNumber::new(0, 1).expand(None), 0);
    }

    proptest! {
        #[test]
        fn what_the_receiver_may_have_missed_does_not_matter(
            acknowledged in 0u64..1 << 61,
            outstanding in 1u64..1 << 30,
            arrived in 0.0..1.0f64,
        ) {
            let full = acknowledged + outstanding;
            let largest = acknowledged + (arrived * (outstanding - 1) as f64) as u64;
            prop_assert_eq!(PacketNumber::truncate(full, Some(acknowledged)).expand(Some(largest)), full);
        }
    }
}
