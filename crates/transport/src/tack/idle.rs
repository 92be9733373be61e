//! The idle timeout (RFC 9000, §10.1), and the keep-alive of idle connections.
//!
//! Each end announces its idle timeout in the handshake, and the shorter of the two applies. The
//! timeout starts at the last packet of the peer, or at the first ack-eliciting packet sent after
//! that packet. An expired connection sends no packets, so that probes, repeated Opens and repeated
//! Accepts end too. A keep-alive keeps an idle connection and the state of middleboxes alive: an
//! end requests a TACK at intervals (§10.1.2).

use super::connection::{Connection, Phase};
use acklab_base::event::Closing;
use acklab_base::{Duration, Instant};

/// Minimum idle timeout, as a number of probe timeouts (RFC 9000, §10.1).
const MIN_PROBES: u64 = 3;

/// Times at which the connection ends or sends a keep-alive. A time of zero disables the timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idle {
    timeout: Duration,
    keep_alive: Duration,
    since: Option<Instant>,
    /// `true` if an ack-eliciting packet was sent since the last packet of the peer.
    has_asked: bool,
    ping_is_due: bool,
}

impl Idle {
    pub(super) const fn new(timeout: Duration, keep_alive: Duration) -> Self {
        Self { timeout, keep_alive, since: None, has_asked: false, ping_is_due: false }
    }

    /// Applies the timeout that the peer announces.
    pub(super) fn agree(&mut self, timeout: Duration) {
        if !timeout.is_zero() && (self.timeout.is_zero() || timeout < self.timeout) {
            self.timeout = timeout;
        }
    }

    /// Restarts the timeout because a packet of the peer has arrived.
    #[inline]
    pub(super) const fn on_arrival(&mut self, now: Instant) {
        (self.since, self.has_asked) = (Some(now), false);
    }

    /// Records that an ack-eliciting packet is sent.
    #[inline]
    pub(super) const fn on_asked(&mut self, now: Instant) {
        if !self.has_asked {
            (self.since, self.has_asked) = (Some(now), true);
        }
    }

    /// Returns when the idle connection ends.
    #[inline]
    pub(super) fn expires_at(&self, probe_timeout: Duration) -> Option<Instant> {
        let since = self.since.filter(|_| !self.timeout.is_zero())?;
        Some(since + self.timeout.max(probe_timeout.saturating_mul(MIN_PROBES)))
    }

    /// Returns when to send a keep-alive. While a keep-alive is outstanding, the probe timeout
    /// repeats it.
    #[inline]
    pub(super) fn asks_at(&self) -> Option<Instant> {
        let is_quiet = !self.keep_alive.is_zero() && !self.has_asked && !self.ping_is_due;
        self.since.filter(|_| is_quiet).map(|since| since + self.keep_alive)
    }

    /// Schedules a keep-alive immediately.
    pub(super) const fn ask(&mut self) {
        self.ping_is_due = true;
    }

    /// Returns `true` if a Ping is due.
    #[inline]
    pub(super) const fn is_ping_due(&self) -> bool {
        self.ping_is_due
    }

    pub(super) const fn take_ping(&mut self) -> bool {
        std::mem::replace(&mut self.ping_is_due, false)
    }
}

impl Connection {
    /// Returns when the idle connection ends or sends a keep-alive, whichever is earlier.
    #[inline]
    pub(super) fn idle_deadline(&self) -> Option<Instant> {
        let asks_at = if self.phase == Phase::Established { self.idle.asks_at() } else { None };
        Instant::earliest(self.idle.expires_at(self.sender.base_timeout()), asks_at)
    }

    /// Ends the connection if its timeout has expired. Returns `true` if the connection has ended.
    pub(super) fn wake_idle(&mut self, now: Instant) -> bool {
        if self.idle.expires_at(self.sender.base_timeout()).is_some_and(|at| at <= now) {
            self.end(Closing::IdleTimeout, 0);
            return true;
        }
        if self.phase == Phase::Established && self.idle.asks_at().is_some_and(|at| at <= now) {
            self.idle.ask();
        }
        false
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
    fn the_shorter_timeout_runs_from_the_last_sign_of_life() {
        let mut idle = Idle::new(MS * 500, Duration::ZERO);
        idle.agree(Duration::ZERO);
        idle.agree(MS * 400);
        assert_eq!(idle.expires_at(MS), None, "nothing has left or arrived");
        idle.on_arrival(at(10));
        assert_eq!(idle.expires_at(MS), Some(at(410)));
        idle.on_asked(at(100));
        idle.on_asked(at(200));
        assert_eq!(idle.expires_at(MS), Some(at(500)), "the first request counts, not its repetitions");
        assert_eq!(idle.expires_at(MS * 200), Some(at(700)), "three probes have their time");
        assert_eq!(idle.asks_at(), None);
    }

    #[test]
    fn a_silent_connection_asks_for_a_sign_of_life() {
        let mut idle = Idle::new(Duration::ZERO, MS * 50);
        idle.on_arrival(at(10));
        assert_eq!((idle.asks_at(), idle.expires_at(MS)), (Some(at(60)), None));
        idle.on_asked(at(60));
        assert_eq!(idle.asks_at(), None, "the probe timeout repeats it");
    }
}
