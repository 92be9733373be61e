//! Ports for tests.

use acklab_base::{Arrival, DatagramPort, Instant, MessagePort, StreamPort};
use std::collections::VecDeque;

/// A port whose other end is the test.
#[derive(Default)]
pub(crate) struct Pipe {
    pub(crate) is_open: bool,
    pub(crate) buffer: u64,
    pub(crate) written: u64,
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
    /// The final size of the stream, once the application has closed it.
    pub(crate) closed: Option<u64>,
    pub(crate) readable: u64,
    pub(crate) datagrams: Vec<(Instant, u32)>,
    pub(crate) mailbox: Mailbox,
}

/// Messages and datagrams.
#[derive(Default)]
pub(crate) struct Mailbox {
    /// Arrivals that were not received yet.
    arrived: VecDeque<Arrival>,
    /// Octets and lifetimes of messages sent.
    pub(crate) sent: Vec<(u64, Instant)>,
    /// The number of messages that the peer accepts.
    pub(crate) limit: usize,
}

impl Mailbox {
    /// Returns a mailbox with these arrivals.
    pub(crate) fn of(arrived: impl IntoIterator<Item = Arrival>) -> Self {
        Self { arrived: arrived.into_iter().collect(), ..Self::default() }
    }
}

impl DatagramPort for Mailbox {
    fn receive(&mut self) -> Option<Arrival> {
        self.arrived.pop_front()
    }
}

impl MessagePort for Mailbox {
    fn send(&mut self, _: Instant, octets: u64, until: Instant) -> bool {
        let is_accepted = self.sent.len() < self.limit;
        if is_accepted {
            self.sent.push((octets, until));
        }
        is_accepted
    }

    fn receive(&mut self, _: Instant) -> Option<Arrival> {
        self.arrived.pop_front()
    }
}

impl Pipe {
    /// Returns a port that is not yet open, with a send buffer of `buffer` octets.
    pub(crate) fn of(buffer: u64) -> Self {
        Self { buffer, ..Self::default() }
    }
}

impl StreamPort for Pipe {
    fn open(&mut self, _: Instant) {}

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn room(&self) -> u64 {
        (self.acknowledged + self.buffer).saturating_sub(self.written)
    }

    fn write(&mut self, _: Instant, octets: u64) -> u64 {
        let taken = octets.min(self.room());
        self.written += taken;
        taken
    }

    fn close(&mut self, _: Instant) {
        self.closed = Some(self.written);
    }

    fn truncate(&mut self, _: Instant) {
        self.closed = Some(self.sent);
    }

    fn readable(&self) -> u64 {
        self.readable
    }

    fn read(&mut self, _: Instant, maximum: u64) -> u64 {
        let read = maximum.min(self.readable);
        self.readable -= read;
        read
    }

    fn is_at_end(&self) -> bool {
        false
    }

    fn messages(&mut self) -> Option<&mut dyn MessagePort> {
        Some(&mut self.mailbox)
    }
}

impl DatagramPort for Pipe {
    fn open(&mut self, _: Instant) {}

    fn send(&mut self, now: Instant, octets: u32) {
        self.datagrams.push((now, octets));
    }
}
