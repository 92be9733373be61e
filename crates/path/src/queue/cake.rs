//! CAKE: Common Applications Kept Enhanced (Høiland-Jørgensen, Täht and Morton, IEEE LANMAN 2018;
//! Linux's `net/sched/sch_cake.c`).
//!
//! | module | contents |
//! |---|---|
//! | `cobalt` | the AQM of each queue: CoDel and BLUE |
//! | `tin` | the queues of a class: set-associative hash, host isolation, DRR++ |
//!
//! [`Cake`] selects the class by DSCP, shapes to a rate, filters ACKs and enforces the limit.

mod cobalt;
mod tin;

use super::ack_filter;
use super::{Discipline, Settings, Total, Verdict};
use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Instant, Rate, mul_div};
use cobalt::Parameters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tin::Tin;

/// The settings of CAKE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity of all queues together; unlimited by default. A packet that exceeds it causes
    /// drops at the head of the longest queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The rate of the shaper (tc-cake's `bandwidth`). If absent, CAKE does not limit the rate. The
    /// rate also determines the quantum of flows and the minimum target.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "4.75Mbps")]
    pub rate: Option<Rate>,
    /// Octets that the shaper adds to each packet (tc-cake's `overhead`).
    #[schemars(example = "18B")]
    pub overhead: Bytes,
    /// The minimum size of a packet for the shaper (tc-cake's `mpu`).
    #[schemars(example = "64B")]
    pub least_size: Bytes,
    /// The round-trip time of typical paths (tc-cake's `rtt`): the interval of COBALT. The target
    /// of COBALT is a twentieth of it.
    #[schemars(example = "100ms")]
    pub rtt: Duration,
    /// The entities between which capacity is shared.
    pub isolation: Isolation,
    /// The classes into which packets are divided by their DSCP.
    pub tins: Tins,
    /// The filter that removes ACKs superseded by a newer ACK of the same flow.
    pub ack_filter: Filter,
}

/// The entities between which CAKE shares capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Capacity is shared between hosts (both senders and receivers), then between the flows of a
    /// host (tc-cake's `triple-isolate`).
    #[default]
    Triple,
    /// Capacity is shared between sending hosts, then between the flows of a host (`dual-srchost`).
    DualSource,
    /// Capacity is shared between receiving hosts, then between the flows of a host
    /// (`dual-dsthost`).
    DualDestination,
    /// Capacity is shared between flows (`flows`).
    Flows,
}

/// The classes of CAKE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tins {
    /// Bulk (CS1 and LE), best effort, and voice (CS6, CS7, EF, VA and TOS4).
    #[default]
    Diffserv3,
    /// One class for all packets.
    BestEffort,
}

/// The ACK filter of CAKE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// Disabled (`no-ack-filter`).
    #[default]
    Off,
    /// Leaves two ACKs of a flow (`ack-filter`).
    On,
    /// Leaves one ACK of a flow (`ack-filter-aggressive`).
    Aggressive,
}

impl Default for Config {
    /// Returns the defaults of `cake_init`.
    fn default() -> Self {
        Self {
            limit: None,
            rate: None,
            overhead: Bytes::ZERO,
            least_size: Bytes::ZERO,
            rtt: Duration::from_millis(100),
            isolation: Isolation::default(),
            tins: Tins::default(),
            ack_filter: Filter::default(),
        }
    }
}

impl Settings for Config {
    type Discipline<D> = Cake<D>;

