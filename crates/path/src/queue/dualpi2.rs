//! DualPI2 (RFC 9332, Appendix A): a queue for scalable (L4S) traffic and one for classic traffic,
//! coupled by one controller.
//!
//! Packets with ECT(1) or CE enter the L-queue, the rest the C-queue. A proportional-integral
//! controller sets a base probability p' from the longer of the two queues' delays. Classic packets
//! are dropped or marked with p'², and scalable ones marked with at least k·p', so that flows of
//! both kinds get about the same rate. In addition, scalable packets that wait longer than about a
//! millisecond are marked with a probability that rises linearly with the delay, the ramp (Appendix
//! A.1).

use super::fifo::Fifo;
use super::{Discipline, Settings, Verdict, has_room, mark};
use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Ecn, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity of both queues together; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The queueing delay to which the controller steers (RFC 9332, Appendix A.1).
    #[schemars(example = "15ms")]
    pub target: Duration,
    /// The maximum RTT for which the controller is stable; it determines the gains of the
    /// controller and the time between two changes (RFC 9332, Appendix A.1).
    #[schemars(example = "100ms")]
    pub max_rtt: Duration,
    /// The delay at which the ramp begins to mark scalable packets (RFC 9332, Appendix A.1:
    /// `minTh`).
    #[schemars(example = "800us")]
    pub ramp: Duration,
    /// The length of the ramp: a packet that waits longer than `ramp` plus this time is always
    /// marked (RFC 9332, Appendix A.1: `range`).
    #[schemars(example = "400us")]
    pub ramp_range: Duration,
}

impl Default for Config {
    /// Returns the defaults of RFC 9332, Appendix A.1, Figure 2.
    fn default() -> Self {
        Self {
            limit: None,
            target: Duration::from_millis(15),
            max_rtt: Duration::from_millis(100),
            ramp: Duration::from_micros(800),
            ramp_range: Duration::from_micros(400),
        }
    }
}

impl Settings for Config {
    type Discipline<D> = DualPi2<D>;

    fn discipline<D: Datagram>(self, _draws: Stream) -> DualPi2<D> {
        let fifo = || Fifo::new(None, None);
        DualPi2 {
            limit: self.limit,
            largest: MIN_LARGEST,
            ramp: (self.ramp, self.ramp_range),
            scalable: Band { fifo: fifo(), count: 0.0 },
            classic: Band { fifo: fifo(), count: 0.0 },
            controller: Controller::new(&self),
            credit: INITIAL_CREDIT,
        }
    }

    fn times(&self) -> Vec<(&'static str, Duration)> {
        vec![("target", self.target), ("max_rtt", self.max_rtt), ("ramp", self.ramp), ("ramp_range", self.ramp_range)]
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.target < SHORTEST_UPDATE {
            return Err(("target", "at least 10us"));
        }
        if self.max_rtt < SHORTEST_UPDATE * 3 { Err(("max_rtt", "at least 30us")) } else { Ok(()) }
    }
}

/// The minimum time between changes of the controller, which is the target or a third of the
/// maximum RTT. More frequent changes would only cost computing time.
const SHORTEST_UPDATE: Duration = Duration::from_micros(10);
/// The coupling factor k: classic packets are dropped with (p/k)² if scalable ones are marked with
/// p (RFC 9332, §2.1; 2 by §2.5.1).
const COUPLING: f64 = 2.0;
/// The ramp does not mark the only packet of the L-queue (RFC 9332, Appendix A.1: `Th_len`).
const MIN_LENGTH: usize = 1;
/// The minimum size assumed for the largest packet: an Ethernet frame with its header.
const MIN_LARGEST: Bytes = Bytes(1514);
/// The weights of the queues in percent. RFC 9332, §2.5.1 requires a bounded priority of the
/// L-queue, and Appendix A.2 recommends weighted round robin with a small weight such as 1/16 for
/// the C-queue. These weights are Linux's (`dualpi2_calculate_c_protection` in
/// `net/sched/sch_dualpi2.c`).
const SCALABLE_WEIGHT: i64 = 90;
const CLASSIC_WEIGHT: i64 = 10;
/// `c_protection_init` with an MTU of 1514 octets: the L-queue goes first.
const INITIAL_CREDIT: i64 = 1514 * (CLASSIC_WEIGHT - SCALABLE_WEIGHT);

