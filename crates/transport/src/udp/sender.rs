//! The UDP sender, which sends each write of the application immediately.

use acklab_base::{Bytes, DatagramPort, Ecn, Fate, Instant, Machine};
use acklab_wire::udp::UserDatagram;
use std::collections::VecDeque;

/// The counters of one sender. Bytes are payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of datagrams.
    pub datagrams: u64,
    /// The payload of those datagrams, in bytes.
    pub bytes: u64,
}

/// The sending end. Datagrams are sent as they are written, and queues on the path drop the excess.
#[derive(Debug, Default)]
pub struct Sender {
    /// The payload sizes, in bytes, of written datagrams that have not been sent.
    waiting: VecDeque<u32>,
    written: u64,
    counters: Counters,
    full: Bytes,
}

impl Sender {
    /// Creates a sender of datagrams with a payload of at most `full`.
    #[must_use]
    pub fn new(full: Bytes) -> Self {
        Self { full, ..Self::default() }
    }

    /// Returns the payload of a full-sized datagram.
    pub(super) const fn full(&self) -> Bytes {
        self.full
    }

    /// Returns the number of bytes that the application has written.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Returns the counters since the start.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl DatagramPort for Sender {
    /// Does nothing: UDP has no handshake.
    fn open(&mut self, _: Instant) {}

    fn send(&mut self, _: Instant, octets: u32) {
        self.written += u64::from(octets);
        self.waiting.push_back(octets);
    }
}

impl Machine for Sender {
    type Datagram = UserDatagram;
    type Outcome = Fate;

    /// Discards every datagram, because the sender expects no response.
    fn accept(&mut self, _: Instant, _: UserDatagram) -> Fate {
        Fate::Refused("unexpected")
    }

    fn wake(&mut self, _: Instant) {}

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn poll(&mut self, now: Instant) -> Option<UserDatagram> {
        let payload = self.waiting.pop_front()?;
        self.counters.datagrams += 1;
        self.counters.bytes += u64::from(payload);
        Some(UserDatagram { ecn: Ecn::NotEct, number: self.counters.datagrams, sent_at: now, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn drain(sender: &mut Sender, now: Instant) -> Vec<UserDatagram> {
        std::iter::from_fn(|| sender.poll(now)).collect()
    }

    #[test]
    fn a_write_is_a_datagram_and_leaves_when_it_is_written() {
        let mut sender = Sender::default();
        for ms in 5..8 {
            sender.send(at(ms), 1000);
            let sent = drain(&mut sender, at(ms));
            assert_eq!(sent, [UserDatagram { ecn: Ecn::NotEct, number: ms - 4, sent_at: at(ms), payload: 1000 }]);
        }
        assert_eq!((*sender.counters(), sender.written()), (Counters { datagrams: 3, bytes: 3000 }, 3000));
    }

    #[test]
    fn what_comes_back_changes_nothing() {
        let mut sender = Sender::default();
        sender.send(at(5), 100);
        let echo = sender.poll(at(5)).unwrap();
        sender.accept(at(5), echo);
        assert_eq!((sender.poll(at(5)), sender.deadline()), (None, None));
    }
}
