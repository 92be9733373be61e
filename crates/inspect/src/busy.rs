//! Busy periods: the data that a sender sent without a pause of its application.
//!
//! Only packets that were queued behind each other at the bottleneck keep the spacing that it gave
//! them. Packet pairs and trains are therefore taken from back-to-back packets (Paxson, *End-to-End
//! Internet Packet Dynamics*, SIGCOMM 1997, §4; Dovrolis, Ramanathan, Moore, IEEE/ACM ToN 12(6),
//! 2004). Pairs are full-sized segments that follow each other in one [write](crate::writes).
//! Trains are data between which the application did not pause. The application may have paused at
//! each end of a write, unless a queue shows that the sender had more to send than the path
//! carried.

use crate::direction::{Ack, Data, Passing};
use crate::rate::{Point, advancing};
use crate::writes::{Pause, is_full};

/// Data that may belong to a busy period.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// Curves of full-sized data that follow each other in one write.
    pub(crate) pairs: Vec<Vec<Point>>,
    /// Curves of data between the ends of writes. Retransmitted data count again, because the
    /// bottleneck has carried them.
    pub(crate) writes: Vec<Vec<Point>>,
    /// Curves of data between pauses of a sender that a queue shows to be busy.
    pub(crate) saturated: Vec<Vec<Point>>,
}

impl Arrivals {
    /// Returns the data of `stretches`, with full-sized segments of `mss` bytes. A sender has
    /// paused if no data follow the end of a write for `lull` nanoseconds. Without `lull`, each end
    /// of a write counts as a pause.
    pub(crate) fn of(stretches: &[Vec<Data>], mss: u32, lull: Option<u64>) -> Self {
        let mut found = Self::default();
        for stretch in stretches {
            let points = points(stretch);
            let cut = |is_split: &dyn Fn(&Data, &Data) -> bool| {
                let mut curves = vec![Vec::new()];
                for (place, point) in points.iter().enumerate() {
                    if place > 0 && is_split(&stretch[place - 1], &stretch[place]) {
                        curves.push(Vec::new());
                    }
                    if let Some(curve) = curves.last_mut() {
                        curve.push(*point);
                    }
                }
                curves
            };
            let is_pair = |one: &Data, other: &Data| {
                one.passing == Passing::New
                    && other.passing == Passing::New
                    && !one.ends_write
                    && other.start == one.start + u64::from(one.length)
                    && is_full(other.length, mss)
            };
            let is_lull = |one: &Data, other: &Data| lull.is_none_or(|lull| other.at.saturating_sub(one.at) >= lull);
            found.pairs.extend(cut(&|one, other| !is_pair(one, other)));
            found.writes.extend(cut(&|one, _| one.ends_write).into_iter().map(advancing));
            found.saturated.extend(cut(&|one, other| one.ends_write && is_lull(one, other)).into_iter().map(advancing));
        }
        found.pairs.retain(|curve| curve.len() > 1);
        found
    }
}

/// Returns the bytes that have arrived, over time.
fn points(stretch: &[Data]) -> Vec<Point> {
    let mut octets = 0;
    let point = |data: &Data| {
        octets += u64::from(data.length);
        (data.at, octets)
    };
    stretch.iter().map(point).collect()
}

/// Returns curves of ACKs between which the sender did not pause. An ACK begins a new curve if it
/// spans a pause that is at least as certain as `pause`.
pub(crate) fn of_acks(stretches: &[Vec<Ack>], pause: Pause) -> Vec<Vec<Ack>> {
    let mut periods: Vec<Vec<Ack>> = Vec::new();
    for stretch in stretches {
        for (place, ack) in stretch.iter().enumerate() {
            match periods.last_mut().filter(|_| place > 0 && ack.pause < pause) {
                Some(period) => period.push(*ack),
                None => periods.push(vec![*ack]),
            }
        }
    }
    periods
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(n: u64, ends_write: bool) -> Data {
        Data { at: n * 1_000_000, start: n * 1000, length: 1000, passing: Passing::New, ends_write, is_cut: false }
    }

    fn lengths(curves: &[Vec<Point>]) -> Vec<usize> {
        curves.iter().map(Vec::len).collect()
    }

    /// Thirty segments of which every tenth ends a write; a pause of 50 ms precedes the twentieth.
    #[test]
    fn the_end_of_a_write_ends_a_period() {
        let mut segments: Vec<Data> = (0..30).map(|n| data(n, n % 10 == 9)).collect();
        segments[20..].iter_mut().for_each(|data| data.at += 50_000_000);
        let found = Arrivals::of(&[segments], 1000, Some(20_000_000));
        assert_eq!(lengths(&found.pairs), [10, 10, 10]);
        assert_eq!(lengths(&found.writes), [10, 10, 10]);
        assert_eq!(lengths(&found.saturated), [20, 10], "only one end is followed by a pause");
    }

    #[test]
    fn messages_are_no_pairs() {
        assert!(Arrivals::of(&[(0..500).map(|n| data(n, true)).collect()], 1000, None).pairs.is_empty());
    }

    /// Segment 6 overtakes segment 5, so neither of them belongs to a pair.
    #[test]
    fn a_reordered_segment_is_in_no_pair() {
        let mut segments: Vec<Data> = (0..10).map(|n| data(n, false)).collect();
        (segments[5].start, segments[6].start, segments[6].passing) = (6000, 5000, Passing::Reordered);
        let found = Arrivals::of(&[segments], 1000, None);
        assert_eq!(lengths(&found.pairs), [5, 3]);
        assert_eq!(lengths(&found.writes), [10]);
    }

    #[test]
    fn an_ack_that_spans_a_pause_begins_a_period() {
        let ack = |n: u64| {
            let pause = if n == 14 {
                Pause::Certain
            } else if n.is_multiple_of(7) {
                Pause::Possible
            } else {
                Pause::None
            };
            Ack { at: n, ack: n, delivered: n, value: None, covers: 1, octets: 52, window: None, is_pure: true, pause }
        };
        let stretches = [(0..21).map(ack).collect(), (22..24).map(ack).collect()];
        let lengths = |pause| of_acks(&stretches, pause).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(Pause::Possible), [7, 7, 7, 2]);
        assert_eq!(lengths(Pause::Certain), [14, 7, 2]);
    }
}
