//! The registry of queue disciplines.
//!
//! A discipline is a file with its [`Settings`] and its [`Discipline`], and one entry in the list
//! below. From the list, the macro generates [`QueueConfig`], [`PacketQueue`] and everything that
//! enumerates disciplines.

use super::{Discipline, HeadDrops, PrecomputedFifo, Settings, Verdict};
use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

acklab_base::registry! {
    /// A queue discipline.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "discipline", deny_unknown_fields)]
    settings QueueConfig: Settings;

    /// Queued packets, in the order of a discipline.
    #[derive(Clone, Debug)]
    strategies pub(crate) PacketQueue<D>: Discipline;

    /// First in, first out; drops at the tail when it is full.
    "fifo" => Fifo(super::fifo::Config),
    /// Controlled delay: drops or marks at the head while packets wait longer than `target` (RFC
    /// 8289).
    "codel" => CoDel(super::codel::Config),
    /// Pure ACKs leave before all other packets (RFC 3449, §5.4.1).
    "acks-first" => AcksFirst(super::acks_first::Config),
    /// A FIFO in which a newer pure ACK supersedes an older ACK of its flow.
    "ack-filter" => AckFilter(super::ack_filter::newest::Config),
    /// A FIFO with the ACK filter of CAKE. An older pure ACK is removed if a newer ACK supersedes
    /// it. Unless `aggressive` is set, another superseded ACK must be between the two (Linux's
    /// `cake_ack_filter`).
    "cake-ack-filter" => CakeAckFilter(super::ack_filter::cake::Config),
    /// One queue with CoDel for each flow. The queues are served in turns, new flows first (RFC
    /// 8290).
    "fq-codel" => FqCodel(super::fq_codel::Config),
    /// CAKE: fairness between hosts and flows, with its own AQM, an ACK filter and a shaper
    /// (Linux's `sch_cake`).
    "cake" => Cake(super::cake::Config),
    /// Drops on arrival with a probability that a controller derives from the queueing delay (RFC
    /// 8033).
    "pie" => Pie(super::pie::Config),
    /// Two coupled queues, for scalable (L4S) and for classic traffic (RFC 9332).
    "dualpi2" => DualPi2(super::dualpi2::Config),
}

impl Default for QueueConfig {
    fn default() -> Self {
        super::fifo::Config::default().into()
    }
}

impl QueueConfig {
    /// Returns the capacity of the queue, if it is limited.
    #[must_use]
    pub const fn limit(&self) -> Option<Limit> {
        each_settings!(self, settings => settings.limit)
    }

    /// Returns the same discipline with this limit.
    #[must_use]
    pub const fn with_limit(mut self, limit: Option<Limit>) -> Self {
        each_settings!(&mut self, settings => settings.limit = limit);
        self
    }

    /// Returns the names and values of the settings that are times; they must be above zero.
    #[must_use]
    pub fn times(&self) -> Vec<(&'static str, Duration)> {
        each_settings!(self, settings => settings.times())
    }

    /// Checks the settings that are neither limits nor times.
    ///
    /// # Errors
    /// The name of a setting with an invalid value, and the expected value.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        each_settings!(self, settings => settings.check())
    }

    /// Returns the rate to which the discipline shapes traffic, if any.
    #[must_use]
    pub fn shaper(&self) -> Option<Rate> {
        each_settings!(self, settings => settings.shaper())
    }

    pub(super) fn precomputed(self) -> Option<PrecomputedFifo> {
        each_settings!(self, settings => settings.precomputed())
    }

    /// Returns the same discipline without a limit, for an owner that enforces the limit itself.
    #[must_use]
    pub const fn without_limit(self) -> Self {
        self.with_limit(None)
    }
}

impl<D: Datagram> PacketQueue<D> {
    pub(crate) fn new(config: QueueConfig, draws: Stream) -> Self {
        make!(config, settings => settings.discipline(draws))
    }

