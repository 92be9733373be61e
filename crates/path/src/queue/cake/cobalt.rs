//! COBALT, the AQM of CAKE's queues: CoDel for flows that respond to signals, and BLUE for those that do not (`cobalt_*` in `sch_cake.c`).
//!
//! Unlike RFC 8289, this CoDel does not forget its rate when it stops to drop: `count` falls as it rose, a step each time a signal would
//! have been due. Its square roots are exact; the kernel's come from a Newton step.

use super::duration;
use crate::queue::mark;
use acklab_base::random::Stream;
use acklab_base::{Bytes, Datagram, Duration, Instant};

/// The parameters of a class (`cake_set_rate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// The acceptable standing delay, and the least time between two changes of BLUE's probability.
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// How long the class takes to send the largest packet.
    packet_time: Duration,
}

/// The largest packet with its Ethernet header, which the kernel calls `psched_mtu`.
const LARGEST: Bytes = Bytes(1514);

/// BLUE's steps, in units of 2⁻³²: up by 1/256 when the queue overflows, down by 1/4096 when it is empty.
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
    /// The time of the next signal, or of the last activity.
    drop_next: Instant,
    /// When BLUE's probability changed last.
    changed: Instant,
    /// BLUE's drop probability in units of 2⁻³².
    probability: u32,
    dropping: bool,
}

impl Default for Cobalt {
    fn default() -> Self {
        let (drop_next, changed) = (Instant::ZERO, Instant::ZERO);
        Self { count: 0, drop_next, changed, probability: 0, dropping: false }
    }
}

impl Cobalt {
    /// The queue has lost a packet because all queues were full (`cobalt_queue_full`).
    pub(super) fn overflows(&mut self, now: Instant, parameters: &Parameters) {
        if now.since(self.changed) > parameters.target {
            self.probability = self.probability.saturating_add(UP);
            self.changed = now;
        }
        (self.dropping, self.drop_next, self.count) = (true, now, self.count.max(1));
    }

    /// The queue was served and found empty (`cobalt_queue_empty`).
    pub(super) fn runs_empty(&mut self, now: Instant, parameters: &Parameters) {
        if self.probability > 0 && now.since(self.changed) > parameters.target {
            self.probability = self.probability.saturating_sub(DOWN);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.drop_next += self.gap(parameters);
        }
    }

    /// Returns `true` if the state has decayed, so that the queue may be forgotten.
    pub(super) fn is_at_rest(&self, now: Instant) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.drop_next
    }

    /// Judges a packet that leaves now after `sojourn` in the queue: marks it, or returns `true` if it must be dropped
    /// (`cobalt_should_drop`).
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
                self.drop_next = now + self.gap(parameters);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        if is_due && self.dropping {
            judgement.is_dropped = !packet.ecn().is_capable();
            judgement.is_marked = mark(packet);
            self.count += 1;
            self.drop_next += self.gap(parameters);
            is_past = now > self.drop_next;
        } else {
            while is_due {
                self.count -= 1;
                self.drop_next += self.gap(parameters);
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

    /// interval/√count; without a count, the interval.
    fn gap(&self, parameters: &Parameters) -> Duration {
        let squared = u128::from(parameters.interval.as_nanos()).pow(2);
        Duration::from_nanos((squared / u128::from(self.count.max(1))).isqrt() as u64)
    }
}

/// What happens to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) is_dropped: bool,
    /// Whether it was marked; it may be dropped all the same.
    pub(super) is_marked: bool,
}
