//! Detects full-sized segments. A shorter segment ends a write of the peer's application.

use super::super::len_of;
use super::super::rules::FullSize;
use super::Receiver;
use acklab_wire::tcp::{Flags, Segment};

/// `TCP_MSS_DEFAULT`: the minimum size of a segment whose length alone makes it full-sized
/// (`tcp_initialize_rcv_mss`).
pub(super) const SHORTEST_FULL_SIZE: u64 = 536;
/// `TCP_MIN_MSS`: the minimum size of a full-sized segment.
const MIN_MSS: u64 = 88;

impl Receiver {
    /// Returns `true` if the data segment `segment` ends a write of the peer's application. Such a
    /// segment has PSH or is not full-sized.
    #[inline]
    pub(super) fn ends_write(&mut self, segment: &Segment) -> bool {
        let last = std::mem::take(&mut self.last_short);
        let is_short = u64::from(segment.payload) < self.acknowledger.ledger().full_size;
        if is_short { !self.is_full_with_options(segment, last) } else { segment.flags.contains(Flags::PSH) }
    }

    /// Returns `true` if `segment` is as long as the previous segment, which had `last` bytes
    /// without timestamps. That length is then the full size. A short segment with PSH is no
    /// evidence (`tcp_measure_rcv_mss`).
    #[inline(never)]
    fn is_full_with_options(&mut self, segment: &Segment, last: u64) -> bool {
        if self.config.dialect.rules().full_size == FullSize::Longest {
            return false;
        }
        let length = u64::from(segment.payload) + segment.options.wire_len();
        let is_taken = length >= SHORTEST_FULL_SIZE
            || (length >= MIN_MSS && !segment.flags.intersects(Flags::PSH | Flags::FIN | Flags::SYN));
        if !is_taken {
            return false;
        }
        self.last_short = length - len_of(segment.options.timestamps);
        let is_full = self.last_short == last;
        if is_full {
            self.acknowledger.bound_full_size(last);
        }
        is_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::{Packet, Policy};
    use crate::tcp::config::Preset;
    use acklab_base::Instant;
    use acklab_base::random::Seed;
    use acklab_wire::tcp::{Options, SackBlock, SackBlocks, SeqNumber};

    /// Returns a receiver after a segment of 1000 bytes.
    fn receiver(preset: Preset) -> Receiver {
        let config = preset.config();
        let policy = Policy::new(config.ack).expect("it is built in");
        let mut receiver = Receiver::new(config, policy, Seed(1), "f");
        receiver.acknowledger.enter(Instant::ZERO, Packet::of_stream(0..1000, 1000));
        receiver
    }

    /// Returns a segment with data and this number of SACK blocks.
    fn segment(payload: u32, blocks: usize) -> Segment {
        let block = SackBlock { start: SeqNumber(0), end: SeqNumber(1) };
        let sack: SackBlocks = std::iter::repeat_n(block, blocks).collect();
        Segment { flags: Flags::ACK, payload, options: Options { sack, ..Options::default() }, ..Segment::default() }
    }

    fn end_writes(preset: Preset, segments: &[(u32, usize)]) -> (Vec<bool>, u64) {
        let mut receiver = receiver(preset);
        let ends = segments.iter().map(|(payload, blocks)| receiver.ends_write(&segment(*payload, *blocks))).collect();
        (ends, receiver.acknowledger.ledger().full_size)
    }

    /// In Linux, the first segment that SACK shortens is taken as the end of a write. Later
    /// segments are not.
    #[test]
    fn segments_that_blocks_shorten_are_full() {
        let segments = [(1000, 0), (988, 1), (988, 1), (980, 2), (1000, 0), (988, 1)];
        let linux = end_writes(Preset::Linux, &segments);
        assert_eq!(linux, (vec![false, true, false, false, false, true], 1000));
        let rfc = end_writes(Preset::Rfc, &segments);
        assert_eq!(rfc, (vec![false, true, true, true, false, true], 1000));
    }

    /// In Linux, two short segments of equal length define the full size, unless they are shorter
    /// than the minimum.
    #[test]
    fn equal_segments_become_the_full_ones() {
        assert_eq!(end_writes(Preset::Linux, &[(600, 0), (600, 0), (600, 0)]), (vec![true, false, false], 600));
        assert_eq!(end_writes(Preset::Linux, &[(600, 0), (700, 0), (600, 0)]), (vec![true, true, true], 1000));
        assert_eq!(end_writes(Preset::Linux, &[(87, 0), (87, 0)]), (vec![true, true], 1000));
        assert_eq!(end_writes(Preset::Rfc, &[(600, 0), (600, 0)]), (vec![true, true], 1000));
    }
}
