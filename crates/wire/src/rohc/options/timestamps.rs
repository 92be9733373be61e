//! The timestamps option in the irregular chain (RFC 6846, §8.2: `tcp_opt_ts`, `ts_lsb`).

use crate::rohc::Error;
use crate::rohc::octets::{Octets, Reader, put};
use crate::rohc::wlsb::Lsb;

/// The intervals of one and two octets begin at the reference plus one. So these encodings
/// represent only timestamps that have increased.
const ONE: Lsb = Lsb::new(7, -1, 32);
const TWO: Lsb = Lsb::new(14, -1, 32);
const THREE: Lsb = Lsb::new(21, 0x0004_0000, 32);
const FOUR: Lsb = Lsb::new(29, 0x0400_0000, 32);

/// Returns `true` if the irregular chain can encode this timestamp. Otherwise, a list must contain
/// the full timestamp.
pub(super) fn is_near(reference: u32, value: u32) -> bool {
    FOUR.reaches(reference, value)
}

/// Writes a timestamp in as few octets as `reaches` allows. `reaches` returns `true` if an encoding
/// is unambiguous for all references.
pub(super) fn write(value: u32, reaches: impl Fn(Lsb) -> bool, out: &mut Octets) {
    let octets = |lsb: Lsb, prefix: u32| (prefix | lsb.code(value)).to_be_bytes();
    if reaches(ONE) {
        put(out, &octets(ONE, 0)[3..]);
    } else if reaches(TWO) {
        put(out, &octets(TWO, 0b10 << 14)[2..]);
    } else if reaches(THREE) {
        put(out, &octets(THREE, 0b110 << 21)[1..]);
    } else {
        put(out, &octets(FOUR, 0b111 << 29));
    }
}

/// Reads a timestamp, relative to `reference`.
pub(super) fn read(reference: u32, reader: &mut Reader) -> Result<u32, Error> {
    let (lsb, code) = match reader.peek()? {
        0..0x80 => (ONE, u32::from(reader.u8()?)),
        0x80..0xc0 => (TWO, u32::from(reader.u16()?)),
        0xc0..0xe0 => {
            let [a, b, c] = reader.array()?;
            (THREE, u32::from_be_bytes([0, a, b, c]))
        }
        0xe0.. => (FOUR, reader.u32()?),
    };
    Ok(lsb.decode(reference, lsb.code(code)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn octets(reference: u32, value: u32) -> Vec<u8> {
        let mut out = Octets::new();
        write(value, |lsb| lsb.reaches(reference, value), &mut out);
        out.to_vec()
    }

    #[test]
    fn each_size_has_its_prefix() {
        assert_eq!(octets(1000, 1001), [0x69], "1001 = 0x3e9, seven bits of it");
        assert_eq!(octets(1000, 1129), [0x84, 0x69], "one beyond the reach of seven bits");
        assert_eq!(octets(1000, 1000), [0xc0, 0x03, 0xe8], "unchanged takes three octets");
        assert_eq!(octets(1000, 999), [0xc0, 0x03, 0xe7]);
        assert_eq!(octets(0x1000_0000, 0x1100_0000), [0xf1, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn what_is_near_survives(reference: u32, advance in -0x0400_0000i32..0x1bff_ffff) {
            let value = reference.wrapping_add_signed(advance);
            prop_assert!(is_near(reference, value));
            prop_assert_eq!(read(reference, &mut Reader(&octets(reference, value))), Ok(value));
        }
    }
}
