//! Congestion window validation: the window grows only if the sender uses the whole window.

use super::super::rules::WindowValidation;
use super::send_memory::SendMemory;
use super::{AfterIdle, Sender};
use crate::cc::{CongestionControl, Window};
use crate::limit::Limit;
use crate::recovery::CongestionState;
use acklab_base::Instant;

/// The use of the window by the last transmissions, as in Linux (`net/ipv4/tcp_output.c`; Linux's
/// names in parentheses). Sizes are in bytes here, and in segments in Linux.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// `true` if the window was full (`is_cwnd_limited`).
    is_limited: bool,
    /// The maximum number of outstanding bytes, if the window was not full (`max_packets_out`).
    most: u64,
    /// The offset whose acknowledgment ends the validity of the two fields above
    /// (`cwnd_usage_seq`).
    until: u64,
    /// The end of the data that had been sent at the last check.
    seen: u64,
    /// The maximum number of outstanding bytes since the window was last used (`snd_cwnd_used`).
    used: u64,
    /// The time at which the window was last used, or an ACK last increased it (`snd_cwnd_stamp`).
    since: Instant,
}

impl Usage {
    /// Returns `true` if the window is used (`tcp_is_cwnd_limited`). In slow start, the use of half
    /// the window suffices.
    #[inline]
    const fn limits(&self, window: &Window) -> bool {
        self.is_limited || (window.in_slow_start() && window.cwnd < 2 * self.most)
    }

    /// Restarts the record after the window was reset for an idle period (`tcp_cwnd_restart`).
    pub(super) const fn restart(&mut self, now: Instant) {
        (self.used, self.since) = (0, now);
    }
}

impl Sender {
    /// Records that no segment can be sent now. The window has `room` bytes left.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Instant, room: u64) {
        let delayed = if self.transmission.paced_until.is_set() { self.delayed() } else { 0 };
        self.transmission.limit = Limit::of(room, self.congestion.control.window.mss, delayed);
        self.note_peer_window_limit(now);
        if self.rules.window_validation == WindowValidation::LastWindow {
            self.note_usage(now);
        }
    }

    /// Returns the bytes that pacing alone delays: lost bytes that are not retransmitted yet, and
    /// new bytes that the peer's window permits.
    fn delayed(&self) -> u64 {
        let board = &self.board;
        let new = self.unsent_with_fin().min(self.peer_window.room(board.nxt()));
        board.lost().saturating_sub(board.retransmitted()) + new
    }

    /// Returns `true` if the window is used. `prior_flight` bytes were in flight before the present
    /// ACK.
    #[inline]
    pub(super) fn uses_window(&mut self, now: Instant, prior_flight: u64) -> bool {
        let window = &self.congestion.control.window;
        match self.rules.window_validation {
            WindowValidation::PresentFlight => {
                self.transmission.limit.uses_window() || (window.in_slow_start() && window.cwnd < 2 * prior_flight)
            }
            WindowValidation::LastWindow => {
                // As in `tcp_cong_avoid`.
                self.usage.since = now;
                self.usage.limits(window)
            }
        }
    }

    /// Checks the use of the window at the end of Linux's `tcp_write_xmit`, if data were sent or
    /// the window blocks data.
    #[inline]
    fn note_usage(&mut self, now: Instant) {
        let is_limited = self.transmission.limit == Limit::Window;
        let nxt = self.board.nxt();
        if nxt > self.usage.seen || (is_limited && self.has_unsent()) {
            self.usage.seen = nxt;
            self.validate_window(now, is_limited);
        }
    }

    /// Records the use of the window (`tcp_cwnd_validate`).
    fn validate_window(&mut self, now: Instant, is_limited: bool) {
        let (outstanding, usage) = (self.board.flight_size(), &mut self.usage);
        let is_new_window = self.board.una() >= usage.until;
        if is_new_window || is_limited || (!usage.is_limited && outstanding > usage.most) {
            (usage.is_limited, usage.most, usage.until) = (is_limited, outstanding, self.board.nxt());
        }
        if usage.limits(&self.congestion.control.window) {
            usage.restart(now);
            return;
        }
        usage.used = usage.used.max(outstanding);
        let unused_for = now.since(usage.since);
        if unused_for >= self.timing.timeout() {
            self.shrink_unused_window(now);
        }
        self.note_send_buffer_limit(now);
    }

    /// Reduces a window that was not used for a retransmission timeout
    /// (`tcp_cwnd_application_limited`; RFC 2861).
    #[inline(never)]
    fn shrink_unused_window(&mut self, now: Instant) {
        if self.config.after_idle != AfterIdle::Decay || self.congestion.control.controller.governs_window() {
            return;
        }
        let waits_for_room = self.memory.as_ref().is_some_and(SendMemory::has_waiting_writer);
        if self.congestion.state == CongestionState::Open && !waits_for_room {
            let window = &mut self.congestion.control.window;
            let used = self.usage.used.max(u64::from(self.config.initial_window.0) * window.mss);
            if used < window.cwnd {
                window.remember_three_quarters();
                window.cwnd = window.cwnd.midpoint(used) / window.mss * window.mss;
            }
        }
        self.usage.restart(now);
    }
}
