//! What lies between an application and an endpoint.
//!
//! Ports move counts of octets. A simulation needs no more; where there are real octets, whoever drives the endpoint keeps them by their
//! offset and hands them over as the counts move.

use crate::Instant;

/// An endpoint's port.
pub enum Port<'a> {
    /// Octets in order, each way.
    Stream(&'a mut dyn StreamPort),
    /// Datagrams, as they come.
    Datagram(&'a mut dyn DatagramPort),
    /// No application has anything to do here: whatever arrives is read at once.
    None,
}

/// A port over which octets move in order, in both directions. An end that only writes leaves reading as it stands here.
pub trait StreamPort {
    /// Open the connection. An endpoint that waits for its peer to do so ignores this.
    fn open(&mut self, now: Instant);

    /// Is the connection open?
    fn is_open(&self) -> bool;

    /// How many octets may be written now.
    fn room(&self) -> u64;

    /// Write so many octets. Returns how many were taken: at most [`room`](Self::room), and none after a close.
    fn write(&mut self, now: Instant, octets: u64) -> u64;

    /// No more will be written; the peer learns so once it has all that was written.
    fn close(&mut self, now: Instant);

    /// Close, and forget what was written but not yet sent, if the transport can.
    fn truncate(&mut self, now: Instant) {
        self.close(now);
    }

    /// How many octets may be read now.
    fn readable(&self) -> u64 {
        0
    }

    /// Read at most so many octets. Returns how many were read.
    fn read(&mut self, _now: Instant, _most: u64) -> u64 {
        0
    }

    /// Has everything been read that the peer will ever send?
    fn is_at_end(&self) -> bool {
        false
    }
}

/// A port over which datagrams move.
pub trait DatagramPort {
    /// Open the port.
    fn open(&mut self, now: Instant);

    /// Send a datagram with so many octets of payload.
    fn send(&mut self, now: Instant, octets: u32);
}
