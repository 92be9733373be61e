//! The duration of a PPDU.

use super::{Guard, Mode};
use acklab_base::{Bytes, Duration};

/// SERVICE bits ahead of the PSDU (17.3.5.2, 19.3.11.2).
const SERVICE_BITS: u64 = 16;
/// Tail bits of each encoder (17.3.5.3).
const TAIL_BITS: u64 = 6;

impl Mode {
    /// Returns the number of bits of a PPDU outside its PSDU, with this number of data bits per
    /// symbol.
    fn extra_bits(self, bits_per_symbol: u64) -> u64 {
        SERVICE_BITS + if self.is_ldpc() { 0 } else { TAIL_BITS * self.encoders(bits_per_symbol) }
    }

    /// Returns the time from the first preamble bit to the first bit of the PSDU: preambles,
    /// training fields and signal fields.
    #[must_use]
    pub fn preamble(self) -> Duration {
        let phy = self.phy();
        let training = phy.training.iter().find(|(guard, _)| *guard == self.guard).map_or(0, |(_, field)| *field);
        Duration::from_nanos(phy.preamble + training * training_fields(self.streams))
    }

    /// Returns the duration of a PPDU with `psdu` octets, without a signal extension: TXTIME of
    /// 16.3.4, 17.4.3, 19.4.3, 21.4.3, 27.4.3 and 36.4.3. An HE or EHT receiver is assumed to
    /// require no packet extension (27.3.13, nominal padding 0). The additional symbol that LDPC
    /// may need (27.3.12.5) is not counted.
    #[must_use]
    pub fn duration(self, psdu: Bytes) -> Duration {
        let bits = psdu.0 * 8;
        let payload = match self.dsss_rate() {
            // Rounded up to a whole microsecond.
            Some(rate) => (bits * 10).div_ceil(rate) * 1_000,
            None => {
                let per_symbol = self.bits_per_symbol();
                let symbols = (self.extra_bits(per_symbol) + bits).div_ceil(per_symbol);
                let nanos = symbols * self.symbol().as_nanos();
                // Legacy stations interpret the length in symbols of 4 µs (19.4.3, 21.4.3).
                if matches!(self.guard, Guard::Ns400) { nanos.next_multiple_of(4_000) } else { nanos }
            }
        };
        Duration::from_nanos(self.preamble().as_nanos() + payload)
    }

    /// Returns the [`duration`](Self::duration) without the rounding of DSSS to whole microseconds.
    #[must_use]
    pub fn exact_duration(self, psdu: Bytes) -> Duration {
        match self.dsss_rate() {
            Some(rate) => {
                let payload = (psdu.0 * 8 * 10_000).div_ceil(rate);
                Duration::from_nanos(self.preamble().as_nanos() + payload)
            }
            None => self.duration(psdu),
        }
    }

    /// Returns the maximum number of octets that fit into a PPDU of this duration.
    #[must_use]
    pub fn octets_within(self, airtime: Duration) -> Bytes {
        let payload = airtime.as_nanos().saturating_sub(self.preamble().as_nanos());
        match self.dsss_rate() {
            Some(rate) => Bytes(payload / 1_000 * rate / 10 / 8),
            None => {
                let payload = if matches!(self.guard, Guard::Ns400) { payload / 4_000 * 4_000 } else { payload };
                let symbols = payload / self.symbol().as_nanos();
                let per_symbol = self.bits_per_symbol();
                Bytes((symbols * per_symbol).saturating_sub(self.extra_bits(per_symbol)) / 8)
            }
        }
    }
}

/// Returns the number of long training fields by streams: N_LTF (Tables 19-13, 21-13, 27-32;
/// 36.3.12.10).
const fn training_fields(streams: u8) -> u64 {
    match streams {
        1 => 1,
        2 => 2,
        _ => 4,
    }
}
