//! How many blocks a TACK lists (Li et al., SIGCOMM 2020, §5.1).
//!
//! The acked list holds runs of packets that have arrived beyond the first that is missing, the unacked list runs that are lost. TACKs
//! list only losses that an IACK has reported already: the IACK is fast, the TACK is for when it is lost. If not all blocks may stand in
//! a TACK, the acked blocks of the largest numbers stand there, and the unacked blocks of the smallest. Q, the number of blocks that a
//! receiver may limit, is that of unacked blocks: the sender counts what it hears nothing of as in flight.
//! A TACK that the sender has asked for lists as many as fit, whatever is set: a sender asks if nothing else tells it what is missing.

use acklab_wire::tack::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// By so much the first skip of a list may grow.
pub(super) const GROWTH: u64 = 7;

/// How many blocks the unacked list of a TACK holds. The acked list holds as many as fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "blocks", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-acklab-shorthand" = "name"))]
pub enum Lists {
    /// One: TACK-poor.
    Poor,
    /// As many as fit: TACK-rich.
    Rich,
    /// Q, and more where losses of data and of ACKs make it likely that IACKs for more are lost between two TACKs (§5.1, appendix A).
    Adaptive {
        /// Q.
        #[schemars(range(min = 1))]
        q: u32,
    },
}

/// What the number of blocks follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Losses {
    /// ρ, the share of data packets that are lost.
    pub(super) data: f64,
    /// ρ′, the share of ACKs that are lost.
    pub(super) acks: f64,
    /// Packets from one TACK to the next that the law is bound by: bdp/MSS where it is periodic, L where it counts octets.
    pub(super) packets: f64,
}

impl Lists {
    /// Blocks of the unacked list.
    pub(super) fn blocks(self, losses: &Losses) -> usize {
        match self {
            Self::Poor => 1,
            Self::Rich => usize::MAX,
            // Q + ΔQ with ΔQ = ρρ′bdp/MSS − Q, or ρρ′L − Q, if that is above zero.
            Self::Adaptive { q } => {
                let expected = libm::round(losses.data * losses.acks * losses.packets);
                (q as usize).max(expected as usize)
            }
        }
    }
}

/// Of these ranges, as many as `room` octets hold, as runs from `next` on, and how many numbers are left out. If not all
/// are held, half of them are those of the largest numbers, of which the sender has not heard yet, and half those of the smallest,
/// without which it never knows all about the first of its packets and the lists grow without end.
/// The runs take at most [`GROWTH`] octets more, for one of them skips all that is left out.
pub(super) fn acked(next: u64, beyond: &[Range<u64>], room: u64) -> (Vec<Run>, u64) {
    let count = beyond.len();
    let all = || runs(next, beyond.iter().cloned());
    if fitting(all(), room) == count {
        return (all().collect(), 0);
    }
    let low = fitting(all(), room / 2);
    // From the highest down to the second: if the first fitted as well, all would.
    let from_above = beyond.windows(2).rev().map(|pair| run(pair[0].end, &pair[1]));
    let high = fitting(from_above, room / 2).min(count - low);
    let left_out = low..count - high;
    let unlisted = beyond[left_out.clone()].iter().map(|range| range.end - range.start).sum();
    let held = beyond[..left_out.start].iter().chain(&beyond[left_out.end..]);
    (runs(next, held.cloned()).collect(), unlisted)
}

/// The ranges of smallest numbers that `most` blocks and `room` octets hold, as runs from `next` on.
pub(super) fn lost(next: u64, lost: impl Iterator<Item = Range<u64>>, most: usize, room: u64) -> Vec<Run> {
    let mut size = 0;
    let fits = |run: &Run| {
        size += run.wire_len();
        size <= room
    };
    runs(next, lost.take(most)).take_while(fits).collect()
}

/// How many of the first of `runs` `room` octets hold.
fn fitting(runs: impl Iterator<Item = Run>, room: u64) -> usize {
    let mut size = 0;
    let fits = |run: &Run| {
        size += run.wire_len();
        size <= room
    };
    runs.take_while(fits).count()
}