    /// See [`Discipline::offer`].
    #[inline]
    pub(crate) fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        let (verdict, length) = each!(self, discipline => {
            let verdict = discipline.offer(now, packet, room, tally);
            (verdict, Discipline::<D>::len(discipline))
        });
        match &verdict {
            Verdict::Queued => tally.records_length(now, length),
            Verdict::Replaced(older) => tally.filters(now, older.wire_len()),
            Verdict::Dropped(packet) => tally.drops(now, packet.flow(), packet.wire_len()),
        }
        verdict
    }

    /// See [`Discipline::head`].
    #[inline]
    pub(crate) fn head(&self) -> Option<(Instant, &D)> {
        each!(self, discipline => discipline.head())
    }

    /// See [`Discipline::take_head`].
    #[inline]
    pub(crate) fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)> {
        each!(self, discipline => {
            let taken = discipline.take_head(leaves, tally);
            tally.records_length(leaves, Discipline::<D>::len(discipline));
            taken
        })
    }

    /// Removes and returns the next packet that the discipline does not drop. Packets that it drops
    /// before are added to `dropped`. Returns `None` if no packet remains.
    #[inline]
    pub(crate) fn take_next(
        &mut self,
        now: Instant,
        tally: &mut Tally,
        dropped: &mut HeadDrops,
    ) -> Option<(Instant, D)> {
        each!(self, discipline => {
            let mut taken = None;
            while taken.is_none() && Discipline::<D>::len(discipline) > 0 {
                let (packets, bytes) = (Discipline::<D>::len(discipline), Discipline::<D>::bytes(discipline));
                taken = discipline.take_head(now, tally);
                let length = Discipline::<D>::len(discipline);
                tally.records_length(now, length);
                let gone = packets - length - usize::from(taken.is_some());
                if gone > 0 {
                    let given = taken.as_ref().map_or(Bytes::ZERO, |(_, packet)| packet.wire_len());
                    dropped.packets += gone as u64;
                    dropped.bytes += bytes - Discipline::<D>::bytes(discipline) - given;
                }
            }
            taken
        })
    }

    /// See [`Discipline::any`].
    pub(crate) fn any(&self, predicate: impl FnMut(&D) -> bool) -> bool {
        each!(self, discipline => discipline.any(predicate))
    }

    /// See [`Discipline::take_out`].
    pub(crate) fn take_out(
        &mut self,
        now: Instant,
        wanted: impl FnMut(Instant, &D) -> bool,
        tally: &mut Tally,
    ) -> Vec<(Instant, D)> {
        let taken = each!(self, discipline => discipline.take_out(wanted));
        tally.records_length(now, self.len());
        taken
    }

    /// See [`Discipline::pass`].
    pub(crate) fn pass(&mut self, now: Instant, packet: D, tally: &mut Tally) -> Option<D> {
        each!(self, discipline => discipline.pass(now, packet, tally))
    }

    /// See [`Discipline::not_before`].
    pub(crate) fn not_before(&self) -> Instant {
        each!(self, discipline => Discipline::<D>::not_before(discipline))
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        each!(self, discipline => discipline.len())
    }

    pub(crate) fn bytes(&self) -> Bytes {
        each!(self, discipline => discipline.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_names_every_discipline() {
        let schema = schemars::schema_for!(QueueConfig);
        let kinds = schema.get("oneOf").and_then(|kinds| kinds.as_array()).cloned().unwrap_or_default();
        let described: Vec<_> = kinds.iter().map(|kind| kind["properties"]["discipline"]["const"].as_str()).collect();
        let built_in: Vec<_> = QueueConfig::built_in().map(|config| Some(config.name())).collect();
        assert_eq!(described, built_in);
    }

    #[test]
    fn defaults_are_settings_that_may_be_set() {
        for config in QueueConfig::built_in() {
            assert!(config.times().iter().all(|(_, time)| !time.is_zero()), "{}", config.name());
            assert_eq!(config.limit(), None, "{}", config.name());
        }
    }

    #[test]
    fn a_limit_is_set_and_lifted_in_any_discipline() {
        let limit = Some(Limit::Packets(3));
        for config in QueueConfig::built_in() {
            assert_eq!(config.with_limit(limit).limit(), limit, "{}", config.name());
            assert_eq!(config.with_limit(limit).without_limit(), config);
        }
    }
}
