//! Timers of the sender, for when nothing comes back.
//!
//! The receiver detects losses, so it must hear of something behind them. The tail of a flight, the
//! handshake, and flights of which every TACK is lost are left to a probe timeout (RFC 9002, §6.2):
//! a probe asks for a TACK at once and exposes what is missing before it. A window that is shut is
//! asked for by a persist timer (RFC 9293, §3.8.6.1).

use super::settings::Settings;
use crate::ack::tack::law::{LONGEST_DELAY, Path};
use crate::recovery::alarm::Alarm;
use acklab_base::{Duration, Instant};

use crate::ack::tack::Law;

/// The largest number of times that a timeout doubles: to a minute and more, as TCP's (RFC 6298,
/// §2.5).
pub(super) const MAX_DOUBLINGS: u32 = 6;

/// Probes of a timeout that follows another one; RFC 9002 (§6.2.4) allows two. A probe and its
/// answer pass a path that loses the share p in each direction with the probability (1 − p)². As
/// timeouts double, the mean time to an answer is infinite if more than half of them fail: with one
/// probe beyond p = 29 %, with two beyond 46 %.
const PROBES_AGAIN: u32 = 2;

#[derive(Debug, Default)]
pub(super) struct Probe {
    /// Probes that are to leave, past window and pacing.
    due: u32,
    /// How many there were when the timeout passed.
    of_timeout: u32,
    /// When to ask for a window that is shut.
    persist: Alarm,
    questions: u32,
}

impl Probe {
    #[inline]
    pub(super) const fn is_due(&self) -> bool {
        self.due > 0
    }

    /// Returns `true` if a probe is due, and it is not the first of its timeout.
    pub(super) const fn is_second(&self) -> bool {
        self.due > 0 && self.due < self.of_timeout
    }

    /// The timeout has passed, `in_a_row` times without an answer.
    pub(super) const fn on_timeout(&mut self, in_a_row: u32) {
        self.of_timeout = if in_a_row > 1 { PROBES_AGAIN } else { 1 };
        self.due = self.of_timeout;
    }

    /// Something has left that has to be acknowledged.
    pub(super) const fn on_sent(&mut self) {
        self.due = self.due.saturating_sub(1);
    }

    /// Something was acknowledged.
    pub(super) const fn on_progress(&mut self) {
        self.due = 0;
    }

    /// A window holds back a stream of which nothing is in flight, so that no feedback reports it:
    /// requests it after a timeout.
    pub(super) fn await_window(&mut self, now: Instant, timeout: Duration) {
        if !self.persist.is_set() {
            let factor = 1 << self.questions.min(MAX_DOUBLINGS);
            self.persist.set(Some(now + timeout.saturating_mul(factor)));
        }
    }

    /// No window holds back sending any more.
    pub(super) fn on_window(&mut self) {
        self.persist.set(None);
        self.questions = 0;
    }

    #[inline]
    pub(super) fn persists_until(&self) -> Option<Instant> {
        self.persist.at()
    }

    /// Returns `true` if it is time to ask for a window, and takes the request.
    pub(super) fn take_question(&mut self, now: Instant) -> bool {
        let is_due = self.persist.expire(now);
        self.questions += u32::from(is_due);
        is_due
    }
}

/// The longest that the receiver may wait with a TACK: by the law if it goes by the law, with as
/// much again for a TACK that is lost.
pub(super) fn tack_delay(settings: &Settings, law: Law, rate: Option<u64>, rtt_min: Option<Duration>) -> Duration {
    if !matches!(settings.ack, crate::ack::PolicyConfig::Tack(_)) {
        return LONGEST_DELAY;
    }
    let path = Path { mss: settings.mss(), bandwidth: rate, rtt_min };
    let by_octets = law.time_of_octets(&path).unwrap_or(LONGEST_DELAY).min(LONGEST_DELAY);
    by_octets.max(law.period(rtt_min)).saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_tack_takes_what_the_law_says() {
        let (settings, law) = (Settings::default(), Law::default());
        let delay = |rate, rtt| tack_delay(&settings, law, rate, rtt);
        assert_eq!(delay(Some(100_000_000), Some(MS * 80)), MS * 40, "twice RTTmin/β");
        assert_eq!(delay(Some(2 * 1427 * 10), Some(MS * 80)), MS * 200, "twice L·MSS/bw");
        assert_eq!(delay(None, Some(MS * 80)), LONGEST_DELAY * 2);
    }

    #[test]
    fn a_window_is_asked_for_again_and_again() {
        let (mut probe, at) = (Probe::default(), |ms| Instant::ZERO + MS * ms);
        probe.await_window(at(0), MS * 100);
        assert!(!probe.take_question(at(99)) && probe.take_question(at(100)) && !probe.take_question(at(100)));
        probe.await_window(at(100), MS * 100);
        assert_eq!(probe.persists_until(), Some(at(300)));
        probe.on_window();
        assert_eq!(probe.persists_until(), None);
    }
}
