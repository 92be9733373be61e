//! The state of one outstanding segment.

use acklab_base::Instant;

/// A segment that was sent and is not cumulatively acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// The stream offset after its last byte. The segment begins where the previous segment ends.
    pub(super) end: u64,
    /// The time at which it was last sent.
    pub(super) at: Instant,
    /// The number of that transmission in the connection.
    pub(super) number: u64,
    pub(super) sacked: bool,
    pub(super) lost: bool,
    /// `true` if it was retransmitted after it was last marked lost (Linux's
    /// `TCPCB_SACKED_RETRANS`).
    pub(super) retransmitted: bool,
    /// `true` if it was ever retransmitted, so that Karn's algorithm takes no round-trip time from
    /// it (`TCPCB_EVER_RETRANS`).
    pub(super) ever_retransmitted: bool,
    /// `true` if its last transmission has been reported as a loss.
    pub(super) loss_reported: bool,
}

impl Sent {
    /// Creates a segment up to `end` that is sent for the first time.
    pub(super) const fn new(end: u64, at: Instant, number: u64) -> Self {
        Self {
            end,
            at,
            number,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
            loss_reported: false,
        }
    }
}
