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

/// Table i holds the remainders of an octet that i octets follow, so that eight octets can be looked up independently.
type Tables = [[u8; 256]; 8];

static THREE: Tables = tables(0x06);
static SEVEN: Tables = tables(0x79);
static EIGHT: Tables = tables(0xe0);

/// The highest bit of `polynomial` is its lowest power, because the least significant bit of an octet comes first.
const fn tables(polynomial: u8) -> Tables {
    let mut tables = [[0; 256]; 8];
    let mut octet = 0;
    while octet < 256 {
        let mut remainder = octet as u8;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { (remainder >> 1) ^ polynomial } else { remainder >> 1 };
            bit += 1;
        }
        tables[0][octet] = remainder;
        octet += 1;
    }
    let mut behind = 1;
    while behind < 8 {
        octet = 0;
        while octet < 256 {
            tables[behind][octet] = tables[0][tables[behind - 1][octet] as usize];
            octet += 1;
        }
        behind += 1;
    }
    tables
}

impl Crc {
    /// The CRC of `octets`.
    pub(super) fn of(self, octets: &[u8]) -> u8 {
        self.of_parts(&[octets])
    }

    /// The CRC of the concatenation of `parts`. Initially all bits of the remainder are set.
    pub(super) fn of_parts(self, parts: &[&[u8]]) -> u8 {
        let (tables, start) = match self {
            Self::Three => (&THREE, 0x07),
            Self::Seven => (&SEVEN, 0x7f),
            Self::Eight => (&EIGHT, 0xff),
        };
        parts.iter().fold(start, |remainder, octets| Self::over(tables, remainder, octets))
    }

    fn over(tables: &Tables, remainder: u8, octets: &[u8]) -> u8 {
        let (eights, rest) = octets.as_chunks::<8>();
        let remainder = eights.iter().fold(remainder, |remainder, eight| {
            let [first, others @ ..] = eight;
            let first = tables[7][usize::from(first ^ remainder)];
            others
                .iter()
                .zip((0..7).rev())
                .fold(first, |sum, (&octet, behind)| sum ^ tables[behind][usize::from(octet)])
        });
        rest.iter().fold(remainder, |remainder, octet| tables[0][usize::from(octet ^ remainder)])
    }
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
        fn eight_octets_at_once_are_one_after_the_other(octets: Vec<u8>) {
            let slow = octets.iter().fold(0x7f, |remainder, octet| SEVEN[0][usize::from(octet ^ remainder)]);
            prop_assert_eq!(Crc::Seven.of(&octets), slow);
        }

        #[test]
        fn a_wrong_bit_is_found(mut octets in proptest::collection::vec(any::<u8>(), 1..80), bit: prop::sample::Index) {
            let (bit, before) = (bit.index(octets.len() * 8), Crc::Three.of(&octets));
            octets[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(Crc::Three.of(&octets), before);
        }
    }
}
