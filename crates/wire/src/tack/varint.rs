//! Integers of variable length ([`crate::varint`]), up to 32 bits of value, each in the fewest
//! octets.

use crate::varint;

/// Returns the number of octets that `value` takes.
#[must_use]
#[inline]
pub const fn len(value: u32) -> u64 {
    varint::len(value as u64)
}

/// Appends `value`.
pub fn append(value: u32, octets: &mut Vec<u8>) {
    varint::append(value.into(), octets);
}

/// Consumes a value at the front of `octets`. Returns `None` if octets are missing, if the value
/// has more than 32 bits, or if it is not in the shortest encoding.
pub fn take(octets: &mut &[u8]) -> Option<u32> {
    let mut rest = *octets;
    let value = u32::try_from(varint::take(&mut rest)?).ok()?;
    let taken = (octets.len() - rest.len()) as u64;
    *octets = rest;
    (len(value) == taken).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_shortest_encoding_of_32_bits_is_taken() {
        assert_eq!(take(&mut &[0x9d, 0x7f, 0x3e, 0x7d][..]), Some(494_878_333));
        assert_eq!(take(&mut &[0x40, 0x25][..]), None, "37 in two octets");
        assert_eq!(take(&mut &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..]), None, "more than 32 bits");
    }

    proptest! {
        #[test]
        fn any_value_survives(value in any::<u32>(), shift in 0u32..32, rest in any::<[u8; 3]>()) {
            let (value, mut octets) = (value >> shift, Vec::new());
            append(value, &mut octets);
            octets.extend(rest);
            let mut slice = octets.as_slice();
            prop_assert_eq!(take(&mut slice), Some(value));
            prop_assert_eq!(slice, rest);
        }
    }
}