    fn discipline<D: Datagram>(self, mut draws: Stream) -> Cake<D> {
        let perturbation = u64::from_le_bytes(draws.octets());
        // `cake_config_diffserv3`: for each class, the share of the rate up to which it keeps its
        // priority, and its weight without a shaper.
        let classes: &[(u64, i64)] = match self.tins {
            Tins::Diffserv3 => &[(1, WEIGHT), (16, WEIGHT / 16), (4, WEIGHT / 4)],
            Tins::BestEffort => &[(1, i64::from(u16::MAX))],
        };
        let tin = |(share, weight): &(u64, i64)| {
            let rate = self.rate.map(|rate| rate.bits_per_second() / share);
            Tin::new(Parameters::new(self.rtt, rate), rate, *weight, perturbation, self.isolation)
        };
        let filter = match self.ack_filter {
            Filter::Off => None,
            Filter::On => Some(ack_filter::cake::Cake { aggressive: false, accurate_ecn: false }),
            Filter::Aggressive => Some(ack_filter::cake::Cake { aggressive: true, accurate_ecn: false }),
        };
        Cake {
            config: self,
            filter,
            tins: classes.iter().map(tin).collect(),
            current: 0,
            next: Instant::ZERO,
            total: Total::default(),
            draws,
        }
    }

    fn times(&self) -> Vec<(&'static str, Duration)> {
        vec![("rtt", self.rtt)]
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let sizes = [("overhead", self.overhead), ("least_size", self.least_size)];
        let excessive = sizes.into_iter().find(|(_, size)| *size > LARGEST_PACKET);
        excessive.map_or(Ok(()), |(name, _)| Err((name, "at most 65535B")))
    }

    fn shaper(&self) -> Option<Rate> {
        self.rate
    }
}

/// The largest IP packet, which exceeds any link overhead.
const LARGEST_PACKET: Bytes = Bytes(65_535);
/// The weight of best effort in `cake_config_diffserv3`.
const WEIGHT: i64 = 1024;
const BEST_EFFORT: usize = 0;
const BULK: usize = 1;
const VOICE: usize = 2;

