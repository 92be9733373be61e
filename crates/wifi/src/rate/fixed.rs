//! One mode for all PPDUs.

use super::{Capabilities, Refusal};
use crate::phy::Mode;
use acklab_base::Rate;

/// Returns the mode with the rate or MCS in these settings. Without rate and MCS, returns the
/// fastest mode.
pub(super) fn named(
    capabilities: Capabilities,
    rate: Option<Rate>,
    mcs: Option<u8>,
    streams: Option<u8>,
) -> Result<Mode, Refusal> {
    let maximum = if capabilities.standard.has_qos() { capabilities.streams } else { 1 };
    if let Some(found) = streams.filter(|streams| *streams == 0 || *streams > maximum) {
        return Err(Refusal::Streams { standard: capabilities.standard, found, maximum });
    }
    match (rate, mcs) {
        (Some(_), Some(_)) => Err(Refusal::RateAndMcs),
        (Some(rate), None) => by_rate(capabilities, rate, streams),
        (None, Some(mcs)) => by_mcs(capabilities, mcs, streams.unwrap_or(maximum)),
        (None, None) => {
            let modes =
                capabilities.modes().into_iter().filter(|mode| streams.is_none_or(|streams| mode.streams == streams));
            modes.max_by_key(|mode| mode.data_rate()).ok_or(Refusal::NoMode(capabilities))
        }
    }
}

/// Returns the modes with this rate, slowest first; modes of the same rate are in the order of
/// their streams.
fn by_rate(capabilities: Capabilities, rate: Rate, streams: Option<u8>) -> Result<Mode, Refusal> {
    let modes: Vec<Mode> =
        capabilities.modes().into_iter().filter(|mode| streams.is_none_or(|streams| mode.streams == streams)).collect();
    // The tables of clauses 19 to 27 print rates to 100 kbps: 144.4 Mbps is 144 444 444 bits per
    // second.
    let tenths = |bits: u64| (bits + 50_000) / 100_000;
    let found = modes.iter().find(|mode| tenths(mode.data_rate()) == tenths(rate.bits_per_second()));
    found.copied().ok_or_else(|| {
        let mut rates: Vec<Rate> = modes.iter().filter_map(|mode| mode.rate()).collect();
        rates.dedup();
        Refusal::Rate { standard: capabilities.standard, found: rate, rates }
    })
}

fn by_mcs(capabilities: Capabilities, mcs: u8, streams: u8) -> Result<Mode, Refusal> {
    if !capabilities.standard.has_qos() {
        return Err(Refusal::McsOfLegacy(capabilities.standard));
    }
    if mcs >= capabilities.indices() {
        return Err(Refusal::Mcs { standard: capabilities.standard, found: mcs, maximum: capabilities.indices() - 1 });
    }
    let mode = capabilities.mode(mcs, streams, capabilities.width, capabilities.guard);
    if mode.is_defined() { Ok(mode) } else { Err(Refusal::Undefined { standard: capabilities.standard, mode }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Guard, Standard, Width};

    fn capabilities(standard: Standard, streams: u8) -> Capabilities {
        Capabilities { standard, width: Width::Mhz20, guard: Guard::Ns800, streams, is_short_preamble: false }
    }

    fn refused(standard: Standard, rate: Option<u64>, mcs: Option<u8>, streams: Option<u8>) -> String {
        named(capabilities(standard, 2), rate.map(Rate::from_mbps), mcs, streams).unwrap_err().to_string()
    }

    #[test]
    fn a_rate_names_the_mode_with_the_fewest_streams() {
        let mode = named(capabilities(Standard::N, 2), Some(Rate::from_mbps(13)), None, None).unwrap();
        assert_eq!((mode.mcs, mode.streams), (1, 1));
        let mode = named(capabilities(Standard::N, 2), Some(Rate::from_mbps(13)), None, Some(2)).unwrap();
        assert_eq!((mode.mcs, mode.streams), (0, 2));
    }

    #[test]
    fn a_rate_is_found_as_the_tables_print_it() {
        let short = Capabilities { guard: Guard::Ns400, ..capabilities(Standard::N, 2) };
        let printed = Rate::from_bits_per_second(144_400_000);
        assert_eq!(named(short, printed, None, None).unwrap().data_rate(), 144_444_444);
    }

    #[test]
    fn an_mcs_uses_all_streams_and_nothing_means_the_fastest() {
        assert_eq!(named(capabilities(Standard::N, 2), None, Some(3), None).unwrap().streams, 2);
        assert_eq!(named(capabilities(Standard::A, 2), None, None, None).unwrap(), Mode::ofdm(7));
        assert_eq!(named(capabilities(Standard::Ac, 2), None, None, Some(1)).unwrap().mcs, 8);
    }

    #[test]
    fn a_refusal_names_what_was_found_and_expected() {
        assert_eq!(refused(Standard::N, None, Some(9), None), "802.11n has no MCS 9, expected 0 to 7");
        assert_eq!(
            refused(Standard::A, Some(11), None, None),
            "11Mbps is no rate of 802.11a here, expected one of 6Mbps, 9Mbps, 12Mbps, 18Mbps, 24Mbps, 36Mbps, 48Mbps, 54Mbps"
        );
        assert_eq!(refused(Standard::A, None, Some(7), None), "802.11a has no MCS, expected a rate");
        assert_eq!(
            refused(Standard::Ac, None, Some(9), Some(1)),
            "802.11ac does not define MCS 9 with 1 stream(s) at 20MHz and a guard interval of 800ns"
        );
        assert_eq!(refused(Standard::N, None, None, Some(3)), "found 3 streams, expected 1 to 2 in 802.11n here");
        assert_eq!(refused(Standard::N, Some(13), Some(1), None), "found both a rate and an MCS, expected one of them");
    }
}
