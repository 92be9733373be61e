//! The idle timeout (RFC 9000, §10.1).

use acklab_base::{Duration, Instant};

/// Minimum idle timeout, as a number of probe timeouts (§10.1).
const PROBES: u64 = 3;

/// The start of the idle timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    began: Instant,
    /// `true` if an ack-eliciting packet was sent since the last arrival of a packet.
    has_sent: bool,
}

impl Idle {
    pub(super) const fn new() -> Self {
        Self { began: Instant::ZERO, has_sent: false }
    }

    /// Starts the timeout when the connection opens.
    pub(super) const fn begin(&mut self, now: Instant) {
        self.began = now;
    }

    /// Restarts the timeout because a packet has arrived.
    #[inline]
    pub(super) const fn on_arrival(&mut self, now: Instant) {
        (self.began, self.has_sent) = (now, false);
    }

    /// Restarts the timeout if the ack-eliciting packet that is sent is the first since an arrival.
    #[inline]
    pub(super) const fn on_sent(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.has_sent, true) {
            self.began = now;
        }
    }

    /// Returns `true` if the [timeout](Self::expires_at) may have expired at `now`. The result does
    /// not depend on the probe timeout, which is expensive to compute.
    #[inline]
    pub(super) fn may_expire_by(&self, now: Instant, mine: Option<Duration>, peer: Option<Duration>) -> bool {
        shorter(mine, peer).is_some_and(|timeout| self.began + timeout <= now)
    }

    /// Returns when the idle connection ends, by the timeouts of this end and of its peer. `probe`
    /// is the probe timeout without backoff. With backoff, three times the probe timeout would grow
    /// without bound.
    #[inline]
    pub(super) fn expires_at(
        &self,
        mine: Option<Duration>,
        peer: Option<Duration>,
        probe: impl FnOnce() -> Duration,
    ) -> Option<Instant> {
        Some(self.began + shorter(mine, peer)?.max(probe().saturating_mul(PROBES)))
    }
}

/// Returns the shorter of the enabled timeouts.
#[inline]
fn shorter(mine: Option<Duration>, peer: Option<Duration>) -> Option<Duration> {
    match (mine, peer) {
        (Some(mine), Some(peer)) => Some(mine.min(peer)),
        (mine, peer) => mine.or(peer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_first_packet_after_an_arrival_restarts_the_timeout() {
        let at = |ms| Instant::ZERO + MS * ms;
        let expires = |idle: &Idle| idle.expires_at(Some(MS * 100), None, || MS * 10);
        let mut idle = Idle::new();
        idle.begin(at(5));
        assert_eq!(expires(&idle), Some(at(105)));
        idle.on_sent(at(10));
        idle.on_sent(at(20));
        assert_eq!(expires(&idle), Some(at(110)));
        idle.on_arrival(at(30));
        idle.on_sent(at(40));
        assert_eq!(expires(&idle), Some(at(140)));
    }

    #[test]
    fn the_shorter_timeout_holds_and_three_probe_timeouts_at_least() {
        let idle = Idle::new();
        let expires =
            |mine, peer, probe: u64| idle.expires_at(mine, peer, || MS * probe).map(|at| at.since(Instant::ZERO));
        assert_eq!(expires(Some(MS * 100), Some(MS * 50), 10), Some(MS * 50));
        assert_eq!(expires(None, Some(MS * 50), 20), Some(MS * 60));
        assert_eq!(expires(None, None, 20), None);
    }
}
