//! How much should be in flight.

use super::{Bbr, Mode};
use crate::cc::Ack;
use crate::cc::model::gain::{Gain, brought};

/// `TCP_INIT_CWND`.
pub(super) const INITIAL_SEGMENTS: u64 = 10;
/// Below this rate a transmission carries one segment, in bits per second (`bbr_min_tso_rate`).
const ONE_SEGMENT_RATE: u64 = 1_200_000;
/// A transmission carries 2⁻¹⁰ s of the pacing rate (`sk_pacing_shift`, as `sock_init_data` sets it).
const QUANTA_A_SECOND: u64 = 1 << 10;
/// …and so many octets at most: `GSO_LEGACY_MAX_SIZE` − 1 − `MAX_TCP_HEADER`.
const QUANTUM_OCTETS: u64 = 65_536 - 1 - 320;
/// `bbr_tso_segs_goal`.
const QUANTUM_SEGMENTS: u64 = 0x7f;

impl Bbr {
    /// Two segments in flight and two being acknowledged, if every second one is (`bbr_cwnd_min_target`).
    pub(super) fn min_window(&self) -> u64 {
        u64::from(self.constants.min_window) * self.mss
    }

    /// Segments that the kernel would hand down together (`bbr_tso_segs_goal`, `bbr_min_tso_segs`). It does not ask
    /// whether the device takes more than one at a time, and neither does the budget that follows from it.
    fn quantum(&self) -> u64 {
        let rate = self.pacing.bits_per_second();
        let at_least = if rate < ONE_SEGMENT_RATE { 1 } else { 2 };
        let octets = (rate / 8 / QUANTA_A_SECOND).min(QUANTUM_OCTETS);
        (octets / self.mss).max(at_least).min(QUANTUM_SEGMENTS)
    }

    /// What the path holds, multiplied, in octets of whole segments (`bbr_bdp`).
    pub(super) fn path(&self, bits_per_second: u64, gain: Gain) -> u64 {
        match self.min_rtt {
            Some(min_rtt) => gain.of_path(bits_per_second, min_rtt).div_ceil(self.mss) * self.mss,
            // No round trip was ever measured.
            None => INITIAL_SEGMENTS * self.mss,
        }
    }

    /// …and room for what waits at both ends, for pairs of segments that are acknowledged together, and for probing on
    /// a path that holds little (`bbr_quantization_budget`).
    pub(super) fn with_budget(&self, octets: u64) -> u64 {
        let segments = (octets / self.mss + 3 * self.quantum()).next_multiple_of(2);
        let probing = if self.mode == Mode::ProbeBw && self.cycle.probes() { 2 } else { 0 };
        (segments + probing) * self.mss
    }

    /// `bbr_inflight`.
    pub(super) fn inflight(&self, bits_per_second: u64, gain: Gain) -> u64 {
        self.with_budget(self.path(bits_per_second, gain))
    }

    /// What will be in the network when pacing lets the next segment leave, that one included if there shall be more of
    /// it (`bbr_packets_in_net_at_edt`).
    pub(super) fn in_flight_at_departure(&self, ack: &Ack, in_flight: u64) -> u64 {
        let leaves = if self.pacing_gain.is_above_one() { self.quantum() * self.mss } else { 0 };
        let delivered = brought(self.bandwidth(), ack.departure.since(ack.now)) / self.mss * self.mss;
        (in_flight + leaves).saturating_sub(delivered)
    }

    /// Room for what is acknowledged in bursts (`bbr_ack_aggregation_cwnd`).
    pub(super) fn aggregation(&self) -> u64 {
        if !self.was_full {
            return 0;
        }
        let most = brought(self.bandwidth(), self.constants.extra_acked_time);
        self.constants.extra_acked_gain.of(self.extra_acked.get()).min(most) / self.mss * self.mss
    }
}
