//! Parameters that the sender of data reports to the receiver, so that both ends use the same
//! values (Li et al., SIGCOMM 2020, §4.4, §5.4; ToN 2021, §VI).
//!
//! RTTmin is reported when it is first measured, and when it changes by an eighth, which changes
//! the TACK frequency by an eighth too. L and β are reported when they change. ρ′ is reported
//! together with the other parameters, and when it changes by a half. A due report is sent with the
//! next data.
//!
//! In the paper, the sender derives the number of expected TACKs from the TACK frequency. Here,
//! every packet has a number, so the sender counts the missing packet numbers of the receiver.

use super::rate::LossRate;
use super::receiver::share_of;
use crate::ack::tack::Law;
use acklab_base::{Duration, Instant};
use acklab_wire::tack::{Sync, time::micros};

/// RTTmin is reported again once it has changed by more than RTTmin divided by this number.
const RTT_CHANGE: u32 = 8;
/// Minimum change of ρ′ that is reported: one hundredth. The change must also be at least a half.
const MIN_LOSS_CHANGE: u16 = 655;

#[derive(Debug)]
pub(super) struct Synced {
    law: Law,
    ack_loss: LossRate,
    /// The last report, and its departure time.
    told: Option<(Sync, Instant)>,
    is_due: bool,
}

impl Synced {
    pub(super) fn new(law: Law) -> Self {
        Self { law, ack_loss: LossRate::default(), told: None, is_due: false }
    }

    pub(super) const fn law(&self) -> Law {
        self.law
    }

    /// Returns ρ′, the fraction of lost ACKs.
    pub(super) fn ack_loss(&self) -> f64 {
        self.ack_loss.share()
    }

    /// Sets TACK's law, the formula for the frequency of the peer's TACKs.
    pub(super) const fn set_law(&mut self, law: Law) {
        self.law = law;
        self.is_due = true;
    }

    /// Handles a TACK. `expected` and `lost` count the peer's packets.
    #[inline]
    pub(super) fn on_tack(&mut self, now: Instant, rtt_min: Option<Duration>, (expected, lost): (u64, u64)) {
        self.ack_loss.on_interval(expected, lost);
        let Some(rtt_min) = rtt_min else { return };
        let Some((told, at)) = &self.told else {
            self.is_due = true;
            return;
        };
        let rtt = micros(rtt_min);
        let has_moved = rtt.abs_diff(told.rtt_min) > told.rtt_min / RTT_CHANGE;
        let loss = share_of(self.ack_loss.share());
        let loss_change = loss.abs_diff(told.ack_loss);
        let has_lost = loss_change > MIN_LOSS_CHANGE.max(told.ack_loss / 2);
        // Reports are sent at most once per round trip, because the last report may be in flight.
        if (has_moved || has_lost) && now.since(*at) >= rtt_min {
            self.is_due = true;
        }
    }

    /// Returns the report that is due now, or `None`.
    pub(super) fn take(&mut self, now: Instant, rtt_min: Option<Duration>) -> Option<Sync> {
        if !self.is_due {
            return None;
        }
        let sync = Sync {
            rtt_min: micros(rtt_min?).max(1),
            ack_loss: share_of(self.ack_loss.share()),
            packets: self.law.packets,
            beta: self.law.beta,
        };
        (self.told, self.is_due) = (Some((sync, now)), false);
        Some(sync)
    }

    /// Schedules the report again because it was lost.
    pub(super) const fn on_lost(&mut self) {
        self.is_due = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    #[test]
    fn changes_are_told_and_nothing_else() {
        let mut synced = Synced::new(Law::default());
        let rtts = [(0, 40), (10, 40), (20, 30), (40, 30), (50, 30), (100, 32), (200, 40)];
        let told = rtts.map(|(ms, rtt)| {
            synced.on_tack(at(ms), Some(MS * rtt), (0, 0));
            synced.take(at(ms), Some(MS * rtt)).map(|sync| sync.rtt_min)
        });
        assert_eq!(told, [Some(40_000), None, None, Some(30_000), None, None, Some(40_000)]);
        synced.on_lost();
        assert!(synced.take(at(201), Some(MS * 40)).is_some(), "a lost report is repeated");
        synced.set_law(Law { packets: 1, beta: 8 });
        let sync = synced.take(at(202), Some(MS * 40)).unwrap();
        assert_eq!((sync.packets, sync.beta), (1, 8));
    }

    #[test]
    fn losses_of_acks_are_told() {
        let mut synced = Synced::new(Law::default());
        synced.on_lost();
        synced.take(at(0), Some(MS * 40)).unwrap();
        for tack in 1..=40 {
            synced.on_tack(at(10 * tack), Some(MS * 40), (10 * tack, tack));
        }
        let sync = synced.take(at(400), Some(MS * 40)).unwrap();
        assert!((6500..6600).contains(&sync.ack_loss), "a tenth of 65 536: {}", sync.ack_loss);
    }
}
