//! Determines the number of blocks that a TACK lists (Li et al., SIGCOMM 2020, §5.1).
//!
//! The acked list contains runs of arrived packets beyond the first missing packet. The unacked
//! list contains runs of lost packets. TACKs list only losses that an IACK has already reported.
//! The IACK reports a loss sooner, and the TACK reports it again in case the IACK is lost. If the
//! blocks do not all fit into a TACK, it lists the acked blocks with the largest numbers and the
//! unacked blocks with the smallest numbers.
//!
//! Q limits only the unacked blocks. If the acked list were limited, the sender would treat
//! unlisted packets as in flight. A requested TACK lists as many blocks as fit, whatever the
//! setting. A sender requests a TACK if no other report shows the missing packets. The next TACKs
//! list the blocks that did not fit: see [`sweep`](super::sweep).

use acklab_wire::tack::Run;
pub(super) use acklab_wire::tack::ranges;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Maximum number of bytes by which the first run of a list may become longer.
pub(super) const GROWTH: u64 = 7;
/// Size of the shortest run, in bytes.
const MIN_RUN: u64 = Run { skip: 0, length: 0 }.wire_len();

/// The number of blocks that a TACK lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "blocks", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-acklab-shorthand" = "name"))]
pub enum Lists {
    /// The first gap, and the acked block with the largest numbers: TACK-poor.
    Poor,
    /// As many blocks as fit: TACK-rich.
    Rich,
    /// As many acked blocks as fit, and Q unacked blocks. The unacked list becomes longer if more
    /// than Q IACKs are likely to be lost between two TACKs, because many data packets and ACKs are
    /// lost (§5.1, appendix A).
    Adaptive {
        /// Q, the number of unacked blocks.
        #[schemars(range(min = 1))]
        q: u32,
    },
}

/// The inputs that determine the number of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Losses {
    /// ρ, the fraction of data packets that are lost.
    pub(super) data: f64,
    /// ρ′, the fraction of ACKs that are lost.
    pub(super) acks: f64,
    /// Maximum number of packets between two TACKs by TACK's law: bdp/MSS if TACKs are periodic, L
    /// if they follow the number of bytes.
    pub(super) packets: f64,
}

impl Lists {
    /// Returns `true` if the acked list holds as many blocks as fit, `false` if it holds one.
    pub(super) const fn fills_acked(self) -> bool {
        !matches!(self, Self::Poor)
    }

    /// Returns the number of blocks of the unacked list.
    pub(super) fn blocks(self, losses: &Losses) -> usize {
        match self {
            Self::Poor => 1,
            Self::Rich => usize::MAX,
            // Q + ΔQ with ΔQ = ρρ′bdp/MSS − Q if TACKs are periodic, else ρρ′L − Q. ΔQ is at least
            // zero.
            Self::Adaptive { q } => {
                let expected = libm::round(losses.data * losses.acks * losses.packets);
                (q as usize).max(expected as usize)
            }
        }
    }
}

/// An acked list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Acked {
    pub(super) runs: Vec<Run>,
    /// Number of packet numbers that the list omits.
    pub(super) unlisted: u64,
    /// The number up to which the list, read from its start, is complete. `None` if the whole list
    /// is complete.
    pub(super) upto: Option<u64>,
}

/// Returns the acked list of the ranges `beyond` the number `next`, in `room` bytes. If the ranges
/// do not all fit, `newest` bytes list the ranges with the largest numbers, which are new to the
/// sender. The other bytes list ranges from the number `from` on. Without these ranges, the fate of
/// the oldest packets would remain unknown to the sender, and the lists would grow without bound.
/// The runs use up to [`GROWTH`] bytes more than `room`, because one run skips all omitted numbers.
pub(super) fn acked(next: u64, from: u64, beyond: &[Range<u64>], room: u64, newest: u64) -> Acked {
    let count = beyond.len();
    let all = || runs(next, beyond.iter().cloned());
    if MIN_RUN * count as u64 <= room && fitting(all(), room) == count {
        return Acked { runs: all().collect(), unlisted: 0, upto: None };
    }
    let first = beyond.partition_point(|range| range.end <= from);
    let low = first + fitting(runs(next, beyond[first..].iter().cloned()), room - newest);
    // The search runs from the last range down to the second. If the first range also fitted, all
    // ranges would fit.
    let from_above = beyond.windows(2).rev().map(|pair| run(pair[0].end, &pair[1]));
    let high = count - fitting(from_above, newest).min(count - low);
    let numbers = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
    let upto = if low == high { None } else { Some(beyond[low].start) };
    let held = beyond[first..low].iter().chain(&beyond[high..]);
    Acked {
        runs: runs(next, held.cloned()).collect(),
        unlisted: numbers(&beyond[..first]) + numbers(&beyond[low..high]),
        upto,
    }
}

