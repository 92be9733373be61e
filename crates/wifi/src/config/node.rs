//! The settings of an access point and of stations.

use crate::access::{Category, Overrides};
use crate::rate;
use acklab_base::Duration;
use acklab_path::{queue, thinner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The channel access parameters of the four categories. Without QoS, only `best_effort` is used.
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
    /// Returns the parameters of one category.
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
    /// The name of its node.
    #[schemars(example = &"ap")]
    pub name: String,
    /// The queue of each category. `queue_counts` of the cell determines which packets its limit
    /// includes.
    #[serde(default)]
    pub queue: queue::QueueConfig,
    /// The ACK thinner that holds pure ACKs before they are queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinner: Option<thinner::ThinnerConfig>,
    /// Determines if stations share the queue's limit.
    #[serde(default)]
    pub queues: Queues,
    /// The channel access parameters of this node. Default: `access` of the cell.
    #[serde(default)]
    pub access: Access,
    /// The rate control of this node. Default: `rate` of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<rate::RateConfig>,
    /// The delay beyond aCCATime after which this node senses a busy medium. Default:
    /// `late_sensing` of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "9us")]
    pub late_sensing: Option<Duration>,
}

/// The queues of an access point for several stations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Queues {
    /// One queue for each station, each with the limit. The queues are served by round robin.
    #[default]
    PerStation,
    /// One limit for the packets of all stations. The packet that has waited longest is served
    /// next.
    Shared,
}

/// The packets that are included in the limit of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueCounts {
    /// All packets that are not acknowledged or given up, including packets on the air (ns-3.37,
    /// whose `WifiMacQueue` keeps frames in flight).
    #[default]
    Unacknowledged,
    /// Packets that have not been sent: a packet leaves the queue with its first frame (ns-3 of
    /// 2014, `EdcaTxopN::NotifyAccessGranted`).
    Unsent,
}

/// One station, or several with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Station {
    /// The name of its node. For several stations, the prefix of their names: `sta_1`, `sta_2`, …
    #[schemars(example = &"sta")]
    pub name: String,
    /// The number of stations.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 2007))]
    pub count: u16,
    /// The queue of each category.
    #[serde(default)]
    pub queue: queue::QueueConfig,
    /// The ACK thinner of its driver, which holds pure ACKs before they are queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinner: Option<thinner::ThinnerConfig>,
    /// The channel access parameters of this node. Default: `access` of the cell.
    #[serde(default)]
    pub access: Access,
    /// The rate control of this node. Default: `rate` of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<rate::RateConfig>,
    /// The delay beyond aCCATime after which this node senses a busy medium. Default:
    /// `late_sensing` of the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "9us")]
    pub late_sensing: Option<Duration>,
}

const fn one() -> u16 {
    1
}

impl Station {
    /// Returns the names of the stations' nodes.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self.count {
            1 => vec![self.name.clone()],
            count => (1..=count).map(|number| format!("{}_{number}", self.name)).collect(),
        }
    }
}
