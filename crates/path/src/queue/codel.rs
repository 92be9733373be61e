//! Controlled delay (RFC 8289).
//!
//! The sojourn time of a packet is checked when it is dequeued. Once sojourn times have exceeded
//! the target for an interval, one packet is dropped. Further packets are dropped after
//! interval/√1, interval/√2, …, until a sojourn time is below the target. ECN-capable packets can
//! be marked instead of dropped (Linux's `codel_dequeue` with `ecn`).

use super::fifo::Fifo;
use super::{Discipline, Settings, Verdict, mark};
use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The acceptable standing delay (RFC 8289, §4.3).
    #[schemars(example = "5ms")]
    pub target: Duration,
    /// The time for which sojourn times must exceed the target before a packet is dropped. Set it
    /// to a worst-case RTT of the path (RFC 8289, §4.2).
    #[schemars(example = "100ms")]
    pub interval: Duration,
    /// If `true`, ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for Config {
    /// Returns TARGET and INTERVAL of RFC 8289, §5.3.
    fn default() -> Self {
        Self { limit: None, target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false }
    }
}

impl Settings for Config {
    type Discipline<D> = CoDel<D>;

    fn discipline<D: Datagram>(self, _draws: Stream) -> CoDel<D> {
        CoDel { marks: self.ecn, fifo: Fifo::new(self.limit, None), law: Law::new(self.target, self.interval) }
    }

    fn times(&self) -> Vec<(&'static str, Duration)> {
        vec![("target", self.target), ("interval", self.interval)]
    }
}

/// RFC 8289, §5.5: the drop rate of the last dropping state is resumed if that state ended at most
/// this number of intervals ago.
const MEMORY: u64 = 16;

#[derive(Clone, Debug)]
pub(crate) struct CoDel<D> {
    marks: bool,
    fifo: Fifo<(Instant, D)>,
    law: Law,
}

/// The control law of CoDel: the state variables of RFC 8289, §5.2, and the settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    target: Duration,
    interval: Duration,
    /// The largest packet so far.
    max_packet: Bytes,
    /// `first_above_time_`: the time at which sojourn times will have exceeded the target for an
    /// interval. `None` if the last sojourn time was below the target.
    first_above: Option<Instant>,
    dropping: bool,
    /// `drop_next_`: the time of the next drop.
    next: Instant,
    count: u64,
    last_count: u64,
    /// `true` if `next` must be computed from the time of the last drop when the following packet
    /// is dequeued.
    must_schedule: bool,
}

impl Law {
    pub(super) fn new(target: Duration, interval: Duration) -> Self {
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

    /// Records the size of a packet. CoDel never drops while at most one packet of the maximum size
    /// is queued.
    pub(super) fn notes_size(&mut self, size: Bytes) {
        self.max_packet = self.max_packet.max(size);
    }

    /// Records that the owner has dropped `packets` because there was no room, so that CoDel
    /// signals more often.
    pub(super) fn adds_drops(&mut self, packets: u64) {
        self.count += packets;
    }

    /// Records that the queue was empty when it was served.
    pub(super) fn idles(&mut self) {
        (self.first_above, self.dropping, self.must_schedule) = (None, false, false);
    }

    /// Decides on a packet that is dequeued now and arrived at `arrived`, with `left` octets queued
    /// behind it. If CoDel signals, an ECN-capable packet is marked if `marks` is set. For any
    /// other packet, the result is `false`: it must be dropped. Marks and drops are counted.
    pub(super) fn admits<D: Datagram>(
        &mut self,
        now: Instant,
        arrived: Instant,
        left: Bytes,
        packet: &mut D,
        marks: bool,
        tally: &mut Tally,
    ) -> bool {
        if !self.drops(now, arrived, left) {
            return true;
        }
        let size = packet.wire_len();
        if !marks || !packet.ecn().is_capable() {
            tally.drops(now, packet.flow(), size);
            return false;
        }
        if mark(packet) {
            tally.marks(now, size);
        }
        // After a mark, the time of the next signal does not depend on the packet behind (Linux's
        // `codel_dequeue`).
        if self.must_schedule {
            self.schedule(self.next);
        }
        true
    }

    /// Returns `true` if the packet dequeued now, which arrived at `arrived`, must be dropped.
    /// `left` octets are queued behind it.
    fn drops(&mut self, now: Instant, arrived: Instant, left: Bytes) -> bool {
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

    /// The control law: sets the time of the next drop to `from` plus interval/√count.
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
            self.law.notes_size(size);
        }
        verdict
    }

    fn head(&self) -> Option<(Instant, &D)> {
        self.fifo.head()
    }

    /// The head may be marked instead of dropped.
    fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)> {
        let (arrived, mut packet) = self.fifo.pop()?;
        let is_admitted = self.law.admits(leaves, arrived, self.fifo.bytes, &mut packet, self.marks, tally);
        is_admitted.then_some((arrived, packet))
    }

    fn any(&self, predicate: impl FnMut(&D) -> bool) -> bool {
        self.fifo.any(predicate)
    }

    fn take_out(&mut self, wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        self.fifo.take_out(wanted)
    }

    /// Passes the packet, because its sojourn time was zero.
    fn pass(&mut self, _now: Instant, packet: D, _tally: &mut Tally) -> Option<D> {
        self.law.idles();
        Some(packet)
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

    /// Returns the milliseconds at which packets are dropped if one is dequeued each millisecond
    /// after 10 ms in the queue.
    fn strikes(law: &mut Law, span: std::ops::Range<u64>) -> Vec<u64> {
        span.filter(|at| law.drops(ms(*at), ms(at - 10), LONG)).collect()
    }

    #[test]
    fn drops_begin_after_an_interval_and_become_more_frequent() {
        // 100 ms above the target, then 100/√1, 100/√2, 100/√3, 100/√4 later: 100, 70.7, 57.7, 50.
        assert_eq!(strikes(&mut law(), 1000..1400), [1100, 1200, 1271, 1329, 1379]);
    }

    #[test]
    fn one_packet_below_the_target_ends_dropping() {
        let mut law = law();
        assert_eq!(strikes(&mut law, 1000..1250), [1100, 1200]);
        assert!(!law.drops(ms(1250), ms(1246), LONG));
        assert_eq!(strikes(&mut law, 1251..1300), [0; 0], "the next interval has not passed");
    }

    #[test]
    fn no_more_than_one_packet_behind_is_no_queue() {
        let mut law = law();
        assert!((1000..1400).all(|at| !law.drops(ms(at), ms(at - 10), PACKET)));
    }

    #[test]
    fn a_recent_drop_rate_is_resumed() {
        let mut law = law();
        let before = strikes(&mut law, 1000..2000);
        assert!(!law.drops(ms(2000), ms(1999), LONG));
        let again = strikes(&mut law, 2001..2200);
        assert_eq!(again[0], 2101, "after an interval above the target");
        let gap = again[1] - again[0];
        assert!(gap < 100 / 3, "the gap must continue from the {} drops before instead of 100 ms: {gap}", before.len());
    }
}
