//! An interface: the link type of its packets, and its clock (draft-ietf-opsawg-pcapng, §4.2).

use super::block::Body;
use acklab_base::Instant;
use acklab_inspect::LinkType;

const NANOS: u32 = 9;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) link_type: LinkType,
    /// The snap length in bytes. Zero if unlimited.
    pub(super) snap_length: u32,
    /// The number of FCS bytes at the end of each frame, if the file states it.
    pub(super) fcs: Option<u32>,
    resolution: Resolution,
    /// The offset in seconds, which is added to each time.
    offset: i64,
}

/// The tick of the clock in seconds: 10⁻ⁿ or 2⁻ⁿ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolution {
    Decimal(u32),
    Binary(u32),
}

impl Interface {
    /// Reads the block of an interface.
    pub(super) fn of(mut body: Body<'_>) -> Option<Self> {
        /// Options: `if_tsresol`, `if_fcslen`, `if_tsoffset`.
        const RESOLUTION: u16 = 9;
        const FCS: u16 = 13;
        const OFFSET: u16 = 14;
        let (link_type, _) = (LinkType(body.pair()?), body.pair()?);
        let mut interface =
            Self { link_type, snap_length: body.number()?, fcs: None, resolution: Resolution::Decimal(6), offset: 0 };
        for (code, value) in body.options() {
            match (code, value.octets) {
                (RESOLUTION, &[power]) if power & 0x80 == 0 => interface.resolution = Resolution::Decimal(power.into()),
                (RESOLUTION, &[power]) => interface.resolution = Resolution::Binary((power & 0x7f).into()),
                (FCS, &[octets]) => interface.fcs = Some(octets.into()),
                (OFFSET, octets) => interface.offset = offset(octets, value.is_big_endian).unwrap_or(0),
                _ => {}
            }
        }
        Some(interface)
    }

    /// Returns the instant after this many ticks. 64-bit nanoseconds suffice until 2554.
    pub(super) fn instant(&self, ticks: u64) -> Instant {
        let ticks = u128::from(ticks);
        let nanos = match self.resolution {
            Resolution::Decimal(power @ ..=NANOS) => ticks * 10_u128.pow(NANOS - power),
            // A divisor beyond 128 bits is larger than any number of ticks.
            Resolution::Decimal(power) => 10_u128.checked_pow(power - NANOS).map_or(0, |divisor| ticks / divisor),
            Resolution::Binary(power) => (ticks * NANOS_PER_SECOND.unsigned_abs()) >> power,
        };
        let nanos = nanos.cast_signed() + i128::from(self.offset) * NANOS_PER_SECOND;
        Instant::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
    }
}

fn offset(octets: &[u8], is_big_endian: bool) -> Option<i64> {
    let octets = octets.try_into().ok()?;
    Some(if is_big_endian { i64::from_be_bytes(octets) } else { i64::from_le_bytes(octets) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(options: &[u8]) -> Interface {
        let octets = [&[127, 0, 0, 0, 96, 0, 0, 0][..], options].concat();
        Interface::of(Body { octets: &octets, is_big_endian: false }).unwrap()
    }

    #[test]
    fn times_are_microseconds_unless_an_option_states_another_resolution() {
        let nanos = |options: &[u8], ticks| interface(options).instant(ticks).as_nanos();
        assert_eq!(nanos(&[], 7), 7_000);
        assert_eq!(nanos(&[9, 0, 1, 0, 9, 0, 0, 0], 7), 7);
        assert_eq!(nanos(&[9, 0, 1, 0, 0, 0, 0, 0], 7), 7_000_000_000);
        assert_eq!(nanos(&[9, 0, 1, 0, 12, 0, 0, 0], 7_999), 7);
        assert_eq!(nanos(&[9, 0, 1, 0, 0x7f, 0, 0, 0], u64::MAX), 0, "10^-127 s");
        assert_eq!(nanos(&[9, 0, 1, 0, 0x81, 0, 0, 0], 7), 3_500_000_000, "halves of a second");
        assert_eq!(nanos(&[9, 0, 1, 0, 0xff, 0, 0, 0], u64::MAX), 0, "2^-127 s");
        assert_eq!(nanos(&[9, 0, 1, 0, 0, 0, 0, 0], u64::MAX), u64::MAX);
    }

    #[test]
    fn an_offset_moves_all_times() {
        let back = [14, 0, 8, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(interface(&back).instant(3_000_000).as_nanos(), 2_000_000_000);
        assert_eq!(interface(&back).instant(0).as_nanos(), 0);
    }

    #[test]
    fn other_options_and_odd_lengths_are_skipped() {
        let odd = [2, 0, 3, 0, b'e', b't', b'h', 0, 9, 0, 2, 0, 9, 9, 0, 0, 13, 0, 1, 0, 4, 0, 0, 0, 99, 0];
        let read = interface(&odd);
        assert_eq!((read.link_type, read.snap_length, read.fcs), (LinkType(127), 96, Some(4)));
        assert_eq!(read.resolution, Resolution::Decimal(6));
    }
}
