//! A cell as it stands in a scenario.

use crate::access::{Category, Overrides};
use crate::phy::{Band, Guard, Standard, Width};
use crate::{hack, rate, reception};
use acklab_base::{Bytes, Duration, Rate};
use acklab_path::queue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An access point and its stations on one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Its name.
    #[schemars(example = &"cell")]
    pub name: String,
    /// The generation of 802.11.
    pub standard: Standard,
    /// Whose reading of the standard is followed where others differ from its words.
    #[serde(default)]
    pub dialect: Dialect,
    /// The band, where the standard knows both. Default: 5GHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// Channel width. Default: 20MHz; 40MHz for 802.11n, 80MHz for 802.11ac and 802.11ax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<Width>,
    /// Guard interval of data PPDUs. Default: 400ns for 802.11n and 802.11ac, 800ns else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard_interval: Option<Guard>,
    /// The most spatial streams, from 802.11n on.
    #[serde(default = "one_stream")]
    #[schemars(range(min = 1, max = 4))]
    pub streams: u8,
    /// DSSS with the short preamble (clause 16.2.2.3).
    #[serde(default)]
    pub short_preamble: bool,
    /// At 2.4 GHz, slots of 20 µs also for OFDM, as there are stations that know no others (clause 18.4.5).
    #[serde(default)]
    pub long_slot: bool,
    /// What is sent ahead of OFDM frames, so that stations which know DSSS only keep silent (clause 10.27).
    #[serde(default)]
    pub protection: Protection,
    /// The rates of ACK, Block ACK, CTS and RTS. Default: the mandatory ones, 1 and 2 Mbps for 802.11b and 6, 12 and 24 Mbps else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basic_rates: Option<Vec<Rate>>,
    /// RTS and CTS go ahead of PSDUs of more octets than this. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "500B")]
    pub rts_threshold: Option<Bytes>,
    /// After how many failures a frame is given up.
    #[serde(default)]
    pub retries: Retries,
    /// A packet that has waited longer is dropped, sent already or not (dot11EDCATableMSDULifetime). Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "500ms")]
    pub lifetime: Option<Duration>,
    /// Aggregates of 802.11n and later.
    #[serde(default)]
    pub aggregation: Aggregation,
    /// How much later than SIFS answers come, as from a NIC that is too slow; initiators wait as much longer for them.
    #[serde(default)]
    pub late_answers: Duration,
    /// TCP's ACKs inside ACKs and Block ACKs. Default: in frames of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hack: Option<hack::Config>,
    /// How all contend, where AP or station say nothing else.
    #[serde(default)]
    pub access: Access,
    /// The modes of data PPDUs, where AP or station say nothing else.
    #[serde(default)]
    pub rate: rate::Config,
    /// Who hears whom, and how well.
    #[serde(default)]
    pub reception: reception::Config,
    /// Time between two beacons; without it, none is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "102.4ms")]
    pub beacon_interval: Option<Duration>,
    /// The access point.
    pub ap: AccessPoint,
    /// The stations.
    #[schemars(length(min = 1))]
    pub station: Vec<Station>,
}

/// How a frame gets in line that comes to a function which had none, and when those of an aggregate go up.
///
/// | a frame | `standard` | `ns3` |
/// |---|---|---|
/// | comes in the SIFS before its own node answers a PPDU | the medium is taken: back off (10.3.4.2) | the medium is idle: no backoff (`ChannelAccessManager::IsBusy`) |
/// | comes to an idle medium, without QoS | send if it was idle for DIFS, at the next slot (10.3.4.2) | wait for DIFS from now on (`NeedBackoffUponAccess`) |
/// | comes while the last backoff still runs, with QoS | send when it ends (10.23.2.2) | send a slot later (`RequestAccess` aligns once more) |
/// | of an aggregate has ended | goes up with the last of the PPDU | goes up at once (`PhyEntity::EndOfMpdu`) |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// IEEE 802.11-2020.
    #[default]
    Standard,
    /// ns-3 3.37.
    Ns3,
}

/// What is sent ahead of OFDM frames for the sake of stations that know DSSS only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// Nothing.
    #[default]
    None,
    /// A CTS to oneself at the highest basic rate of DSSS.
    CtsToSelf,
    /// RTS and CTS at the highest basic rate of DSSS.
    RtsCts,
}

/// Limits of repetition (10.3.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retries {
    /// Transmissions of a frame without RTS (dot11ShortRetryLimit).
    pub short: u8,
    /// Transmissions of a frame behind RTS (dot11LongRetryLimit).
    pub long: u8,
    /// Transmissions of a frame within aggregates. Default: as many as its lifetime allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregated: Option<u8>,
    /// Transmissions of a Block ACK request, after which the next aggregate is sent without an answer. Default: until one comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u8>,
}

impl Default for Retries {
    /// The default values of the MIB (Annex C).
    fn default() -> Self {
        Self { short: 7, long: 4, aggregated: None, requests: None }
    }
}

