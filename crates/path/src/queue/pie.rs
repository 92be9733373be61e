//! PIE (RFC 8033): packets are dropped on arrival with a probability that a proportional-integral
//! controller sets from the queueing delay.
//!
//! Every 15 ms the probability changes by α·(delay − target) + β·(delay − last delay), scaled down
//! while it is small (§4.2). The delay is the sojourn time of the last packet that left, as in
//! Linux by default. RFC 8033, §4.3 permits this, so no departure rate is estimated.

use super::fifo::Fifo;
use super::{Discipline, Settings, Verdict, mark};
use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The queueing delay to which the controller steers (RFC 8033, §4.2).
    #[schemars(example = "15ms")]
    pub target: Duration,
    /// The time between two changes of the probability (RFC 8033, §4.2).
    #[schemars(example = "15ms")]
    pub update: Duration,
    /// The duration of a burst that is permitted without drops after the queue was short (RFC 8033,
    /// §4.4).
    #[schemars(example = "150ms")]
    pub burst: Duration,
    /// If `true`, ECN-capable packets are marked instead of dropped while the probability is at
    /// most 0.1 (RFC 8033, §5.1).
    pub ecn: bool,
}

impl Default for Config {
    /// Returns `QDELAY_REF`, `T_UPDATE` and `MAX_BURST` of RFC 8033, §4.2 and §4.4.
    fn default() -> Self {
        Self {
            limit: None,
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            burst: Duration::from_millis(150),
            ecn: false,
        }
    }
}

impl Settings for Config {
    type Discipline<D> = Pie<D>;

    fn discipline<D: Datagram>(self, draws: Stream) -> Pie<D> {
        let (fifo, last_sojourn) = (Fifo::new(self.limit, None), Duration::ZERO);
        let controller = Controller::new(&self);
        Pie { ecn: self.ecn, largest: MIN_LARGEST, fifo, controller, last_sojourn, accumulated: 0.0, draws }
    }

    fn times(&self) -> Vec<(&'static str, Duration)> {
        vec![("target", self.target), ("update", self.update), ("burst", self.burst)]
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.update < SHORTEST_UPDATE { Err(("update", "at least 10us")) } else { Ok(()) }
    }
}

/// The minimum time between changes of the probability.
const SHORTEST_UPDATE: Duration = Duration::from_micros(10);
/// α and β in 1/s (RFC 8033, Appendix A).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// RFC 8033, §5.5: above this probability, one change is at most [`LARGEST_STEP`].
const HIGH: f64 = 0.1;
const LARGEST_STEP: f64 = 0.02;
/// A delay above this adds 2 % at each change: `pie_calculate_probability` of Linux's `sch_pie.c`.
/// RFC 8033 has no such rule; RFC 8034, Appendix A.2 uses 200 ms.
const VERY_LONG: Duration = Duration::from_millis(250);
/// RFC 8033, §4.2: the factor of the probability at each change while the queue is idle.
const DECAY: f64 = 0.98;
/// RFC 8033, §5.1: above this probability ECN-capable packets are dropped as well.
const MAX_MARKED: f64 = 0.1;
/// RFC 8033, §4.1: below this probability and half of the target, no packet is dropped.
const HARMLESS: f64 = 0.2;
/// The minimum assumed for the largest packet. No packet is dropped while less than two of them
/// wait, as in Linux; RFC 8033, §4.1 uses two of mean size.
const MIN_LARGEST: Bytes = Bytes(1514);
/// RFC 8033, §5.4: the accumulated probability below which no packet is dropped, and the one above
/// which a packet must be dropped.
const ACCUMULATED: std::ops::Range<f64> = 0.85..8.5;

/// The drop probability and its parameters (RFC 8033, §4.2 to §4.4).
#[derive(Clone, Copy, Debug)]
struct Controller {
    target: Duration,
    update: Duration,
    burst: Duration,
    probability: f64,
    /// The delay at the last change.
    delay: Duration,
    /// The remaining time without drops.
    allowance: Duration,
    /// The time of the next change.
    next: Instant,
}

impl Controller {
    fn new(config: &Config) -> Self {
        let Config { target, update, burst, .. } = *config;
        let next = Instant::ZERO + update;
        Self { target, update, burst, probability: 0.0, delay: Duration::ZERO, allowance: burst, next }
    }

    /// Applies the changes that are due by `now`. The delay was `delay` during that time.
    fn advance(&mut self, now: Instant, delay: Duration) {
        while self.next <= now {
            if self.is_at_rest(delay) {
                // The probability does not change until the next packet.
                let steps = now.since(self.next).as_nanos() / self.update.as_nanos() + 1;
                self.next += self.update * steps;
                return;
            }
            self.change(delay);
            self.next += self.update;
        }
    }

