//! Loss detection by thresholds (RFC 9002, §6.1).

use super::{GRANULARITY, Packet, Packets, State};
use crate::recovery::delivery_rate::Stamp;
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Instant};

/// The parameters of loss detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// kPacketThreshold (§6.1.1): a packet is lost if an acknowledged number exceeds the packet's
    /// number by this value.
    pub packets: u64,
    /// kTimeThreshold (§6.1.2): a packet is lost if it was sent this number of round-trip times
    /// ago, and a later packet was acknowledged.
    pub time: f64,
    /// kInitialRtt (§6.2.2): the round-trip time used before the first sample.
    pub initial_rtt: Duration,
    /// The difference between the time threshold and a round-trip time, in quarters of the minimum
    /// round-trip time, if the threshold [adapts](super::Widening).
    pub steps: u64,
}

impl Thresholds {
    /// The values that RFC 9002 recommends.
    pub const RFC: Self = Self { packets: 3, time: 1.125, initial_rtt: Duration::from_millis(333), steps: 0 };

    /// Raises the packet threshold so that a packet that is `displacement` numbers late is not
    /// considered lost. The threshold never decreases. §6.1.1 permits this for observed reordering;
    /// see `GeneralLossAlgorithm::SpuriousLossDetected` of Google's quiche.
    pub fn adapt(&mut self, displacement: u64) {
        self.packets = self.packets.max(displacement + 1);
    }

    /// Returns the time threshold (§6.1.2): max(kTimeThreshold · max(smoothed_rtt, latest_rtt),
    /// kGranularity). An adaptive threshold is at least a round-trip time plus RACK's reordering
    /// window. That window is at most another round-trip time (RFC 8985, §6.2, step 4).
    #[must_use]
    pub fn time_threshold(&self, rtt: &Estimator) -> Duration {
        let srtt = rtt.srtt().unwrap_or(self.initial_rtt);
        let round_trip = srtt.max(rtt.latest());
        let window = (rtt.min().unwrap_or_default() / 4).saturating_mul(self.steps).min(srtt);
        let widened = if self.steps > 0 { round_trip + window } else { Duration::ZERO };
        Duration::from_nanos((round_trip.as_nanos() as f64 * self.time) as u64).max(widened).max(GRANULARITY)
    }
}

/// The result of the thresholds for a packet that was sent before an acknowledged one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet is lost.
    Lost,
    /// The packet will be lost at this instant, unless it is acknowledged before.
    LostAt(Instant),
}

impl Verdict {
    /// Returns the verdict at `now` on packet `number`, which was sent at `sent_at`, if `largest`
    /// is acknowledged. The packet is lost if its number is smaller by `packets`, or if it was sent
    /// `time` ago (RFC 9002, §6.1).
    #[must_use]
    #[inline]
    pub fn on(now: Instant, (number, sent_at): (u64, Instant), largest: u64, packets: u64, time: Duration) -> Self {
        let due = sent_at + time;
        if number.saturating_add(packets) <= largest || due <= now { Self::Lost } else { Self::LostAt(due) }
    }
}

/// A packet that was lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost<T> {
    /// The number of the packet.
    pub number: u64,
    /// The packet.
    pub packet: Packet<T>,
    /// The stamp of the packet, if stamps are recorded.
    pub stamp: Stamp,
}

impl<T> Packets<T> {
    /// Appends to `lost` the packets that are considered lost at `now`
    /// (`DetectAndRemoveLostPackets`, appendix A.10). These packets were sent before an
    /// acknowledged one. A packet is lost if its number is smaller by `packets`, or if it was sent
    /// `time` ago. Numbers and sending times both increase, so the first packet that is not lost
    /// ends the search.
    pub fn detect_losses(&mut self, now: Instant, packets: u64, time: Duration, lost: &mut Vec<Lost<T>>) {
        self.loss_at = None;
        let Some(largest) = self.largest_acknowledged else { return };
        while self.settled < largest.saturating_add(1).min(self.next_number()) {
            let number = self.settled;
            let index = (number - self.first) as usize;
            if let State::Outstanding(Packet { at, .. }) = self.states[index] {
                match Verdict::on(now, (number, at), largest, packets, time) {
                    Verdict::Lost => self.mark_lost(number, lost),
                    Verdict::LostAt(due) => {
                        self.loss_at = Some(due);
                        break;
                    }
                }
            }
            self.pass_settled();
        }
        while self.first < self.settled && !matches!(self.states.front(), Some(State::Lost { .. })) {
            self.pop();
        }
    }

    /// Removes the packet with this number, which is in the list, from the bytes in flight and
    /// appends it to `lost`. Does nothing unless the packet is outstanding.
    pub(super) fn mark_lost(&mut self, number: u64, lost: &mut Vec<Lost<T>>) {
        let index = (number - self.first) as usize;
        let State::Outstanding(Packet { at, octets, is_ack_eliciting, is_in_flight, .. }) = self.states[index] else {
            return;
        };
        let octets = if is_in_flight { octets } else { 0 };
        let state = State::Lost { at, octets, is_ack_eliciting };
        if let State::Outstanding(packet) = std::mem::replace(&mut self.states[index], state) {
            self.uncount(&packet);
            let stamp = self.stamps.get(index).copied().unwrap_or_default();
            lost.push(Lost { number, packet, stamp });
        }
    }

    /// Returns when losses must be detected next, if no acknowledgment arrives (`loss_time`,
    /// appendix A.3).
    #[must_use]
    pub const fn loss_at(&self) -> Option<Instant> {
        self.loss_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_that_adapts_waits_for_what_was_late() {
        let mut thresholds = Thresholds::RFC;
        thresholds.adapt(0);
        assert_eq!(thresholds.packets, 3, "never below what RFC 9002 recommends");
        thresholds.adapt(7);
        let verdict = Verdict::on(Instant::ZERO, (0, Instant::ZERO), 7, thresholds.packets, Duration::from_secs(1));
        assert_eq!(verdict, Verdict::LostAt(Instant::ZERO + Duration::from_secs(1)), "seven behind waits now");
        thresholds.adapt(5);
        assert_eq!(thresholds.packets, 8);
    }

    /// RFC 8985, §6.2, step 4: RACK.rtt + min(steps · min_RTT / 4, SRTT), and at least 9/8 of a
    /// round-trip time.
    #[test]
    fn a_time_threshold_that_adapts_is_a_round_trip_and_the_window_of_rack() {
        let mut rtt = Estimator::default();
        rtt.sample(Duration::from_millis(80));
        let after = |steps| Thresholds { steps, ..Thresholds::RFC }.time_threshold(&rtt).as_nanos() / 1_000_000;
        assert_eq!([0, 1, 2, 4, 9].map(after), [90, 100, 120, 160, 160]);
    }

    #[test]
    fn a_verdict_follows_from_either_threshold() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let verdict =
            |now, number, largest| Verdict::on(at(now), (number, at(0)), largest, 3, Duration::from_millis(45));
        assert_eq!(verdict(10, 1, 3), Verdict::LostAt(at(45)));
        assert_eq!(verdict(10, 1, 4), Verdict::Lost, "the packet threshold");
        assert_eq!(
            [44, 45].map(|now| verdict(now, 3, 3)),
            [Verdict::LostAt(at(45)), Verdict::Lost],
            "the time threshold"
        );
    }
}
