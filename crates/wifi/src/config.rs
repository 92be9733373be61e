//! The settings of a cell in a scenario.

mod aggregation;
mod node;

pub use aggregation::{AfterMissed, Aggregation, Delivery};
pub use node::{Access, AccessPoint, QueueCounts, Queues, Station};

use crate::access::EdcaSet;
use crate::phy::{Band, Guard, PacketExtension, Standard, Width};
use crate::{hack, rate, reception};
use acklab_base::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An access point and its stations on one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellConfig {
    /// The name of the cell.
    #[schemars(example = &"cell")]
    pub name: String,
    /// The generation of 802.11.
    pub standard: Standard,
    /// The implementation whose rules apply where implementations differ from the standard.
    #[serde(default)]
    pub dialect: Dialect,
    /// The band, if the standard supports several. Default: 5GHz; 6GHz for 802.11be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// Channel width, at most 40MHz at 2.4 GHz, and 160MHz at 5 GHz. Default: 20MHz; 40MHz for
    /// 802.11n, 80MHz for 802.11ac and 802.11ax, 320MHz for 802.11be, or the maximum of the band if
    /// that is narrower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<Width>,
    /// Guard interval of data PPDUs. Default: 400ns for 802.11n and 802.11ac, otherwise 800ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard_interval: Option<Guard>,
    /// The extension of an HE or EHT PPDU that gives its receivers time to decode it (27.3.13,
    /// 36.3.14).
    #[serde(default)]
    pub packet_extension: PacketExtension,
    /// The maximum number of spatial streams. Only for 802.11n and later.
    #[serde(default = "one_stream")]
    #[schemars(range(min = 1, max = 4))]
    pub streams: u8,
    /// Enables the short preamble of DSSS (clause 16.2.2.3).
    #[serde(default)]
    pub short_preamble: bool,
    /// Enables slots of 20 µs for OFDM at 2.4 GHz, as with stations that do not support short slots
    /// (clause 18.4.5).
    #[serde(default)]
    pub long_slot: bool,
    /// The frames before OFDM frames that make DSSS-only stations defer (clause 10.27).
    #[serde(default)]
    pub protection: Protection,
    /// The rates of ACK, Block ACK, CTS and RTS. Default: the mandatory ones, 1 and 2 Mbps for
    /// 802.11b and otherwise 6, 12 and 24 Mbps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basic_rates: Option<Vec<Rate>>,
    /// The size of a PSDU above which RTS and CTS precede it. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "500B")]
    pub rts_threshold: Option<Bytes>,
    /// The retry limits.
    #[serde(default)]
    pub retries: Retries,
    /// The lifetime after which a waiting packet is dropped, whether or not it was already sent. It
    /// begins when the packet is enqueued. The queue here includes the queue of the layers above,
    /// whereas dot11EDCATableMSDULifetime (default: 500 TU) begins at the MAC. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "500ms")]
    pub lifetime: Option<Duration>,
    /// The packets that are included in the limits of queues.
    #[serde(default)]
    pub queue_counts: QueueCounts,
    /// Aggregates of 802.11n and later.
    #[serde(default)]
    pub aggregation: Aggregation,
    /// The time beyond SIFS by which response frames are late, as with a slow NIC. Initiators wait
    /// longer by the same time.
    #[serde(default)]
    pub late_answers: Duration,
    /// `true` if duration fields cover `late_answers`. Otherwise, they announce response frames at
    /// SIFS, and other nodes resume their backoffs earlier.
    #[serde(default = "yes")]
    pub announces_late_answers: bool,
    /// The delay beyond aCCATime after which nodes sense a busy medium, as in a software radio; a
    /// node can override it. A node whose backoff ends before it senses a PPDU transmits, and the
    /// two PPDUs collide.
    #[serde(default)]
    pub late_sensing: Duration,
    /// The settings of TCP/HACK, which sends TCP ACKs inside ACKs and Block ACKs. Default: TCP ACKs
    /// are sent in data frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hack: Option<hack::HackConfig>,
    /// The default EDCA parameters, which `access` of cell, AP and station override.
    #[serde(default)]
    pub edca: EdcaSet,
    /// The nodes that sense overlapping PPDUs of a collision and defer for EIFS. Default: `none`;
    /// `always` with `dialect = "ns2"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eifs_after_collision: Option<EifsAfterCollision>,
    /// The channel access parameters of all nodes that have no `access`.
    #[serde(default)]
    pub access: Access,
    /// The rate control of all nodes that have no `rate`.
    #[serde(default)]
    pub rate: rate::RateConfig,
    /// The pairs of nodes that receive each other, and the quality of reception.
    #[serde(default)]
    pub reception: reception::ReceptionConfig,
    /// The interval between beacons. Default: no beacons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "102.4ms")]
    pub beacon_interval: Option<Duration>,
    /// The access point.
    pub ap: AccessPoint,
    /// The stations.
    #[schemars(length(min = 1))]
    pub station: Vec<Station>,
}

