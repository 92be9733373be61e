//! The UDP receiver: counts arrived, missing and reordered datagrams, and measures delay and
//! jitter.

mod numbers;

use acklab_base::{Arrival as Read, Bytes, DatagramPort, Duration, Fate, Instant, Machine};
use acklab_wire::udp::UserDatagram;
use numbers::{Arrival, Numbers};
use std::collections::VecDeque;

/// The gain of the moving average of jitter (RFC 3550, §6.4.1).
const JITTER_GAIN: f64 = 1.0 / 16.0;

/// The counters of one receiver. Bytes are payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams that arrived for the first time.
    pub datagrams: u64,
    /// The payload of those datagrams, in bytes.
    pub bytes: u64,
    /// The number of those datagrams that arrived after a datagram sent later (RFC 4737, §3.3;
    /// iperf3's "out of order").
    pub reordered: u64,
    /// The number of datagrams that had arrived before.
    pub duplicates: u64,
    /// The number of datagrams that were missing when a later one arrived, whether or not they
    /// arrived afterwards.
    pub passed_over: u64,
}

impl Counters {
    /// Returns the number of datagrams that were missing when a later one arrived and have not
    /// arrived since: iperf3's "lost".
    #[must_use]
    pub const fn lost(&self) -> u64 {
        // Datagrams passed over before these counters started may arrive while they count.
        self.passed_over.saturating_sub(self.reordered)
    }
}

/// The receiving end, which sends nothing.
#[derive(Debug, Default)]
pub struct Receiver {
    numbers: Numbers,
    /// The one-way delay of the last datagram.
    transit: Option<Duration>,
    /// The jitter in nanoseconds.
    jitter: f64,
    counters: Counters,
    full: Bytes,
    /// Datagrams for the application, or `None` if the application does not read them.
    unread: Option<VecDeque<Read>>,
}

impl Receiver {
    /// Creates a receiver of datagrams with a payload of at most `full`. `is_read` is `true` if the
    /// application reads them.
    #[must_use]
    pub fn new(full: Bytes, is_read: bool) -> Self {
        Self { full, unread: is_read.then(VecDeque::new), ..Self::default() }
    }

    /// Returns the payload of a full-sized datagram.
    pub(super) const fn full(&self) -> Bytes {
        self.full
    }

    pub(super) const fn is_read(&self) -> bool {
        self.unread.is_some()
    }

    /// Returns the counters since the start.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the one-way delay (RFC 7679) of the last datagram, by the clock of the run, which
    /// both ends share.
    #[must_use]
    pub const fn transit(&self) -> Option<Duration> {
        self.transit
    }

    /// Returns the jitter of arrivals (RFC 3550, §6.4.1), in nanoseconds; `None` before the second
    /// datagram. iperf3 prints it in microseconds.
    #[must_use]
    pub fn jitter(&self) -> Option<f64> {
        (self.counters.datagrams + self.counters.duplicates > 1).then_some(self.jitter)
    }

    /// Updates the jitter in the order of arrival (RFC 3550, §6.4.1): J += (|D| − J) / 16. D is the
    /// difference between the delays of this datagram and the previous one.
    fn measure(&mut self, transit: Duration) {
        if let Some(before) = self.transit.replace(transit) {
            let difference = transit.abs_diff(before).as_nanos() as f64;
            self.jitter += (difference - self.jitter) * JITTER_GAIN;
        }
    }
}

impl DatagramPort for Receiver {
    fn receive(&mut self) -> Option<Read> {
        self.unread.as_mut()?.pop_front()
    }
}

impl Machine for Receiver {
    type Datagram = UserDatagram;
    type Outcome = Fate;

    fn accept(&mut self, now: Instant, datagram: UserDatagram) -> Fate {
        self.measure(now.since(datagram.sent_at));
        match self.numbers.take(datagram.number) {
            Arrival::Next { passed_over } => self.counters.passed_over += passed_over,
            Arrival::Late => self.counters.reordered += 1,
            Arrival::Duplicate => {
                self.counters.duplicates += 1;
                return Fate::Duplicate;
            }
        }
        self.counters.datagrams += 1;
        self.counters.bytes += u64::from(datagram.payload);
        if let Some(unread) = &mut self.unread {
            unread.push_back(Read { number: datagram.number - 1, octets: u64::from(datagram.payload) });
        }
        Fate::Taken
    }

    fn wake(&mut self, _: Instant) {}

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn poll(&mut self, _: Instant) -> Option<UserDatagram> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Ecn;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    /// Returns a receiver after these `arrivals`, which contain numbers and delays in microseconds.
    /// Datagrams were sent a millisecond apart, number 1 at time zero.
    fn receiver(arrivals: &[(u64, u64)]) -> Receiver {
        let mut receiver = Receiver::default();
        for (number, transit) in arrivals {
            let sent_at = at((number - 1) * 1000);
            let ecn = Ecn::NotEct;
            let datagram = UserDatagram { ecn, number: *number, sent_at, payload: 100 };
            receiver.accept(sent_at + Duration::from_micros(*transit), datagram);
            assert_eq!((receiver.poll(at(0)), receiver.deadline()), (None, None), "it answers nothing");
        }
        receiver
    }

    #[test]
    fn what_is_passed_over_is_lost_until_it_arrives() {
        let lost = receiver(&[(1, 0), (2, 0), (5, 0)]);
        assert_eq!((lost.counters().lost(), lost.counters().reordered), (2, 0));
        let late = receiver(&[(1, 0), (2, 0), (5, 0), (4, 1001)]);
        assert_eq!((late.counters().lost(), late.counters().reordered), (1, 1));
        assert_eq!((late.counters().datagrams, late.counters().bytes), (4, 400));
    }

    #[test]
    fn the_first_may_be_lost() {
        assert_eq!(receiver(&[(3, 0)]).counters().lost(), 2);
    }

    /// iperf3 treats a duplicate as a late arrival, and subtracts one from the losses.
    #[test]
    fn a_duplicate_is_neither_late_nor_goodput() {
        let receiver = receiver(&[(1, 0), (3, 0), (3, 500), (1, 2500)]);
        let counters = receiver.counters();
        assert_eq!((counters.duplicates, counters.reordered, counters.lost()), (2, 0, 1));
        assert_eq!((counters.datagrams, counters.bytes), (2, 200));
    }

    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let even = receiver(&[(1, 700), (2, 700), (3, 700)]);
        assert_eq!(even.jitter(), Some(0.0));
        // D is 160 µs, then 160 µs, then zero.
        let uneven = receiver(&[(1, 700), (2, 860), (3, 700), (4, 700)]);
        let expected = [160_000.0, 160_000.0, 0.0].iter().fold(0.0, |jitter, d| jitter + (d - jitter) / 16.0);
        assert!((uneven.jitter().unwrap() - expected).abs() < 1e-6);
        assert_eq!(uneven.transit(), Some(Duration::from_micros(700)));
    }

    #[test]
    fn an_application_reads_each_datagram_once() {
        let mut receiver = Receiver::new(Bytes(1000), true);
        for number in [1, 3, 3, 2] {
            receiver.accept(at(9000), UserDatagram { ecn: Ecn::NotEct, number, sent_at: at(0), payload: 100 });
        }
        let read: Vec<u64> = std::iter::from_fn(|| receiver.receive()).map(|read| read.number).collect();
        assert_eq!(read, [0, 2, 1]);
    }

    #[test]
    fn one_datagram_has_no_jitter() {
        assert_eq!((receiver(&[]).jitter(), receiver(&[(1, 5)]).jitter()), (None, None));
    }
}
