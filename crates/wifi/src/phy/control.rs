//! The rates of control frames.

use super::{Mode, Standard};
use acklab_base::Rate;

/// The modes in which a cell sends ACK, Block ACK, CTS, RTS and Block ACK request frames: its basic
/// rates, lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlRates {
    /// The basic rates: modes, each with its rate in bits per second.
    modes: Vec<(Mode, u64)>,
    /// The mandatory rates of the PHY, lowest first.
    mandatory: Vec<(Mode, u64)>,
}

impl ControlRates {
    /// Creates the set from these basic rates, or from the default basic rates of the standard.
    /// Returns `None` if one of them is not a rate of the standard.
    #[must_use]
    pub fn new(standard: Standard, is_short_preamble: bool, basic: Option<&[Rate]>) -> Option<Self> {
        let control = &standard.generation().control;
        let mode = |index| Mode::by_rate(control.format, index, is_short_preamble);
        let with_rate = |mode: Mode| (mode, mode.data_rate());
        let of = |indices: &[u8]| -> Vec<_> { indices.iter().map(|index| with_rate(mode(*index))).collect() };
        let mut modes = match basic {
            None => of(control.basic),
            Some(rates) => {
                let named =
                    |rate: &Rate| (0..control.format.indices()).map(mode).find(|mode| mode.rate() == Some(*rate));
                rates.iter().map(|rate| named(rate).map(with_rate)).collect::<Option<Vec<_>>>()?
            }
        };
        modes.sort_unstable_by_key(|(_, rate)| *rate);
        (!modes.is_empty()).then_some(Self { modes, mandatory: of(control.mandatory) })
    }

    /// Returns the mode of the response to a frame in `mode`: the highest basic rate that does not
    /// exceed its rate. From HT on, its non-HT reference rate is used instead (10.6.6.5.2). If all
    /// basic rates exceed this rate, returns the highest mandatory rate that does not exceed it.
    #[must_use]
    pub fn response_to(&self, mode: Mode) -> Mode {
        let maximum = mode.reference_rate();
        let highest =
            |modes: &[(Mode, u64)]| modes.iter().rev().find(|(_, rate)| *rate <= maximum).map(|(mode, _)| *mode);
        highest(&self.modes).or_else(|| highest(&self.mandatory)).unwrap_or(self.lowest())
    }

    /// Returns the lowest mandatory rate of the PHY in use. EIFS assumes that an ACK is sent at
    /// this rate (10.3.2.3.7).
    #[must_use]
    pub fn lowest_mandatory(&self) -> Mode {
        self.mandatory[0].0
    }

    /// Returns the lowest basic rate.
    #[must_use]
    pub fn lowest(&self) -> Mode {
        self.modes[0].0
    }

    /// Returns `true` if control frames use DSSS, and so have no signal extension.
    #[must_use]
    pub fn are_dsss(&self) -> bool {
        self.lowest().format.is_dsss()
    }
}
