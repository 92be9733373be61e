//! Recognises short headers (RFC 9000, §17.3) of a connection whose handshake is not in the
//! capture.
//!
//! A short header shows one bit that is always 0, one that is always 1 (unless both ends agree on
//! RFC 9287), the spin bit, and five bits that header protection makes random (RFC 9001, §5.4.1).
//! The octets after the connection ID are random as well. In texts, counters and headers of other
//! protocols, these octets are not random.

/// The minimum number of datagrams for a verdict. Chosen: 99.9 % of flows with random bits pass all
/// tests. One in 2⁶⁴ flows with random first octets passes the test of the two fixed bits.
pub(crate) const MIN_DATAGRAMS: u32 = 32;
/// The header form bit and the fixed bit, and their values.
const FIXED: (u8, u8) = (0xc0, 0x40);
/// The five protected bits.
const PROTECTED: u8 = 0x1f;
/// The smallest datagram with a short header (RFC 9000, §10.3).
const MIN_LENGTH: usize = 21;
/// The offset of an octet after the header for any length of the connection ID, which is at most
/// 20.
const BEHIND: usize = 21;
/// The accepted numbers of distinct values among 32 draws from 32 values. The mean is 20.4 with a
/// standard deviation of 1.9; the bounds are 4.4 standard deviations away.
const DISTINCT: std::ops::RangeInclusive<u32> = 12..=28;
/// The accepted numbers of ones among 32 random bits. One in 4,000 flows has fewer or more.
const ONES: std::ops::RangeInclusive<u32> = 6..=26;
/// The maximum number of datagrams whose protected bits are one more than those before, as in a
/// counter. With random bits, one in 32 has such bits, and one in 10,000 flows exceeds this number.
const MAX_STEPS: u32 = 6;

/// The evidence of the datagrams of a flow, in both directions together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shorts {
    count: u32,
    /// The values of the protected bits that occurred.
    seen: u32,
    /// The protected bits of the last datagram of each end.
    last: [Option<u8>; 2],
    steps: u32,
    /// Datagrams in which the highest bit of the octet after the header is one.
    ones: u32,
    is_refuted: bool,
}

impl Shorts {
    /// Processes a datagram of the end `from`. Returns `true` if it may have a short header, and
    /// all earlier ones may as well.
    pub(crate) fn datagram(&mut self, from: usize, octets: &[u8]) -> bool {
        let Some((&first, &behind)) = octets.first().zip(octets.get(BEHIND - 1)) else {
            self.is_refuted = true;
            return false;
        };
        if self.is_refuted || first & FIXED.0 != FIXED.1 || octets.len() < MIN_LENGTH {
            self.is_refuted = true;
            return false;
        }
        let protected = first & PROTECTED;
        self.count += 1;
        self.seen |= 1 << protected;
        let before = self.last[from].replace(protected);
        self.steps += u32::from(before.is_some_and(|before| (before + 1) & PROTECTED == protected));
        self.ones += u32::from(behind & 0x80 != 0);
        true
    }

    /// Returns `true` once there are enough datagrams.
    pub(crate) const fn is_decided(&self) -> bool {
        self.is_refuted || self.count >= MIN_DATAGRAMS
    }

    /// Describes the evidence that the datagrams have short headers. Returns `None` if they do not
    /// have them.
    pub(crate) fn evidence(&self) -> Option<String> {
        let distinct = self.seen.count_ones();
        let is_quic = !self.is_refuted
            && self.count >= MIN_DATAGRAMS
            && DISTINCT.contains(&distinct)
            && ONES.contains(&self.ones)
            && self.steps <= MAX_STEPS;
        is_quic.then(|| {
            format!(
                "no handshake in the capture; {} datagrams in a row with the fixed bits of a short header (RFC 9000, section 17.3), \
                 {distinct} values of its five protected bits and payload that is random",
                self.count
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a source of random octets (SplitMix64).
    fn random(seed: u64) -> impl FnMut() -> u8 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = state;
            word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (word ^ word >> 31) as u8
        }
    }

    fn evidence(mut datagram: impl FnMut(u32) -> Vec<u8>) -> Option<String> {
        let mut shorts = Shorts::default();
        for number in 0..MIN_DATAGRAMS {
            shorts.datagram(number as usize % 2, &datagram(number));
        }
        shorts.evidence()
    }

    fn short(mut octet: impl FnMut() -> u8) -> Vec<u8> {
        (0..60).map(|place| if place == 0 { 0x40 | octet() & 0x3f } else { octet() }).collect()
    }

    #[test]
    fn protected_headers_are_recognised() {
        let found = (0..1000).filter(|seed| {
            let mut octet = random(*seed);
            evidence(|_| short(&mut octet)).is_some()
        });
        // 99.9 % of 1,000.
        assert!(found.count() >= 995);
    }

    #[test]
    fn other_protocols_are_not() {
        let mut octet = random(1);
        assert_eq!(evidence(|_| (0..60).map(|_| octet()).collect()), None, "random first octets");
        assert_eq!(evidence(|number| vec![0x40 + number as u8; 60]), None, "a counter");
        assert_eq!(
            evidence(|number| [vec![0x40 + number as u8 / 2], (1..60).map(|_| octet()).collect()].concat()),
            None,
            "a counter of each end"
        );
        assert_eq!(
            evidence(|number| [&b"MNPQRSTUVWXYZABCDEFGHIJKLMOabcde"[number as usize..=number as usize], &[b'x'; 60]]
                .concat()),
            None,
            "texts"
        );
        assert_eq!(
            evidence(|_| [vec![0x48], (1..60).map(|_| octet()).collect()].concat()),
            None,
            "a type, as OpenVPN has it"
        );
        assert_eq!(evidence(|_| short(&mut octet)[..20].to_vec()), None, "too short");
    }

    #[test]
    fn few_datagrams_show_nothing() {
        let mut octet = random(3);
        let mut shorts = Shorts::default();
        for _ in 1..MIN_DATAGRAMS {
            assert!(shorts.datagram(0, &short(&mut octet)));
        }
        assert!(!shorts.is_decided() && shorts.evidence().is_none());
    }
}
