//! The port: what is written goes to the sending half, what is read comes from the receiving half.
//! What a socket can say beyond a [`StreamPort`], the connection has as methods of its own.

use super::super::sender::SendFlags;
use super::Connection;
use acklab_base::{Duration, Instant, StreamPort};

impl Connection {
    /// Writes `octets` octets as [`write`](StreamPort::write) does, and says more of them
    /// (`sendmsg`; RFC 9293, §3.9.1.2). The flags count once all of them are accepted. Returns the
    /// number accepted.
    pub fn send(&mut self, now: Instant, octets: u64, flags: SendFlags) -> u64 {
        self.sending.send(now, octets, flags)
    }

    /// From now on, the last segment is held back until it is full, or for a retransmission timeout
    /// with nothing outstanding, or not any more (`TCP_CORK`).
    pub const fn set_corked(&mut self, is_corked: bool) {
        self.sending.set_corked(is_corked);
    }

    /// Sets the size of the send buffer (Linux, `SO_SNDBUF`): twice `size` of memory, in which
    /// offload's packets count.
    pub fn set_send_buffer(&mut self, size: u64) {
        self.sending.set_send_buffer(size);
    }

    /// Gives the connection up once nothing is acknowledged, or no window opens, for `limit` since
    /// the retransmission timer first expired (Linux, `TCP_USER_TIMEOUT`); never with `None`.
    pub fn set_user_timeout(&mut self, limit: Option<Duration>) {
        self.sending.set_user_timeout(limit);
    }

    /// The device of the host refuses data and probes from now on, or takes them again (Linux's
    /// local congestion). An ACK that is polled is the driver's to discard.
    pub const fn set_refused(&mut self, is_refused: bool) {
        self.sending.set_refused(is_refused);
    }

    /// Lets go what is held back; a cork stays for what is written later (Linux, `TCP_NODELAY`).
    pub fn release_held(&mut self) {
        self.sending.release_held();
    }
}

impl StreamPort for Connection {
    /// The end that listens waits for its peer.
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
