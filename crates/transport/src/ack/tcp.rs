//! Events that only TCP reports to a policy.

use super::{Decision, Held, Ledger, Reason};
use acklab_base::Instant;
use acklab_wire::tcp::AckRate;

/// The space that unread data leave in the receive buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// `true` if less than half of the buffer is free.
    pub is_short: bool,
    /// `true` if an ACK would offer a smaller window than the last one.
    pub shrinks: bool,
}

/// Events of a TCP receiver that other transports do not have. A policy overrides those that it
/// uses.
pub trait TcpEvents {
    /// Called at the first congestion mark after the sender last reduced its window (RFC 3168,
    /// §6.1.3).
    fn on_first_mark(&mut self) {}

    /// Called when the sender reports CWR (congestion window reduced).
    fn on_window_reduced(&mut self) {}

    /// Called when the segment being processed makes the receive window grow, which happens with
    /// [autotuning](crate::tcp::receiver::ReceiveWindow).
    fn on_window_growth(&mut self) {}

    /// Called when the segment being processed is in order and either ends a write of the sender's
    /// application (PSH) or is not full-sized. `is_read` is `true` if the local application has
    /// read the segment.
    fn on_push(&mut self, _is_read: bool) {}

    /// Called when a data segment of this end is sent and carries the acknowledgment.
    fn on_data_sent(&mut self, _now: Instant) {}

    /// Called when the application has not read all data that arrived before the segment or ACK
    /// being processed.
    fn on_unread(&mut self, _room: Room) {}

    /// Called when the application has read while an ACK is pending. Returns the reason to
    /// acknowledge now, if any.
    fn on_read(&mut self, _ledger: &Ledger, _held: Held<'_>) -> Option<Reason> {
        None
    }

    /// Called when the application has read all data and no gap is open. Returns the reason to
    /// acknowledge now, if any.
    fn on_emptied(&mut self) -> Option<Reason> {
        None
    }

    /// Called when the peer's FIN and all data before it have arrived, and the local application
    /// continues to send. The next data would carry the ACK. `None` means an immediate ACK (RFC
    /// 9293, §3.10.7.4, eighth).
    fn on_fin(&mut self, _now: Instant, _ledger: &Ledger, _held: Held<'_>) -> Option<Decision> {
        None
    }

    /// Called when the sender requests an ACK every `ratio` segments (RFC 5690, §4.2).
    fn on_ack_ratio(&mut self, _ratio: u8) {}

    /// Called when the segment being processed requests ACKs (draft-ietf-tcpm-ack-rate-request).
    fn on_ack_rate(&mut self, _request: AckRate) {}
}
