//! Holds data because the application is about to write more: `MSG_MORE` of `sendmsg`, and
//! `TCP_CORK` (Linux's `tcp_push` and `tcp_nagle_check` with `TCP_NAGLE_CORK`).
//!
//! The last segment is held until it is full. Nagle's algorithm (RFC 9293, §3.7.4) is not modelled.
//! Other data are sent immediately, as with `TCP_NODELAY`.

use super::Sender;

/// Flags of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendFlags {
    /// More data follow soon. The last segment is held until they are written, unless it is full
    /// (`MSG_MORE`).
    pub more: bool,
    /// A record ends. No segment contains bytes of two records (`MSG_EOR`).
    pub ends_record: bool,
}

/// The reasons why the last segment is held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold {
    /// `true` if the application holds every partial last segment (`TCP_NAGLE_CORK`).
    is_corked: bool,
    /// `true` if the last write announced more data, and no ACK has arrived since.
    awaits_more: bool,
    /// The offset below which segments are sent despite `is_corked` (`TCP_NAGLE_PUSH`).
    released_below: u64,
    /// `true` if the retransmission timer runs for held data.
    is_timed: bool,
}

impl Hold {
    /// Processes a write. A write without `more` releases the data of earlier writes.
    #[inline]
    pub(super) const fn note_write(&mut self, more: bool) {
        self.awaits_more = more;
    }

    /// Processes an ACK. After an ACK, Linux's `tcp_data_snd_check` still respects `TCP_CORK`, but
    /// no longer `MSG_MORE`.
    #[inline]
    pub(super) const fn note_ack(&mut self) {
        self.awaits_more = false;
    }

    /// Returns `true` if a partial last segment that begins at `start` is held.
    #[inline]
    const fn holds(&self, start: u64) -> bool {
        self.awaits_more || (self.is_corked && start >= self.released_below)
    }

    /// Releases all data below `end`.
    pub(super) const fn release(&mut self, end: u64) {
        (self.awaits_more, self.released_below) = (false, end);
    }
}

impl Sender {
    /// Starts or stops holding partial last segments (`TCP_CORK`).
    pub(in crate::tcp) const fn set_corked(&mut self, is_corked: bool) {
        let awaits_more = self.hold.awaits_more && is_corked;
        self.hold = Hold { is_corked, awaits_more, ..self.hold };
    }

    /// Releases held data. `TCP_CORK` then holds only later writes (Linux's
    /// `__tcp_sock_set_nodelay`).
    pub(in crate::tcp) fn release_held(&mut self) {
        self.hold.release(self.buffer.written());
    }

    /// Returns `true` if the next segment, of `octets` bytes, is held (`tcp_nagle_test`). A held
    /// segment is the last segment, is partial, and has no FIN.
    #[inline]
    pub(super) fn is_held(&self, octets: u64) -> bool {
        self.hold.holds(self.board.nxt()) && self.is_open_ended(octets)
    }

    #[inline(never)]
    fn is_open_ended(&self, octets: u64) -> bool {
        self.buffer.end().is_none() && octets == self.unsent_with_fin() && octets < self.full_payload()
    }

    /// Returns `true` if nothing is outstanding and only a hold blocks the next segment.
    fn waits_in_hold(&self) -> bool {
        self.board.is_empty() && self.next_new().is_some_and(|octets| self.is_held(octets))
    }

    /// Records whether the retransmission timer runs for held data. It runs if nothing is
    /// outstanding and no segment may be sent (Linux's `tcp_check_probe_timer`). The held data are
    /// sent when the timer expires.
    pub(super) fn time_hold(&mut self) {
        self.hold.is_timed = self.waits_in_hold();
    }

    /// Resets a timer that ran for held data, so that the timer restarts for data that are sent
    /// (Linux's `tcp_event_new_data_sent`).
    #[inline]
    pub(super) fn end_timed_hold(&mut self) {
        if std::mem::take(&mut self.hold.is_timed) {
            self.timing.rto.reset();
        }
    }

    /// Processes an expiry of the retransmission timer while nothing is outstanding. Returns `true`
    /// if the timer ran for held data. The held data are now sent with PSH (Linux's
    /// `tcp_write_wakeup`) and without backoff (`tcp_send_probe0`).
    pub(super) fn release_by_timer(&mut self) -> bool {
        let waits = self.waits_in_hold();
        if waits {
            self.release_held();
            self.pushes.push(self.buffer.written());
            self.end_timed_hold();
        }
        waits
    }
}