/// How frames are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Aggregation {
    /// Octets of an A-MPDU; 0B for frames one by one. Default: 65535B with 802.11n, 1048575B with 802.11ac, 6500631B with 802.11ax.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "65535B")]
    pub max_bytes: Option<Bytes>,
    /// Frames of an A-MPDU, at most the Block ACK window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 64)]
    pub max_frames: Option<u16>,
    /// Airtime of a PPDU (aPPDUMaxTime, 19.4.4 and 21.4.4).
    pub max_time: Duration,
    /// Octets of an A-MSDU, of which an MPDU then carries one; 0B for a packet a frame.
    #[schemars(example = "3839B")]
    pub a_msdu: Bytes,
    /// The window of a Block ACK, in frames: 64, or with 802.11ax also 256.
    pub window: u16,
    /// What follows a Block ACK that did not come.
    pub after_missed: AfterMissed,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self {
            max_bytes: None,
            max_frames: None,
            max_time: Duration::from_micros(5484),
            a_msdu: Bytes::ZERO,
            window: 64,
            after_missed: AfterMissed::Request,
        }
    }
}

/// What follows a Block ACK that did not come (10.25.6.4 leaves it to the originator).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterMissed {
    /// A Block ACK request, so that only what is missing is sent again.
    #[default]
    Request,
    /// The frames once more.
    Retransmit,
}

/// How the four categories contend; without QoS, `best_effort` is all there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Access {
    /// AC_BK.
    pub background: Overrides,
    /// AC_BE.
    pub best_effort: Overrides,
    /// AC_VI.
    pub video: Overrides,
    /// AC_VO.
    pub voice: Overrides,
}

impl Access {
    /// Of one category.
    #[must_use]
    pub const fn of(&self, category: Category) -> &Overrides {
        match category {
            Category::Background => &self.background,
            Category::BestEffort => &self.best_effort,
            Category::Video => &self.video,
            Category::Voice => &self.voice,
        }
    }
}

/// The access point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessPoint {
    /// Its node.
    #[schemars(example = &"ap")]
    pub name: String,
    /// What waits for the medium, for each category. A packet waits until it is acknowledged: frames on the air count.
    #[serde(default)]
    pub queue: queue::Config,
    /// Whether stations share the queue's limit.
    #[serde(default)]
    pub queues: Queues,
    /// How it contends.
    #[serde(default)]
    pub access: Access,
    /// The modes of its data PPDUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<rate::Config>,
}

/// How an access point keeps packets for several stations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Queues {
    /// A queue for each station with a limit of its own, served in turn.
    #[default]
    PerStation,
    /// One limit for all; whose packet has waited longest is served next.
    Shared,
}

/// One station, or several alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Station {
    /// Its node; of several, the first part of their names: `sta_1`, `sta_2`, …
    #[schemars(example = &"sta")]
    pub name: String,
    /// How many.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 2007))]
    pub count: u16,
    /// What waits for the medium, for each category.
    #[serde(default)]
    pub queue: queue::Config,
    /// How it contends.
    #[serde(default)]
    pub access: Access,
    /// The modes of its data PPDUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<rate::Config>,
}

const fn one() -> u16 {
    1
}

const fn one_stream() -> u8 {
    1
}

impl Config {
    /// The band it is in.
    #[must_use]
    pub fn band(&self) -> Band {
        match self.standard {
            Standard::B | Standard::G => Band::Ghz2,
            Standard::A | Standard::Ac => Band::Ghz5,
            Standard::N | Standard::Ax => self.band.unwrap_or(Band::Ghz5),
        }
    }

    /// The width of its channel.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width.unwrap_or(match self.standard {
            Standard::B | Standard::G | Standard::A => Width::Mhz20,
            Standard::N => Width::Mhz40,
            Standard::Ac | Standard::Ax => Width::Mhz80,
        })
    }

    /// The guard interval of its data PPDUs.
    #[must_use]
    pub fn guard_interval(&self) -> Guard {
        self.guard_interval.unwrap_or(match self.standard {
            Standard::N | Standard::Ac => Guard::Ns400,
            _ => Guard::Ns800,
        })
    }

    /// Octets of an A-MPDU (9.4.2.55.3, 9.4.2.157.2, 9.4.2.248); none if frames are sent one by one.
    #[must_use]
    pub fn max_aggregate(&self) -> Option<Bytes> {
        let most = match self.standard {
            Standard::B | Standard::G | Standard::A => return None,
            Standard::N => Bytes(65_535),
            Standard::Ac => Bytes(1_048_575),
            Standard::Ax => Bytes(6_500_631),
        };
        Some(self.aggregation.max_bytes.unwrap_or(most).min(most)).filter(|most| *most > Bytes::ZERO)
    }

    /// The nodes of its stations in order.
    #[must_use]
    pub fn station_names(&self) -> Vec<String> {
        self.station.iter().flat_map(Station::names).collect()
    }
}

impl Station {
    /// The nodes that it stands for.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self.count {
            1 => vec![self.name.clone()],
            count => (1..=count).map(|number| format!("{}_{number}", self.name)).collect(),
        }
    }
}
