//! Sets of EDCA parameters by name.

use super::{Category, Control, Parameters};
use crate::phy::Standard;
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A set of EDCA parameters. The sets differ in TXOP limits. With `hostapd`, the access point also
/// uses parameters that differ from those of the stations. CWmin and CWmax are the values of OFDM,
/// because in this model every PHY with QoS has them.
///
/// | | background | best effort | video | voice |
/// |---|---|---|---|---|
/// | AIFSN | 7 | 3 | 2 | 2 |
/// | CWmin, CWmax | 15, 1023 | 15, 1023 | 7, 15 | 3, 7 |
/// | TXOP limit in ms, `ns3` | 0 | 0 | 4.096 | 2.080 |
/// | `802.11-2012` | 0 | 0 | 3.008 | 1.504 |
/// | `802.11-2016` | 2.528 | 2.528 | 4.096 | 2.080 |
/// | access point of `hostapd` | 0 | CWmax 63; 0 | AIFSN 1; 3.0 | AIFSN 1; 1.5 |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EdcaSet {
    /// ns-3's (`WifiMac::ConfigureDcf`): the limits of 802.11-2016 for video and voice, and no
    /// limits for the other categories.
    #[default]
    #[serde(rename = "ns3")]
    Ns3,
    /// Table 8-105 of 802.11-2012, as in WMM and in mac80211's stations
    /// (`ieee80211_set_wmm_default`).
    #[serde(rename = "802.11-2012")]
    Ieee2012,
    /// Table 9-137 of 802.11-2016 and Table 9-155 of 802.11-2020.
    #[serde(rename = "802.11-2016")]
    Ieee2016,
    /// The access point uses the transmit queue parameters of hostapd's defaults
    /// (`hostapd_config_defaults`: `tx_queue`). The stations use the parameters that it announces
    /// (`wmm_ac_params`), which are the parameters of 802.11-2012.
    #[serde(rename = "hostapd")]
    Hostapd,
}

impl EdcaSet {
    /// Returns the parameters of an EDCAF.
    #[must_use]
    pub const fn parameters(self, category: Category, is_access_point: bool) -> Parameters {
        let (aifsn, cw_min, cw_max) = match category {
            Category::Background => (7, 15, 1023),
            Category::BestEffort => (3, 15, 1023),
            // (aCWmin + 1)/2 − 1 and (aCWmin + 1)/4 − 1.
            Category::Video => (2, 7, 15),
            Category::Voice => (2, 3, 7),
        };
        let micros = match (self, category) {
            (Self::Ns3 | Self::Ieee2016, Category::Video) => 4096,
            (Self::Ns3 | Self::Ieee2016, Category::Voice) => 2080,
            (Self::Ieee2016, _) => 2528,
            (Self::Hostapd, Category::Video) if is_access_point => 3000,
            (Self::Hostapd, Category::Voice) if is_access_point => 1500,
            (Self::Ieee2012 | Self::Hostapd, Category::Video) => 3008,
            (Self::Ieee2012 | Self::Hostapd, Category::Voice) => 1504,
            _ => 0,
        };
        let parameters = Parameters {
            cw_min,
            cw_max,
            cw_control: Control::Standard,
            cw_floor: None,
            aifsn,
            txop_limit: Duration::from_micros(micros),
        };
        match (self, category) {
            (Self::Hostapd, Category::BestEffort) if is_access_point => Parameters { cw_max: 63, ..parameters },
            (Self::Hostapd, Category::Video | Category::Voice) if is_access_point => {
                Parameters { aifsn: 1, ..parameters }
            }
            _ => parameters,
        }
    }
}

impl Parameters {
    /// Returns the parameters of DCF without QoS, and of the default [`EdcaSet`] with QoS.
    #[must_use]
    pub const fn of(standard: Standard, category: Category) -> Self {
        if standard.has_qos() { EdcaSet::Ns3.parameters(category, false) } else { Self::dcf(standard) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(set: EdcaSet, is_access_point: bool) -> [u64; 4] {
        Category::ALL.map(|category| set.parameters(category, is_access_point).txop_limit.as_nanos() / 1_000)
    }

    /// In units of 32 µs, 802.11 and WMM have 94 and 47, 79, 128 and 65; hostapd's queues are in
    /// units of 100 µs.
    #[test]
    fn txop_limits_are_those_of_the_tables() {
        assert_eq!(limits(EdcaSet::Ieee2012, true), [0, 0, 94 * 32, 47 * 32]);
        assert_eq!(limits(EdcaSet::Ieee2016, false), [79 * 32, 79 * 32, 128 * 32, 65 * 32]);
        assert_eq!(limits(EdcaSet::Ns3, false), [0, 0, 128 * 32, 65 * 32]);
        assert_eq!(limits(EdcaSet::Hostapd, false), limits(EdcaSet::Ieee2012, false));
        assert_eq!(limits(EdcaSet::Hostapd, true), [0, 0, 30 * 100, 15 * 100]);
    }

    #[test]
    fn hostapd_prefers_its_own_frames() {
        let [ap, station] = [true, false].map(|is_ap| {
            Category::ALL.map(|category| {
                let parameters = EdcaSet::Hostapd.parameters(category, is_ap);
                (parameters.aifsn, parameters.cw_min, parameters.cw_max)
            })
        });
        assert_eq!(ap, [(7, 15, 1023), (3, 15, 63), (1, 7, 15), (1, 3, 7)]);
        assert_eq!(station, [(7, 15, 1023), (3, 15, 1023), (2, 7, 15), (2, 3, 7)]);
    }
}
