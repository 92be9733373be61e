//! What delays or forces a transmission besides the windows.

use crate::limit::Limit;
use crate::pacing::Pacer;
use crate::recovery::alarm::Alarm;
use acklab_base::Instant;

/// The state of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transmission {
    pub(super) pacer: Pacer,
    /// When pacing lets the next segment leave, if only pacing delays it.
    pub(super) paced_until: Alarm,
    /// When data left last.
    pub(super) last_sent: Option<Instant>,
    /// A segment is to be sent now, regardless of the window.
    pub(super) forced: bool,
    /// Only new data may leave, no retransmission, until the next ACK (RFC 5682, §3.1, step 2).
    pub(super) only_new: bool,
    pub(super) tail_probe_due: bool,
    pub(super) window_probe_due: bool,
    /// Zero-window probes since the last ACK (`icsk_probes_out`).
    pub(super) probes: u32,
    /// The device of the host refuses outgoing packets.
    pub(super) is_refused: bool,
    /// The segment that left last ended the attempt: the window or pacing keeps back the next, and
    /// nothing has come since that could change it.
    pub(super) is_spent: bool,
    /// Octets of options that the receiving half of the connection puts on a new segment.
    pub(super) options_beside: u64,
    /// What ended the last attempt to send.
    pub(super) limit: Limit,
    /// The peer's window kept the next segment back then.
    pub(super) limited_by_peer: bool,
}

impl Transmission {
    /// Returns `true` if pacing delays the next segment. The sender then wakes at the end of the
    /// delay.
    #[inline]
    pub(super) fn is_paced(&mut self, now: Instant) -> bool {
        self.paced_until.set(self.pacer.holds_until(now));
        self.paced_until.is_set()
    }
}
