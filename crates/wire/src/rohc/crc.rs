//! CRCs (RFC 5795, §5.3.1).

/// The three polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crc {
    /// 1 + x + x³: most base headers.
    Three,
    /// 1 + x + x² + x³ + x⁶ + x⁷: `rnd_8`, `seq_8` and `co_common`.
    Seven,
    /// 1 + x + x² + x⁸: IR and IR-DYN.
    Eight,
}

/// The remainders of all octets.
type Table = [u8; 256];

static THREE: Table = table(0x06);
static SEVEN: Table = table(0x79);
static EIGHT: Table = table(0xe0);

/// The highest bit of `polynomial` is its lowest power, because the least significant bit of an octet comes first.
const fn table(polynomial: u8) -> Table {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut remainder = octet as u8;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { (remainder >> 1) ^ polynomial } else { remainder >> 1 };
            bit += 1;
        }
        table[octet] = remainder;
        octet += 1;
    }
    table
}

impl Crc {
    /// The CRC of `octets`.
    pub(super) fn of(self, octets: &[u8]) -> u8 {
        match self {
            Self::Three => over_periodic(&THREE, 0x07, octets),
            Self::Seven => over_periodic(&SEVEN, 0x7f, octets),
            Self::Eight => Self::eight_of_parts(&[octets]),
        }
    }

    /// The CRC of eight bits of the concatenation of `parts`.
    pub(super) fn eight_of_parts(parts: &[&[u8]]) -> u8 {
        parts.iter().fold(0xff, |remainder, octets| over(&EIGHT, remainder, octets))
    }
}

/// The remainder of `octets` after those that left `remainder`. All bits of the first remainder are set.
fn over(table: &Table, remainder: u8, octets: &[u8]) -> u8 {
    octets.iter().fold(remainder, |remainder, octet| table[usize::from(octet ^ remainder)])
}

/// Like [`over`], for a polynomial that divides x¹⁴ + 1. So does 1 + x + x³, and so does the polynomial of seven bits, which is
/// (1 + x)(1 + x + x³)².
///
/// The remainder is kept modulo x⁵⁶ + 1, a multiple of both, where eight octets move it by as much as one: x⁶⁴ = x⁸. In the end, bits that
/// a multiple of 14 positions separates are added.
fn over_periodic(table: &Table, remainder: u8, octets: &[u8]) -> u8 {
    let next = |sum: u64, octets: u64| {
        let sum = sum ^ octets;
        sum >> 8 ^ (sum & 0xff) << 48
    };
    let (eights, rest) = octets.as_chunks();
    let sum = eights.iter().fold(u64::from(remainder), |sum, eight| next(sum, u64::from_le_bytes(*eight)));
    let sum = rest.iter().fold(sum, |sum, octet| next(sum, u64::from(*octet)));
    let twenty_eight = sum ^ sum >> 28;
    let fourteen = (twenty_eight ^ twenty_eight >> 14) << 2;
    over(table, 0, &(fourteen as u16).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_checks_of_nine_digits_are_those_of_the_catalogue() {
        // The check values of CRC-3/ROHC, CRC-7/ROHC and CRC-8/ROHC in Greg Cook's catalogue of CRC algorithms.
        let checks = [Crc::Three, Crc::Seven, Crc::Eight].map(|crc| crc.of(b"123456789"));
        assert_eq!(checks, [0x6, 0x53, 0xd0]);
    }

    proptest! {
        #[test]
        fn eight_octets_at_once_are_one_after_the_other(octets: Vec<u8>, start: u8) {
            for (table, bits) in [(&THREE, 0x07), (&SEVEN, 0x7f)] {
                prop_assert_eq!(over_periodic(table, start & bits, &octets), over(table, start & bits, &octets));
            }
        }

        #[test]
        fn a_wrong_bit_is_found(mut octets in proptest::collection::vec(any::<u8>(), 1..80), bit: prop::sample::Index) {
            let (bit, before) = (bit.index(octets.len() * 8), Crc::Three.of(&octets));
            octets[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(Crc::Three.of(&octets), before);
        }
    }
}
