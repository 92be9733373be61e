//! The settings of reception.

use super::capture::Capture;
use super::path_loss::PathLoss;
use super::place::Place;
use super::schedule::{Absence, Fade};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conditions of reception. Nodes are numbered: 0 is the access point, stations count from 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReceptionConfig {
    /// The reception of frames that do not overlap with other frames.
    pub channel: Channel,
    /// Pairs of nodes that do not sense each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<[usize; 2]>,
    /// Nodes whose signals fade for a while; only with `channel.model = "snr"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fades: Vec<Fade>,
    /// Nodes that are absent for a while.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absences: Vec<Absence>,
}

/// A model of the channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Channel {
    /// All frames are received.
    #[default]
    Perfect,
    /// A frame is lost with a fixed probability, independent of its length and rate.
    Fixed {
        /// Probability that a data frame is lost, 0 to 1; in an aggregate, for each MPDU
        /// independently.
        #[schemars(range(min = 0.0, max = 1.0))]
        frame_error_rate: f64,
        /// Probability that a control frame is lost, 0 to 1. Control frames are RTS, CTS, ACK,
        /// Block ACK and Block ACK request.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        control_error_rate: f64,
    },
    /// A frame is lost with a probability that depends on its signal-to-noise ratio, rate and
    /// length.
    Snr(Snr),
}

/// Positions, powers and noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snr {
    /// The positions of the stations.
    pub place: Place,
    /// The path loss.
    #[serde(default)]
    pub path_loss: PathLoss,
    /// Carrier frequency in GHz; by default 2.437 or 5.18, which are channels 6 and 36 (15.4.4.3,
    /// 17.3.8.4.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 5.18)]
    pub frequency: Option<f64>,
    /// Power of the access point in dBm, including the antenna, on all streams together; 20 by
    /// default (TGax Simulation Scenarios, doc. 11-14/0980).
    #[serde(default = "access_point_power")]
    pub access_point_power: f64,
    /// Power of a station in dBm; 15 by default (same source).
    #[serde(default = "station_power")]
    pub station_power: f64,
    /// Noise figure of all receivers in dB; 7 by default (same source, and ns-3).
    #[serde(default = "noise_figure")]
    pub noise_figure: f64,
    /// The method by which several streams share the signal.
    #[serde(default)]
    pub streams: Streams,
    /// The minimum power in dBm at which a node senses another node. Default: −82 dBm in 20 MHz, in
    /// proportion to the width (17.3.10.6, 19.3.19.5.4, 21.3.18.5.3); −76 dBm for 802.11b
    /// (16.3.8.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier_sense: Option<f64>,
    /// The frame that survives a collision. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
}

const fn access_point_power() -> f64 {
    20.0
}

const fn station_power() -> f64 {
    15.0
}

const fn noise_figure() -> f64 {
    7.0
}

impl Snr {
    /// Returns the defaults, with the stations at this place.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self {
            place,
            path_loss: PathLoss::default(),
            frequency: None,
            access_point_power: access_point_power(),
            station_power: station_power(),
            noise_figure: noise_figure(),
            streams: Streams::default(),
            carrier_sense: None,
            capture: None,
        }
    }
}

/// The relation between the signal-to-noise ratio of one antenna and the ratio of each of several
/// streams. Each stream has an antenna at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Streams {
    /// Each stream has the ratio of one antenna: n streams share the power, and n antennas collect
    /// n times as much. This is the optimum, reached by a channel whose matrix has orthogonal
    /// columns. ns-3 uses it.
    #[default]
    Orthogonal,
    /// Each of n streams has an n-th of the ratio: the energy of the other antennas is used to
    /// separate the streams.
    SharedPower,
}

/// An invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The position of the value: keys and indices, separated by dots.
    pub path: String,
    /// The expected value.
    pub expected: String,
}