/// Returns the class of a codepoint: the table `diffserv3` of `sch_cake.c`.
const fn class_of(dscp: u8) -> usize {
    match dscp {
        // LE and CS1.
        1 | 8 => BULK,
        // TOS4, VA, EF, CS6 and CS7.
        4 | 44 | 46 | 48 | 56 => VOICE,
        _ => BEST_EFFORT,
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cake<D> {
    config: Config,
    filter: Option<ack_filter::cake::Cake>,
    tins: Vec<Tin<D>>,
    /// The class that is being served. Used only without a shaper.
    current: usize,
    /// The time at which the shaper permits the next packet to leave.
    next: Instant,
    total: Total,
    draws: Stream,
}

impl<D: Datagram> Cake<D> {
    fn class(&self, packet: &D) -> usize {
        match self.config.tins {
            Tins::Diffserv3 => class_of(packet.dscp()),
            Tins::BestEffort => BEST_EFFORT,
        }
    }

    /// Returns the size of a packet for the shaper (`cake_calc_overhead`).
    fn charged(&self, size: Bytes) -> Bytes {
        (size + self.config.overhead).max(self.config.least_size)
    }

    /// Selects the class that is served at `now` (`cake_dequeue`). At least one packet waits.
    fn select(&mut self, now: Instant) {
        if self.config.rate.is_some() {
            self.current = self.scheduled(now);
            return;
        }
        while self.tins[self.current].deficit < 0 || !self.tins[self.current].is_active() {
            let tin = &mut self.tins[self.current];
            if tin.deficit <= 0 {
                tin.deficit += tin.weight;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// With a shaper: returns the last class within its share of the rate, or the class whose turn
    /// comes first.
    fn scheduled(&self, now: Instant) -> usize {
        let mut best: Option<(Duration, usize)> = None;
        for (at, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
            let wait = tin.next.since(now);
            if best.is_none_or(|(minimum, _)| wait <= minimum) {
                best = Some((wait, at));
            }
        }
        best.map_or(BEST_EFFORT, |(_, at)| at)
    }

    /// Returns the class that is expected to be served next.
    fn likely(&self) -> Option<&Tin<D>> {
        if self.config.rate.is_some() {
            return Some(&self.tins[self.scheduled(self.next)]).filter(|tin| tin.len() > 0);
        }
        let (count, mut deficits) = (self.tins.len(), self.tins.iter().map(|tin| tin.deficit).collect::<Vec<_>>());
        let mut at = self.current;
        if self.total.packets == 0 {
            return None;
        }
        while deficits[at] < 0 || self.tins[at].len() == 0 {
            if deficits[at] <= 0 {
                deficits[at] += self.tins[at].weight;
            }
            at = (at + 1) % count;
        }
        Some(&self.tins[at])
    }

    /// Drops the head of the longest queue (`cake_drop`).
    fn drop_from_longest(&mut self, now: Instant, tally: &mut Tally) {
        let longest = self.tins.iter_mut().max_by_key(|tin| tin.longest());
        let Some((_, packet)) = longest.and_then(|tin| tin.drop_from_longest(now)) else { return };
        let size = packet.wire_len();
        tally.drops(now, packet.flow(), size);
        self.total.loses(1, size);
    }

    /// Charges a packet that leaves at `now` to the shaper and to its class
    /// (`cake_advance_shaper`).
    fn charge(&mut self, now: Instant, size: Bytes) {
        let size = self.charged(size);
        self.tins[self.current].charge(now, size);
        if let Some(rate) = self.config.rate {
            self.next += duration(size, rate.bits_per_second());
        }
    }
}

/// Returns the time to send `size` bytes at a rate.
fn duration(size: Bytes, bits_per_second: u64) -> Duration {
    Duration::from_nanos(mul_div(size.get(), 8_000_000_000, bits_per_second.max(MIN_RATE)))
}

/// `MIN_RATE` of `cake_set_rate`: 64 octets per second.
const MIN_RATE: u64 = 64 * 8;

impl<D: Datagram> Discipline<D> for Cake<D> {
    fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        let size = packet.wire_len();
        let class = self.class(&packet);
        if self.total.packets == 0 {
            self.next = self.next.max(now);
        }
        let tin = &mut self.tins[class];
        tin.wakes(now);
        let verdict = tin.offer(now, packet, room, self.filter);
        match &verdict {
            Verdict::Queued => {
                self.total.adds(size);
                while self.total.exceeds(self.config.limit) {
                    self.drop_from_longest(now, tally);
                }
            }
            Verdict::Replaced(older) => {
                self.total.adds(size);
                self.total.loses(1, older.wire_len());
            }
            Verdict::Dropped(_) => {}
        }
        verdict
    }

    fn head(&self) -> Option<(Instant, &D)> {
        self.likely()?.head()
    }

    fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)> {
        let mut is_first = true;
        while self.total.packets > 0 {
            self.select(leaves);
            let tin = &mut self.tins[self.current];
            let (packets, bytes) = (tin.len(), tin.bytes());
            let taken = tin.take(leaves, &mut is_first, &mut self.draws, tally);
            self.total.loses(packets - tin.len(), bytes - tin.bytes());
            if let Some((arrived, packet)) = taken {
                self.charge(leaves, packet.wire_len());
                return Some((arrived, packet));
            }
        }
        None
    }

    fn any(&self, mut predicate: impl FnMut(&D) -> bool) -> bool {
        self.tins.iter().any(|tin| tin.any(&mut predicate))
    }

    fn take_out(&mut self, mut wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        self.total.take_out(self.tins.iter_mut(), |tin| tin.take_out(&mut wanted))
    }

    fn pass(&mut self, now: Instant, packet: D, tally: &mut Tally) -> Option<D> {
        self.pass_through(now, packet, tally)
    }

    fn not_before(&self) -> Instant {
        if self.config.rate.is_some() { self.next } else { Instant::ZERO }
    }

    fn len(&self) -> usize {
        self.total.packets
    }

    fn bytes(&self) -> Bytes {
        self.total.bytes
    }
}

#[cfg(test)]
mod tests;
