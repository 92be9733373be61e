//! Finds which of two segments was sent first: the one that revealed a gap, or the one that
//! fills it. The criteria are:
//!
//! * The times of capture. A segment that was captured before one that precedes it in the file is
//!   out of order only in the file, as with a NIC of several queues.
//! * Identifications, if they rise with each packet. Those of a retransmission are newer (RFC 6864,
//!   §4.1, leaves the source free; Bellovin, *A Technique for Counting NATted Hosts*, IMW 2002,
//!   describes the counters of hosts).
//! * Timestamps (RFC 7323, §3): those of a retransmission are newer.
//! * Otherwise, the delay: a retransmission needs a round trip to the sender.

use super::gaps::{Filled, Mark};

/// Without a round-trip time, segments that fill a gap within this time are considered reordered.
/// Retransmissions need a round trip, and few paths have a shorter one (the 3 ms of Wireshark,
/// `packet-tcp.c`).
const SHORT: u64 = 3_000_000;
/// The minimum number of packets with rising identifications at which identifications show an
/// order.
const MIN_RISING: u32 = 8;
/// One in this number of steps may not rise, because packets overtook each other.
const MAX_FALLING: u32 = 10;
/// A quarter of all identifications. In three of four cases, steps of random ones are longer.
const LONGEST_STEP: u16 = 1 << 14;

/// The clocks of a sender, as shown by its data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    last: Option<u16>,
    rising: u32,
    falling: u32,
    /// The first and the newest timestamp, with the times at which they passed.
    stamps: Option<[(u32, u64); 2]>,
}

impl Order {
    /// Records a segment that has passed after all others.
    #[inline]
    pub(super) fn advance(&mut self, mark: Mark) {
        if let Some(identification) = mark.identification
            && let Some(last) = self.last.replace(identification)
        {
            match identification.wrapping_sub(last) {
                1..LONGEST_STEP => self.rising += 1,
                _ => self.falling += 1,
            }
        }
        if let Some(value) = mark.value {
            let newest = (value, mark.at);
            self.stamps = Some(self.stamps.map_or([newest; 2], |[first, _]| [first, newest]));
        }
    }

    /// Returns how the segment of `late` filled a gap that `ahead` revealed. `sides` are the
    /// minimum times to the receiver and back, and to the sender and back.
    pub(super) fn compare(&self, ahead: Mark, late: Mark, sides: (Option<u64>, Option<u64>)) -> Filled {
        if late.captured < ahead.captured {
            return Filled::Misfiled;
        }
        let is_older = self.by_identifications(ahead, late).or_else(|| self.by_timestamps(ahead, late));
        let waited = late.at.saturating_sub(ahead.at);
        if is_older.unwrap_or(waited < round_trip(sides)) { Filled::Reordered } else { Filled::Retransmitted }
    }

    fn by_identifications(&self, ahead: Mark, late: Mark) -> Option<bool> {
        if self.rising < MIN_RISING || self.falling * MAX_FALLING > self.rising {
            return None;
        }
        match ahead.identification?.wrapping_sub(late.identification?) {
            1..LONGEST_STEP => Some(true),
            step if step > LONGEST_STEP.wrapping_neg() => Some(false),
            _ => None,
        }
    }

    fn by_timestamps(&self, ahead: Mark, late: Mark) -> Option<bool> {
        let (later, value) = (ahead.value?, late.value?);
        match later.wrapping_sub(value).cast_signed() {
            // With equal timestamps, the delay decides, unless it is longer than the tick.
            0 => (late.at.saturating_sub(ahead.at) as f64 > self.tick()?).then_some(true),
            difference => Some(difference > 0),
        }
    }

    /// Returns the sender's tick in nanoseconds.
    fn tick(&self) -> Option<f64> {
        let [(first, since), (newest, at)] = self.stamps?;
        let ticks = newest.wrapping_sub(first);
        (ticks > 0).then(|| at.saturating_sub(since) as f64 / f64::from(ticks))
    }
}

