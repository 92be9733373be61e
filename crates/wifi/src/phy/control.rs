//! The rates of control frames.

use super::{Format, Mode, Standard};
use acklab_base::Rate;

/// The modes in which a cell sends ACK, Block ACK, CTS, RTS and Block ACK request frames: its basic rates, lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlRates {
    modes: Vec<Mode>,
    /// The mandatory rates of the PHY, lowest first.
    mandatory: Vec<Mode>,
}

impl ControlRates {
    /// Of these basic rates; by default 1 and 2 Mbps for 802.11b, the mandatory ones of DSSS (15.2.5), else 6, 12 and 24 Mbps, the
    /// mandatory ones of OFDM (17.2.3.5). HR/DSSS has 5.5 and 11 Mbps besides (16.2.3.4).
    /// Returns `None` if one of them is no rate of the standard.
    #[must_use]
    pub fn new(standard: Standard, is_short_preamble: bool, basic: Option<&[Rate]>) -> Option<Self> {
        let all: Vec<Mode> = match standard {
            Standard::B => (0..4).map(|index| Mode::dsss(index, is_short_preamble)).collect(),
            _ => (0..8).map(Mode::ofdm).collect(),
        };
        let default: &[usize] = if standard == Standard::B { &[0, 1] } else { &[0, 2, 4] };
        let mandatory: &[usize] = if standard == Standard::B { &[0, 1, 2, 3] } else { &[0, 2, 4] };
        let mandatory: Vec<Mode> = mandatory.iter().map(|index| all[*index]).collect();
        let mut modes = match basic {
            None => default.iter().map(|index| all[*index]).collect(),
            Some(rates) => rates
                .iter()
                .map(|rate| all.iter().copied().find(|mode| mode.rate() == Some(*rate)))
                .collect::<Option<Vec<Mode>>>()?,
        };
        modes.sort_unstable_by_key(|mode| mode.data_rate());
        (!modes.is_empty()).then_some(Self { modes, mandatory })
    }

    /// The mode of the response to a frame in `mode`: the highest basic rate not above its rate, or, from HT on, its non-HT reference
    /// rate (10.6.6.5.2). If all are above, the highest mandatory rate that is not.
    #[must_use]
    pub fn response_to(&self, mode: Mode) -> Mode {
        let most = mode.reference_rate();
        let highest = |modes: &[Mode]| modes.iter().rev().copied().find(|mode| mode.data_rate() <= most);
        highest(&self.modes).or_else(|| highest(&self.mandatory)).unwrap_or(self.modes[0])
    }

    /// The lowest mandatory rate of the PHY in use, at which EIFS assumes the ACK (10.3.2.3.7).
    #[must_use]
    pub fn lowest_mandatory(&self) -> Mode {
        self.mandatory[0]
    }

    /// The lowest basic rate.
    #[must_use]
    pub fn lowest(&self) -> Mode {
        self.modes[0]
    }

    /// Do they use DSSS, without a signal extension?
    #[must_use]
    pub fn are_dsss(&self) -> bool {
        matches!(self.lowest().format, Format::Dsss | Format::ShortDsss)
    }
}
