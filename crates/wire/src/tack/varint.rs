//! Integers of variable length (RFC 9000, §16), up to 32 bits of value, each in as few octets as it takes.

/// Octets that `value` takes.
#[must_use]
#[inline]
pub const fn len(value: u32) -> u64 {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Append `value`.
pub fn append(value: u32, octets: &mut Vec<u8>) {
    match len(value) {
        1 => octets.push(value as u8),
        2 => octets.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        4 => octets.extend_from_slice(&(value | 0x8000_0000).to_be_bytes()),
        _ => octets.extend_from_slice(&(u64::from(value) | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Take a value off the front of `octets`. Returns `None` if they are too few, the value has more than 32 bits, or fewer octets would
/// have held it.
pub fn take(octets: &mut &[u8]) -> Option<u32> {
    let first = octets.first()?;
    let length = 1usize << (first >> 6);
    let (taken, rest) = octets.split_at_checked(length)?;
    let whole = taken.iter().fold(0u64, |value, octet| value << 8 | u64::from(*octet));
    let value = u32::try_from(whole & (u64::MAX >> (64 - 8 * length + 2))).ok()?;
    *octets = rest;
    (len(value) == length as u64).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 9000, appendix A.1.
    #[test]
    fn the_examples_of_the_rfc() {
        for (octets, value) in [(&[0x25][..], 37), (&[0x7b, 0xbd], 15293), (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333)] {
            let mut encoded = Vec::new();
            append(value, &mut encoded);
            assert_eq!((encoded.as_slice(), take(&mut &*octets)), (octets, Some(value)));
        }
        assert_eq!(take(&mut &[0x40, 0x25][..]), None, "37 in two octets");
        assert_eq!(take(&mut &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..]), None, "more than 32 bits");
    }

    proptest! {
        #[test]
        fn any_value_survives(value in any::<u32>(), shift in 0u32..32, rest in any::<[u8; 3]>()) {
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
}
