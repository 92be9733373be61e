//! The port: what is written goes to the sending half, what is read comes from the receiving half.

use super::Connection;
use acklab_base::{Instant, StreamPort};

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
