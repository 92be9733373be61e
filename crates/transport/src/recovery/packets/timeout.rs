//! The probe timeout (RFC 9002, §6.2).

use super::{GRANULARITY, Packets};
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Instant};

/// PTO (§6.2.1): smoothed_rtt + max(4 · rttvar, kGranularity) + max_ack_delay, doubled for each of `expiries` in a row. Before the first
/// sample, smoothed_rtt is `initial_rtt` and rttvar half of it (§5.3, §6.2.2). In the Initial and Handshake number spaces, `max_ack_delay`
/// is zero (§6.2.1).
#[must_use]
pub fn probe_timeout(rtt: &Estimator, initial_rtt: Duration, max_ack_delay: Duration, expiries: u32) -> Duration {
    let (srtt, rttvar) = rtt.srtt().map_or((initial_rtt, initial_rtt / 2), |srtt| (srtt, rtt.rttvar()));
    let timeout = srtt + (rttvar * 4).max(GRANULARITY) + max_ack_delay;
    timeout.saturating_mul(1u64.checked_shl(expiries).unwrap_or(u64::MAX))
}

impl<T> Packets<T> {
    /// When to probe: a timeout after the last packet left that must be acknowledged, while one of those is outstanding (§6.2.1). A
    /// time threshold that is being waited for goes before it (§6.2.1: the timer is not set while a loss timer is).
    #[must_use]
    pub fn probe_at(&self, timeout: Duration) -> Option<Instant> {
        let last = self.last_ack_eliciting_at().filter(|_| self.has_ack_eliciting() && self.loss_at().is_none())?;
        Some(Instant::from_nanos(last.as_nanos().saturating_add(timeout.as_nanos())))
    }
}
