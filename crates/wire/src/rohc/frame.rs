//! Several compressed ACKs in one link-layer acknowledgment (Salameh et al., ATC '14, §3.3 and §3.4).
//!
//! ```text
//! +-----------------+-----+--------------------------------+-----+--------------------------------+----
//! | MSN of the      | CID | base header, list, irregular   | CID | base header, list, irregular   | ...
//! | first, 8 bits   |     | chain                          |     | chain                          |
//! +-----------------+-----+--------------------------------+-----+--------------------------------+----
//! ```
//!
//! The paper widens the MSN of the first ACK to eight bits and leaves the others their four. Here the octet stands ahead
//! of all, and its low bits come again in the first base header. The numbers count the ACKs of all flows of a peer, and
//! those of a frame follow one another, so that the first one tells them all. An ACK ends where its formats say; the
//! context tells which they are.
//!
//! A client that does not know whether a frame has arrived sends its ACKs again ahead of new ones. The context has moved
//! on by then, and would no longer tell where the old ones end; but the other end has received these octets before, by
//! these numbers, and remembers how many there were.

use super::wlsb::Lsb;

/// The number that begins a frame: 128 before or after the last one that was received.
pub(super) const FIRST_MSN: Lsb = Lsb::new(8, 127, 16);
/// Octets ahead of the first ACK.
pub const FRAME_HEADER: usize = 1;

/// Append a frame to `out` that carries these compressed ACKs, each with the number that
/// [`Compressor::compress`](super::Compressor::compress) gave it, in the order of their numbers with none left out.
/// Nothing is appended if there are none.
///
/// # Panics
/// If a number is left out: the other end could not tell which.
pub fn write_frame<'a>(acks: impl IntoIterator<Item = (u16, &'a [u8])>, out: &mut Vec<u8>) {
    let mut next = None;
    for (msn, octets) in acks {
        match next {
            None => out.push(FIRST_MSN.code(u32::from(msn)) as u8),
            Some(next) => assert_eq!(msn, next, "the ACKs of a frame follow one another"),
        }
        out.extend_from_slice(octets);
        next = Some(msn.wrapping_add(1));
    }
}

/// What has come in frames: the last number, and how long the ACKs of the numbers before it were.
#[derive(Clone, Debug)]
pub(super) struct Received {
    last: u16,
    /// By the low octet of the number; 0 if it was not received.
    lengths: [u8; 256],
}

impl Received {
    /// Nothing yet: the first number is zero.
    pub(super) const fn new() -> Self {
        Self { last: u16::MAX, lengths: [0; 256] }
    }

    /// The number that these eight bits stand for.
    pub(super) const fn first(&self, code: u8) -> u16 {
        FIRST_MSN.decode(self.last as u32, code as u32) as u16
    }

    /// How long the ACK of a number was that has gone by: 0 if it was not received. None if it is new.
    pub(super) fn length(&self, msn: u16) -> Option<usize> {
        let is_new = msn.wrapping_sub(self.last).cast_signed() > 0;
        (!is_new).then(|| usize::from(self.lengths[usize::from(msn & 0xff)]))
    }

    /// The ACK of a new number has come; those that were left out will not.
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
        write_frame([(0x1ff, [1, 2].as_slice()), (0x200, &[3])], &mut out);
        assert_eq!(out, [0xff, 1, 2, 3]);
        out.clear();
        write_frame([], &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn numbers_that_have_gone_by_have_lengths() {
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
