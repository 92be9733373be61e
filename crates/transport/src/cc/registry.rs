//! The built-in controllers, each named once.
//!
//! A controller is a file with its [`Settings`] and its [`CongestionControl`], and one line of the list at the end of this file, from
//! which [`Config`], [`Controller`] and all that enumerates controllers are made.

use super::constants::Constants;
use super::{Ack, CongestionControl, Lost, Sent, Signal, Start, Window, newreno};
use crate::custom::{Custom, Name};
use crate::fault::Fault;
use crate::recovery::CongestionState;
use crate::recovery::fate::Fate;
use acklab_base::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::de::value::{Error, MapDeserializer};
use serde::{Deserialize, Serialize};

/// What a scenario says of a built-in controller: its constants, which are the published ones by default.
pub trait Settings: Constants + Copy + Default {
    /// What moves the window.
    type Controller: CongestionControl;

    /// Must the receiver tell how much was marked?
    const COUNTS_MARKS: bool = false;

    /// The controller with these constants, for one connection.
    fn controller(&self, start: &Start) -> Self::Controller;
}

/// How [`Controller`] holds a controller. A `boxed` one is much larger than the others, each of which would take as much room.
macro_rules! stored {
    ($Controller:ty) => { $Controller };
    ($Controller:ty, boxed) => { Box<$Controller> };
}

macro_rules! controllers {
    ($(
        $(#[$doc:meta])*
        $name:literal $(or $alias:literal)? => $Variant:ident($($module:ident)::+) $($boxed:ident)?,
    )*) => {
        /// A congestion controller and its constants.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "algorithm", deny_unknown_fields)]
        #[schemars(extend("x-acklab-shorthand" = "name"))]
        pub enum Config {
            $(
                $(#[$doc])*
                #[serde(rename = $name $(, alias = $alias)?)]
                $(#[schemars(extend("x-acklab-aliases" = [$alias]))])?
                $Variant(super::$($module)::+::Config),
            )*
            /// One of your own, which the run is given.
            #[serde(rename = "custom")]
            Custom {
                /// What it is called there.
                #[schemars(length(max = 32), example = &"mine")]
                name: Name,
            },
        }

        impl Config {
            /// All built-in controllers with their published constants, in the order of the registry.
            pub fn built_in() -> impl Iterator<Item = Self> {
                [$(Self::$Variant(super::$($module)::+::Config::default()),)*].into_iter()
            }

            /// Its name, as scenarios spell it.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$Variant(_) => $name,)*
                    Self::Custom { name } => name,
                }
            }

            /// Must the receiver tell how much was marked?
            #[must_use]
            pub const fn counts_marks(&self) -> bool {
                match self {
                    $(Self::$Variant(_) => <super::$($module)::+::Config as Settings>::COUNTS_MARKS,)*
                    Self::Custom { .. } => false,
                }
            }

            /// Checks what the schema cannot say.
            ///
            /// # Errors
            /// If a constant makes no sense: the first one.
            pub fn check(&self) -> Result<(), Fault> {
                match self {
                    $(Self::$Variant(constants) => constants.check(),)*
                    Self::Custom { .. } => Ok(()),
                }
            }
        }

        /// A controller at work.
        #[derive(Debug)]
        #[expect(missing_docs, reason = "the variants are those of Config")]
        pub enum Controller {
            $($Variant(stored!(<super::$($module)::+::Config as Settings>::Controller $(, $boxed)?)),)*
            /// One that is not built in.
            Custom(Custom<dyn CongestionControl + Send>),
        }

        impl Controller {
            /// The controller of this configuration, if it is built in.
            #[must_use]
            pub fn new(config: &Config, start: &Start) -> Option<Self> {
                match config {
                    $(Config::$Variant(constants) => Some(Self::$Variant(constants.controller(start).into())),)*
                    Config::Custom { .. } => None,
                }
            }
        }

        /// Evaluates an expression with whatever controller there is.
        macro_rules! each {
            ($self:expr, $controller:ident => $then:expr) => {
                match $self {
                    $(Controller::$Variant($controller) => $then,)*
                    Controller::Custom($controller) => $then,
                }
            };
        }
    };
}

controllers! {
    /// RFC 5681: slow start, congestion avoidance, half the window on loss.
    "newreno" or "reno" => NewReno(newreno),
    /// RFC 9438: a cubic curve of the time since the last loss.
    "cubic" => Cubic(cubic),
    /// Brakmo and Peterson: so much in flight that a few segments wait in queues.
    "vegas" => Vegas(vegas),
    /// BBR, version 1, as Linux has it (`tcp_bbr.c`).
    "bbr" => Bbr(bbr) boxed,
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    "bbr3" => Bbr3(bbr3) boxed,
    /// RFC 8257: Reno, but the window gives way to marks in proportion to how many there are.
    "dctcp" => Dctcp(dctcp),
    /// A target rate of 1 / (δ · queueing delay) (Arun & Balakrishnan, NSDI '18).
    "copa" => Copa(copa),
    /// Experiments with the rate, judged by throughput and loss (Dong et al., NSDI '15).
    "pcc-allegro" => PccAllegro(pcc::allegro),
    /// Gradient ascent on the rate, judged by throughput, latency and loss (Dong et al., NSDI '18).
    "pcc-vivace" => PccVivace(pcc::vivace),
}

impl Config {
    /// RFC 5681 with its constants.
    pub const NEW_RENO: Self = Self::NewReno(newreno::Config::PUBLISHED);

    /// The built-in controller of this name with its published constants, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::deserialize(MapDeserializer::<_, Error>::new(std::iter::once(("algorithm", name)))).ok()
    }
}

