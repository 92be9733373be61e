//! Prints the frame error rate by SNR, as `validation/ns3/error_rates` does. The columns are
//! modulation and coding, octets, SNR in dB, and rate.

use acklab_wifi::phy::{Format, Guard, Mode, Standard, Width};
use acklab_wifi::reception::ErrorTable;

fn main() {
    let dsss = ErrorTable::new(Standard::B);
    let ax = ErrorTable::new(Standard::Ax);
    let he = |mcs, width| Mode { format: Format::He, mcs, streams: 1, width, guard: Guard::Ns800 };
    let mut modes: Vec<(String, Mode, &ErrorTable)> = Vec::new();
    modes.extend((0..4).map(|index| (format!("dsss{index}"), Mode::dsss(index, false), &dsss)));
    modes.push(("ofdm1".to_owned(), Mode::ofdm(1), &ax));
    modes.extend((0..12).map(|mcs| (format!("mcs{mcs}"), he(mcs, Width::Mhz20), &ax)));
    modes.extend((0..12).map(|mcs| (format!("ldpc{mcs}"), he(mcs, Width::Mhz80), &ax)));
    for (name, mode, table) in modes {
        for octets in [32, 1458] {
            for step in -1000..4500 {
                let snr_db = f64::from(step) / 100.0;
                println!("{name},{octets},{snr_db},{:e}", 1.0 - table.success(mode, snr_db, octets));
            }
        }
    }
}
