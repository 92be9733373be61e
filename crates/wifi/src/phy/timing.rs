//! Interframe spaces and timeouts.

use super::{Band, Mode, Standard};
use acklab_base::{Bytes, Duration};

/// The slot at 2.4 GHz if not all stations support the short slot (Table 18-5).
const LONG_SLOT: Duration = Duration::from_micros(20);

/// The interframe spaces of a cell (10.3.2.3, and the PHY characteristics of each clause).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// The signal extension: the time without transmission after each OFDM PPDU at 2.4 GHz
    /// (18.3.2.4).
    pub signal_extension: Duration,
    /// aCCATime: the duration after which a PPDU is sensed. Senders that begin within this time
    /// collide.
    pub cca: Duration,
    /// The packet extension at the end of each HE and EHT PPDU (27.3.13, 36.3.14).
    pub packet_extension: Duration,
    /// `true` if durations of DSSS PPDUs are rounded up to whole microseconds (16.3.4).
    pub is_dsss_rounded: bool,
}

impl Timing {
    /// Returns the spaces of the standard and the band. At 2.4 GHz the slot is 20 µs unless all
    /// stations support the short slot (18.4.5).
    #[must_use]
    pub const fn new(standard: Standard, band: Band, is_short_slot: bool) -> Self {
        let generation = standard.generation();
        let is_2_4_ghz = matches!(band, Band::Ghz2);
        Self {
            slot: if is_2_4_ghz && !is_short_slot { LONG_SLOT } else { generation.slot },
            sifs: band.sifs(),
            signal_extension: if is_2_4_ghz { generation.signal_extension } else { Duration::ZERO },
            cca: generation.cca,
            packet_extension: Duration::ZERO,
            is_dsss_rounded: true,
        }
    }

    /// Returns AIFS with this number of slots (10.3.2.3.6). With two slots, this is DIFS
    /// (10.3.2.3.5).
    #[must_use]
    pub fn aifs(self, slots: u8) -> Duration {
        self.sifs + self.slot * u64::from(slots)
    }

    /// Returns the difference between EIFS and DIFS or AIFS: SIFS and an ACK at the lowest
    /// mandatory rate (10.3.2.3.7).
    #[must_use]
    pub fn eifs_extra(self, lowest: Mode, ack: Bytes) -> Duration {
        self.sifs + self.duration(lowest, ack)
    }

    /// Returns the time after the end of a frame for which its sender waits for the start of the
    /// response: SIFS, a slot and aRxPHYStartDelay, the time to recognize a PPDU (10.3.2.9).
    #[must_use]
    pub fn response_timeout(self, response: Mode) -> Duration {
        self.sifs + self.slot + response.preamble()
    }

    /// Returns the duration of a PPDU with its signal extension.
    #[must_use]
    pub fn duration(self, mode: Mode, psdu: Bytes) -> Duration {
        let duration = if self.is_dsss_rounded { mode.duration(psdu) } else { mode.exact_duration(psdu) };
        duration + self.extension(mode) + self.packet_extension(mode)
    }

    /// Returns the packet extension at the end of a PPDU of this mode.
    #[must_use]
    pub const fn packet_extension(self, mode: Mode) -> Duration {
        if mode.format.phy().has_packet_extension { self.packet_extension } else { Duration::ZERO }
    }

    /// Returns the signal extension after a PPDU of this mode.
    #[must_use]
    pub const fn extension(self, mode: Mode) -> Duration {
        if mode.format.is_dsss() { Duration::ZERO } else { self.signal_extension }
    }
}