impl CongestionControl for Controller {
    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
        each!(self, controller => controller.on_established(now, window, rtt));
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        each!(self, controller => controller.on_ack(window, ack));
    }

    fn ssthresh(&mut self, now: Instant, window: &Window, flight: u64, signal: Signal) -> u64 {
        each!(self, controller => controller.ssthresh(now, window, flight, signal))
    }

    fn on_state(&mut self, now: Instant, window: &mut Window, state: CongestionState) {
        each!(self, controller => controller.on_state(now, window, state));
    }

    fn on_undo(&mut self, now: Instant, window: &mut Window) {
        each!(self, controller => controller.on_undo(now, window));
    }

    fn on_lost(&mut self, window: &Window, lost: &Lost) {
        each!(self, controller => controller.on_lost(window, lost));
    }

    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        each!(self, controller => controller.on_sent(window, sent));
    }

    fn on_fates(&mut self, fates: &[Fate]) {
        each!(self, controller => controller.on_fates(fates));
    }

    fn pacing_rate(&self) -> Option<Rate> {
        each!(self, controller => controller.pacing_rate())
    }

    fn governs_window(&self) -> bool {
        each!(self, controller => controller.governs_window())
    }

    fn wants_delivery_rate(&self) -> bool {
        each!(self, controller => controller.wants_delivery_rate())
    }

    fn limits_itself(&self) -> bool {
        each!(self, controller => controller.limits_itself())
    }

    fn wants_fates(&self) -> bool {
        each!(self, controller => controller.wants_fates())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Growth;
    use super::super::testing::start;
    use super::*;

    #[test]
    fn the_schema_names_what_is_built_in() {
        let schema = schemars::schema_for!(Config);
        let kinds = schema.get("oneOf").and_then(|kinds| kinds.as_array()).cloned().unwrap_or_default();
        let described: Vec<_> = kinds.iter().map(|kind| kind["properties"]["algorithm"]["const"].as_str()).collect();
        let built_in: Vec<Config> = Config::built_in().collect();
        let expected = built_in.iter().map(Config::name).chain(["custom"]).map(Some);
        assert!(expected.eq(described.iter().copied()), "{described:?}");
    }

    #[test]
    fn published_constants_make_sense_and_are_those_of_the_bare_name() {
        for config in Config::built_in() {
            assert_eq!(config.check(), Ok(()), "{}", config.name());
            assert_eq!(Config::named(config.name()), Some(config));
            assert!(Controller::new(&config, &start(Growth::PerAck)).is_some(), "{}", config.name());
        }
    }

    #[test]
    fn the_schema_tells_the_other_names_that_are_read() {
        let schema = schemars::schema_for!(Config);
        for kind in schema.get("oneOf").and_then(|kinds| kinds.as_array()).into_iter().flatten() {
            let name = kind["properties"]["algorithm"]["const"].as_str().unwrap_or_default();
            for alias in kind["x-acklab-aliases"].as_array().into_iter().flatten().filter_map(|alias| alias.as_str()) {
                assert!(Config::named(alias).is_some(), "{alias}");
                assert_eq!(Config::named(alias), Config::named(name), "{alias}");
            }
        }
        assert_eq!(Config::named("reno"), Some(Config::NEW_RENO));
    }
}
