//! Lets the application write and read.

use crate::connection::Connection;
use acklab_base::{Instant, StreamPort};

impl StreamPort for Connection {
    fn open(&mut self, now: Instant) {
        self.connect(now);
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn room(&self) -> u64 {
        self.outgoing.buffer.room(self.sender.acknowledged().next())
    }

    fn write(&mut self, _now: Instant, octets: u64) -> u64 {
        let taken = self.outgoing.buffer.write(octets, self.sender.acknowledged().next());
        self.is_idle &= taken == 0;
        taken
    }

    fn close(&mut self, _now: Instant) {
        self.outgoing.buffer.close();
        self.is_idle = false;
    }

    fn truncate(&mut self, _now: Instant) {
        self.outgoing.buffer.truncate(self.outgoing.handed);
        self.is_idle = false;
    }

    fn readable(&self) -> u64 {
        self.incoming.octets.next() - self.incoming.read
    }

    fn read(&mut self, now: Instant, maximum: u64) -> u64 {
        self.read_octets(now, maximum.min(self.readable()))
    }

    fn is_at_end(&self) -> bool {
        self.incoming.is_at_end
    }
}