/// The implementation whose rules apply. It determines how an EDCAF requests the medium, when the
/// MPDUs of an aggregate are passed up, and which queue is served after a failure.
///
/// | a frame | `standard` | `ns3` |
/// |---|---|---|
/// | arrives in the SIFS before its node sends a response frame | the medium is busy: back off (10.3.4.2) | the medium is idle: no backoff (`ChannelAccessManager::IsBusy`) |
/// | arrives at an idle medium, without QoS | sent at the next slot boundary if it was idle for DIFS (10.3.4.2) | sent DIFS later (`NeedBackoffUponAccess`) |
/// | arrives while the last backoff still runs, with QoS | sent when it ends (10.23.2.2) | sent a slot later (`RequestAccess` aligns once more) |
/// | of an aggregate has ended | passed up when the PPDU ends | passed up at once (`PhyEntity::EndOfMpdu`) |
/// | was not acknowledged | its queue waits for the other queues of the EDCAF, as in mac80211 (`ieee80211_schedule_txq`) | its queue is served first |
///
/// `ns2` is DCF as in ns-2. A backoff of 0 to CW − 1 slots precedes every frame. EIFS and then DIFS
/// follow each collision. Timeouts end after the time of the whole response frame. Durations are
/// rounded after RTS. Frames are 34 octets larger than their packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// IEEE 802.11-2020.
    #[default]
    Standard,
    /// ns-3 3.37.
    Ns3,
    /// ns-2.35. Only without QoS.
    Ns2,
}

/// The nodes that defer for EIFS after a collision: after PPDUs that began within so short a time
/// that no sender sensed the other (10.3.2.3.7). EIFS follows a PPDU that a node began to receive
/// and could not decode. Whether a node begins to receive one of several overlapping PPDUs depends
/// on its receiver. The senders of the collision do not defer, because they did not receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EifsAfterCollision {
    /// No node, because no node detects a preamble. All nodes defer for DIFS or AIFS, as in ns-3
    /// with preambles of equal power.
    None,
    /// All nodes, as in ns-2.
    Always,
    /// The nodes that receive a PPDU at least 4 dB stronger than noise and all other PPDUs together
    /// (ns-3's `ThresholdPreambleDetectionModel`). Equal to `none` if the channel model has no
    /// powers.
    PreambleDetection,
}

/// The frames before OFDM frames that make DSSS-only stations defer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// No frame.
    #[default]
    None,
    /// CTS-to-self at the highest basic rate of DSSS.
    CtsToSelf,
    /// RTS and CTS at the highest basic rate of DSSS.
    RtsCts,
}

/// Retry limits (10.3.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retries {
    /// The maximum number of transmissions of a frame without RTS (dot11ShortRetryLimit).
    pub short: u8,
    /// The maximum number of transmissions of a frame after RTS (dot11LongRetryLimit).
    pub long: u8,
    /// The maximum number of transmissions of a frame within aggregates; 30 in ath9k
    /// (`ATH_MAX_SW_RETRIES`). Default: limited only by the lifetime of the frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregated: Option<u8>,
    /// The maximum number of transmissions of a Block ACK request. Afterwards, data are sent
    /// without a Block ACK. Default: `short`; no limit with `dialect = "ns3"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u8>,
    /// The time after its first transmission in which a frame under a Block ACK agreement may be
    /// retransmitted (dot11MaxTransmitMSDULifetime, 512 TU). This lifetime applies only to frames
    /// without another limit. 0s disables it.
    pub lifetime: Duration,
}

impl Default for Retries {
    /// Returns the default values of the MIB (Annex C; of `long` in 802.11-2016, because
    /// 802.11-2020 omits it).
    fn default() -> Self {
        Self { short: 7, long: 4, aggregated: None, requests: None, lifetime: Duration::from_micros(512 * 1024) }
    }
}

/// Frames that the smallest bitmap of a compressed Block ACK acknowledges (9.3.1.8.2).
const SMALLEST_BITMAP: u16 = 64;

const fn one_stream() -> u8 {
    1
}

const fn yes() -> bool {
    true
}

impl CellConfig {
    /// Returns the band of the cell.
    #[must_use]
    pub fn band(&self) -> Band {
        let bands = self.standard.generation().bands;
        self.band.filter(|band| bands.contains(band)).unwrap_or(bands[0])
    }

    /// Returns the width of the cell's channel.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width.unwrap_or_else(|| self.standard.generation().width.min(self.band().widest()))
    }

    /// Returns the guard interval of data PPDUs.
    #[must_use]
    pub fn guard_interval(&self) -> Guard {
        self.guard_interval.unwrap_or(self.standard.generation().guard)
    }

    /// Returns the maximum size of an A-MPDU in octets. Returns `None` without aggregation.
    #[must_use]
    pub fn max_aggregate(&self) -> Option<Bytes> {
        let maximum = self.standard.generation().aggregation.as_ref()?.octets;
        Some(self.aggregation.max_bytes.unwrap_or(maximum).min(maximum)).filter(|maximum| *maximum > Bytes::ZERO)
    }

    /// Returns the window of a Block ACK agreement in frames.
    #[must_use]
    pub fn window(&self) -> u16 {
        self.aggregation.window.unwrap_or(self.most_window())
    }

    /// Returns the maximum window of the standard. It has no effect in a standard without Block
    /// ACKs.
    #[must_use]
    pub fn most_window(&self) -> u16 {
        self.standard.generation().aggregation.as_ref().map_or(SMALLEST_BITMAP, |limits| limits.window)
    }

    /// Returns the names of the stations in order.
    #[must_use]
    pub fn station_names(&self) -> Vec<String> {
        self.station.iter().flat_map(Station::names).collect()
    }
}
