//! (Window-based) least significant bit encoding, which sends the low bits of a value (RFC 4997,
//! §4.11.5; RFC 5795 refers to RFC 3095, §4.5.1).

/// `lsb(bits, offset)` of a field of `width` bits: low bits are unambiguous for a value in the
/// interval [reference − offset, reference + 2^bits − 1 − offset].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lsb {
    pub(super) bits: u32,
    offset: i32,
    width: u32,
}

impl Lsb {
    pub(super) const fn new(bits: u32, offset: i32, width: u32) -> Self {
        assert!(bits < width && width <= 32, "a complete value needs no reference");
        Self { bits, offset, width }
    }

    const fn mask(bits: u32) -> u32 {
        u32::MAX >> (32 - bits)
    }

    /// Returns `true` if the low bits of `value` are unambiguous relative to `reference`.
    pub(super) const fn reaches(self, reference: u32, value: u32) -> bool {
        let above = value.wrapping_sub(reference).wrapping_add(self.offset.cast_unsigned());
        above & Self::mask(self.width) < 1 << self.bits
    }

    /// Returns the low bits of `value`.
    pub(super) const fn code(self, value: u32) -> u32 {
        value & Self::mask(self.bits)
    }

    /// Returns the value with these low bits that lies in the interval of `reference`.
    pub(super) const fn decode(self, reference: u32, code: u32) -> u32 {
        let lowest = reference.wrapping_sub(self.offset.cast_unsigned());
        lowest.wrapping_add(code.wrapping_sub(lowest) & Self::mask(self.bits)) & Self::mask(self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_interval_has_its_ends() {
        let ack_scaled = Lsb::new(4, 3, 32);
        let reached = |value: u32| ack_scaled.reaches(100, value);
        assert_eq!([96, 97, 112, 113].map(reached), [false, true, true, false]);
        let timestamp = Lsb::new(7, -1, 32);
        assert_eq!([100, 101, 228, 229].map(|value| timestamp.reaches(100, value)), [false, true, true, false]);
        assert_eq!(timestamp.decode(100, 100), 228, "with an offset of −1, no code stands for an unchanged value");
    }

    #[test]
    fn it_wraps_with_its_field() {
        let (window, number) = (Lsb::new(15, 16383, 16), Lsb::new(15, 8191, 32));
        assert!(window.reaches(65_000, 100) && !window.reaches(65_000, 20_000));
        assert_eq!(window.decode(65_000, window.code(100)), 100);
        assert_eq!(number.decode(u32::MAX - 5, number.code(7)), 7);
    }

    proptest! {
        #[test]
        fn what_is_reached_is_decoded(
            bits in 1u32..31,
            offset in -1i32..70_000,
            reference: u32,
            near in 0u32..200_000,
            value: u32,
        ) {
            for width in [16, 32] {
                prop_assume!(bits < width);
                let lsb = Lsb::new(bits, offset, width);
                let field = |value: u32| value & Lsb::mask(width);
                for value in [value, reference.wrapping_sub(100_000).wrapping_add(near)].map(field) {
                    let reached = lsb.reaches(field(reference), value);
                    prop_assert_eq!(lsb.decode(field(reference), lsb.code(value)) == value, reached);
                }
            }
        }
    }
}