/// The base probability p' and its parameters.
#[derive(Clone, Copy, Debug)]
struct Controller {
    target: f64,
    /// The gain in 1/s.
    alpha: f64,
    beta: f64,
    update: Duration,
    base: f64,
    /// The delay at the last change, in seconds.
    last: f64,
    next: Instant,
}

impl Controller {
    /// RFC 9332, Appendix A.1, Figure 2, lines 12 to 14.
    fn new(config: &Config) -> Self {
        let rtt = config.max_rtt.as_secs_f64();
        let update = config.target.min(config.max_rtt / 3);
        Self {
            target: config.target.as_secs_f64(),
            alpha: 0.1 * update.as_secs_f64() / (rtt * rtt),
            beta: 0.3 / rtt,
            update,
            base: 0.0,
            last: 0.0,
            next: Instant::ZERO + update,
        }
    }

    /// RFC 9332, Appendix A.2, Figure 8: `dualpi2_update`.
    fn change(&mut self, delay: f64) {
        self.base += self.alpha * (delay - self.target) + self.beta * (delay - self.last);
        self.base = self.base.clamp(0.0, 1.0);
        self.last = delay;
    }

    /// Returns the probability with which the coupling marks scalable packets (p_CL).
    fn coupled(&self) -> f64 {
        COUPLING * self.base
    }

    /// Returns the probability with which classic packets are dropped or marked (p_C).
    fn squared(&self) -> f64 {
        self.base * self.base
    }
}

/// A queue with its marking counter.
#[derive(Clone, Debug)]
struct Band<D> {
    fifo: Fifo<(Instant, D)>,
    count: f64,
}

impl<D> Band<D> {
    /// RFC 9332, Appendix A.1, Figure 4: `recur`. Signals evenly instead of at random.
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let is_due = self.count > 1.0;
        if is_due {
            self.count -= 1.0;
        }
        is_due
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DualPi2<D> {
    limit: Option<Limit>,
    /// The largest packet so far.
    largest: Bytes,
    /// The start of the ramp, and its length.
    ramp: (Duration, Duration),
    scalable: Band<D>,
    classic: Band<D>,
    controller: Controller,
    /// If it is above zero, the C-queue has waited long enough to be served first.
    credit: i64,
}

impl<D: Datagram> DualPi2<D> {
    /// Applies the changes that are due by `now`. The waiting packets have waited at each of these
    /// instants.
    fn advance(&mut self, now: Instant) {
        while self.controller.next <= now {
            if self.len() == 0 && self.controller.base == 0.0 && self.controller.last == 0.0 {
                let steps = now.since(self.controller.next).as_nanos() / self.controller.update.as_nanos() + 1;
                self.controller.next += self.controller.update * steps;
                return;
            }
            let at = self.controller.next;
            let waited = |band: &Band<D>| band.fifo.head().map_or(0.0, |(arrived, _)| at.since(arrived).as_secs_f64());
            // The controller uses the longer of the two delays, so that scalable traffic alone is
            // controlled too (line 2a).
            self.controller.change(waited(&self.classic).max(waited(&self.scalable)));
            self.controller.next += self.controller.update;
        }
    }

    /// `dequeue_packet` of Linux's `sch_dualpi2.c`: weighted round robin by a credit of octets.
    fn is_scalable_next(&self) -> bool {
        self.scalable.fifo.len() > 0 && (self.classic.fifo.len() == 0 || self.credit <= 0)
    }

    /// Returns the native probability of the L-queue for a packet that has waited for `sojourn`:
    /// RFC 9332, Appendix A.1, Figure 5, `laqm`.
    fn ramped(&self, sojourn: Duration) -> f64 {
        let (begin, range) = self.ramp;
        // The packet on which the AQM decides has already left the queue.
        if self.scalable.fifo.len() < MIN_LENGTH {
            return 0.0;
        }
        (sojourn.saturating_sub(begin).as_secs_f64() / range.as_secs_f64()).min(1.0)
    }

