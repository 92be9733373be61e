//! The octets of a frame that remain after the opened headers.

use super::closed::Closed;

/// Part of a captured frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// The octets that are present.
    pub(super) octets: &'a [u8],
    /// The number of octets on the wire. The snap length may have cut off the last ones.
    pub(super) length: usize,
}

impl<'a> Frame<'a> {
    /// Returns a frame that begins with `octets` and has `length` octets. Some programs store a
    /// length of zero or that of the payload, so the length is at least the number of present
    /// octets.
    pub(super) fn new(octets: &'a [u8], length: usize) -> Self {
        Self { octets, length: length.max(octets.len()) }
    }

    /// Splits off the first `N` octets, which belong to the header `name`.
    #[inline]
    pub(super) fn take<const N: usize>(self, name: &'static str) -> Result<(&'a [u8; N], Self), Closed> {
        match self.octets.split_first_chunk() {
            Some((taken, octets)) => Ok((taken, Self { octets, length: self.length - N })),
            None => Err(self.ends_before(N, name)),
        }
    }

    /// Skips the first `count` octets, which belong to the header `name`.
    #[inline]
    pub(super) fn skip(self, count: usize, name: &'static str) -> Result<Self, Closed> {
        match self.octets.get(count..) {
            Some(octets) => Ok(Self { octets, length: self.length - count }),
            None => Err(self.ends_before(count, name)),
        }
    }

    /// Returns the first `length` octets. Padding and checksums of the link layer may follow them.
    #[inline]
    pub(super) fn at_most(self, length: usize) -> Self {
        Self { octets: &self.octets[..self.octets.len().min(length)], length: self.length.min(length) }
    }

    /// Removes the last `count` octets, which may not be present.
    pub(super) fn without_last(self, count: usize) -> Self {
        self.at_most(self.length.saturating_sub(count))
    }

    /// Returns the reason why the first `count` octets, which belong to the header `name`, cannot
    /// be read.
    #[cold]
    pub(super) fn ends_before(self, count: usize, name: &'static str) -> Closed {
        if count <= self.length { Closed::Cut(name) } else { Closed::Damaged(name) }
    }

    /// Returns the 16 bits at offset `place`, in network byte order, if they are present.
    pub(super) fn number(self, place: usize) -> Option<u16> {
        Some(u16::from_be_bytes(*self.octets.get(place..)?.first_chunk()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_that_were_cut_are_distinguished_from_octets_that_never_were() {
        let frame = Frame::new(&[1, 2, 3], 6);
        let (&[first], rest) = frame.take::<1>("X").unwrap();
        assert_eq!((first, rest.octets, rest.length), (1, &[2, 3][..], 5));
        assert_eq!(rest.take::<4>("X").unwrap_err(), Closed::Cut("X"));
        assert_eq!(rest.skip(6, "X").unwrap_err(), Closed::Damaged("X"));
    }

    #[test]
    fn a_length_below_the_octets_that_are_present_is_not_taken() {
        assert_eq!(Frame::new(&[1, 2, 3], 0).length, 3);
    }

    #[test]
    fn what_follows_a_packet_is_left_out() {
        let frame = Frame::new(&[1, 2, 3], 8).at_most(5).without_last(3);
        assert_eq!((frame.octets, frame.length), (&[1, 2][..], 2));
    }
}
