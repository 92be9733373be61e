//! The time after which the connection is aborted (RFC 9293, §3.8.3; RFC 5482; Linux's
//! `TCP_USER_TIMEOUT`).
//!
//! As in Linux, the time counts from the first expiry of the retransmission timer for the same data
//! (`retrans_stamp`) or for the same shut window (`icsk_probes_tstamp`). No timer exceeds its end
//! (`tcp_clamp_rto_to_user_timeout`, `tcp_clamp_probe0_to_user_timeout`). It applies once the
//! connection is established.

use super::Sender;
use crate::recovery::alarm::Alarm;
use acklab_base::event::Closing;
use acklab_base::{Duration, Instant};

/// The user timeout of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UserTimeout {
    limit: Option<Duration>,
    /// The stall for which the retransmission timer has last expired.
    stalled: Option<Stall>,
    /// When the connection is aborted, if it is still stalled.
    alarm: Alarm,
}

/// The position of a stalled connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stall {
    una: u64,
    /// `true` if nothing is outstanding and probes wait for a window.
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
    /// Aborts the connection if it has not advanced for `limit` since its retransmission timer
    /// first expired; `None` disables this.
    pub(in crate::tcp) fn set_user_timeout(&mut self, limit: Option<Duration>) {
        self.user_timeout = UserTimeout { limit, ..UserTimeout::default() };
    }

    fn stall(&self) -> Option<Stall> {
        let is_probing = self.board.is_empty();
        (!is_probing || self.has_unsent()).then_some(Stall { una: self.board.una(), is_probing })
    }

    /// Starts the user timeout when the retransmission timer expires, unless it runs for the same
    /// stall.
    pub(super) fn note_stall(&mut self, now: Instant) {
        let Some(limit) = self.user_timeout.limit else { return };
        let stalled = self.stall();
        if self.user_timeout.stalled != stalled || !self.user_timeout.alarm.is_set() {
            self.user_timeout = UserTimeout { limit: Some(limit), stalled, alarm: Some(now + limit).into() };
        }
    }

    /// Ends the connection, without a RST (`tcp_write_err`), if the user timeout has passed.
    /// Returns `true` if it does.
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
