//! The radiotap fields of a PPDU's channel and modulation.

use acklab_wifi::phy::{Band, Format, Guard, Mode};
use acklab_wire::dot11::radiotap::{Channel, Eht, He, Ht, Modulation, Vht};

/// Centre frequency of channel 1 in the 2.4 GHz band in MHz (15.4.4.3).
const CHANNEL_1: u16 = 2_412;
/// Centre frequency of channel 36 in the 5 GHz band in MHz, the primary channel of up to 160 MHz
/// (Table E-4).
const CHANNEL_36: u16 = 5_180;

/// Centre frequency of channel 1 in the 6 GHz band in MHz (27.3.23.2).
const CHANNEL_1_OF_6_GHZ: u16 = 5_955;

/// Returns the lowest channel of a band. Cells do not interfere with each other, so the choice has
/// no effect.
pub(super) const fn channel(band: Band, mode: Mode) -> Channel {
    let spread = if mode.format.is_dsss() { Channel::CCK } else { Channel::OFDM };
    match band {
        Band::Ghz2 => Channel { frequency: CHANNEL_1, flags: Channel::GHZ_2 | spread },
        Band::Ghz5 => Channel { frequency: CHANNEL_36, flags: Channel::GHZ_5 | spread },
        // The radiotap flags have no flag for 6 GHz; Linux sets the flag of 5 GHz
        // (`ieee80211_add_rx_radiotap_header`).
        Band::Ghz6 => Channel { frequency: CHANNEL_1_OF_6_GHZ, flags: Channel::GHZ_5 | spread },
    }
}

/// Returns the modulation of a mode, in the radiotap field of its format.
pub(super) fn modulation(mode: Mode) -> Modulation {
    let (width, guard) = (Some(mode.width.megahertz()), Some(mode.guard.nanoseconds()));
    let (mcs, streams, is_ldpc) = (mode.mcs, mode.streams, mode.is_ldpc());
    // HE and EHT: 2x training symbols, 4x with the longest guard interval.
    let training = Some(if mode.guard == Guard::Ns3200 { 4 } else { 2 });
    match mode.format {
        Format::Dsss | Format::ShortDsss | Format::Ofdm => Modulation::Legacy((mode.data_rate() / 500_000) as u8),
        // Eight MCSs for each number of streams (Tables 19-27 to 19-34).
        Format::Ht => Modulation::Ht(Ht {
            mcs: mcs + 8 * (streams - 1),
            width,
            guard,
            is_ldpc: Some(is_ldpc),
            stbc: Some(0),
            extension: Some(0),
        }),
        Format::Vht => Modulation::Vht(Vht { mcs, streams, width, guard, is_ldpc, is_stbc: Some(false) }),
        Format::He => {
            Modulation::He(He { mcs, streams, width, guard, training, is_ldpc: Some(is_ldpc), is_stbc: Some(false) })
        }
        Format::Eht => Modulation::Eht(Eht { mcs, streams, width, guard, training, is_ldpc: Some(is_ldpc) }),
    }
}
