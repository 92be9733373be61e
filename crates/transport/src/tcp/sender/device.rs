//! A device of the host that refuses packets because its queue is full (Linux: `tcp_transmit_skb`
//! returns a positive error, "local congestion").
//!
//! The data remain unsent. The timer of probes retries every half second, without backoff
//! (`tcp_write_wakeup`).

use super::Sender;
use acklab_base::{Duration, Instant};

/// `TCP_RESOURCE_PROBE_INTERVAL`.
const RETRY: Duration = Duration::from_millis(500);

impl Sender {
    /// Sets whether the device refuses data and probes. When the device no longer refuses segments,
    /// waiting segments are sent at the next poll.
    pub(in crate::tcp) const fn set_refused(&mut self, is_refused: bool) {
        self.transmission.is_refused = is_refused;
    }

    /// Returns the number of probes since the last ACK (`tcpi_probes`). Probes that the device
    /// refused are included.
    #[must_use]
    pub const fn probes(&self) -> u32 {
        self.transmission.probes
    }

    /// Returns the number of doublings of the retransmission timeout, or of the timeout of probes
    /// (`tcpi_backoff`).
    #[must_use]
    pub const fn backoff(&self) -> u32 {
        self.timing.rto.backoff()
    }

    /// Handles the refusal of data by the device.
    #[cold]
    pub(super) fn wait_for_device(&mut self, now: Instant) {
        if self.board.is_empty() && self.has_unsent() {
            self.timing.start(now);
        } else if self.transmission.forced && self.timing.rto.deadline().is_none() {
            self.timing.rto.set(now, RETRY);
        }
    }

    /// Handles the refusal of a probe by the device.
    #[cold]
    pub(super) fn retry_probe(&mut self, now: Instant) {
        self.transmission.probes += 1;
        self.timing.rto.end_backoff();
        self.timing.rto.set(now, RETRY);
    }
}
