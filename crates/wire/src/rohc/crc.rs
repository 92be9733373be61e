//! CRCs (RFC 5795, §5.3.1).

use crate::tcp::octets::HeaderWords;

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

/// The remainders of all 256 octets.
type Table = [u8; 256];

static THREE: Table = table(0x06);
static SEVEN: Table = table(0x79);
static EIGHT: Table = table(0xe0);

/// Returns the remainders of all 256 octets. The highest bit of `polynomial` is its lowest power,
/// because the least significant bit of an octet comes first.
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
    /// Returns the CRC of `octets`.
    pub(super) fn of(self, octets: &[u8]) -> u8 {
        match self {
            Self::Three => Periodic::new(ALL_THREE).octets(octets).remainder(&THREE),
            Self::Seven => Periodic::new(ALL_SEVEN).octets(octets).remainder(&SEVEN),
            Self::Eight => Self::eight_of_parts(&[octets]),
        }
    }

    /// Returns the CRC of uncompressed headers.
    #[inline]
    pub(super) fn of_headers(self, headers: &HeaderWords) -> u8 {
        let sum = |start| Periodic::new(start).words(headers.fixed()).octets(headers.options());
        match self {
            Self::Three => sum(ALL_THREE).remainder(&THREE),
            Self::Seven => sum(ALL_SEVEN).remainder(&SEVEN),
            Self::Eight => {
                let fixed = headers.fixed().iter().fold(0xff, |sum, word| over(&EIGHT, sum, &word.to_be_bytes()));
                over(&EIGHT, fixed, headers.options())
            }
        }
    }

    /// Returns the CRC of eight bits of the concatenation of `parts`.
    pub(super) fn eight_of_parts(parts: &[&[u8]]) -> u8 {
        parts.iter().fold(0xff, |remainder, octets| over(&EIGHT, remainder, octets))
    }
}

/// Returns the remainder of `octets` after `remainder`. Initially, all bits of the remainder are
/// set.
fn over(table: &Table, remainder: u8, octets: &[u8]) -> u8 {
    octets.iter().fold(remainder, |remainder, octet| table[usize::from(octet ^ remainder)])
}

/// The initial remainders, in which all bits are set.
const ALL_THREE: u8 = 0x07;
const ALL_SEVEN: u8 = 0x7f;

/// The remainder of octets, like [`over`], for a polynomial that divides x¹⁴ + 1. These are 1 + x +
/// x³ and the polynomial of seven bits, which is (1 + x)(1 + x + x³)².
///
/// The remainder is stored modulo x⁵⁶ + 1, which is a multiple of both polynomials. Modulo this
/// polynomial, a shift by eight octets equals a shift by one octet: x⁶⁴ = x⁸. Finally, bits at
/// distances that are multiples of 14 are added.
#[derive(Clone, Copy)]
struct Periodic(u64);

impl Periodic {
    /// Returns the remainder before any octets.
    #[inline]
    const fn new(start: u8) -> Self {
        Self(start as u64)
    }

    /// Adds one octet, or eight octets with the first one lowest.
    #[inline]
    const fn next(self, octets: u64) -> Self {
        let sum = self.0 ^ octets;
        Self(sum >> 8 ^ (sum & 0xff) << 48)
    }

    #[inline]
    fn octets(self, octets: &[u8]) -> Self {
        let (eights, rest) = octets.as_chunks();
        let sum = eights.iter().fold(self, |sum, eight| sum.next(u64::from_le_bytes(*eight)));
        rest.iter().fold(sum, |sum, octet| sum.next(u64::from(*octet)))
    }

    /// Adds words in host order, with the first octet highest.
    #[inline]
    fn words(self, words: &[u32]) -> Self {
        let (pairs, rest) = words.as_chunks();
        let sum = pairs.iter().fold(self, |sum, [first, second]| {
            sum.next(u64::from(first.swap_bytes()) | u64::from(second.swap_bytes()) << 32)
        });
        rest.iter().fold(sum, |sum, word| sum.octets(&word.to_be_bytes()))
    }

    #[inline]
    fn remainder(self, table: &Table) -> u8 {
        let Self(sum) = self;
        let twenty_eight = sum ^ sum >> 28;
        let fourteen = (twenty_eight ^ twenty_eight >> 14) << 2;
        over(table, 0, &(fourteen as u16).to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_checks_of_nine_digits_are_those_of_the_catalogue() {
        // The check values of CRC-3/ROHC, CRC-7/ROHC and CRC-8/ROHC in Greg Cook's catalogue of CRC
        // algorithms.
        let checks = [Crc::Three, Crc::Seven, Crc::Eight].map(|crc| crc.of(b"123456789"));
        assert_eq!(checks, [0x6, 0x53, 0xd0]);
    }

    proptest! {
        #[test]
        fn eight_octets_at_once_are_one_after_the_other(octets: Vec<u8>, start: u8) {
            for (table, bits) in [(&THREE, ALL_THREE), (&SEVEN, ALL_SEVEN)] {
                let periodic = Periodic::new(start & bits).octets(&octets).remainder(table);
                prop_assert_eq!(periodic, over(table, start & bits, &octets));
            }
        }

        #[test]
        fn words_are_their_octets(words: Vec<u32>, start in 0..=ALL_SEVEN) {
            let octets: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            prop_assert_eq!(Periodic::new(start).words(&words).0, Periodic::new(start).octets(&octets).0);
        }

        #[test]
        fn a_wrong_bit_is_found(mut octets in proptest::collection::vec(any::<u8>(), 1..80), bit: prop::sample::Index) {
            let (bit, before) = (bit.index(octets.len() * 8), Crc::Three.of(&octets));
            octets[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(Crc::Three.of(&octets), before);
        }
    }
}
