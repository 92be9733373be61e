//! The payload of a full-sized segment, and the number of segments in a packet.
//!
//! A packet contains several segments if a NIC splits it later or has coalesced it (TCP
//! segmentation offload, generic receive offload). The MSS option states the size of a segment. A
//! capture that begins during the flow lacks it. Then the size is the one of which most larger
//! packets are multiples.

use std::collections::BTreeMap;

/// The maximum number of sizes of payloads that are stored.
const MAX_SIZES: usize = 128;
/// The largest payload of a segment on Ethernet without jumbo frames: 1500 bytes less the headers
/// of IPv4 and TCP (RFC 894; RFC 9293, §3.7.1).
const ETHERNET: u32 = 1460;
/// The minimum MSS of a path (RFC 9293, §3.7.1).
const SMALLEST: u32 = 536;

/// The known properties of the size of segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentSize {
    largest: u32,
    offered: Option<u16>,
    /// Packets by payload, while the MSS option is not known. Payloads beyond the limit are not
    /// stored.
    sizes: BTreeMap<u32, u64>,
    /// The size inferred from multiples.
    inferred: Option<u32>,
}

impl SegmentSize {
    /// Records the size that the SYN of the receiver offers, if any.
    pub(super) fn offer(&mut self, mss: Option<u16>) {
        self.offered = mss;
        if mss.is_some() {
            self.sizes.clear();
        }
    }

    /// Records a datagram or packet with this payload that is not split.
    #[inline]
    pub(super) fn whole(&mut self, payload: u32) {
        self.largest = self.largest.max(payload);
    }

    /// Returns the number of segments in a packet with this payload. Also returns the number of
    /// uncounted segments in earlier packets, because larger packets may show that earlier ones
    /// contained several.
    #[inline]
    pub(super) fn packet(&mut self, payload: u32) -> (u64, u64) {
        self.largest = self.largest.max(payload);
        if self.offered.is_some() {
            return (self.segments(payload), 0);
        }
        self.infer(payload)
    }

    fn infer(&mut self, payload: u32) -> (u64, u64) {
        let is_new = !self.sizes.contains_key(&payload) && self.sizes.len() < MAX_SIZES;
        let counted = |size: &Self| size.sizes.iter().map(|(&one, count)| size.segments(one) * count).sum::<u64>();
        let before = if is_new && self.largest > ETHERNET { counted(self) } else { 0 };
        if is_new {
            self.sizes.insert(payload, 0);
        }
        if let Some(count) = self.sizes.get_mut(&payload) {
            *count += 1;
        }
        if !is_new || self.largest <= ETHERNET {
            return (self.segments(payload), 0);
        }
        self.inferred = self.by_multiples().or(self.inferred);
        let own = self.segments(payload);
        // The count does not decrease if a further packet makes the size larger.
        (own, (counted(self) - own).saturating_sub(before))
    }

    /// Returns the size of which most of the larger packets are multiples: a size that has passed,
    /// or the greatest common divisor of two.
    fn by_multiples(&self) -> Option<u32> {
        let large: Vec<(u32, u64)> = self.sizes.range(ETHERNET + 1..).map(|(&size, &count)| (size, count)).collect();
        let all: u64 = large.iter().map(|one| one.1).sum();
        let mut candidates: Vec<u32> = self.sizes.range(SMALLEST..=ETHERNET).map(|(&size, _)| size).collect();
        let mut frequent = large.clone();
        frequent.sort_by_key(|&(size, count)| (std::cmp::Reverse(count), size));
        frequent.truncate(8);
        for (place, (one, _)) in frequent.iter().enumerate() {
            candidates.extend(frequent[place + 1..].iter().map(|(other, _)| divisor(*one, *other)));
        }
        candidates.retain(|size| (SMALLEST..=ETHERNET).contains(size));
        let explained =
            |size: u32| large.iter().filter(|(one, _)| one.is_multiple_of(size)).map(|one| one.1).sum::<u64>();
        candidates
            .into_iter()
            .map(|size| (explained(size), size))
            .max()
            // The last packet of a write is shorter. Jumbo frames are not multiples of a smaller
            // size.
            .filter(|&(count, _)| 2 * count >= all)
            .map(|(_, size)| size)
    }

    /// Returns the payload of a full-sized segment.
    #[inline]
    pub(crate) fn mss(&self) -> u32 {
        let limit = self.offered.map_or(self.inferred, |offered| Some(u32::from(offered)));
        limit.map_or(self.largest, |limit| self.largest.min(limit)).max(1)
    }

    /// Returns the segments in a packet with this payload.
    #[inline]
    fn segments(&self, payload: u32) -> u64 {
        self.segments_of(payload.into())
    }

    /// Returns the number of segments with this number of bytes.
    #[inline]
    pub(super) fn segments_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mss().into())
    }
}

/// Returns the greatest common divisor (Euclid, *Elements*, VII.2).
fn divisor(mut one: u32, mut other: u32) -> u32 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(size: &mut SegmentSize, payloads: &[u32]) -> u64 {
        payloads.iter().map(|&payload| size.packet(payload)).map(|(own, more)| own + more).sum()
    }

    #[test]
    fn the_option_limits_what_was_captured_before_it_was_cut() {
        let mut size = SegmentSize::default();
        size.offer(Some(1460));
        assert_eq!(total(&mut size, &[2896, 1448, 100]), 4);
        assert_eq!(size.mss(), 1460);
    }

    /// Three packets of 5, 3 and 2 segments of 1448 bytes and a shorter rest. No single segment
    /// passed.
    #[test]
    fn mid_flow_the_size_is_what_packets_are_multiples_of() {
        let mut size = SegmentSize::default();
        assert_eq!(total(&mut size, &[7240, 4344, 2896, 300]), 5 + 3 + 2 + 1);
        assert_eq!(size.mss(), 1448);
    }

    #[test]
    fn a_segment_that_passed_alone_is_the_size() {
        let mut size = SegmentSize::default();
        assert_eq!(total(&mut size, &[1448, 14480, 14480, 1448]), 22);
        assert_eq!(size.mss(), 1448);
    }

    /// Jumbo frames of 9000 bytes all have the same size, and none contains several segments.
    #[test]
    fn jumbo_frames_are_segments() {
        let mut size = SegmentSize::default();
        assert_eq!(total(&mut size, &[8948, 8948, 8948, 1000]), 4);
        assert_eq!(size.mss(), 8948);
    }

    #[test]
    fn memory_is_bounded() {
        let mut size = SegmentSize::default();
        (1..60_000).for_each(|payload| assert!(size.packet(payload).0 > 0));
        assert!(size.sizes.len() <= MAX_SIZES);
    }
}
