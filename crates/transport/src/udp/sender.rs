//! The UDP sender: what the application writes leaves at once.

use crate::source::{self, Source};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Ecn, Instant, Machine};
use acklab_wire::udp::UserDatagram;

/// A socket whose datagrams no one waits for: they leave as they are written, and queues on the path turn away what is too much.
const BUFFER: Bytes = Bytes(u64::MAX);

/// Counts of one sender; octets are payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams.
    pub datagrams: u64,
    /// Octets of those.
    pub bytes: u64,
}

/// The end that sends.
#[derive(Debug)]
pub struct Sender {
    start: Option<Instant>,
    stop: Option<Instant>,
    source: Source,
    /// Octets of payload of each datagram: the size of a write.
    payload: u32,
    counters: Counters,
}

impl Sender {
    /// A sender whose application writes from `start` until just before `stop`. `name` names its random streams. Nothing, if its
    /// application has no rate of its own, for UDP gives it none.
    #[must_use]
    pub fn new(
        traffic: source::Config,
        start: Instant,
        stop: Option<Instant>,
        seed: Seed,
        name: &str,
    ) -> Option<Self> {
        let payload = u32::try_from(traffic.write()?.get()).ok()?;
        let source = Source::new(traffic, BUFFER, seed.stream(&format!("flow/{name}/source")));
        Some(Self { start: Some(start), stop, source, payload, counters: Counters::default() })
    }

    /// Octets that the application has written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.source.written()
    }

    /// Counts since the start.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl Machine for Sender {
    type Datagram = UserDatagram;

    /// Nothing comes back that it would listen to.
    fn accept(&mut self, _: Instant, _: UserDatagram) {}

    fn wake(&mut self, now: Instant) {
        if self.stop.is_some_and(|stop| now >= stop) {
            self.stop = None;
            self.source.close(self.counters.bytes);
        }
        if self.start.is_some_and(|start| now >= start) {
            self.start = None;
            self.source.begin(now);
        }
        self.source.advance(now, self.counters.bytes);
    }

    fn deadline(&self) -> Option<Instant> {
        Instant::earliest(Instant::earliest(self.start, self.stop), self.source.deadline())
    }

    fn poll(&mut self, now: Instant) -> Option<UserDatagram> {
        if self.source.sendable() <= self.counters.bytes {
            return None;
        }
        self.counters.datagrams += 1;
        self.counters.bytes += u64::from(self.payload);
        Some(UserDatagram {
            ecn: Ecn::NotEct,
            number: self.counters.datagrams,
            sent_at: now,
            payload: self.payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::{Duration, Rate};

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MILLISECOND * ms
    }

    /// A datagram of 1000 octets each millisecond from 5 ms on, until 8 ms.
    fn sender() -> Sender {
        let traffic = source::Config::Constant { rate: Rate::from_mbps(8), write: Bytes(1000) };
        Sender::new(traffic, at(5), Some(at(8)), Seed(1), "flow").unwrap()
    }

    fn drain(sender: &mut Sender, now: Instant) -> Vec<UserDatagram> {
        std::iter::from_fn(|| sender.poll(now)).collect()
    }

    #[test]
    fn a_write_is_a_datagram_and_leaves_when_it_is_written() {
        let mut sender = sender();
        let mut sent = Vec::new();
        while let Some(now) = sender.deadline() {
            sender.wake(now);
            sent.extend(drain(&mut sender, now));
        }
        let expected: Vec<_> = [(1, at(5)), (2, at(6)), (3, at(7))].into();
        assert_eq!(sent.iter().map(|sent| (sent.number, sent.sent_at)).collect::<Vec<_>>(), expected);
        assert!(sent.iter().all(|sent| sent.payload == 1000));
        assert_eq!((*sender.counters(), sender.written()), (Counters { datagrams: 3, bytes: 3000 }, 3000));
    }

    #[test]
    fn woken_early_it_sends_nothing() {
        let mut sender = sender();
        sender.wake(at(4));
        assert_eq!((drain(&mut sender, at(4)), sender.deadline()), (vec![], Some(at(5))));
    }

    #[test]
    fn woken_late_it_makes_up_for_it() {
        let mut sender = sender();
        sender.wake(at(5));
        drain(&mut sender, at(5));
        sender.wake(at(7));
        assert_eq!(drain(&mut sender, at(7)).iter().map(|sent| sent.number).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn what_comes_back_changes_nothing() {
        let (mut one, mut other) = (sender(), sender());
        one.wake(at(5));
        other.wake(at(5));
        let echo = one.poll(at(5)).unwrap();
        one.accept(at(5), echo);
        other.poll(at(5));
        assert_eq!((one.poll(at(5)), one.deadline()), (other.poll(at(5)), other.deadline()));
    }

    #[test]
    fn an_application_without_a_rate_has_no_sender() {
        for traffic in [source::Config::Greedy {}, source::Config::Fixed { size: Bytes(1_000_000) }] {
            assert!(Sender::new(traffic, at(0), None, Seed(1), "flow").is_none());
        }
    }
}
