//! Rate control: the mode of the next PPDU.
//!
//! | | |
//! |---|---|
//! | [`Capabilities`] | the capabilities common to both ends, and their modes |
//! | [`RateConfig`] | the settings |
//! | [`RateControl`] | the state: one fixed mode, [`Ideal`] or [`MinstrelHt`] |
//! | [`Exchange`] | the frame exchange for which the ideal rate control compares goodputs |
//! | [`Refusal`] | why settings are refused |

mod capabilities;
#[cfg(test)]
mod channel;
mod fixed;
mod ideal;
mod minstrel_ht;
mod refusal;

pub use capabilities::Capabilities;
pub use ideal::{Exchange, Ideal};
pub use minstrel_ht::MinstrelHt;
pub use refusal::Refusal;

use crate::phy::Mode;
use acklab_base::random::Stream;
use acklab_base::{Bytes, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rate control.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "control", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateConfig {
    /// Always the same mode: the mode of `rate` or `mcs`. Default: the fastest mode.
    Fixed {
        /// The rate of the payload, as printed in the tables of the standard.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(example = "54Mbps")]
        rate: Option<Rate>,
        /// The MCS of one stream: 0 to 7 in 802.11n, 0 to 9 in 802.11ac, 0 to 11 in 802.11ax, 0 to
        /// 13 in 802.11be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mcs: Option<u8>,
        /// The number of spatial streams. Default with an MCS: the maximum that both nodes support.
        /// Default with a rate: the minimum with which this rate exists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        streams: Option<u8>,
    },
    /// The mode with the highest expected goodput at the peer's signal-to-noise ratio. Response
    /// frames report this ratio without error. The result is the envelope over all fixed modes.
    Ideal {
        /// If set, the fastest mode with a bit error rate below this limit is selected, instead of
        /// the mode with the highest goodput. ns-3's `IdealWifiManager` uses 1e-6.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.0, max = 0.5))]
        bit_errors: Option<f64>,
    },
    /// Minstrel-HT of Linux, which keeps statistics of success and probes faster rates
    /// (`rc80211_minstrel_ht.c`).
    MinstrelHt {},
}

impl Default for RateConfig {
    fn default() -> Self {
        Self::Fixed { rate: None, mcs: None, streams: None }
    }
}

/// The rate control of one transmitter for one receiver.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few of them, and the large one is the usual one")]
pub enum RateControl {
    /// One mode for all PPDUs.
    Fixed(Mode),
    /// The best mode by signal-to-noise ratio.
    Ideal(Ideal),
    /// Minstrel-HT of Linux.
    MinstrelHt(MinstrelHt),
}

impl RateControl {
    /// Returns the rate control of this configuration between two nodes with these capabilities.
    /// The ideal rate control compares modes by `exchange` and `success`. `success` returns the
    /// probability that an MPDU is received, from its mode, the signal-to-noise ratio in dB, and
    /// its octets. `stream` provides the random order in which Minstrel-HT probes.
    ///
    /// # Errors
    /// If the standard does not define the configured mode, or any mode.
    pub fn new(
        config: RateConfig,
        capabilities: Capabilities,
        exchange: Exchange,
        success: impl Fn(Mode, f64, Bytes) -> f64,
        stream: &mut Stream,
    ) -> Result<Self, Refusal> {
        match config {
            RateConfig::Fixed { rate, mcs, streams } => fixed::named(capabilities, rate, mcs, streams).map(Self::Fixed),
            RateConfig::Ideal { bit_errors: None } => {
                Ideal::by_goodput(capabilities, exchange, success).map(Self::Ideal)
            }
            RateConfig::Ideal { bit_errors: Some(target) } => {
                Ideal::by_bit_errors(capabilities, target, exchange.frame, success).map(Self::Ideal)
            }
            RateConfig::MinstrelHt {} => MinstrelHt::new(capabilities, stream).map(Self::MinstrelHt),
        }
    }

    /// Returns the mode, if the rate control always chooses the same mode.
    #[must_use]
    pub const fn only_mode(&self) -> Option<Mode> {
        match self {
            Self::Fixed(mode) => Some(*mode),
            Self::Ideal(_) | Self::MinstrelHt(_) => None,
        }
    }

    /// Returns the mode of the next PPDU. `attempt` is the number of failed transmissions of its
    /// first frame. Minstrel-HT uses only the number of consecutive transmissions without a
    /// response frame.
    pub fn choose(&mut self, now: Instant, attempt: u32) -> Mode {
        match self {
            Self::Fixed(mode) => *mode,
            Self::Ideal(ideal) => ideal.choose(),
            Self::MinstrelHt(minstrel) => minstrel.choose(now, attempt),
        }
    }

    /// Returns `true` if RTS and CTS are sent before the PPDU whose mode was chosen last.
    /// Minstrel-HT requests them at all fallback rates (`minstrel_ht_set_rate`).
    #[must_use]
    pub const fn needs_rts(&self) -> bool {
        match self {
            Self::Fixed(_) | Self::Ideal(_) => false,
            Self::MinstrelHt(minstrel) => minstrel.is_fallback(),
        }
    }

    /// Returns `true` if the mode that was chosen last is a probe of Minstrel-HT
    /// (`IEEE80211_TX_CTL_RATE_CTRL_PROBE`). A driver sends such a frame outside of aggregates
    /// (ath9k's `ath_lookup_rate`).
    #[must_use]
    pub const fn is_probe(&self) -> bool {
        match self {
            Self::Fixed(_) | Self::Ideal(_) => false,
            Self::MinstrelHt(minstrel) => minstrel.is_probe(),
        }
    }

    /// Reports a PPDU: `delivered` of `attempted` MPDUs were acknowledged. `delivered` is zero if
    /// no response frame to the PPDU or to its RTS arrived.
    pub fn report(&mut self, now: Instant, mode: Mode, attempted: u32, delivered: u32) {
        match self {
            Self::Fixed(_) | Self::Ideal(_) => {}
            Self::MinstrelHt(minstrel) => minstrel.report(now, mode, attempted, delivered),
        }
    }

    /// Reports the signal-to-noise ratio at the peer in dB, from its last response frame.
    pub fn update_snr(&mut self, _now: Instant, snr_db: f64) {
        match self {
            Self::Fixed(_) | Self::MinstrelHt(_) => {}
            Self::Ideal(ideal) => ideal.update_snr(snr_db),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Guard, Standard, Width};
    use acklab_base::Duration;
    use acklab_base::random::Seed;
    use serde::de::value::{Error, MapDeserializer};

    const CAPABILITIES: Capabilities = Capabilities {
        standard: Standard::G,
        width: Width::Mhz20,
        guard: Guard::Ns800,
        streams: 1,
        is_short_preamble: false,
    };

    fn parse(fields: &[(&str, &str)]) -> Result<RateConfig, Error> {
        RateConfig::deserialize(MapDeserializer::new(fields.iter().copied()))
    }

    fn control(config: RateConfig) -> RateControl {
        let exchange = Exchange {
            frame: Bytes(1_536),
            maximum: Bytes(1_536),
            longest: Duration::from_millis(20),
            overhead: Duration::from_micros(150),
        };
        RateControl::new(config, CAPABILITIES, exchange, channel::synthetic, &mut Seed(1).stream("rate")).unwrap()
    }

    #[test]
    fn a_configuration_names_the_rate_control_and_nothing_else() {
        let rate = Some(Rate::from_mbps(24));
        assert_eq!(
            parse(&[("control", "fixed"), ("rate", "24Mbps")]),
            Ok(RateConfig::Fixed { rate, mcs: None, streams: None })
        );
        assert_eq!(parse(&[("control", "ideal")]), Ok(RateConfig::Ideal { bit_errors: None }));
        assert_eq!(parse(&[("control", "minstrel-ht")]), Ok(RateConfig::MinstrelHt {}));
        assert!(parse(&[("control", "minstrel-ht"), ("rate", "24Mbps")]).is_err());
        assert!(parse(&[("control", "ideal"), ("target", "1e-6")]).is_err());
    }

    #[test]
    fn a_fixed_one_ignores_reports() {
        let mut fixed = control(RateConfig::Fixed { rate: Some(Rate::from_mbps(24)), mcs: None, streams: None });
        let mode = fixed.choose(Instant::ZERO, 0);
        assert_eq!(mode, Mode::ofdm(4));
        fixed.report(Instant::ZERO, mode, 1, 0);
        fixed.update_snr(Instant::ZERO, 0.0);
        assert_eq!(fixed.choose(Instant::ZERO, 6), mode);
    }

    #[test]
    fn an_ideal_one_follows_the_reported_snr() {
        let mut ideal = control(RateConfig::Ideal { bit_errors: None });
        assert_eq!(ideal.choose(Instant::ZERO, 0), Mode::ofdm(0));
        ideal.update_snr(Instant::ZERO, 40.0);
        ideal.report(Instant::ZERO, Mode::ofdm(7), 1, 0);
        assert_eq!(ideal.choose(Instant::ZERO, 1), Mode::ofdm(7));
    }

    #[test]
    fn minstrel_requests_rts_at_fallback_rates() {
        let mut minstrel = control(RateConfig::MinstrelHt {});
        let first = minstrel.choose(Instant::ZERO, 0);
        assert!(!minstrel.needs_rts());
        for attempt in 1..=6 {
            minstrel.report(Instant::ZERO, first, 1, 0);
            minstrel.choose(Instant::ZERO, attempt);
        }
        assert!(minstrel.needs_rts() && !minstrel.is_probe());
    }
}
