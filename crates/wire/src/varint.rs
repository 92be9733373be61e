//! Integers of variable length (RFC 9000, §16), each encoded in the fewest octets.

/// The largest value that can be encoded.
pub const LARGEST: u64 = (1 << 62) - 1;

/// Returns the number of octets of the encoded `value`.
#[must_use]
#[inline]
pub const fn len(value: u64) -> u64 {
    // The computation has no branches, because it is executed often for lists of hundreds of
    // ranges.
    1 << ((value >= 0x40) as u32 + (value >= 0x4000) as u32 + (value >= 0x4000_0000) as u32)
}

/// Appends `value`, which is at most [`LARGEST`].
#[inline]
pub fn append(value: u64, octets: &mut Vec<u8>) {
    debug_assert!(value <= LARGEST, "{value} takes more than 62 bits");
    match len(value) {
        1 => octets.push(value as u8),
        2 => octets.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        4 => octets.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => octets.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Consumes a value at the front of `octets`, in any of its encodings. Returns `None` if octets are
/// missing.
pub fn take(octets: &mut &[u8]) -> Option<u64> {
    let first = octets.first()?;
    let length = 1usize << (first >> 6);
    let (taken, rest) = octets.split_at_checked(length)?;
    let whole = taken.iter().fold(0u64, |value, octet| value << 8 | u64::from(*octet));
    *octets = rest;
    Some(whole & (u64::MAX >> (64 - 8 * length + 2)))
}

/// Integers of up to 32 bits. Only the shortest encoding is accepted, as TACK requires.
pub mod short {
    /// Returns the number of octets of the encoded `value`.
    #[must_use]
    #[inline]
    pub const fn len(value: u32) -> u64 {
        super::len(value as u64)
    }

    /// Appends `value`.
    pub fn append(value: u32, octets: &mut Vec<u8>) {
        super::append(value.into(), octets);
    }

    /// Consumes a value at the front of `octets`. Returns `None` if octets are missing, if the
    /// value has more than 32 bits, or if it is not in the shortest encoding.
    pub fn take(octets: &mut &[u8]) -> Option<u32> {
        let mut rest = *octets;
        let value = u32::try_from(super::take(&mut rest)?).ok()?;
        let taken = (octets.len() - rest.len()) as u64;
        *octets = rest;
        (len(value) == taken).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 9000, appendix A.1.
    #[test]
    fn the_examples_of_the_rfc() {
        let examples = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15293),
            (&[0x25], 37),
        ];
        for (octets, value) in examples {
            let mut encoded = Vec::new();
            append(value, &mut encoded);
            assert_eq!((encoded.as_slice(), take(&mut &*octets)), (octets, Some(value)));
        }
        assert_eq!(take(&mut &[0x40, 0x25][..]), Some(37), "37 in two octets");
    }

    proptest! {
        #[test]
        fn any_value_survives(value in 0..=LARGEST, shift in 0u32..62, rest in any::<[u8; 3]>()) {
            let (value, mut octets) = (value >> shift, Vec::new());
            append(value, &mut octets);
            prop_assert_eq!(octets.len() as u64, len(value));
            prop_assert_eq!(take(&mut &octets[..octets.len() - 1]), None);
            octets.extend(rest);
            let mut slice = octets.as_slice();
            prop_assert_eq!(take(&mut slice), Some(value));
            prop_assert_eq!(slice, rest);
        }
    }

    #[test]
    fn only_the_shortest_encoding_of_32_bits_is_taken() {
        assert_eq!(short::take(&mut &[0x9d, 0x7f, 0x3e, 0x7d][..]), Some(494_878_333));
        assert_eq!(short::take(&mut &[0x40, 0x25][..]), None, "37 in two octets");
        assert_eq!(short::take(&mut &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..]), None, "more than 32 bits");
    }

    proptest! {
        #[test]
        fn any_short_value_survives(value in any::<u32>(), shift in 0u32..32, rest in any::<[u8; 3]>()) {
            let (value, mut octets) = (value >> shift, Vec::new());
            short::append(value, &mut octets);
            octets.extend(rest);
            let mut slice = octets.as_slice();
            prop_assert_eq!(short::take(&mut slice), Some(value));
            prop_assert_eq!(slice, rest);
        }
    }
}
