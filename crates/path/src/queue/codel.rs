//! Controlled delay (RFC 8289).
//!
//! A packet is judged when it leaves, by how long it has waited. Once all have waited longer than the target for an interval, one
//! is dropped, and the next ones after interval/√1, interval/√2, …, until one has waited less. Where the transport understands
//! marks, a mark can stand for each drop (Linux's `codel_dequeue` with `ecn`).

use super::fifo::{self, Fifo};
use super::{Discipline, Settings, Verdict, mark};
use crate::counters::Tally;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What it may hold; without a limit, everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The waiting time that it aims at (RFC 8289, §4.3).
    #[schemars(example = "5ms")]
    pub target: Duration,
    /// Act after packets have waited longer for so long: a round trip, long for the path (RFC 8289, §4.2).
    #[schemars(example = "100ms")]
    pub interval: Duration,
    /// Mark instead of dropping where the transport understands marks.
    pub ecn: bool,
}

impl Default for Config {
    /// TARGET and INTERVAL of RFC 8289, §5.3.
    fn default() -> Self {
        Self { limit: None, target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false }
    }
}

impl Settings for Config {
    type Discipline<D> = CoDel<D>;

    fn discipline<D: Datagram>(self) -> CoDel<D> {
        let fifo = fifo::Config { limit: self.limit, mark_above: None };
        CoDel { marks: self.ecn, fifo: fifo.discipline(), law: Law::new(self.target, self.interval) }
    }

    fn times(&self) -> Vec<(&'static str, Duration)> {
        vec![("target", self.target), ("interval", self.interval)]
    }
}

/// RFC 8289, §5.5: the rate of drops of the last time is taken up again if that ended no longer than so many intervals ago.
const MEMORY: u64 = 16;

#[derive(Clone, Debug)]
pub(crate) struct CoDel<D> {
    marks: bool,
    fifo: Fifo<(Instant, D)>,
    law: Law,
}

/// The state of RFC 8289, §5.2, and its constants.
#[derive(Clone, Copy, Debug)]
struct Law {
    target: Duration,
    interval: Duration,
    /// The largest packet so far.
    max_packet: Bytes,
    /// When it will have been too long above the target, if it is above.
    first_above: Option<Instant>,
    dropping: bool,
    next: Instant,
    count: u64,
    last_count: u64,
    /// Something was dropped for which the next instant is not set yet: that waits for the packet behind it.
    must_schedule: bool,
}

impl Law {
    fn new(target: Duration, interval: Duration) -> Self {
        Self {
            target,
            interval,
            max_packet: Bytes::ZERO,
            first_above: None,
            dropping: false,
            next: Instant::ZERO,
            count: 0,
            last_count: 0,
            must_schedule: false,
        }
    }

    /// Is the packet that leaves now, `arrived` so long ago, one too many? `left` octets wait behind it.
    fn strikes(&mut self, now: Instant, arrived: Instant, left: Bytes) -> bool {
        let is_too_slow = self.is_too_slow(now, arrived, left);
        if self.dropping {
            if !is_too_slow {
                (self.dropping, self.must_schedule) = (false, false);
                return false;
            }
            if self.must_schedule {
                self.schedule(self.next);
            }
            if now < self.next {
                return false;
            }
            self.count += 1;
            self.must_schedule = true;
            return true;
        }
        if is_too_slow {
            self.begin(now);
        }
        is_too_slow
    }

    fn is_too_slow(&mut self, now: Instant, arrived: Instant, left: Bytes) -> bool {
        if now.since(arrived) < self.target || left <= self.max_packet {
            self.first_above = None;
            return false;
        }
        now >= *self.first_above.get_or_insert(now + self.interval)
    }

    fn begin(&mut self, now: Instant) {
        self.dropping = true;
        let grown = self.count - self.last_count;
        let is_recent = now.since(self.next) < self.interval * MEMORY;
        self.count = if grown > 1 && is_recent { grown } else { 1 };
        self.last_count = self.count;
        self.schedule(now);
    }

