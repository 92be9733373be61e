//! The application's port. The sending half processes writes, and the receiving half reads. Socket
//! operations that are not part of [`StreamPort`] are methods of the connection.

use super::super::sender::SendFlags;
use super::Connection;
use acklab_base::{Duration, Instant, StreamPort};

impl Connection {
    /// Writes `octets` bytes as [`write`](StreamPort::write) does, with the flags of `sendmsg` (RFC
    /// 9293, §3.9.1.2). The flags take effect once all bytes are accepted. Returns the number of
    /// bytes accepted.
    pub fn send(&mut self, now: Instant, octets: u64, flags: SendFlags) -> u64 {
        self.sending.send(now, octets, flags)
    }

    /// Sets whether a partial last segment is held (`TCP_CORK`). A held segment is sent when it is
    /// full, or after a retransmission timeout with no outstanding data.
    pub const fn set_corked(&mut self, is_corked: bool) {
        self.sending.set_corked(is_corked);
    }

    /// Sets the size of the send buffer (Linux, `SO_SNDBUF`). The memory is twice `size`, and
    /// limits the packets of segmentation offload.
    pub fn set_send_buffer(&mut self, size: u64) {
        self.sending.set_send_buffer(size);
    }

    /// Sets the user timeout (Linux, `TCP_USER_TIMEOUT`). It starts when the retransmission timer
    /// first expires. The connection is aborted if no data are acknowledged, or no window opens,
    /// within `limit`. `None` disables the timeout.
    pub fn set_user_timeout(&mut self, limit: Option<Duration>) {
        self.sending.set_user_timeout(limit);
    }

    /// Sets whether the host's device refuses data and probes (Linux's local congestion).
    /// Meanwhile, the driver must discard the ACKs that it polls.
    pub const fn set_refused(&mut self, is_refused: bool) {
        self.sending.set_refused(is_refused);
    }

    /// Releases held data. `TCP_CORK` still applies to later writes (Linux, `TCP_NODELAY`).
    pub fn release_held(&mut self) {
        self.sending.release_held();
    }
}

impl StreamPort for Connection {
    /// Opens the connection. A listening end waits for its peer instead.
    fn open(&mut self, now: Instant) {
        self.sending.open(now);
    }

    fn is_open(&self) -> bool {
        self.sending.is_open()
    }

    fn room(&self) -> u64 {
        self.sending.room()
    }

    fn write(&mut self, now: Instant, octets: u64) -> u64 {
        self.sending.write(now, octets)
    }

    fn close(&mut self, now: Instant) {
        self.sending.close(now);
    }

    fn truncate(&mut self, now: Instant) {
        self.sending.truncate(now);
    }

    fn readable(&self) -> u64 {
        self.receiving.readable()
    }

    fn read(&mut self, now: Instant, most: u64) -> u64 {
        self.receiving.read(now, most)
    }

    fn is_at_end(&self) -> bool {
        self.receiving.is_at_end()
    }
}
