//! A synthetic channel to test rate controls: not a radio model, but each mode requires a higher
//! ratio than the previous one.

use crate::phy::{Format, Mode};
use acklab_base::Bytes;

/// Returns the probability that an MPDU of any size arrives: 0.5 at the ratio that the mode
/// requires, and over 0.95 from 1.5 dB above this ratio on.
pub(super) fn synthetic(mode: Mode, snr_db: f64, _octets: Bytes) -> f64 {
    1.0 / (1.0 + libm::exp((needed_db(mode) - snr_db) * 2.0))
}

fn needed_db(mode: Mode) -> f64 {
    let coding = match mode.format {
        Format::Dsss | Format::ShortDsss => [-2.0, 1.0, 4.0, 7.0][mode.mcs as usize],
        Format::Ofdm => [4.0, 6.0, 7.0, 9.5, 12.0, 16.0, 20.0, 21.5][mode.mcs as usize],
        _ => [4.0, 7.0, 9.5, 12.5, 16.0, 20.0, 21.5, 23.0, 27.0, 29.0, 32.0, 34.0, 37.0, 39.0][mode.mcs as usize],
    };
    // Twice the width, twice the noise.
    let width = 3.0 * f64::from(mode.width as u8);
    coding + width + 4.0 * f64::from(mode.streams - 1)
}
