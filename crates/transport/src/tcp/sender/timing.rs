//! Round-trip times, and the retransmission timer that uses them (RFC 6298).

use super::super::rules::BackoffEnd;
use crate::recovery::rto::{self, Timer};
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Instant};

/// The round-trip estimator and the retransmission timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) rtt: Estimator,
    pub(super) rto: Timer,
    backoff_end: BackoffEnd,
}

impl Timing {
    pub(super) fn new(config: rto::RtoConfig, backoff_end: BackoffEnd) -> Self {
        Self { rtt: Estimator::new(config.deviation()), rto: Timer::new(config), backoff_end }
    }

    /// Records a sample of the round-trip time, and a sample for the minimum.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Duration, least: Duration, una: u64, nxt: u64) {
        self.rtt.sample_at(rtt, least, una, nxt);
        if self.backoff_end == BackoffEnd::Measurement {
            self.rto.end_backoff();
        }
    }

    /// Starts the timer for data that were sent.
    #[inline]
    pub(super) fn start(&mut self, now: Instant) {
        self.rto.start(now, &self.rtt);
    }

    /// Restarts the timer, because new data were acknowledged.
    pub(super) fn restart(&mut self, now: Instant) {
        if self.backoff_end == BackoffEnd::NewAck {
            self.rto.end_backoff();
        }
        self.rto.restart(now, &self.rtt);
    }

    /// Restarts the timer with its backoff.
    pub(super) fn rearm(&mut self, now: Instant) {
        self.rto.rearm(now, &self.rtt);
    }

    /// Returns the timeout without backoff.
    pub(super) fn timeout(&self) -> Duration {
        self.rto.base(&self.rtt)
    }
}
