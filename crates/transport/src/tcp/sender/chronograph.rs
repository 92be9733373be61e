//! Measures the times for which each condition limited the sender (`tcpi_busy_time`,
//! `tcpi_rwnd_limited`, `tcpi_sndbuf_limited` of `include/uapi/linux/tcp.h`; Linux's
//! `tcp_chrono_start` and `tcp_chrono_stop` in `net/ipv4/tcp_output.c`).

use super::send_memory::SendMemory;
use super::{Phase, Sender};
use acklab_base::{Duration, Instant};

/// The time in which the sender had unacknowledged data, and the parts of that time in which each
/// condition limited the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedTimes {
    /// The time with unsent or outstanding data (`tcpi_busy_time`). The two other times are parts
    /// of this time.
    pub busy: Duration,
    /// The time in which the peer's window, but not the congestion window, blocked the next segment
    /// (`tcpi_rwnd_limited`).
    pub by_peer_window: Duration,
    /// The time in which the application waited until the send buffer had room
    /// (`tcpi_sndbuf_limited`). Meanwhile, all its data were sent, and the congestion window was
    /// not full. Measured if memory limits the buffer
    /// ([`SendBufferLimit::Memory`](super::SendBufferLimit)).
    pub by_send_buffer: Duration,
}

/// The condition that the chronograph measures (`enum tcp_chrono`). If several conditions are true,
/// the last of them in this order is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition {
    /// No condition, because no data are unsent or outstanding.
    #[default]
    Idle,
    Busy,
    PeerWindow,
    SendBuffer,
}

/// The chronograph of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chronograph {
    condition: Condition,
    since: Instant,
    /// The durations of conditions that have ended. Here, `busy` is the time without another limit.
    times: LimitedTimes,
}

impl Chronograph {
    /// Starts `condition` (`tcp_chrono_start`).
    #[inline]
    pub(super) fn start(&mut self, now: Instant, condition: Condition) {
        if condition > self.condition {
            self.set(now, condition);
        }
    }

    /// Stops `condition` (`tcp_chrono_stop`). `has_data` is `true` if data are unsent or
    /// outstanding.
    #[inline]
    pub(super) fn stop(&mut self, now: Instant, condition: Condition, has_data: bool) {
        if !has_data {
            self.set(now, Condition::Idle);
        } else if condition == self.condition {
            self.set(now, Condition::Busy);
        }
    }

    /// Switches to `condition` (`tcp_chrono_set`).
    fn set(&mut self, now: Instant, condition: Condition) {
        if condition != self.condition {
            self.times = self.with_present(now);
            (self.condition, self.since) = (condition, now);
        }
    }

    /// Returns the times, including the present condition up to `now`.
    fn with_present(&self, now: Instant) -> LimitedTimes {
        let (mut times, time) = (self.times, now.since(self.since));
        match self.condition {
            Condition::Idle => {}
            Condition::Busy => times.busy += time,
            Condition::PeerWindow => times.by_peer_window += time,
            Condition::SendBuffer => times.by_send_buffer += time,
        }
        times
    }

    /// Returns the times as `tcp_get_info_chrono_stats` does: the sender is also busy while a
    /// window or the send buffer limits it.
    fn read(&self, now: Instant) -> LimitedTimes {
        let times = self.with_present(now);
        LimitedTimes { busy: times.busy + times.by_peer_window + times.by_send_buffer, ..times }
    }
}

impl Sender {
    /// Returns the times for which each condition has limited the sender, up to `now`.
    #[must_use]
    pub fn limited_times(&self, now: Instant) -> LimitedTimes {
        self.chronograph.read(now)
    }

    /// Records the start of the busy time. The application has written or closed, or the connection
    /// is established after earlier writes.
    #[inline]
    pub(super) fn note_busy(&mut self, now: Instant) {
        if self.connection.phase == Phase::Established && self.has_data() {
            self.chronograph.start(now, Condition::Busy);
        }
    }

    /// Records that all sent data are acknowledged.
    pub(super) fn note_not_busy(&mut self, now: Instant) {
        let has_data = self.has_data();
        self.chronograph.stop(now, Condition::Busy, has_data);
    }

    /// Records whether the peer's window blocks the next segment (the end of `tcp_write_xmit`).
    #[inline]
    pub(super) fn note_peer_window_limit(&mut self, now: Instant) {
        self.transmission.limited_by_peer = self.is_limited_by_peer_window();
        if self.transmission.limited_by_peer {
            self.chronograph.start(now, Condition::PeerWindow);
        } else if self.chronograph.condition == Condition::PeerWindow {
            let has_data = self.has_data();
            self.chronograph.stop(now, Condition::PeerWindow, has_data);
        }
    }

    /// Records the end of `tcp_cwnd_validate` if the congestion window is not full.
    pub(super) fn note_send_buffer_limit(&mut self, now: Instant) {
        if !self.has_unsent() && self.memory.as_ref().is_some_and(SendMemory::has_waiting_writer) {
            self.chronograph.start(now, Condition::SendBuffer);
        }
    }

    /// Records that the application no longer waits until the send buffer has room
    /// (`tcp_check_space`).
    pub(super) fn note_room_in_send_buffer(&mut self, now: Instant) {
        let has_data = self.has_data();
        self.chronograph.stop(now, Condition::SendBuffer, has_data);
    }

    fn has_data(&self) -> bool {
        !self.board.is_empty() || self.has_unsent()
    }

    /// Returns `true` if the next whole new segment fits into the congestion window but not into
    /// the peer's window (`tcp_snd_wnd_test` after `tcp_cwnd_test`).
    #[inline]
    fn is_limited_by_peer_window(&self) -> bool {
        let (offered, full) = (self.peer_window.room(self.board.nxt()), self.full_payload());
        if offered >= full {
            return false;
        }
        let segment = self.unsent_of_record().min(full);
        segment > offered && self.congestion.room(self.board.pipe()) >= segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn read(chronograph: &Chronograph, millis: u64) -> [u64; 3] {
        let times = chronograph.read(at(millis));
        [times.busy, times.by_peer_window, times.by_send_buffer].map(|time| time.as_nanos() / 1_000_000)
    }

    #[test]
    fn the_last_of_several_conditions_is_measured() {
        let mut chronograph = Chronograph::default();
        assert_eq!(read(&chronograph, 10), [0, 0, 0]);
        chronograph.start(at(10), Condition::Busy);
        chronograph.start(at(15), Condition::PeerWindow);
        chronograph.start(at(18), Condition::Busy);
        assert_eq!(read(&chronograph, 25), [15, 10, 0]);
        chronograph.start(at(25), Condition::SendBuffer);
        chronograph.stop(at(27), Condition::PeerWindow, true);
        assert_eq!(read(&chronograph, 30), [20, 10, 5]);
        chronograph.stop(at(30), Condition::SendBuffer, true);
        assert_eq!(read(&chronograph, 32), [22, 10, 5]);
    }

    #[test]
    fn without_data_it_stands_still() {
        let mut chronograph = Chronograph::default();
        chronograph.start(at(0), Condition::Busy);
        chronograph.start(at(5), Condition::SendBuffer);
        chronograph.stop(at(8), Condition::Busy, false);
        assert_eq!(read(&chronograph, 100), [8, 0, 3]);
        chronograph.start(at(100), Condition::Busy);
        assert_eq!(read(&chronograph, 101), [9, 0, 3]);
    }
}