impl ReceptionConfig {
    /// Returns the first value that is invalid in itself or in a cell with this number of stations.
    #[must_use]
    pub fn fault(&self, stations: usize) -> Option<Fault> {
        let fault = |path: String, expected: &str| Some(Fault { path, expected: expected.to_owned() });
        let node = format!("a node of the cell, 0 to {stations}");
        for (index, [one, other]) in self.hidden.iter().enumerate() {
            if one.max(other) > &stations || one == other {
                return fault(format!("hidden.{index}"), "two different nodes of the cell");
            }
        }
        for (index, fade) in self.fades.iter().enumerate() {
            let path = |key: &str| format!("fades.{index}.{key}");
            if !matches!(self.channel, Channel::Snr(_)) {
                return fault(
                    format!("fades.{index}"),
                    "channel.model = \"snr\", without which there is nothing to fade",
                );
            }
            if fade.node > stations {
                return fault(path("node"), &node);
            }
            if fade.until.is_some_and(|until| until <= fade.from) {
                return fault(path("until"), "a time after `from`");
            }
            if !(fade.loss >= 0.0 && fade.loss.is_finite()) {
                return fault(path("loss"), "a loss in dB, zero or above");
            }
        }
        for (index, absence) in self.absences.iter().enumerate() {
            if absence.node > stations {
                return fault(format!("absences.{index}.node"), &node);
            }
            if absence.until.is_some_and(|until| until <= absence.from) {
                return fault(format!("absences.{index}.until"), "a time after `from`");
            }
        }
        let (key, expected) = self.channel.fault(stations)?;
        fault(format!("channel.{key}"), expected)
    }
}

impl Channel {
    fn fault(&self, stations: usize) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Perfect => None,
            Self::Fixed { frame_error_rate, control_error_rate } => {
                let rates = [("frame_error_rate", frame_error_rate), ("control_error_rate", control_error_rate)];
                let (key, _) = rates.into_iter().find(|(_, rate)| !(0.0..=1.0).contains(*rate))?;
                Some((key, "a probability, 0 to 1"))
            }
            Self::Snr(snr) => snr.fault(stations),
        }
    }
}

impl Snr {
    fn fault(&self, stations: usize) -> Option<(&'static str, &'static str)> {
        match &self.place {
            Place::Points { points } if points.len() != stations => {
                return Some(("place.points", "a point for each station"));
            }
            Place::Points { points } if points.iter().flatten().any(|metres| !metres.is_finite()) => {
                return Some(("place.points", "distances in metres"));
            }
            Place::Circle { radius } | Place::Disc { radius } if !(*radius >= 0.0 && radius.is_finite()) => {
                return Some(("place.radius", "a radius in metres, zero or above"));
            }
            _ => {}
        }
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let loss = &self.path_loss;
        let checks = [
            (loss.exponent >= 0.0 && loss.exponent.is_finite(), "path_loss.exponent", "an exponent, zero or above"),
            (positive(loss.reference_distance), "path_loss.reference_distance", "a distance in metres, above zero"),
            (loss.reference_loss.is_none_or(f64::is_finite), "path_loss.reference_loss", "a loss in dB"),
            (self.frequency.is_none_or(positive), "frequency", "a frequency in GHz, above zero"),
            (self.access_point_power.is_finite(), "access_point_power", "a power in dBm"),
            (self.station_power.is_finite(), "station_power", "a power in dBm"),
            (
                self.noise_figure >= 0.0 && self.noise_figure.is_finite(),
                "noise_figure",
                "a noise figure in dB, zero or above",
            ),
            (self.carrier_sense.is_none_or(f64::is_finite), "carrier_sense", "a power in dBm"),
            (
                self.capture.is_none_or(|capture| capture.threshold >= 0.0),
                "capture.threshold",
                "a ratio in dB, zero or above",
            ),
        ];
        checks.into_iter().find(|(holds, ..)| !holds).map(|(_, key, expected)| (key, expected))
    }
}