/// Returns the minimum time from a gap to the retransmission that fills it: the receiver's ACK must
/// reach the sender. If the capture is at one end, the time on that side alone would be too short.
fn round_trip((ahead, behind): (Option<u64>, Option<u64>)) -> u64 {
    match behind {
        Some(behind) => ahead.unwrap_or(0) + behind,
        None => ahead.unwrap_or(0).max(SHORT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver 50 ms away from its sender.
    const AT_RECEIVER: (Option<u64>, Option<u64>) = (Some(MS / 10), Some(50 * MS));
    const MS: u64 = 1_000_000;

    fn mark(at: u64, value: Option<u32>, identification: Option<u16>) -> Mark {
        Mark { at, captured: at, value, identification }
    }

    /// Returns the state after a segment per millisecond, with timestamps in milliseconds and
    /// identifications that step by `step`.
    fn order(step: u16) -> Order {
        let mut order = Order::default();
        (0..20_u16).for_each(|n| order.advance(mark(u64::from(n) * MS, Some(n.into()), Some(n.wrapping_mul(step)))));
        order
    }

    #[test]
    fn what_was_captured_before_is_out_of_order_in_the_file_only() {
        let late = Mark { captured: 9 * MS, ..mark(10 * MS, None, None) };
        assert_eq!(order(1).compare(mark(10 * MS, None, None), late, AT_RECEIVER), Filled::Misfiled);
    }

    /// 60 ms exceed the round trip, but the smaller number shows that the segment was sent earlier.
    #[test]
    fn identifications_show_the_order_of_sending() {
        let order = order(3);
        let ahead = mark(0, None, Some(300));
        assert_eq!(order.compare(ahead, mark(60 * MS, None, Some(297)), AT_RECEIVER), Filled::Reordered);
        assert_eq!(order.compare(ahead, mark(MS, None, Some(340)), AT_RECEIVER), Filled::Retransmitted);
    }

    #[test]
    fn random_identifications_are_inconclusive() {
        let order = order(0x6123);
        let ahead = mark(0, None, Some(300));
        assert_eq!(order.compare(ahead, mark(60 * MS, None, Some(297)), AT_RECEIVER), Filled::Retransmitted);
    }

    #[test]
    fn a_newer_timestamp_is_a_retransmission() {
        let order = order(0x6123);
        let ahead = mark(0, Some(7), None);
        assert_eq!(order.compare(ahead, mark(MS, Some(9), None), AT_RECEIVER), Filled::Retransmitted);
        assert_eq!(order.compare(ahead, mark(60 * MS, Some(6), None), AT_RECEIVER), Filled::Reordered);
        // The clock ticks every millisecond and has not advanced in between, so both were sent
        // together.
        assert_eq!(order.compare(ahead, mark(60 * MS, Some(7), None), AT_RECEIVER), Filled::Reordered);
    }

    /// A clock with ticks of 100 ms does not distinguish segments of one tick, but their delay
    /// does.
    #[test]
    fn within_a_tick_the_delay_decides() {
        let mut order = Order::default();
        (0..40_u32).for_each(|n| order.advance(mark(u64::from(n) * 10 * MS, Some(n / 10), None)));
        let (ahead, sides) = (mark(0, Some(7), None), (Some(0), Some(20 * MS)));
        assert_eq!(order.compare(ahead, mark(40 * MS, Some(7), None), sides), Filled::Retransmitted);
        assert_eq!(order.compare(ahead, mark(10 * MS, Some(7), None), sides), Filled::Reordered);
    }

    #[test]
    fn without_clocks_the_delay_decides() {
        let order = Order::default();
        let ahead = mark(0, None, None);
        let late = mark(10 * MS, None, None);
        assert_eq!(order.compare(ahead, late, AT_RECEIVER), Filled::Reordered);
        assert_eq!(order.compare(ahead, late, (Some(MS / 10), None)), Filled::Retransmitted);
        assert_eq!(order.compare(ahead, late, (Some(20 * MS), None)), Filled::Reordered);
        assert_eq!(order.compare(ahead, late, (None, None)), Filled::Retransmitted);
    }
}
