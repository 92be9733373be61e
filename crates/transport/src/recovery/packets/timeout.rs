//! The probe timeout (RFC 9002, §6.2).

use super::{GRANULARITY, Packets};
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Event, Instant};

/// Returns the PTO (§6.2.1): smoothed_rtt + max(4 · rttvar, kGranularity) + max_ack_delay, doubled
/// for each of `expiries` consecutive timeouts. Before the first sample, smoothed_rtt is
/// `initial_rtt`, and rttvar is half of `initial_rtt` (§5.3, §6.2.2). In the Initial and Handshake
/// number spaces, `max_ack_delay` is zero (§6.2.1).
#[must_use]
pub fn probe_timeout(rtt: &Estimator, initial_rtt: Duration, max_ack_delay: Duration, expiries: u32) -> Duration {
    let (srtt, rttvar) = rtt.srtt().map_or((initial_rtt, initial_rtt / 2), |srtt| (srtt, rtt.rttvar()));
    let timeout = srtt + (rttvar * 4).max(GRANULARITY) + max_ack_delay;
    timeout.saturating_mul(1u64.checked_shl(expiries).unwrap_or(u64::MAX))
}

/// The number of probe timeouts: the consecutive ones (`pto_count` of RFC 9002, appendix A.3) and
/// the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expiries {
    in_a_row: u32,
    /// The number of timeouts that directly follow an acknowledgment.
    pub probes: u64,
    /// The number of timeouts that follow another timeout.
    pub timeouts: u64,
}

impl Expiries {
    /// Returns the number of consecutive timeouts.
    #[must_use]
    #[inline]
    pub const fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// Counts a timeout.
    pub const fn on_timeout(&mut self) {
        if self.in_a_row == 0 {
            self.probes += 1;
        } else {
            self.timeouts += 1;
        }
        self.in_a_row += 1;
    }

    /// Resets the number of consecutive timeouts, because a packet was acknowledged or no packet is
    /// outstanding any more.
    #[inline]
    pub const fn reset(&mut self) {
        self.in_a_row = 0;
    }

    /// Returns the event of the last timeout. `is_open` is `true` after the handshake; `repeats` is
    /// `true` if the probe has no new data to carry.
    #[must_use]
    pub const fn event(&self, is_open: bool, repeats: bool) -> Event {
        match self.in_a_row {
            _ if !is_open => Event::SynTimeout,
            0 | 1 => Event::TailLossProbe { is_retransmission: repeats },
            backoff => Event::RetransmissionTimeout { backoff: backoff - 1 },
        }
    }
}

impl<T> Packets<T> {
    /// Returns when to probe: `timeout` after the last ack-eliciting packet was sent, if one is
    /// outstanding (§6.2.1). A pending time threshold has priority (§6.2.1: the probe timer is not
    /// set while a loss timer is set).
    #[must_use]
    pub fn probe_at(&self, timeout: Duration) -> Option<Instant> {
        let last = self.last_ack_eliciting_at().filter(|_| self.has_ack_eliciting() && self.loss_at().is_none())?;
        Some(Instant::from_nanos(last.as_nanos().saturating_add(timeout.as_nanos())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn timeouts_double_until_something_is_acknowledged() {
        let (mut expiries, mut estimator) = (Expiries::default(), Estimator::default());
        estimator.sample(MS * 100);
        let timeout = |expiries: &Expiries| probe_timeout(&estimator, MS * 333, MS * 50, expiries.in_a_row());
        let timeouts = [(); 3].map(|()| {
            let timeout = timeout(&expiries);
            expiries.on_timeout();
            (timeout, expiries.event(true, true))
        });
        let repeated = |backoff| Event::RetransmissionTimeout { backoff };
        let first = Event::TailLossProbe { is_retransmission: true };
        let expected = [(MS * 350, first), (MS * 700, repeated(1)), (MS * 1400, repeated(2))];
        assert_eq!(timeouts, expected, "100 + 4 · 50 + 50");
        assert_eq!((expiries.probes, expiries.timeouts), (1, 2));
        expiries.reset();
        assert_eq!(timeout(&expiries), MS * 350);
        expiries.on_timeout();
        assert_eq!(expiries.event(false, true), Event::SynTimeout, "a probe of the handshake");
    }
}
