//! The bytes that an application writes. Each byte is a function of its offset, so arriving bytes
//! can be checked without a copy of the sent bytes.

use acklab_base::random::Seed;
use std::ops::Range;

/// Octets of one word.
const WORD: u64 = 8;

/// The octets that one end of a flow writes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pattern(u64);

impl Pattern {
    /// Returns the pattern of end `end` of flow `flow`.
    pub(crate) fn new(seed: Seed, flow: &str, end: usize) -> Self {
        Self(u64::from_le_bytes(seed.stream(&format!("flow/{flow}/octets/{end}")).octets()))
    }

    /// Appends the octets of `range` of stream `stream` to `to`.
    pub(crate) fn append(self, stream: u32, range: Range<u64>, to: &mut Vec<u8>) {
        let mut offset = range.start;
        while offset < range.end {
            let word = self.word(stream, offset / WORD);
            let from = (offset % WORD) as usize;
            let count = (WORD - offset % WORD).min(range.end - offset);
            to.extend_from_slice(&word[from..from + count as usize]);
            offset += count;
        }
    }

    /// Returns `true` if `octets` are the bytes of stream `stream` from offset `start`.
    pub(crate) fn is(self, stream: u32, start: u64, octets: &[u8]) -> bool {
        let words = start / WORD..;
        let mut rest = octets;
        for number in words {
            let word = self.word(stream, number);
            let from = start.saturating_sub(number * WORD) as usize;
            let count = rest.len().min(word.len() - from);
            let (own, behind) = rest.split_at(count);
            if own != &word[from..from + count] {
                return false;
            }
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        true
    }

    /// Returns a word of the pattern: the output of SplitMix64 (Steele, Lea and Flood, "Fast
    /// splittable pseudorandom number generators", OOPSLA 2014, fig. 16).
    fn word(self, stream: u32, number: u64) -> [u8; WORD as usize] {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let z = self.0 ^ u64::from(stream).rotate_left(32);
        let z = z.wrapping_add(number.wrapping_add(1).wrapping_mul(GOLDEN));
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_part_of_the_whole() {
        let pattern = Pattern::new(Seed(1), "f", 0);
        let whole = |range| {
            let mut octets = Vec::new();
            pattern.append(3, range, &mut octets);
            octets
        };
        let octets = whole(0..100);
        for range in [0..1, 5..9, 7..8, 8..16, 3..99] {
            let part = whole(range.clone());
            assert_eq!(part, octets[range.start as usize..range.end as usize]);
            assert!(pattern.is(3, range.start, &part));
            assert!(!pattern.is(3, range.start + 1, &part) && !pattern.is(4, range.start, &part), "{range:?}");
            assert!(!Pattern::new(Seed(1), "f", 1).is(3, range.start, &part));
        }
        assert!(pattern.is(3, 17, &[]));
    }
}
