//! Several compressed ACKs in one link-layer acknowledgment (Salameh et al., ATC '14, §3.3 and
//! §3.4).
//!
//! ```text
//! +---------------+-----+------------------------------+-----+------------------------------+----
//! | MSN of the    | CID | base header, list, irregular | CID | base header, list, irregular | ...
//! | first, 8 bits |     | chain                        |     | chain                        |
//! +---------------+-----+------------------------------+-----+------------------------------+----
//! ```
//!
//! The paper widens the MSN of the first ACK to eight bits; the other ACKs have four bits. Here, an
//! octet precedes the first ACK, and its base header repeats the low bits. With Block ACK windows
//! above 64 frames, which the paper does not consider, two octets precede the first ACK
//! ([`Numbers`]). The numbers count the ACKs of all flows of a peer, and the numbers in a frame are
//! consecutive. The length of an ACK follows from its formats, which depend on the context.
//!
//! A client that receives no confirmation of a frame repeats the ACKs of this frame before new
//! ACKs. If the frame has arrived, the context has changed, and the lengths of the repeated ACKs no
//! longer follow from the context. So the decompressor stores the lengths of the received ACKs by
//! their numbers.

use super::Error;
use super::octets::Reader;
use super::wlsb::Lsb;

/// The first number of a frame, at most 128 before or after the last number received.
const FIRST_MSN: Lsb = Lsb::new(8, 127, 16);
/// The largest Block ACK window for which eight bits suffice: a response carries one ACK per frame,
/// and the same number of ACKs may follow before it is confirmed.
const LARGEST_WINDOW_OF_EIGHT: u16 = 64;
/// The largest Block ACK window, which 802.11be has (IEEE 802.11be-2024, 9.4.1.13).
const LARGEST_WINDOW: u16 = 1024;

/// The width of the first MSN of a frame. Both ends derive it from the Block ACK window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Eight bits, as in the paper.
    Eight,
    /// Sixteen bits, all of an MSN of RFC 6846.
    Sixteen,
}

impl Numbers {
    /// Returns the width for a Block ACK window of `frames`.
    #[must_use]
    pub const fn of_window(frames: u16) -> Self {
        if frames > LARGEST_WINDOW_OF_EIGHT { Self::Sixteen } else { Self::Eight }
    }

    /// Returns the number of octets before the first ACK of a frame.
    #[must_use]
    pub const fn octets(self) -> usize {
        match self {
            Self::Eight => 1,
            Self::Sixteen => 2,
        }
    }

    /// Returns the maximum number of unconfirmed MSNs: a response carries one ACK per frame of the
    /// largest window, and the same number of ACKs may follow before it is confirmed.
    #[must_use]
    pub const fn max_unconfirmed(self) -> u16 {
        match self {
            Self::Eight => 2 * LARGEST_WINDOW_OF_EIGHT,
            Self::Sixteen => 2 * LARGEST_WINDOW,
        }
    }

    /// Reads the first number of a frame. `last` is the last number received.
    pub(super) fn read(self, last: u16, reader: &mut Reader<'_>) -> Result<u16, Error> {
        let high = reader.u8()?;
        Ok(match self {
            Self::Eight => FIRST_MSN.decode(u32::from(last), u32::from(high)) as u16,
            Self::Sixteen => u16::from_be_bytes([high, reader.u8()?]),
        })
    }
}

/// Appends a frame with these compressed ACKs to `out`. `acks` contains the octets of the ACKs one
/// after the other. [`Compressor::compress`] returned the number `first` for the first ACK, and
/// consecutive numbers for the other ACKs. Appends nothing if there are no ACKs.
///
/// [`Compressor::compress`]: super::Compressor::compress
pub fn write_frame(numbers: Numbers, first: u16, acks: &[u8], out: &mut Vec<u8>) {
    if !acks.is_empty() {
        out.extend_from_slice(&first.to_be_bytes()[2 - numbers.octets()..]);
        out.extend_from_slice(acks);
    }
}

