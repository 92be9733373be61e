//! The interface between an application and an endpoint.
//!
//! Ports move counts of octets, which is sufficient for simulation. With real data, the driver of
//! the endpoint stores the octets by their offset, and moves them together with the counts.

use crate::Instant;

/// An endpoint's port.
pub enum Port<'a> {
    /// An ordered stream of octets in each direction.
    Stream(&'a mut dyn StreamPort),
    /// Datagrams without order.
    Datagram(&'a mut dyn DatagramPort),
    /// No application is needed: the endpoint reads all data on arrival and sends none.
    None,
}

/// A port over which octets move in order, in both directions. An endpoint that only sends data
/// keeps the default methods for reading.
pub trait StreamPort {
    /// Opens the connection. A passive endpoint ignores this.
    fn open(&mut self, now: Instant);

    /// Returns `true` if the connection is open.
    fn is_open(&self) -> bool;

    /// Returns the number of octets that may be written now.
    fn room(&self) -> u64;

    /// Writes `octets` octets. Returns the number accepted: at most [`room`](Self::room), and zero
    /// after a close.
    fn write(&mut self, now: Instant, octets: u64) -> u64;

    /// Ends the stream after the octets written so far.
    fn close(&mut self, now: Instant);

    /// Closes the stream and, if the transport can, discards the octets that were written but not
    /// yet sent.
    fn truncate(&mut self, now: Instant) {
        self.close(now);
    }

    /// Returns the number of octets that may be read now.
    fn readable(&self) -> u64 {
        0
    }

    /// Reads at most `maximum` octets. Returns the number read.
    fn read(&mut self, _now: Instant, _maximum: u64) -> u64 {
        0
    }

    /// Returns `true` if the whole stream of the peer has been read.
    fn is_at_end(&self) -> bool {
        false
    }

    /// Returns the streams of the same connection. Returns `None` if the transport has only this
    /// one for its applications.
    fn streams(&mut self) -> Option<&mut dyn StreamsPort> {
        None
    }

    /// Returns the port for messages of the same connection. Returns `None` if the transport has
    /// none.
    fn messages(&mut self) -> Option<&mut dyn MessagePort> {
        None
    }
}

/// A port over which several streams of octets move in both directions. Streams are numbered in the
/// order in which the end that opens the connection opens them. Stream 0 is the stream of the
/// [`StreamPort`], which exists from the start.
pub trait StreamsPort {
    /// Opens the next stream. Only the end that has opened the connection may call this. Returns
    /// `false` if the peer does not permit another stream now.
    fn open(&mut self) -> bool;

    /// Writes `octets` octets to a stream. Returns the number accepted: zero if there is no such
    /// stream.
    fn write(&mut self, number: u32, octets: u64) -> u64;

    /// Ends a stream after the octets written so far. The other direction is unaffected.
    fn close(&mut self, number: u32);

    /// Reads at most `maximum` octets of a stream. Returns the number read: zero if there is no
    /// such stream yet.
    fn read(&mut self, now: Instant, number: u32, maximum: u64) -> u64;
}

/// A port over which independent messages move: no message waits for an earlier message.
pub trait MessagePort {
    /// Sends a message of `octets` octets, which is abandoned if it is not acknowledged by `until`.
    /// Returns `false` if the peer accepts no more messages now.
    fn send(&mut self, now: Instant, octets: u64, until: Instant) -> bool;

    /// Reads octets of a message that have arrived, in order or out of order. Returns `None` if
    /// there is nothing to read.
    fn receive(&mut self, now: Instant) -> Option<Arrival>;
}

/// Octets of a datagram or a message that have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The number of the datagram or message in the order of sending, from zero.
    pub number: u64,
    /// The number of its octets that have arrived since the last call.
    pub octets: u64,
}

/// A port over which datagrams move. An endpoint keeps the default method of a direction (sending
/// or receiving) that it does not support.
pub trait DatagramPort {
    /// Opens the port.
    fn open(&mut self, _now: Instant) {}

    /// Sends a datagram with `octets` octets of payload.
    fn send(&mut self, _now: Instant, _octets: u32) {}

    /// Reads a datagram. Returns `None` if there is nothing to read.
    fn receive(&mut self) -> Option<Arrival> {
        None
    }
}