/// `range` as a run behind `reached`.
fn run(reached: u64, range: &Range<u64>) -> Run {
    Run { skip: (range.start - reached) as u32, length: (range.end - range.start) as u32 }
}

fn runs(next: u64, ranges: impl Iterator<Item = Range<u64>>) -> impl Iterator<Item = Run> {
    ranges.scan(next, |reached, range| {
        let run = run(*reached, &range);
        *reached = range.end;
        Some(run)
    })
}

/// The ranges that `runs` from `next` on stand for.
pub fn ranges(next: u64, runs: &[Run]) -> impl Iterator<Item = Range<u64>> + Clone {
    runs.iter().scan(next, |reached, run| {
        let start = *reached + u64::from(run.skip);
        *reached = start + u64::from(run.length);
        Some(start..*reached)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of §5.1: of the packets 1 to 10, those numbered 1, 4, 5, 6 and 10 have arrived.
    #[test]
    fn the_example_of_the_paper() {
        let beyond = [4..7, 10..11];
        let (all, unlisted) = acked(2, &beyond, 100);
        assert_eq!((ranges(2, &all).collect::<Vec<_>>(), unlisted), (beyond.to_vec(), 0));
        let gaps = [2..4, 7..10];
        assert_eq!(ranges(2, &lost(2, gaps.iter().cloned(), usize::MAX, 100)).collect::<Vec<_>>(), gaps);
        assert_eq!(ranges(2, &lost(2, gaps.iter().cloned(), 1, 100)).collect::<Vec<_>>(), gaps[..1]);
    }

    /// A run takes two octets here, so that room for five holds the lowest and the highest.
    #[test]
    fn acked_blocks_that_do_not_fit_are_counted() {
        let (some, unlisted) = acked(2, &[4..7, 10..12, 20..21, 30..31], 5);
        assert_eq!((ranges(2, &some).collect::<Vec<_>>(), unlisted), (vec![4..7, 30..31], 3));
    }

    /// §5.1: with ρ = ρ′ = 10 % and a bdp of 1000 packets, 10 blocks are expected to be lost in both ways.
    #[test]
    fn blocks_grow_with_the_losses_of_both_ways() {
        let losses = |data, acks, packets| Losses { data, acks, packets };
        let adaptive = Lists::Adaptive { q: 4 };
        assert_eq!(adaptive.blocks(&losses(0.1, 0.1, 1000.0)), 10);
        assert_eq!(adaptive.blocks(&losses(0.1, 0.1, 400.0)), 4, "appendix B.2: Q = 4 does up to L = 400");
        assert_eq!(adaptive.blocks(&losses(0.1, 0.0, 1e6)), 4);
        assert_eq!(Lists::Poor.blocks(&losses(0.5, 0.5, 1e6)), 1);
    }

    proptest! {
        #[test]
        fn lists_fit_and_say_what_is_so(
            steps in proptest::collection::vec((1u64..5000, 1u64..5000), 0..200),
            next in 0u64..1 << 40,
            most in 1usize..300,
            room in 0u64..400,
        ) {
            let mut reached = next;
            let beyond: Vec<_> = steps.iter().map(|(skip, length)| {
                let range = reached + skip..reached + skip + length;
                reached = range.end;
                range
            }).collect();
            let size = |runs: &[Run]| runs.iter().map(Run::wire_len).sum::<u64>();
            let (runs, unlisted) = acked(next, &beyond, room);
            prop_assert!(size(&runs) <= room + GROWTH);
            let listed: Vec<_> = ranges(next, &runs).collect();
            prop_assert!(listed.iter().all(|range| beyond.contains(range)));
            let numbers = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
            prop_assert_eq!(unlisted + numbers(&listed), numbers(&beyond));
            let low = listed.iter().zip(&beyond).take_while(|(listed, held)| listed == held).count();
            prop_assert!(beyond.ends_with(&listed[low..]));
            let runs = lost(next, beyond.iter().cloned(), most, room);
            prop_assert!(size(&runs) <= room && runs.len() <= most);
            prop_assert!(beyond.starts_with(&ranges(next, &runs).collect::<Vec<_>>()));
        }
    }
}
