//! The capabilities common to a transmitter and its receiver.

use crate::phy::{Guard, Mode, Standard, Width};

/// The capabilities common to a transmitter and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The generation of 802.11.
    pub standard: Standard,
    /// The width of the channel; used from 802.11n on.
    pub width: Width,
    /// The shortest guard interval; used from 802.11n on.
    pub guard: Guard,
    /// The maximum number of spatial streams; used from 802.11n on.
    pub streams: u8,
    /// `true` if 802.11b may use the short preamble.
    pub is_short_preamble: bool,
}

impl Capabilities {
    /// Returns all modes that the standard defines at this width and guard interval, slowest first.
    /// Modes of the same rate are in the order of their streams.
    #[must_use]
    pub fn modes(self) -> Vec<Mode> {
        let mut modes = self.modes_with(self.width, self.guard);
        modes.sort_by_key(|mode| (mode.data_rate(), mode.streams));
        modes
    }

    /// Returns the modes at another width and guard interval, by streams and MCS.
    #[must_use]
    pub(super) fn modes_with(self, width: Width, guard: Guard) -> Vec<Mode> {
        let streams = if self.standard.has_qos() { self.streams } else { 1 };
        (1..=streams)
            .flat_map(|streams| (0..self.indices()).map(move |mcs| self.mode(mcs, streams, width, guard)))
            .filter(|mode| mode.is_defined())
            .collect()
    }

    /// Returns the mode with this MCS, or with this rate index.
    pub(super) const fn mode(self, mcs: u8, streams: u8, width: Width, guard: Guard) -> Mode {
        let format = self.standard.data_format();
        if format.phy().has_mcs {
            Mode { format, mcs, streams, width, guard }
        } else {
            Mode::by_rate(format, mcs, self.is_short_preamble)
        }
    }

    /// Returns the number of MCSs of one stream, or the number of rates.
    pub(super) const fn indices(self) -> u8 {
        self.standard.data_format().indices()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Format;
    use proptest::prelude::*;

    fn of(standard: Standard, width: Width, guard: Guard, streams: u8) -> Vec<Mode> {
        Capabilities { standard, width, guard, streams, is_short_preamble: true }.modes()
    }

    fn mbps(modes: &[Mode]) -> Vec<f64> {
        modes.iter().map(|mode| mode.data_rate() as f64 / 1e6).collect()
    }

    #[test]
    fn a_has_eight_rates_and_b_four_of_which_the_lowest_keeps_the_long_preamble() {
        let a = of(Standard::A, Width::Mhz20, Guard::Ns800, 4);
        assert_eq!(mbps(&a), [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0]);
        let b = of(Standard::B, Width::Mhz20, Guard::Ns800, 4);
        assert_eq!(mbps(&b), [1.0, 2.0, 5.5, 11.0]);
        assert_eq!(b.iter().map(|mode| mode.format).collect::<Vec<_>>()[..2], [Format::Dsss, Format::ShortDsss]);
    }

    #[test]
    fn combinations_that_the_standard_leaves_out_are_left_out() {
        // Table 21-30: MCS 9 at 20 MHz exists for three streams only.
        let nines = of(Standard::Ac, Width::Mhz20, Guard::Ns800, 4).into_iter().filter(|mode| mode.mcs == 9);
        assert_eq!(nines.map(|mode| mode.streams).collect::<Vec<_>>(), [3]);
        assert!(of(Standard::N, Width::Mhz80, Guard::Ns400, 4).is_empty());
        assert!(of(Standard::Ax, Width::Mhz20, Guard::Ns400, 1).is_empty());
    }

    proptest! {
        #[test]
        fn modes_are_defined_and_in_order(
            standard in prop::sample::select(Standard::ALL),
            width in prop::sample::select(&Width::ALL),
            guard in prop::sample::select(&Guard::ALL),
            streams in 1..=4u8,
        ) {
            let modes = of(standard, width, guard, streams);
            prop_assert!(modes.iter().all(|mode| mode.is_defined()));
            prop_assert!(modes.windows(2).all(|pair| pair[0].data_rate() <= pair[1].data_rate()));
        }
    }
}
