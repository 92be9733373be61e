//! The time after which the connection is aborted (RFC 9293, §3.8.3; RFC 5482; Linux's
//! `TCP_USER_TIMEOUT`).
//!
//! As in Linux, the time starts at the first expiry of the retransmission timer for the same data
//! (`retrans_stamp`) or for the same closed window (`icsk_probes_tstamp`). No timer expires after
//! the end of the user timeout (`tcp_clamp_rto_to_user_timeout`,
//! `tcp_clamp_probe0_to_user_timeout`). The user timeout applies once the connection is
//! established.

use super::Sender;
use crate::recovery::alarm::Alarm;
use acklab_base::event::Closing;
use acklab_base::{Duration, Instant};

/// The user timeout of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UserTimeout {
    limit: Option<Duration>,
    /// The stall for which the retransmission timer last expired.
    stalled: Option<Stall>,
    /// The time at which the connection is aborted if it is still stalled.
    alarm: Alarm,
}

/// The position of a stalled connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stall {
    una: u64,
    /// `true` if nothing is outstanding and zero-window probes are sent.
    is_probing: bool,
}

impl UserTimeout {
    /// Returns the earliest time at which the connection is aborted.
    #[inline]
    pub(super) const fn alarm(&self) -> Alarm {
        self.alarm
    }
}

impl Sender {
    /// Sets the user timeout: aborts the connection if it does not advance for `limit` after the
    /// first expiry of the retransmission timer. `None` disables the timeout.
    pub(in crate::tcp) fn set_user_timeout(&mut self, limit: Option<Duration>) {
        self.user_timeout = UserTimeout { limit, ..UserTimeout::default() };
    }

    fn stall(&self) -> Option<Stall> {
        let is_probing = self.board.is_empty();
        (!is_probing || self.has_unsent()).then_some(Stall { una: self.board.una(), is_probing })
    }

    /// Starts the user timeout when the retransmission timer expires. A user timeout that runs for
    /// the same stall continues.
    pub(super) fn note_stall(&mut self, now: Instant) {
        let Some(limit) = self.user_timeout.limit else { return };
        let stalled = self.stall();
        if self.user_timeout.stalled != stalled || !self.user_timeout.alarm.is_set() {
            self.user_timeout = UserTimeout { limit: Some(limit), stalled, alarm: Some(now + limit).into() };
        }
    }

    /// Ends the connection without a RST (`tcp_write_err`) if the user timeout has passed. Returns
    /// `true` if the connection has ended.
    pub(super) fn give_up(&mut self, now: Instant) -> bool {
        let is_over = self.user_timeout.alarm.expire(now)
            && self.user_timeout.stalled.is_some()
            && self.user_timeout.stalled == self.stall();
        if is_over {
            self.end(now, Closing::IdleTimeout);
        }
        is_over
    }
}
