//! COBALT, the AQM of CAKE's queues: CoDel for flows that respond to signals, and BLUE for those
//! that do not (`cobalt_*` in `sch_cake.c`).
//!
//! Unlike in RFC 8289, this CoDel does not reset its signalling rate when it stops dropping.
//! Instead, `count` decreases by one each time a signal would have been due. Square roots are exact
//! here, whereas the kernel approximates them by a Newton step. This CoDel also signals if less
//! than a packet is queued: only the waiting time of a packet matters.

use super::duration;
use crate::queue::mark;
use acklab_base::random::Stream;
use acklab_base::{Bytes, Datagram, Duration, Instant};

/// The parameters of a class (`cake_set_rate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// The acceptable standing delay, and the minimum time between two changes of BLUE's
    /// probability.
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// The time that the class needs to send the largest packet.
    packet_time: Duration,
}

/// The largest packet with its Ethernet header, which the kernel calls `psched_mtu`.
const LARGEST: Bytes = Bytes(1514);

/// BLUE's steps, in units of 2⁻³²: up by 1/256 when the queue overflows, down by 1/4096 when it is
/// empty.
const UP: u32 = 1 << 24;
const DOWN: u32 = 1 << 20;

impl Parameters {
    pub(super) fn new(rtt: Duration, rate: Option<u64>) -> Self {
        // `tc` sets the target to a twentieth of the RTT; the kernel's defaults are 5 and 100 ms.
        let target = rtt / 20;
        let packet_time = rate.map_or(Duration::ZERO, |rate| duration(LARGEST, rate));
        let raised = target.max(packet_time * 3 / 2);
        let interval = (rtt + (raised - target)).max(raised * 2);
        Self { target: raised, interval, packet_time }
    }
}

/// The state of one queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cobalt {
    count: u64,
    /// The time interval/√count when the count last changed. The gap is zero before the first
    /// change, because the kernel's `cobalt_vars_init` zeroes `rec_inv_sqrt`. So when a queue first
    /// exceeds the target, the next packet is signalled. Only later signals wait for an interval.
    gap: Duration,
    /// The time of the next signal, or of the last activity.
    drop_next: Instant,
    /// The time at which BLUE's probability last changed.
    changed: Instant,
    /// BLUE's drop probability in units of 2⁻³².
    probability: u32,
    dropping: bool,
}

impl Default for Cobalt {
    fn default() -> Self {
        let (drop_next, changed) = (Instant::ZERO, Instant::ZERO);
        Self { count: 0, gap: Duration::ZERO, drop_next, changed, probability: 0, dropping: false }
    }
}

impl Cobalt {
    /// Records that the queue has lost a packet because all queues were full (`cobalt_queue_full`).
    pub(super) fn overflows(&mut self, now: Instant, parameters: &Parameters) {
        if now.since(self.changed) > parameters.target {
            self.probability = self.probability.saturating_add(UP);
            self.changed = now;
        }
        (self.dropping, self.drop_next, self.count) = (true, now, self.count.max(1));
    }

    /// Records that the queue was served and found empty (`cobalt_queue_empty`).
    pub(super) fn runs_empty(&mut self, now: Instant, parameters: &Parameters) {
        if self.probability > 0 && now.since(self.changed) > parameters.target {
            self.probability = self.probability.saturating_sub(DOWN);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.steps_to(self.count - 1, parameters);
        }
    }

    /// Returns `true` if the state has decayed to its initial value, so that it may be discarded.
    pub(super) fn is_at_rest(&self, now: Instant) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.drop_next
    }

    /// Decides on a packet that leaves the queue now after a sojourn time of `sojourn`: marks it if
    /// needed, and reports if it must be dropped (`cobalt_should_drop`).
    pub(super) fn judge<D: Datagram>(
        &mut self,
        now: Instant,
        sojourn: Duration,
        parameters: &Parameters,
        packet: &mut D,
        draws: &mut Stream,
    ) -> Judgement {
        let mut judgement = Judgement::default();
        let mut is_past = now > self.drop_next;
        let mut is_due = self.count > 0 && now >= self.drop_next;
        if sojourn > parameters.target && sojourn > parameters.packet_time * 4 {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = now + self.gap;
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        if is_due && self.dropping {
            judgement.is_dropped = !packet.ecn().is_capable();
            judgement.is_marked = mark(packet);
            self.steps_to(self.count + 1, parameters);
            is_past = now > self.drop_next;
        } else {
            while is_due {
                self.steps_to(self.count - 1, parameters);
                is_past = now > self.drop_next;
                is_due = self.count > 0 && now >= self.drop_next;
            }
        }
        // BLUE drops ECN-capable packets as well.
        if self.probability > 0 && draws.below(1 << 32) < u64::from(self.probability) {
            judgement.is_dropped = true;
        }
        if self.count == 0 {
            self.drop_next = now + parameters.interval;
        } else if is_past && !judgement.is_dropped {
            self.drop_next = now;
        }
        judgement
    }

    /// Sets the count. The next signal is due interval/√count later, or an interval later if the
    /// count is zero.
    fn steps_to(&mut self, count: u64, parameters: &Parameters) {
        let squared = u128::from(parameters.interval.as_nanos()).pow(2);
        self.count = count;
        self.gap = Duration::from_nanos((squared / u128::from(count.max(1))).isqrt() as u64);
        self.drop_next += self.gap;
    }
}

/// The decision on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) is_dropped: bool,
    /// `true` if the packet was marked. A marked packet may be dropped nevertheless.
    pub(super) is_marked: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::sample::{data, draws};

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// The decisions of `cobalt_should_drop`, compiled from `sch_cake.c`, on packets that leave at
    /// these milliseconds after these delays: whether it is dropped, the count, and the time of the
    /// next signal in µs.
    const KERNEL: [(u64, u64, bool, u64, u64); 14] = [
        (1000, 8, false, 1, 1_000_000),
        (1008, 8, true, 2, 1_070_670),
        (1016, 8, false, 2, 1_070_670),
        (1024, 8, false, 2, 1_070_670),
        (1124, 8, true, 3, 1_128_405),
        (1132, 2, false, 2, 1_199_076),
        (1140, 8, false, 2, 1_210_670),
        (1240, 8, true, 3, 1_268_405),
        (1248, 8, false, 3, 1_268_405),
        (1500, 8, true, 4, 1_318_405),
        (1700, 8, true, 5, 1_363_127),
        (2100, 8, true, 6, 1_403_952),
        (2900, 8, true, 7, 1_441_748),
        (2908, 8, true, 8, 1_477_103),
    ];

    #[test]
    fn it_decides_as_the_kernel() {
        let (mut cobalt, parameters) = (Cobalt::default(), Parameters::new(Duration::from_millis(100), None));
        for (at, waited, is_dropped, count, next) in KERNEL {
            let sojourn = Duration::from_millis(waited);
            let judgement = cobalt.judge(ms(at), sojourn, &parameters, &mut data(1500), &mut draws());
            assert_eq!((judgement.is_dropped, cobalt.count), (is_dropped, count), "at {at} ms");
            // The kernel's roots come from Newton steps.
            let apart = cobalt.drop_next.as_nanos().abs_diff(next * 1000);
            assert!(apart < 150_000, "at {at} ms: {:?}, in the kernel {next} us", cobalt.drop_next);
        }
    }
}
