//! The radiotap fields of a PPDU's channel and modulation.

use acklab_wifi::phy::{Band, Format, Guard, Mode, Width};
use acklab_wire::dot11::radiotap::{Channel, He, Ht, Modulation, Vht};

/// Centre frequency of channel 1 in the 2.4 GHz band in MHz (15.4.4.3).
const CHANNEL_1: u16 = 2_412;
/// Centre frequency of channel 36 in the 5 GHz band in MHz, the primary channel of up to 160 MHz (Table E-4).
const CHANNEL_36: u16 = 5_180;

/// The lowest channel of a band. Cells do not interfere with each other, so the choice has no effect.
pub(super) const fn channel(band: Band, mode: Mode) -> Channel {
    let spread = match mode.format {
        Format::Dsss | Format::ShortDsss => Channel::CCK,
        Format::Ofdm | Format::Ht | Format::Vht | Format::He => Channel::OFDM,
    };
    match band {
        Band::Ghz2 => Channel { frequency: CHANNEL_1, flags: Channel::GHZ_2 | spread },
        Band::Ghz5 => Channel { frequency: CHANNEL_36, flags: Channel::GHZ_5 | spread },
    }
}

/// The modulation of a mode. HT and VHT use BCC; HE uses LDPC if its resource unit is wider than 242 tones (27.3.12.5).
pub(super) const fn modulation(mode: Mode) -> Modulation {
    let width = Some(match mode.width {
        Width::Mhz20 => 20,
        Width::Mhz40 => 40,
        Width::Mhz80 => 80,
        Width::Mhz160 => 160,
    });
    let guard = Some(match mode.guard {
        Guard::Ns400 => 400,
        Guard::Ns800 => 800,
        Guard::Ns1600 => 1_600,
        Guard::Ns3200 => 3_200,
    });
    let (mcs, streams) = (mode.mcs, mode.streams);
    match mode.format {
        Format::Dsss | Format::ShortDsss | Format::Ofdm => Modulation::Legacy((mode.data_rate() / 500_000) as u8),
        // Eight MCSs for each number of streams (Tables 19-27 to 19-34).
        Format::Ht => Modulation::Ht(Ht {
            mcs: mcs + 8 * (streams - 1),
            width,
            guard,
            is_ldpc: Some(false),
            stbc: Some(0),
            extension: Some(0),
        }),
        Format::Vht => Modulation::Vht(Vht { mcs, streams, width, guard, is_ldpc: false, is_stbc: Some(false) }),
        Format::He => {
            let is_ldpc = Some(!matches!(mode.width, Width::Mhz20));
            // 2x training symbols, 4x with the longest guard interval.
            let training = Some(if matches!(mode.guard, Guard::Ns3200) { 4 } else { 2 });
            Modulation::He(He { mcs, streams, width, guard, training, is_ldpc, is_stbc: Some(false) })
        }
    }
}
