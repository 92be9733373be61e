//! Interframe spaces and timeouts.

use super::{Band, Format, Mode, Standard};
use acklab_base::{Bytes, Duration};

/// The interframe spaces of a cell (10.3.2.3, and the PHY characteristics of each clause).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// After each OFDM PPDU at 2.4 GHz, without transmission (18.3.2.4).
    pub signal_extension: Duration,
    /// aCCATime: how long a PPDU must have lasted to be sensed. Senders that begin within it of each other collide.
    pub cca: Duration,
    /// At the end of each HE PPDU (27.3.13).
    pub packet_extension: Duration,
    /// Do PPDUs of DSSS take whole microseconds (16.3.4)?
    pub is_dsss_rounded: bool,
}

impl Timing {
    /// Slot of 9 µs and SIFS of 16 µs at 5 GHz (Table 17-21), SIFS of 10 µs at 2.4 GHz (Tables 16-4, 18-5); the slot there is
    /// 20 µs for 802.11b, and for the others unless all stations support the short one (18.4.5). aCCATime of 15 µs for HR/DSSS
    /// (Table 16-4), else 4 µs (Table 17-21).
    #[must_use]
    pub const fn new(standard: Standard, band: Band, is_short_slot: bool) -> Self {
        let micros = Duration::from_micros;
        let ofdm = Self {
            slot: micros(9),
            sifs: micros(16),
            signal_extension: Duration::ZERO,
            cca: micros(4),
            packet_extension: Duration::ZERO,
            is_dsss_rounded: true,
        };
        match (standard, band) {
            (Standard::B, _) => Self { slot: micros(20), sifs: micros(10), cca: micros(15), ..ofdm },
            (_, Band::Ghz2) => {
                let slot = if is_short_slot { micros(9) } else { micros(20) };
                Self { slot, sifs: micros(10), signal_extension: micros(6), ..ofdm }
            }
            (_, Band::Ghz5) => ofdm,
        }
    }

    /// AIFS with this number of slots (10.3.2.3.6); with two, DIFS (10.3.2.3.5).
    #[must_use]
    pub fn aifs(self, slots: u8) -> Duration {
        self.sifs + self.slot * u64::from(slots)
    }

    /// How much longer EIFS is than DIFS or AIFS: SIFS and an ACK at the lowest mandatory rate (10.3.2.3.7).
    #[must_use]
    pub fn eifs_extra(self, lowest: Mode, ack: Bytes) -> Duration {
        self.sifs + self.duration(lowest, ack)
    }

    /// How long after the end of a frame its sender waits for the start of the response: SIFS, a slot and aRxPHYStartDelay, the time
    /// to recognize a PPDU (10.3.2.9).
    #[must_use]
    pub fn response_timeout(self, response: Mode) -> Duration {
        self.sifs + self.slot + response.preamble()
    }

    /// The duration of a PPDU with its signal extension.
    #[must_use]
    pub fn duration(self, mode: Mode, psdu: Bytes) -> Duration {
        let duration = if self.is_dsss_rounded { mode.duration(psdu) } else { mode.exact_duration(psdu) };
        duration + self.extension(mode) + self.packet_extension(mode)
    }

    /// The packet extension at the end of a PPDU of this mode.
    #[must_use]
    pub const fn packet_extension(self, mode: Mode) -> Duration {
        if matches!(mode.format, Format::He) { self.packet_extension } else { Duration::ZERO }
    }

    /// The signal extension after a PPDU of this mode.
    #[must_use]
    pub const fn extension(self, mode: Mode) -> Duration {
        match mode.format {
            Format::Dsss | Format::ShortDsss => Duration::ZERO,
            _ => self.signal_extension,
        }
    }
}