    /// Returns `true` if the queues, including the packet that leaves, contain less than two
    /// packets of the maximum size. The packet is then not dropped, even if the probability has not
    /// decayed yet (`must_drop` of Linux's `sch_dualpi2.c`). RFC 9332, Appendix A.1 attributes this
    /// bound to Linux, which does not mark such a packet for the controller either.
    fn is_short(&self, packet: &D) -> bool {
        self.bytes() + packet.wire_len() < self.largest + self.largest
    }

    /// Returns `false` if the scalable packet must be dropped: only in overload, when marking every
    /// packet does not suffice (RFC 9332, Appendix A.2, Figure 7).
    fn judge_scalable(&mut self, now: Instant, sojourn: Duration, packet: &mut D, tally: &mut Tally) -> bool {
        let coupled = self.controller.coupled();
        let is_marked = if coupled < 1.0 {
            let likelihood = self.ramped(sojourn).max(coupled);
            self.scalable.recurs(likelihood)
        } else {
            let squared = self.controller.squared();
            if self.scalable.recurs(squared) && !self.is_short(packet) {
                return false;
            }
            true
        };
        if is_marked && mark(packet) {
            tally.marks(now, packet.wire_len());
        }
        true
    }

    /// Returns `false` if the classic packet must be dropped.
    fn judge_classic(&mut self, now: Instant, packet: &mut D, tally: &mut Tally) -> bool {
        let squared = self.controller.squared();
        if !self.classic.recurs(squared) {
            return true;
        }
        // In overload, ECN-capable packets are dropped, too (RFC 9332, Appendix A.2).
        if !packet.ecn().is_capable() || self.controller.coupled() >= 1.0 {
            return self.is_short(packet);
        }
        if mark(packet) {
            tally.marks(now, packet.wire_len());
        }
        true
    }
}

impl<D: Datagram> Discipline<D> for DualPi2<D> {
    fn offer(&mut self, now: Instant, packet: D, room: bool, _tally: &mut Tally) -> Verdict<D> {
        self.advance(now);
        let size = packet.wire_len();
        if !room || !has_room(self.limit, self.len(), self.bytes(), size) {
            return Verdict::Dropped(packet);
        }
        let band = if matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce) { &mut self.scalable } else { &mut self.classic };
        band.fifo.push((now, packet), size);
        self.largest = self.largest.max(size);
        Verdict::Queued
    }

    fn head(&self) -> Option<(Instant, &D)> {
        let band = if self.is_scalable_next() { &self.scalable } else { &self.classic };
        band.fifo.head()
    }

    fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)> {
        self.advance(leaves);
        let is_scalable = self.is_scalable_next();
        let band = if is_scalable { &mut self.scalable } else { &mut self.classic };
        let (arrived, mut packet) = band.fifo.pop()?;
        let is_kept = if is_scalable {
            self.judge_scalable(leaves, leaves.since(arrived), &mut packet, tally)
        } else {
            self.judge_classic(leaves, &mut packet, tally)
        };
        let size = packet.wire_len();
        if !is_kept {
            tally.drops(leaves, packet.flow(), size);
            return None;
        }
        let other = if is_scalable { &self.classic } else { &self.scalable };
        if other.fifo.len() > 0 {
            let weight = if is_scalable { CLASSIC_WEIGHT } else { -SCALABLE_WEIGHT };
            self.credit += weight * size.get().cast_signed();
        }
        if self.len() == 0 {
            self.credit = INITIAL_CREDIT;
        }
        Some((arrived, packet))
    }

    fn any(&self, mut predicate: impl FnMut(&D) -> bool) -> bool {
        self.scalable.fifo.any(&mut predicate) || self.classic.fifo.any(&mut predicate)
    }

    fn take_out(&mut self, mut wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        let mut taken = self.scalable.fifo.take_out(&mut wanted);
        taken.extend(self.classic.fifo.take_out(&mut wanted));
        taken
    }

    /// Passes a packet. The coupling also acts on packets that need not wait.
    fn pass(&mut self, now: Instant, packet: D, tally: &mut Tally) -> Option<D> {
        self.pass_through(now, packet, tally)
    }

    fn len(&self) -> usize {
        self.scalable.fifo.len() + self.classic.fifo.len()
    }

    fn bytes(&self) -> Bytes {
        self.scalable.fifo.bytes + self.classic.fifo.bytes
    }
}

#[cfg(test)]
mod tests;
