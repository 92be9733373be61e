//! The requests of a terminal: the rules of the request manager of ns-3's satellite module (sns3,
//! `satellite-request-manager.cc`).
//!
//! These rules differ from that module in three points. That module adds a tenth for link overhead,
//! which is known here. In that module, no terminal requests both rate and volume. Here, a terminal
//! with both requests the rate of the arrivals, and volume for the rest. That module repeats a
//! request of volume if the control centre may have dropped it, which cannot happen here.

use super::assignment::{Assignment, Request};
use super::{DemandConfig, Standard};

/// The scaling factors of a requested rate in kbit/s and of a requested volume in octets
/// (`m_rbdcScalingFactors`, `m_vbdcScalingFactors`).
const RATE_FACTORS: [u64; 4] = [1, 4, 16, 64];
const VOLUME_FACTORS: [u64; 4] = [1, 8, 64, 512];
/// The maximum number in the field of a request, which has eight bits.
const LARGEST: u64 = 255;
/// The number of octets per unit of a DOCSIS request: the default of the service flow's "Multiplier
/// to Number of Bytes Requested" (CM-SP-MULPIv3.1, annex C).
const DOCSIS_UNIT: u64 = 4;
/// The maximum number in DOCSIS's queue-depth based request frame, whose field has sixteen bits
/// (CM-SP-MULPIv3.1, "Queue-depth Based Request Frame").
const DOCSIS_LARGEST: u64 = 0xffff;

/// Returns the request of a terminal with `waiting` octets in its queue. `joined` octets of these
/// have arrived since the last superframe began. Returns `None` if no request is needed.
pub(super) fn capacity(config: &DemandConfig, assignment: &Assignment, waiting: u64, joined: u64) -> Option<Request> {
    let slots = assignment.slots;
    let constant = config.constant.map_or(0, acklab_base::Rate::bits_per_second);
    let rate_under_way = assignment.rate_under_way();
    let rate = config.rate_based.map_or(0, |most| {
        let older = waiting.saturating_sub(joined + rate_under_way);
        let carried = if config.volume_based.is_some() { joined } else { joined + older };
        let missing = slots.rate_of(carried).saturating_sub(constant);
        (1000 * rounded_up(missing.div_ceil(1000), RATE_FACTORS)).min(most.bits_per_second())
    });
    let volume = config.volume_based.map_or(0, |most| {
        let pending = assignment.volume_pending();
        let missing = waiting.saturating_sub(pending + rate_under_way + slots.octets_at(constant + rate));
        let written = match config.standard {
            Standard::DvbRcs2 => rounded_up(missing, VOLUME_FACTORS),
            Standard::Docsis => missing.div_ceil(DOCSIS_UNIT).min(DOCSIS_LARGEST) * DOCSIS_UNIT,
        };
        written.min(most.get().saturating_sub(pending))
    });
    (rate > 0 || volume > 0).then_some(Request { rate, volume })
}

/// Returns `value` rounded up to a number that the field of a request can hold with one of these
/// factors, limited to the maximum.
fn rounded_up(value: u64, factors: [u64; 4]) -> u64 {
    let fits = factors.into_iter().find(|factor| value.div_ceil(*factor) <= LARGEST);
    fits.map_or(LARGEST * factors[3], |factor| value.next_multiple_of(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_rounded_up_to_what_eight_bits_and_a_factor_hold() {
        let rates: Vec<u64> = [0, 1, 255, 256, 1020, 1021, 16_319].map(|kbps| rounded_up(kbps, RATE_FACTORS)).into();
        assert_eq!(rates, [0, 1, 255, 256, 1020, 1024, 16_320]);
        assert_eq!(rounded_up(20_000, RATE_FACTORS), 16_320, "no request is larger");
        assert_eq!([40, 300, 3000].map(|octets| rounded_up(octets, VOLUME_FACTORS)), [40, 304, 3008]);
    }
}
