//! Events that only TCP reports to a policy.

use super::{Decision, Ledger, Reason};
use acklab_base::Instant;
use acklab_wire::tcp::AckRate;

/// The room that unread data leave in the receive buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Less than half of the buffer is free.
    pub is_short: bool,
    /// An ACK would offer a smaller window than the last one.
    pub shrinks: bool,
}

/// Events of a TCP receiver that other transports do not have. A policy overrides those that it
/// uses.
pub trait TcpEvents {
    /// The first mark has come since the sender last reduced its window (RFC 3168, §6.1.3).
    fn on_first_mark(&mut self) {}

    /// The sender reports CWR.
    fn on_window_reduced(&mut self) {}

    /// The present segment lets the receive window grow, which
    /// [autotuning](crate::tcp::receiver::ReceiveWindow) offers.
    fn on_window_growth(&mut self) {}

    /// The present segment comes in order and ends the data that the sender's application has
    /// written (PSH), or is not full. `is_read`: the application here has read it.
    fn on_push(&mut self, _is_read: bool) {}

    /// A segment with data of this end leaves, and carries the acknowledgment.
    fn on_data_sent(&mut self, _now: Instant) {}

    /// The present segment or ACK finds data that the application has not read.
    fn on_unread(&mut self, _room: Room) {}

    /// The application has read, while something waits for its ACK. Returns why that is to be
    /// acknowledged now, if it is.
    fn on_read(&mut self, _ledger: &Ledger) -> Option<Reason> {
        None
    }

    /// The application has read all that has arrived, and no gap is open. Returns why that is to be
    /// acknowledged now, if it is.
    fn on_emptied(&mut self) -> Option<Reason> {
        None
    }

    /// The peer has finished, and everything has come in order. The application here goes on
    /// sending, and what it sends next would carry the ACK. `None` means at once (RFC 9293,
    /// §3.10.7.4, eighth).
    fn on_fin(&mut self, _now: Instant, _ledger: &Ledger) -> Option<Decision> {
        None
    }

    /// The sender requests an ACK every `ratio` segments (RFC 5690, §4.2).
    fn on_ack_ratio(&mut self, _ratio: u8) {}

    /// The present segment requests ACKs (draft-ietf-tcpm-ack-rate-request).
    fn on_ack_rate(&mut self, _request: AckRate) {}
}
