//! Round-trip times, and the retransmission timer that follows them (RFC 6298).

use crate::recovery::rto::{self, Timer};
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Instant};

/// The estimate and its timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) rtt: Estimator,
    pub(super) rto: Timer,
}

impl Timing {
    pub(super) fn new(config: rto::Config) -> Self {
        Self { rtt: Estimator::default(), rto: Timer::new(config) }
    }

    /// Something was sent.
    #[inline]
    pub(super) fn start(&mut self, now: Instant) {
        self.rto.start(now, &self.rtt);
    }

    /// New data was acknowledged.
    pub(super) fn restart(&mut self, now: Instant) {
        self.rto.restart(now, &self.rtt);
    }

    /// Restarts the timer with its backoff.
    pub(super) fn rearm(&mut self, now: Instant) {
        self.rto.rearm(now, &self.rtt);
    }

    /// The timeout without backoff.
    pub(super) fn timeout(&self) -> Duration {
        self.rto.base(&self.rtt)
    }
}