    /// The control law: the next after interval/√count.
    fn schedule(&mut self, from: Instant) {
        let squared = u128::from(self.interval.as_nanos()).pow(2);
        let gap = (squared / u128::from(self.count)).isqrt() as u64;
        self.next = from + Duration::from_nanos(gap);
        self.must_schedule = false;
    }
}

impl<D: Datagram> Discipline<D> for CoDel<D> {
    fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        let size = packet.wire_len();
        let verdict = self.fifo.offer(now, packet, room, tally);
        if matches!(verdict, Verdict::Queued) {
            self.law.max_packet = self.law.max_packet.max(size);
        }
        verdict
    }

    fn head(&self) -> Option<(Instant, &D)> {
        self.fifo.head()
    }

    /// The head may leave marked.
    fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)> {
        let (arrived, mut packet) = self.fifo.pop()?;
        let size = packet.wire_len();
        if self.law.strikes(leaves, arrived, self.fifo.bytes) {
            if !self.marks || !packet.ecn().is_capable() {
                tally.drops(leaves, packet.flow(), size);
                return None;
            }
            if mark(&mut packet) {
                tally.marks(leaves, size);
            }
            // After a mark the next instant does not hang on the packet behind (Linux's `codel_dequeue`).
            if self.law.must_schedule {
                self.law.schedule(self.law.next);
            }
        }
        Some((arrived, packet))
    }

    fn any(&self, holds: impl FnMut(&D) -> bool) -> bool {
        self.fifo.any(holds)
    }

    fn take_out(&mut self, wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        self.fifo.take_out(wanted)
    }

    /// It has not waited.
    fn passed_by(&mut self) {
        (self.law.first_above, self.law.dropping, self.law.must_schedule) = (None, false, false);
    }

    #[inline]
    fn len(&self) -> usize {
        self.fifo.len()
    }

    fn bytes(&self) -> Bytes {
        self.fifo.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes(1500);
    const LONG: Bytes = Bytes(30_000);

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn law() -> Law {
        Law { max_packet: PACKET, ..Law::new(Duration::from_millis(5), Duration::from_millis(100)) }
    }

    /// The milliseconds at which it strikes while every packet has waited for 10 ms, one leaving each millisecond.
    fn strikes(law: &mut Law, span: std::ops::Range<u64>) -> Vec<u64> {
        span.filter(|at| law.strikes(ms(*at), ms(at - 10), LONG)).collect()
    }

    #[test]
    fn the_first_after_an_interval_and_then_ever_sooner() {
        // 100 ms above the target, then 100/√1, 100/√2, 100/√3, 100/√4 later: 100, 70.7, 57.7, 50.
        assert_eq!(strikes(&mut law(), 1000..1400), [1100, 1200, 1271, 1329, 1379]);
    }

    #[test]
    fn one_packet_below_the_target_ends_it() {
        let mut law = law();
        assert_eq!(strikes(&mut law, 1000..1250), [1100, 1200]);
        assert!(!law.strikes(ms(1250), ms(1246), LONG));
        assert_eq!(strikes(&mut law, 1251..1300), [0; 0], "the next interval has not passed");
    }

    #[test]
    fn no_more_than_one_packet_behind_is_no_queue() {
        let mut law = law();
        assert!((1000..1400).all(|at| !law.strikes(ms(at), ms(at - 10), PACKET)));
    }

    #[test]
    fn a_rate_that_was_needed_before_is_taken_up_again() {
        let mut law = law();
        let before = strikes(&mut law, 1000..2000);
        assert!(!law.strikes(ms(2000), ms(1999), LONG));
        let again = strikes(&mut law, 2001..2200);
        assert_eq!(again[0], 2101, "only after an interval");
        let gap = again[1] - again[0];
        assert!(gap < 100 / 3, "not from 100 ms on, for {} came before: {gap}", before.len());
    }
}
