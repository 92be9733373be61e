//! The settings of aggregates and of their acknowledgment.

use acklab_base::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Aggregation {
    /// The maximum size of an A-MPDU; 0B disables aggregation. Default: 65535B with 802.11n,
    /// 1048575B with 802.11ac, 6500631B with 802.11ax, 15523200B with 802.11be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "65535B")]
    pub max_bytes: Option<Bytes>,
    /// The maximum number of frames of an A-MPDU, at most the Block ACK window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 64)]
    pub max_frames: Option<u16>,
    /// The maximum airtime of a PPDU (aPPDUMaxTime, 19.4.4 and 21.4.4).
    pub max_time: Duration,
    /// The maximum size of an A-MSDU in each MPDU; 0B for one packet per MPDU. At most 7935B with
    /// 802.11n, and 11424B with later standards.
    #[schemars(example = "3839B")]
    pub a_msdu: Bytes,
    /// The window of a Block ACK in frames: at most 64, 256 with 802.11ax, 1024 with 802.11be.
    /// Default: the maximum, as in mac80211 (`IEEE80211_MAX_AMPDU_BUF_HT`, `_HE`, `_EHT`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 64)]
    pub window: Option<u16>,
    /// The time at which the receiver passes up the MPDUs of an aggregate. Default: `with-ppdu`;
    /// `each` with `dialect = "ns3"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// The reaction to a missing Block ACK.
    pub after_missed: AfterMissed,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self {
            max_bytes: None,
            max_frames: None,
            max_time: Duration::from_micros(5484),
            a_msdu: Bytes::ZERO,
            window: None,
            delivery: None,
            after_missed: AfterMissed::Request,
        }
    }
}

/// The time at which the receiver passes up the MPDUs of an aggregate. The standard does not
/// specify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// All MPDUs are passed up at the end of the PPDU, as by a NIC that interrupts its host once.
    WithPpdu,
    /// Each MPDU is passed up when it ends (ns-3's `PhyEntity::EndOfMpdu`).
    Each,
}

/// The reaction to a missing Block ACK (10.25.6.4 permits the originator to choose).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterMissed {
    /// The originator sends a Block ACK request, so that only missing frames are retransmitted.
    #[default]
    Request,
    /// The originator retransmits the same frames.
    Retransmit,
}
