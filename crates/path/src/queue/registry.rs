//! The queue disciplines, each named once.
//!
//! A discipline is a file with its [`Settings`] and its [`Discipline`], and one line of the list at the end of this file, from which
//! [`Config`], [`Held`] and all that enumerates disciplines are made.

use super::{Discipline, Settled, Verdict};
use crate::counters::Tally;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a scenario says of a discipline. All settings have a `limit`: what the queue may hold, which is everything without one.
pub(crate) trait Settings: Copy + Default {
    /// What holds the packets: a [`Discipline`] for each [`Datagram`].
    type Discipline<D>;

    /// An empty queue with these settings.
    fn discipline<D: Datagram>(self) -> Self::Discipline<D>;

    /// The queue of a link, if what it does to a packet is settled when that arrives.
    fn settled(self) -> Option<Settled> {
        None
    }

    /// The times among the settings, each with its name.
    fn times(&self) -> Vec<(&'static str, Duration)> {
        Vec::new()
    }
}

macro_rules! disciplines {
    ($($(#[$doc:meta])* $name:literal => $Variant:ident($($module:ident)::+),)*) => {
        /// A queue discipline.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "discipline", deny_unknown_fields)]
        pub enum Config {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $Variant(super::$($module)::+::Config),
            )*
        }

        impl Config {
            /// All disciplines with their default settings, in the order of the registry.
            pub fn built_in() -> impl Iterator<Item = Self> {
                [$(Self::$Variant(super::$($module)::+::Config::default()),)*].into_iter()
            }

            /// The name of the discipline, as scenarios spell it.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant(_) => $name,)*
                }
            }

            /// What the queue may hold, if there is a limit.
            #[must_use]
            pub const fn limit(&self) -> Option<Limit> {
                match self {
                    $(Self::$Variant(settings) => settings.limit,)*
                }
            }

            /// The same discipline with this limit.
            #[must_use]
            pub const fn with_limit(mut self, limit: Option<Limit>) -> Self {
                match &mut self {
                    $(Self::$Variant(settings) => settings.limit = limit,)*
                }
                self
            }

            /// The times among the settings, each with its name. They have to be above zero.
            #[must_use]
            pub fn times(&self) -> Vec<(&'static str, Duration)> {
                match self {
                    $(Self::$Variant(settings) => settings.times(),)*
                }
            }

            pub(super) fn settled(self) -> Option<Settled> {
                match self {
                    $(Self::$Variant(settings) => settings.settled(),)*
                }
            }
        }

        $(
            impl From<super::$($module)::+::Config> for Config {
                fn from(settings: super::$($module)::+::Config) -> Self {
                    Self::$Variant(settings)
                }
            }
        )*

        /// Packets that wait in the order of a discipline.
        #[derive(Clone, Debug)]
        pub(crate) enum Held<D> {
            $($Variant(<super::$($module)::+::Config as Settings>::Discipline<D>),)*
        }

        impl<D: Datagram> Held<D> {
            pub(crate) fn new(config: Config) -> Self {
                match config {
                    $(Config::$Variant(settings) => Self::$Variant(settings.discipline()),)*
                }
            }
        }

        /// Evaluates an expression with whatever discipline there is.
        macro_rules! each {
            ($self:expr, $discipline:ident => $then:expr) => {
                match $self {
                    $(Held::$Variant($discipline) => $then,)*
                }
            };
        }
    };
}

disciplines! {
    /// First in, first out; what does not fit is dropped at the tail.
    "fifo" => Fifo(fifo),
    /// Controlled delay: drops or marks at the head while packets wait longer than `target` (RFC 8289).
    "codel" => CoDel(codel),
    /// A FIFO in which the newest pure ACK of a flow stands for an older one.
    "ack-filter" => AckFilter(ack_filter::newest),
    /// A FIFO with the ACK filter of CAKE: an older pure ACK goes if a newer one says more and, but for `aggressive`, another such one
    /// still stands between them (Linux's `cake_ack_filter`).
    "cake-ack-filter" => CakeAckFilter(ack_filter::cake),
}

impl Default for Config {
    fn default() -> Self {
        super::fifo::Config::default().into()
    }
}

impl Config {
    /// The same discipline for an owner that minds the limit itself.
    #[must_use]
    pub const fn without_limit(self) -> Self {
        self.with_limit(None)
    }
}

impl<D: Datagram> Held<D> {
    /// `packet` asks to wait. `room`: is there any, beyond what the discipline itself limits?
    #[inline]
    pub(crate) fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        let verdict = each!(self, discipline => discipline.offer(now, packet, room, tally));
        match &verdict {
            Verdict::Queued => tally.waits(now, self.len()),
            Verdict::Replaced(older) => tally.filters(now, older.wire_len()),
            Verdict::Dropped(packet) => tally.drops(now, packet.flow(), packet.wire_len()),
        }
        verdict
    }

    /// When the head arrived, and the head.
    #[inline]
    pub(crate) fn head(&self) -> Option<(Instant, &D)> {
        each!(self, discipline => discipline.head())
    }

    /// The head leaves: when it arrived, and the head. Returns `None` if no packet waits, or if the head is dropped instead.
    #[inline]
    pub(crate) fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)> {
        let taken = each!(self, discipline => discipline.take_head(leaves, tally));
        tally.waits(leaves, self.len());
        taken
    }

    /// Does any waiting packet satisfy `holds`?
    pub(crate) fn any(&self, holds: impl FnMut(&D) -> bool) -> bool {
        each!(self, discipline => discipline.any(holds))
    }

    /// Takes out those that are `wanted`, wherever they wait, with the instants of their arrival.
    pub(crate) fn take_out(
        &mut self,
        now: Instant,
        wanted: impl FnMut(Instant, &D) -> bool,
        tally: &mut Tally,
    ) -> Vec<(Instant, D)> {
        let taken = each!(self, discipline => discipline.take_out(wanted));
        tally.waits(now, self.len());
        taken
    }

    /// A packet found nobody waiting and the server free: it is served without being offered.
    pub(crate) fn passed_by(&mut self) {
        each!(self, discipline => discipline.passed_by());
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
        let schema = schemars::schema_for!(Config);
        let kinds = schema.get("oneOf").and_then(|kinds| kinds.as_array()).cloned().unwrap_or_default();
        let described: Vec<_> = kinds.iter().map(|kind| kind["properties"]["discipline"]["const"].as_str()).collect();
        let built_in: Vec<_> = Config::built_in().map(|config| Some(config.name())).collect();
        assert_eq!(described, built_in);
    }

    #[test]
    fn defaults_are_settings_that_may_be_set() {
        for config in Config::built_in() {
            assert!(config.times().iter().all(|(_, time)| !time.is_zero()), "{}", config.name());
            assert_eq!(config.limit(), None, "{}", config.name());
        }
    }

    #[test]
    fn a_limit_is_set_and_lifted_in_any_discipline() {
        let limit = Some(Limit::Packets(3));
        for config in Config::built_in() {
            assert_eq!(config.with_limit(limit).limit(), limit, "{}", config.name());
            assert_eq!(config.with_limit(limit).without_limit(), config);
        }
    }
}
