//! The state of transmission in addition to the windows: delays and forced transmissions.

use crate::limit::Limit;
use crate::pacing::Pacer;
use crate::recovery::alarm::Alarm;
use acklab_base::Instant;

/// The state of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transmission {
    pub(super) pacer: Pacer,
    /// The time at which pacing permits the next segment, if only pacing delays the segment.
    pub(super) paced_until: Alarm,
    /// The departure time of the last data.
    pub(super) last_sent: Option<Instant>,
    /// `true` if a segment must be sent now, regardless of the congestion window.
    pub(super) forced: bool,
    /// `true` if no retransmission, but only new data may be sent until the next ACK (RFC 5682,
    /// §3.1, step 2).
    pub(super) only_new: bool,
    pub(super) tail_probe_due: bool,
    pub(super) window_probe_due: bool,
    /// Zero-window probes since the last ACK (`icsk_probes_out`).
    pub(super) probes: u32,
    /// `true` if the host's device refuses outgoing packets.
    pub(super) is_refused: bool,
    /// `true` if the last segment ended the attempt to send, and nothing has arrived since. The
    /// window or pacing blocks the next segment.
    pub(super) is_spent: bool,
    /// Bytes of options that the receiving half of the connection adds to a new segment.
    pub(super) options_beside: u64,
    /// The limit that ended the last attempt to send.
    pub(super) limit: Limit,
    /// `true` if the peer's window blocked the next segment in that attempt.
    pub(super) limited_by_peer: bool,
}

impl Transmission {
    /// Returns `true` if pacing delays the next segment. A timer then expires at the end of the
    /// delay.
    #[inline]
    pub(super) fn is_paced(&mut self, now: Instant) -> bool {
        self.paced_until.set(self.pacer.holds_until(now));
        self.paced_until.is_set()
    }
}
