//! The port of the receiving end.

use super::Receiver;
use acklab_base::{Instant, StreamPort};

impl StreamPort for Receiver {
    /// Does nothing: the receiver waits for its peer.
    fn open(&mut self, _now: Instant) {}

    fn is_open(&self) -> bool {
        self.agreed.is_some()
    }

    fn room(&self) -> u64 {
        0
    }

    fn write(&mut self, _now: Instant, _octets: u64) -> u64 {
        0
    }

    fn close(&mut self, _now: Instant) {}

    fn truncate(&mut self, _now: Instant) {}

    fn readable(&self) -> u64 {
        self.readable()
    }

    fn read(&mut self, now: Instant, most: u64) -> u64 {
        self.read(now, most)
    }

    fn is_at_end(&self) -> bool {
        self.fin.is_some_and(|fin| self.delivered() == fin)
    }
}
