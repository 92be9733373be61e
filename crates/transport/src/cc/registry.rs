//! The list of the built-in controllers.
//!
//! A controller is a file with its [`Settings`] and its [`CongestionControl`], and one entry of the
//! list in this file. [`ControllerConfig`] and [`Controller`] are generated from that list.

use super::constants::Constants;
use super::{Ack, CongestionControl, Lost, Phase, Sent, Settings, Signal, Start, Window, delegate_controller, newreno};
use crate::ack::tack::Law;
use crate::fault::Fault;
use crate::recovery::CongestionState;
use crate::recovery::transmission::Transmission;
use acklab_base::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::de::value::{Error, MapDeserializer};
use serde::{Deserialize, Serialize};

acklab_base::registry! {
    /// A congestion controller and its constants.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "algorithm", deny_unknown_fields)]
    #[schemars(extend("x-acklab-shorthand" = "name"))]
    settings ControllerConfig: Settings;

    /// A controller with its state.
    #[derive(Debug)]
    #[expect(missing_docs, reason = "the variants are those of the settings")]
    strategies pub Controller: Controller;

    custom {
        /// The name of the custom controller in the run.
        #[schemars(length(max = 32), example = &"mine")]
        name: crate::custom::Name,
    } as crate::custom::Custom<dyn CongestionControl + Send>;

    /// RFC 5681: slow start, congestion avoidance, half of the window after a loss.
    "newreno" or "reno" => NewReno(super::newreno::Config),
    /// RFC 9438: a cubic curve of the time since the last loss.
    "cubic" => Cubic(super::cubic::Config),
    /// Brakmo and Peterson: keeps a few segments in queues.
    "vegas" => Vegas(super::vegas::Config),
    /// BBR, version 1, of Linux (`tcp_bbr.c`).
    "bbr" => Bbr(super::bbr::Config) boxed,
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    "bbr3" => Bbr3(super::bbr3::Config) boxed,
    /// BBR as designed together with TACK: the receiver measures the delivery rate, and time is
    /// counted in TACK intervals.
    "bbr-tack" => BbrTack(super::bbr_tack::Config) boxed,
    /// RFC 8257: Reno, but congestion marks reduce the window in proportion to the fraction of
    /// marked bytes.
    "dctcp" => Dctcp(super::dctcp::Config),
    /// Prague: scalable congestion control for L4S.
    "prague" => Prague(super::prague::Config),
    /// A target rate of 1 / (δ · queueing delay) (Arun & Balakrishnan, NSDI '18).
    "copa" => Copa(super::copa::Config),
    /// Experiments with the rate, scored by throughput and loss (Dong et al., NSDI '15).
    "pcc-allegro" => PccAllegro(super::pcc::allegro::Config),
    /// Gradient ascent on the rate, scored by throughput, latency and loss (Dong et al., NSDI '18).
    "pcc-vivace" => PccVivace(super::pcc::vivace::Config),
    /// A window from a learned profile of delays (Zaki et al., SIGCOMM '15).
    "verus" => Verus(super::verus::Config) boxed,
    /// A window from a cautious forecast of deliveries (Winstein et al., NSDI '13).
    "sprout" => Sprout(super::sprout::Config) boxed,
    /// A network that imitates an oracle of the bandwidth-delay product (Yan et al., USENIX ATC
    /// '18), trained by acklab.
    "indigo" => Indigo(super::indigo::Config) boxed,
}

impl ControllerConfig {
    /// RFC 5681 with its constants.
    pub const NEW_RENO: Self = Self::NewReno(newreno::Config::PUBLISHED);

    /// Returns the built-in controller of this name with its published constants, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::deserialize(MapDeserializer::<_, Error>::new(std::iter::once(("algorithm", name)))).ok()
    }

    /// Returns `true` if the receiver must report the amount of marked data.
    #[must_use]
    pub fn counts_marks(&self) -> bool {
        each_settings!(self, constants => constants.counts_marks(), else false)
    }

    /// Returns `true` for a controller of L4S, whose packets are sent as ECT(1).
    #[must_use]
    pub fn is_scalable(&self) -> bool {
        each_settings!(self, constants => constants.is_scalable(), else false)
    }

    /// Checks the constraints that the schema cannot express.
    ///
    /// # Errors
    /// Returns the first invalid constant.
    pub fn check(&self) -> Result<(), Fault> {
        each_settings!(self, constants => constants.check(), else Ok(()))
    }
}

impl Controller {
    /// Creates the controller with these settings. Returns `None` if it is custom.
    #[must_use]
    pub fn new(config: &ControllerConfig, start: &Start) -> Option<Self> {
        Some(make!(config, settings => settings.controller(start), else return None))
    }
}

delegate_controller!(Controller, each);

#[cfg(test)]
mod tests {
    use super::super::Growth;
    use super::super::testing::start;
    use super::*;
    use crate::registry::{assert_schema_names, variants};

    #[test]
    fn the_schema_names_what_is_built_in() {
        let built_in: Vec<ControllerConfig> = ControllerConfig::built_in().collect();
        assert_schema_names::<ControllerConfig>("algorithm", built_in.iter().map(ControllerConfig::name));
    }

    #[test]
    fn published_constants_make_sense_and_are_those_of_the_bare_name() {
        for config in ControllerConfig::built_in() {
            assert_eq!(config.check(), Ok(()), "{}", config.name());
            assert_eq!(ControllerConfig::named(config.name()), Some(config));
            assert!(Controller::new(&config, &start(Growth::PerAck)).is_some(), "{}", config.name());
        }
    }

    #[test]
    fn the_schema_tells_the_other_names_that_are_read() {
        for variant in variants::<ControllerConfig>() {
            let name = variant.get("properties").and_then(|of| of["algorithm"]["const"].as_str()).unwrap_or_default();
            let aliases = variant.get("x-acklab-aliases").and_then(|aliases| aliases.as_array()).into_iter().flatten();
            for alias in aliases.filter_map(|alias| alias.as_str()) {
                assert!(ControllerConfig::named(alias).is_some(), "{alias}");
                assert_eq!(ControllerConfig::named(alias), ControllerConfig::named(name), "{alias}");
            }
        }
        assert_eq!(ControllerConfig::named("reno"), Some(ControllerConfig::NEW_RENO));
    }
}
