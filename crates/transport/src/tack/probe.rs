//! Timers of the sender that expire without feedback.
//!
//! The receiver detects losses only if a later packet arrives. A probe timeout (RFC 9002, §6.2)
//! covers the tail of a flight, the handshake, and flights whose TACKs are all lost. A probe
//! requests an immediate TACK and reveals missing packets before the probe. A persist timer (RFC
//! 9293, §3.8.6.1) requests the update of a closed window.

use super::settings::Settings;
use crate::ack::tack::law::{LONGEST_DELAY, Path};
use crate::recovery::alarm::Alarm;
use acklab_base::{Duration, Instant};

use crate::ack::tack::Law;

/// Maximum number of times that a timeout doubles. The limit is above one minute, as in TCP (RFC
/// 6298, §2.5).
pub(super) const MAX_DOUBLINGS: u32 = 6;

/// Number of probes after the second and each later timeout; RFC 9002 (§6.2.4) permits two. If the
/// path loses the fraction p in each direction, a probe and its answer arrive with the probability
/// (1 − p)². Timeouts double, so the mean time to an answer is infinite if more than half of the
/// timeouts fail. With one probe per timeout, this is so beyond p = 29 %. With two probes, it is so
/// beyond 46 %.
const PROBES_AGAIN: u32 = 2;

#[derive(Debug, Default)]
pub(super) struct Probe {
    /// Number of probes that are due. They ignore the congestion window and pacing.
    due: u32,
    /// Number of probes that the last timeout scheduled.
    of_timeout: u32,
    /// The time at which to request the update of a closed window.
    persist: Alarm,
    questions: u32,
}

impl Probe {
    #[inline]
    pub(super) const fn is_due(&self) -> bool {
        self.due > 0
    }

    /// Returns `true` if a probe is due that is not the first probe of its timeout.
    pub(super) const fn is_second(&self) -> bool {
        self.due > 0 && self.due < self.of_timeout
    }

    /// Handles the expiry of the timeout. `in_a_row` is the number of expiries without an answer.
    pub(super) const fn on_timeout(&mut self, in_a_row: u32) {
        self.of_timeout = if in_a_row > 1 { PROBES_AGAIN } else { 1 };
        self.due = self.of_timeout;
    }

    /// Records that an ack-eliciting packet was sent.
    pub(super) const fn on_sent(&mut self) {
        self.due = self.due.saturating_sub(1);
    }

    /// Records an acknowledgment.
    pub(super) const fn on_progress(&mut self) {
        self.due = 0;
    }

    /// Starts the persist timer for a stream that is blocked by its window and has no data in
    /// flight. No feedback would report the window of such a stream.
    pub(super) fn await_window(&mut self, now: Instant, timeout: Duration) {
        if !self.persist.is_set() {
            let factor = 1 << self.questions.min(MAX_DOUBLINGS);
            self.persist.set(Some(now + timeout.saturating_mul(factor)));
        }
    }

    /// Stops the persist timer once no window blocks sending.
    pub(super) fn on_window(&mut self) {
        self.persist.set(None);
        self.questions = 0;
    }

    #[inline]
    pub(super) fn persists_until(&self) -> Option<Instant> {
        self.persist.at()
    }

    /// Returns `true` if a request for the window is due, and clears the request.
    pub(super) fn take_question(&mut self, now: Instant) -> bool {
        let is_due = self.persist.expire(now);
        self.questions += u32::from(is_due);
        is_due
    }
}

/// Returns the maximum time that the receiver may delay a TACK. With TACK's law, the time is twice
/// the TACK interval, which allows for the loss of one TACK.
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
