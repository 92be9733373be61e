//! Reading and writing of octets, and of bit fields within them.

use super::Error;
use arrayvec::ArrayVec;

/// The maximum length of a compressed ACK: an IR, or a `co_common` in which every field has
/// changed, with as many options as fit in a header.
pub const LONGEST: usize = 160;

/// One compressed ACK.
pub type Octets = ArrayVec<u8, LONGEST>;

/// Appends octets to a compressed ACK, which is never longer than [`LONGEST`].
pub(super) fn put(out: &mut Octets, octets: &[u8]) {
    out.try_extend_from_slice(octets).expect("no compressed ACK is longer");
}

/// Reads octets from front to back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(Error::Truncated { wanted: count, left: self.0.len() })?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Error::Truncated { wanted: N, left: self.0.len() })?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_be_bytes)
    }

    /// Returns the first octet without consuming it.
    pub(super) fn peek(&self) -> Result<u8, Error> {
        self.0.first().copied().ok_or(Error::Truncated { wanted: 1, left: 0 })
    }
}

/// The widths of bit fields, which together fill at most eight octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<const N: usize>(pub(super) [u32; N]);

impl<const N: usize> Fields<N> {
    /// Returns the number of octets.
    pub(super) const fn octets(&self) -> usize {
        let (mut bits, mut field) = (0, 0);
        while field < N {
            bits += self.0[field];
            field += 1;
        }
        assert!(bits.is_multiple_of(8) && bits <= 64, "fields fill octets");
        bits as usize / 8
    }

    #[inline(always)]
    pub(super) fn pack(&self, values: [u32; N], out: &mut Octets) {
        let packed = values.iter().zip(self.0).fold(0u64, |packed, (&value, width)| {
            debug_assert!(u64::from(value) < 1 << width, "{value} in {width} bits of {self:?}");
            (packed << width) | u64::from(value)
        });
        put(out, &packed.to_be_bytes()[8 - self.octets()..]);
    }

    #[inline(always)]
    pub(super) fn unpack(&self, reader: &mut Reader) -> Result<[u32; N], Error> {
        let octets = reader.take(self.octets())?;
        let packed = octets.iter().fold(0u64, |packed, &octet| (packed << 8) | u64::from(octet));
        let mut left = octets.len() as u32 * 8;
        Ok(self.0.map(|width| {
            left -= width;
            ((packed >> left) & ((1 << width) - 1)) as u32
        }))
    }
}

/// Reads an urgent pointer, which is zero in a pure ACK.
pub(super) fn read_urgent_pointer(reader: &mut Reader) -> Result<(), Error> {
    let [high, low] = reader.array()?;
    if high | low == 0 { Ok(()) } else { Err(Error::Chain { what: "the urgent pointer", found: high | low }) }
}
