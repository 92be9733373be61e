//! The duration of a PPDU.

use super::{DSSS_RATES, Format, Guard, Mode};
use acklab_base::{Bytes, Duration};

/// SERVICE bits ahead of the PSDU (17.3.5.2, 19.3.11.2).
const SERVICE_BITS: u64 = 16;
/// Tail bits of each encoder (17.3.5.3).
const TAIL_BITS: u64 = 6;

impl Mode {
    /// Bits of a PPDU beside its PSDU.
    const fn extra_bits(self) -> u64 {
        SERVICE_BITS + if self.is_ldpc() { 0 } else { TAIL_BITS * self.encoders() }
    }

    /// From the first preamble bit to the first of the PSDU: preambles, training fields and signal fields.
    #[must_use]
    pub const fn preamble(self) -> Duration {
        // Long training fields by streams: N_LTF (Tables 19-13, 21-13, 27-32).
        let training_fields = match self.streams {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        Duration::from_nanos(match self.format {
            // SYNC and SFD of 144 bits and the header of 48, at 1 Mbps (16.2.2.2).
            Format::Dsss => 192_000,
            // 72 bits at 1 Mbps, 48 at 2 Mbps (16.2.2.3).
            Format::ShortDsss => 96_000,
            // Short and long training, SIGNAL (17.3.2).
            Format::Ofdm => 20_000,
            // L-STF, L-LTF, L-SIG, HT-SIG, HT-STF, HT-LTFs (19.3.9).
            Format::Ht => 32_000 + 4_000 * training_fields,
            // L-STF, L-LTF, L-SIG, VHT-SIG-A, VHT-STF, VHT-LTFs, VHT-SIG-B (21.3.4).
            Format::Vht => 36_000 + 4_000 * training_fields,
            // L-STF, L-LTF, L-SIG, RL-SIG, HE-SIG-A, HE-STF, and 2x HE-LTFs, 4x with the longest guard interval (27.3.11).
            Format::He => {
                let training = if matches!(self.guard, Guard::Ns3200) { 12_800 } else { 6_400 };
                36_000 + (training + self.symbol().as_nanos() - 12_800) * training_fields
            }
        })
    }

    /// How long a PPDU with `psdu` octets takes, without a signal extension: TXTIME of 16.3.4, 17.4.3, 19.4.3, 21.4.3 and 27.4.3.
    /// An HE receiver is one that asks for no packet extension (27.3.13, nominal padding 0), and the symbol that LDPC may need
    /// beyond those that hold the bits (27.3.12.5) is not counted.
    #[must_use]
    pub const fn duration(self, psdu: Bytes) -> Duration {
        let bits = psdu.0 * 8;
        let payload = match self.format {
            Format::Dsss | Format::ShortDsss => {
                // Rounded up to a whole microsecond.
                (bits * 10).div_ceil(DSSS_RATES[self.mcs as usize]) * 1_000
            }
            _ => {
                let symbols = (self.extra_bits() + bits).div_ceil(self.bits_per_symbol());
                let nanos = symbols * self.symbol().as_nanos();
                // Legacy stations read the length in symbols of 4 µs (19.4.3, 21.4.3).
                if matches!(self.guard, Guard::Ns400) { nanos.next_multiple_of(4_000) } else { nanos }
            }
        };
        Duration::from_nanos(self.preamble().as_nanos() + payload)
    }

    /// The same without the rounding of DSSS to whole microseconds.
    #[must_use]
    pub const fn exact_duration(self, psdu: Bytes) -> Duration {
        match self.format {
            Format::Dsss | Format::ShortDsss => {
                let payload = (psdu.0 * 8 * 10_000).div_ceil(DSSS_RATES[self.mcs as usize]);
                Duration::from_nanos(self.preamble().as_nanos() + payload)
            }
            _ => self.duration(psdu),
        }
    }

    /// The most octets that fit into a PPDU of this duration.
    #[must_use]
    pub const fn octets_within(self, airtime: Duration) -> Bytes {
        let payload = airtime.as_nanos().saturating_sub(self.preamble().as_nanos());
        match self.format {
            Format::Dsss | Format::ShortDsss => Bytes(payload / 1_000 * DSSS_RATES[self.mcs as usize] / 10 / 8),
            _ => {
                let payload = if matches!(self.guard, Guard::Ns400) { payload / 4_000 * 4_000 } else { payload };
                let symbols = payload / self.symbol().as_nanos();
                Bytes((symbols * self.bits_per_symbol()).saturating_sub(self.extra_bits()) / 8)
            }
        }
    }
}
