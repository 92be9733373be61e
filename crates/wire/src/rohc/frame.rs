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
//! The paper widens the MSN of the first ACK to eight bits and leaves four bits to the others. Here
//! an octet precedes the first ACK, whose base header repeats its low bits. The numbers count the
//! ACKs of all flows of a peer, and those of a frame are consecutive. The length of an ACK follows
//! from its formats, which depend on the context.
//!
//! A client without confirmation that a frame has arrived repeats its ACKs before new ones. If the
//! frame has arrived, the context has changed, and the lengths of the repeated ACKs no longer
//! follow from it. So the decompressor stores the lengths of the received ACKs by their numbers.

use super::wlsb::Lsb;

/// The first number of a frame, at most 128 before or after the last one received.
pub(super) const FIRST_MSN: Lsb = Lsb::new(8, 127, 16);
/// Octets before the first ACK.
pub const FRAME_HEADER: usize = 1;

/// Appends a frame with these compressed ACKs to `out`. `acks` holds their octets one after the
/// other. [`Compressor::compress`] returned the number `first` for the first one, and the following
/// numbers for the others. Appends nothing if there are no ACKs.
///
/// [`Compressor::compress`]: super::Compressor::compress
pub fn write_frame(first: u16, acks: &[u8], out: &mut Vec<u8>) {
    if !acks.is_empty() {
        out.push(FIRST_MSN.code(u32::from(first)) as u8);
        out.extend_from_slice(acks);
    }
}

/// The numbers and lengths of the ACKs received in frames.
#[derive(Clone, Debug)]
pub(super) struct Received {
    last: u16,
    /// Lengths by the low octet of the number; 0 if the ACK was not received.
    lengths: [u8; 256],
}

impl Received {
    /// No ACK has been received, and the first number is zero.
    pub(super) const fn new() -> Self {
        Self { last: u16::MAX, lengths: [0; 256] }
    }

    /// Returns the number with these low bits.
    pub(super) const fn first(&self, code: u8) -> u16 {
        FIRST_MSN.decode(self.last as u32, code as u32) as u16
    }

    /// Returns the length of the ACK with an earlier number: 0 if it was not received. `None` if
    /// the number is new.
    pub(super) fn length(&self, msn: u16) -> Option<usize> {
        let is_new = msn.wrapping_sub(self.last).cast_signed() > 0;
        (!is_new).then(|| usize::from(self.lengths[usize::from(msn & 0xff)]))
    }

    /// Records the ACK with a new number. Skipped ACKs cannot be received any more.
    pub(super) fn note(&mut self, msn: u16, length: usize) {
        while self.last != msn {
            self.last = self.last.wrapping_add(1);
            self.lengths[usize::from(self.last & 0xff)] = 0;
        }
        self.lengths[usize::from(msn & 0xff)] = length as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_begins_with_eight_bits_of_its_first_number() {
        let mut out = Vec::new();
        write_frame(0x1ff, &[1, 2, 3], &mut out);
        assert_eq!(out, [0xff, 1, 2, 3]);
        out.clear();
        write_frame(0, &[], &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn earlier_numbers_have_lengths() {
        let mut received = Received::new();
        assert_eq!((received.first(0), received.length(0)), (0, None));
        received.note(0, 3);
        received.note(2, 5);
        assert_eq!([0, 1, 2, 3].map(|msn| received.length(msn)), [Some(3), Some(0), Some(5), None]);
        assert_eq!(received.first(0xff), u16::MAX, "three before 2");
        received.note(120, 4);
        assert_eq!([received.first(0xf8), received.first(0xf9), received.first(0xf7)], [248, 0xfff9, 247]);
    }
}