/// The numbers and lengths of the ACKs received in frames.
#[derive(Clone, Debug)]
pub(super) struct Received {
    last: u16,
    numbers: Numbers,
    /// Lengths by the low bits of the number; 0 if the ACK was not received. The table is twice as
    /// long as the maximum number of unconfirmed MSNs, a power of two.
    lengths: Vec<u8>,
}

impl Received {
    /// Creates the state before any ACK has been received. The first number is zero.
    pub(super) fn new(numbers: Numbers) -> Self {
        Self { last: u16::MAX, numbers, lengths: vec![0; 2 * usize::from(numbers.max_unconfirmed())] }
    }

    /// Reads the first number of a frame.
    pub(super) fn first(&self, reader: &mut Reader<'_>) -> Result<u16, Error> {
        self.numbers.read(self.last, reader)
    }

    fn slot(&self, msn: u16) -> usize {
        usize::from(msn) & (self.lengths.len() - 1)
    }

    /// Returns the length of the ACK with an earlier number, or 0 if it was not received. Returns
    /// `None` if the number is new.
    pub(super) fn length(&self, msn: u16) -> Option<usize> {
        let is_new = msn.wrapping_sub(self.last).cast_signed() > 0;
        (!is_new).then(|| usize::from(self.lengths[self.slot(msn)]))
    }

    /// Records the ACK with a new number. Skipped ACKs can no longer be received.
    pub(super) fn note(&mut self, msn: u16, length: usize) {
        while self.last != msn {
            self.last = self.last.wrapping_add(1);
            let skipped = self.slot(self.last);
            self.lengths[skipped] = 0;
        }
        let slot = self.slot(msn);
        self.lengths[slot] = length as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_begins_with_eight_bits_of_its_first_number() {
        let mut out = Vec::new();
        write_frame(Numbers::Eight, 0x1ff, &[1, 2, 3], &mut out);
        assert_eq!(out, [0xff, 1, 2, 3]);
        out.clear();
        write_frame(Numbers::Eight, 0, &[], &mut out);
        assert!(out.is_empty());
    }

    /// After an aggregate of 256 frames, a response may begin 300 numbers after the last number
    /// received. Eight bits cannot distinguish 300 from 44.
    #[test]
    fn behind_a_large_window_a_frame_begins_with_all_bits_of_its_first_number() {
        assert_eq!([64, 65, 1024].map(Numbers::of_window), [Numbers::Eight, Numbers::Sixteen, Numbers::Sixteen]);
        let mut out = Vec::new();
        write_frame(Numbers::Sixteen, 300, &[1], &mut out);
        assert_eq!(out, [1, 44, 1]);
        for (numbers, first) in [(Numbers::Sixteen, 300), (Numbers::Eight, 1)] {
            assert_eq!(Received::new(numbers).first(&mut Reader(&out)), Ok(first));
        }
        let mut received = Received::new(Numbers::Sixteen);
        (0..2048).for_each(|msn| received.note(msn, 3));
        assert_eq!([0, 2047, 2048].map(|msn| received.length(msn)), [Some(3), Some(3), None]);
    }

    #[test]
    fn earlier_numbers_have_lengths() {
        let mut received = Received::new(Numbers::Eight);
        let first = |received: &Received, code: u8| received.first(&mut Reader(&[code])).unwrap();
        assert_eq!((first(&received, 0), received.length(0)), (0, None));
        received.note(0, 3);
        received.note(2, 5);
        assert_eq!([0, 1, 2, 3].map(|msn| received.length(msn)), [Some(3), Some(0), Some(5), None]);
        assert_eq!(first(&received, 0xff), u16::MAX, "three before 2");
        received.note(120, 4);
        assert_eq!([0xf8, 0xf9, 0xf7].map(|code| first(&received, code)), [248, 0xfff9, 247]);
    }
}
