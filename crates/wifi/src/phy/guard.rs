//! Guard intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Guard interval between symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Guard {
    /// 400 ns: the short guard interval of HT and VHT.
    #[serde(rename = "400ns")]
    Ns400,
    /// 800 ns: the long guard interval of HT and VHT, and the shortest of HE and EHT.
    #[serde(rename = "800ns")]
    Ns800,
    /// 1600 ns, of HE and EHT.
    #[serde(rename = "1600ns")]
    Ns1600,
    /// 3200 ns, of HE and EHT.
    #[serde(rename = "3200ns")]
    Ns3200,
}

impl Guard {
    /// All, shortest first.
    pub const ALL: [Self; 4] = [Self::Ns400, Self::Ns800, Self::Ns1600, Self::Ns3200];

    /// Returns the interval in nanoseconds.
    #[must_use]
    pub const fn nanoseconds(self) -> u16 {
        match self {
            Self::Ns400 => 400,
            Self::Ns800 => 800,
            Self::Ns1600 => 1_600,
            Self::Ns3200 => 3_200,
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.nanoseconds())
    }
}
