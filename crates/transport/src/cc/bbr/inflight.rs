//! Computes the amount of data that should be in flight.

use super::{Bbr, Mode};
use crate::cc::Ack;
use crate::cc::model::gain::{Gain, delivered_in};

/// `TCP_INIT_CWND`.
pub(super) const INITIAL_SEGMENTS: u64 = 10;
/// The pacing rate, in bits per second, below which a TSO burst carries at least one segment, and
/// above which at least two (`bbr_min_tso_rate`).
const ONE_SEGMENT_RATE: u64 = 1_200_000;
/// The number of TSO bursts per second: a burst carries 2⁻¹⁰ s of the pacing rate
/// (`sk_pacing_shift`, set by `sock_init_data`).
const QUANTA_A_SECOND: u64 = 1 << 10;
/// The maximum bytes of a TSO burst: `GSO_LEGACY_MAX_SIZE` − 1 − `MAX_TCP_HEADER`.
const QUANTUM_OCTETS: u64 = 65_536 - 1 - 320;
/// `bbr_tso_segs_goal`.
const QUANTUM_SEGMENTS: u64 = 0x7f;

impl Bbr {
    /// Returns the size of two segments in flight and two whose delayed ACK is in flight
    /// (`bbr_cwnd_min_target`).
    pub(super) fn min_window(&self) -> u64 {
        u64::from(self.constants.min_window) * self.mss
    }

    /// Returns the number of segments in a TSO burst of the kernel (`bbr_tso_segs_goal`,
    /// `bbr_min_tso_segs`). The kernel uses this number even if the device has no TSO, and derives
    /// the budget from it.
    fn quantum(&self) -> u64 {
        let rate = self.pacing.bits_per_second();
        let at_least = if rate < ONE_SEGMENT_RATE { 1 } else { 2 };
        let octets = (rate / 8 / QUANTA_A_SECOND).min(QUANTUM_OCTETS);
        (octets / self.mss).max(at_least).min(QUANTUM_SEGMENTS)
    }

    /// Returns the bandwidth-delay product times `gain`, in bytes, rounded up to whole segments
    /// (`bbr_bdp`).
    pub(super) fn bdp(&self, bits_per_second: u64, gain: Gain) -> u64 {
        match self.min_rtt {
            Some(min_rtt) => gain.of_bdp(bits_per_second, min_rtt).div_ceil(self.mss) * self.mss,
            // No round-trip time has been measured.
            None => INITIAL_SEGMENTS * self.mss,
        }
    }

    /// Adds an allowance for bursts at both ends, for delayed ACKs (an even number of segments),
    /// and for probing if the bandwidth-delay product is small (`bbr_quantization_budget`).
    pub(super) fn with_budget(&self, octets: u64) -> u64 {
        let segments = (octets / self.mss + 3 * self.quantum()).next_multiple_of(2);
        let probing = if self.mode == Mode::ProbeBw && self.cycle.probes() { 2 } else { 0 };
        (segments + probing) * self.mss
    }

    /// `bbr_inflight`.
    pub(super) fn inflight(&self, bits_per_second: u64, gain: Gain) -> u64 {
        self.with_budget(self.bdp(bits_per_second, gain))
    }

    /// Returns the number of bytes in the network when pacing releases the next segment. If the
    /// gain is above 1, the burst sent then is included (`bbr_packets_in_net_at_edt`).
    pub(super) fn in_flight_at_departure(&self, ack: &Ack, in_flight: u64) -> u64 {
        let leaves = if self.pacing_gain.is_above_one() { self.quantum() * self.mss } else { 0 };
        let delivered = delivered_in(self.bandwidth(), ack.departure.since(ack.now)) / self.mss * self.mss;
        (in_flight + leaves).saturating_sub(delivered)
    }

    /// Returns the allowance for ACK aggregation (`bbr_ack_aggregation_cwnd`).
    pub(super) fn aggregation(&self) -> u64 {
        if !self.was_full {
            return 0;
        }
        let most = delivered_in(self.bandwidth(), self.constants.extra_acked_time);
        self.constants.extra_acked_gain.of(self.extra_acked.get()).min(most) / self.mss * self.mss
    }
}
