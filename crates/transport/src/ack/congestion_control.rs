//! The receiver's half of ACK congestion control (RFC 5690).
//!
//! An ACK for every R segments, where R is two until the sender says otherwise by an ACK Ratio option (§4.1 to §4.3), within a
//! delayed-ACK timer of 500 ms at most. With R of two or less, disorder is acknowledged at once. With more, that goes for the first
//! three segments of a reordering event, which lasts while anything lies beyond a gap; the others count as any (§4.6). The segment
//! that ends the event is acknowledged at once (RFC 5681, §4.2).

use super::{Arrival, Decision, Ledger, Reason};
use acklab_base::Duration;

/// §4.1: the ratio to begin with; §4.6: up to it, disorder is never delayed.
const INITIAL_RATIO: u8 = 2;
/// §4.6.
const IMMEDIATE_DUPLICATES: u32 = 3;

/// An ACK for every R segments.
#[derive(Clone, Copy, Debug)]
pub struct CongestionControl {
    ratio: u8,
    timer: Duration,
    /// ACKs sent at once in this reordering event.
    duplicates: u32,
}

impl CongestionControl {
    pub(super) const fn new(timer: Duration) -> Self {
        Self { ratio: INITIAL_RATIO, timer, duplicates: 0 }
    }

    /// The sender asks for this ratio.
    pub(super) fn on_ratio(&mut self, ratio: u8) {
        self.ratio = ratio.max(1);
    }

    pub(super) fn decide(&mut self, arrival: &Arrival, ledger: &Ledger) -> Decision {
        match arrival {
            Arrival::Duplicate => return Decision::Now(Reason::Duplicate),
            Arrival::FillsGap { closed: true } => {
                self.duplicates = 0;
                return Decision::Now(Reason::FillsGap);
            }
            Arrival::InOrder => {}
            Arrival::OutOfOrder | Arrival::FillsGap { .. } => {
                if self.ratio <= INITIAL_RATIO || self.duplicates < IMMEDIATE_DUPLICATES {
                    self.duplicates += 1;
                    return Decision::Now(arrival.disorder().unwrap_or(Reason::OutOfOrder));
                }
            }
        }
        if ledger.arrived.segments >= u64::from(self.ratio) {
            return Decision::Now(Reason::SegmentCount);
        }
        Decision::At(ledger.newest + self.timer, Reason::Timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Instant;

    #[test]
    fn with_a_ratio_above_two_only_three_duplicates_are_immediate() {
        let mut policy = CongestionControl::new(Duration::from_millis(200));
        policy.on_ratio(4);
        let mut ledger = Ledger::default();
        let reasons: Vec<Option<Reason>> = (1..=12u64)
            .map(|segment| {
                ledger.enter(Instant::ZERO, segment * 1000..(segment + 1) * 1000, 0);
                match policy.decide(&Arrival::OutOfOrder, &ledger) {
                    Decision::Now(reason) => {
                        ledger.settle();
                        Some(reason)
                    }
                    _ => None,
                }
            })
            .collect();
        let (first, then) = (Some(Reason::OutOfOrder), Some(Reason::SegmentCount));
        assert_eq!(reasons[..3], [first; 3]);
        assert_eq!(reasons[3..], [None, None, None, then, None, None, None, then, None]);
        assert_eq!(policy.decide(&Arrival::FillsGap { closed: true }, &ledger), Decision::Now(Reason::FillsGap));
        assert_eq!(policy.decide(&Arrival::OutOfOrder, &ledger), Decision::Now(Reason::OutOfOrder), "a new event");
    }
}