    fn is_at_rest(&self, delay: Duration) -> bool {
        delay.is_zero() && self.delay.is_zero() && self.probability == 0.0 && self.allowance == self.burst
    }

    /// `calculate_drop_prob` of RFC 8033, Appendix B, without its departure rate.
    fn change(&mut self, delay: Duration) {
        let (now, target, last) = (delay.as_secs_f64(), self.target.as_secs_f64(), self.delay.as_secs_f64());
        let mut step = (ALPHA * (now - target) + BETA * (now - last)) * self.scale();
        if self.probability >= HIGH {
            step = step.min(LARGEST_STEP);
        }
        if delay > VERY_LONG {
            step += LARGEST_STEP;
        }
        self.probability += step;
        if delay.is_zero() && self.delay.is_zero() {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.allowance = self.allowance.saturating_sub(self.update);
        let is_short = |delay: Duration| delay * 2 < self.target;
        if self.probability == 0.0 && is_short(delay) && is_short(self.delay) {
            self.allowance = self.burst;
        }
        self.delay = delay;
    }

    /// Returns the auto-tuning of RFC 8033, §4.2: the smaller the probability, the smaller its
    /// changes.
    fn scale(&self) -> f64 {
        const STEPS: [(f64, f64); 6] = [
            (0.000_001, 1.0 / 2048.0),
            (0.000_01, 1.0 / 512.0),
            (0.000_1, 1.0 / 128.0),
            (0.001, 1.0 / 32.0),
            (0.01, 1.0 / 8.0),
            (0.1, 1.0 / 2.0),
        ];
        STEPS.iter().find(|(below, _)| self.probability < *below).map_or(1.0, |(_, scale)| *scale)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pie<D> {
    ecn: bool,
    /// The largest packet so far.
    largest: Bytes,
    fifo: Fifo<(Instant, D)>,
    controller: Controller,
    /// The sojourn time of the packet that left last; zero if the queue was empty then.
    last_sojourn: Duration,
    /// The sum of the probabilities since the last drop, which spaces drops (RFC 8033, §5.4).
    accumulated: f64,
    draws: Stream,
}

impl<D> Pie<D> {
    /// Returns the result of `drop_early` of RFC 8033, Appendix B: the rules of §4.1 and §4.4 with
    /// the derandomization of §5.4.
    fn is_early(&mut self) -> bool {
        let Controller { probability, allowance, delay, target, .. } = self.controller;
        let is_harmless = delay * 2 < target && probability < HARMLESS;
        if !allowance.is_zero() || is_harmless || self.fifo.bytes < self.largest + self.largest {
            return false;
        }
        if probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        if self.accumulated < ACCUMULATED.start {
            return false;
        }
        let is_due = self.accumulated >= ACCUMULATED.end || self.draws.chance(probability);
        if is_due {
            self.accumulated = 0.0;
        }
        is_due
    }
}

impl<D: Datagram> Discipline<D> for Pie<D> {
    fn offer(&mut self, now: Instant, mut packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        self.controller.advance(now, self.last_sojourn);
        self.largest = self.largest.max(packet.wire_len());
        if !room {
            // Tail drops reset the accumulated probability, like other drops (`enque` of RFC 8033,
            // Appendix B).
            self.accumulated = 0.0;
            return Verdict::Dropped(packet);
        }
        if self.is_early() {
            let may_mark = self.ecn && packet.ecn().is_capable() && self.controller.probability <= MAX_MARKED;
            if !may_mark {
                return Verdict::Dropped(packet);
            }
            if mark(&mut packet) {
                tally.marks(now, packet.wire_len());
            }
        }
        self.fifo.offer(now, packet, room, tally)
    }

    fn head(&self) -> Option<(Instant, &D)> {
        self.fifo.head()
    }

    fn take_head(&mut self, leaves: Instant, _tally: &mut Tally) -> Option<(Instant, D)> {
        self.controller.advance(leaves, self.last_sojourn);
        let (arrived, packet) = self.fifo.pop()?;
        self.last_sojourn = if self.fifo.len() == 0 { Duration::ZERO } else { leaves.since(arrived) };
        Some((arrived, packet))
    }

    fn any(&self, predicate: impl FnMut(&D) -> bool) -> bool {
        self.fifo.any(predicate)
    }

    fn take_out(&mut self, wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        self.fifo.take_out(wanted)
    }

    fn pass(&mut self, now: Instant, packet: D, _tally: &mut Tally) -> Option<D> {
        self.controller.advance(now, self.last_sojourn);
        self.last_sojourn = Duration::ZERO;
        Some(packet)
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }

    fn bytes(&self) -> Bytes {
        self.fifo.bytes
    }
}

#[cfg(test)]
pub(crate) mod tests;