/// Returns the acked list with only the last of the ranges `beyond` the number `next`. The list
/// reports the newest arrived packet, from which the sender computes the sending rate.
pub(super) fn last_acked(next: u64, beyond: &[Range<u64>]) -> Acked {
    let Some((last, others)) = beyond.split_last() else { return Acked::default() };
    let unlisted = others.iter().map(|range| range.end - range.start).sum();
    Acked { runs: runs(next, std::iter::once(last.clone())).collect(), unlisted, upto: None }
}

/// Returns the unacked list: the ranges with the smallest numbers beyond `next`, in at most `most`
/// blocks and `room` bytes. If `room` is the reason for an omission, also returns the start of the
/// first omitted range.
pub(super) fn lost(
    next: u64,
    lost: impl Iterator<Item = Range<u64>>,
    most: usize,
    room: u64,
) -> (Vec<Run>, Option<u64>) {
    let (mut size, mut reached, mut listed) = (0, next, Vec::new());
    for range in lost.take(most) {
        let run = run(reached, &range);
        size += run.wire_len();
        if size > room {
            return (listed, Some(range.start));
        }
        reached = range.end;
        listed.push(run);
    }
    (listed, None)
}

/// Returns how many of `runs`, from the first on, fit into `room` bytes.
fn fitting(runs: impl Iterator<Item = Run>, room: u64) -> usize {
    let mut size = 0;
    let fits = |run: &Run| {
        size += run.wire_len();
        size <= room
    };
    runs.take_while(fits).count()
}

/// Returns `range` as a run that follows the number `reached`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of §5.1: of packets 1 to 10, the packets 1, 4, 5, 6 and 10 have arrived.
    #[test]
    fn the_example_of_the_paper() {
        let beyond = [4..7, 10..11];
        let all = acked(2, 2, &beyond, 100, 50);
        assert_eq!((ranges(2, &all.runs).collect::<Vec<_>>(), all.unlisted, all.upto), (beyond.to_vec(), 0, None));
        let gaps = [2..4, 7..10];
        let lost = |most, room| {
            let (runs, left_from) = lost(2, gaps.iter().cloned(), most, room);
            (ranges(2, &runs).collect::<Vec<_>>(), left_from)
        };
        assert_eq!(lost(usize::MAX, 100), (gaps.to_vec(), None));
        assert_eq!(lost(1, 100), (gaps[..1].to_vec(), None), "what may not be listed is not left out");
        assert_eq!(lost(2, 3), (gaps[..1].to_vec(), Some(7)));
    }

    /// A run has two bytes in this test, so five bytes have room for the lowest and the highest
    /// run.
    #[test]
    fn acked_blocks_that_do_not_fit_are_counted() {
        let beyond = [4..7, 10..12, 20..21, 30..31];
        let listed = |from, newest| {
            let Acked { runs, unlisted, upto } = acked(2, from, &beyond, 5, newest);
            (ranges(2, &runs).collect::<Vec<_>>(), unlisted, upto)
        };
        assert_eq!(listed(2, 2), (vec![4..7, 30..31], 3, Some(10)));
        assert_eq!(listed(10, 2), (vec![10..12, 30..31], 4, Some(20)), "the next part");
        assert_eq!(listed(20, 2), (vec![20..21, 30..31], 5, None), "the last");
        assert_eq!(listed(2, 0), (vec![4..7, 10..12], 2, Some(20)), "the newest have been listed");
    }

    /// §5.1: with ρ = ρ′ = 10 % and a bdp of 1000 packets, 10 losses are expected whose IACK is
    /// lost too.
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
            (room, share) in (0u64..400, 0u64..3),
            begins in 0usize..200,
        ) {
            let mut reached = next;
            let beyond: Vec<_> = steps.iter().map(|(skip, length)| {
                let range = reached + skip..reached + skip + length;
                reached = range.end;
                range
            }).collect();
            let size = |runs: &[Run]| runs.iter().map(Run::wire_len).sum::<u64>();
            let from = beyond.get(begins).map_or(next, |range| range.start);
            let Acked { runs, unlisted, upto } = acked(next, from, &beyond, room, room * share / 2);
            prop_assert!(size(&runs) <= room + GROWTH);
            let listed: Vec<_> = ranges(next, &runs).collect();
            prop_assert!(listed.iter().all(|range| beyond.contains(range)));
            let numbers = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
            prop_assert_eq!(unlisted + numbers(&listed), numbers(&beyond));
            let begin = if unlisted == 0 { 0 } else { beyond.partition_point(|range| range.end <= from) };
            let low = listed.iter().zip(&beyond[begin..]).take_while(|(listed, held)| listed == held).count();
            prop_assert!(beyond.ends_with(&listed[low..]));
            prop_assert_eq!(upto, beyond.get(begin + low).map(|range| range.start));
            let (runs, left_from) = lost(next, beyond.iter().cloned(), most, room);
            prop_assert!(size(&runs) <= room && runs.len() <= most);
            prop_assert!(beyond.starts_with(&ranges(next, &runs).collect::<Vec<_>>()));
            prop_assert_eq!(left_from, beyond.get(runs.len()).filter(|_| runs.len() < most).map(|range| range.start));
        }
    }
}
