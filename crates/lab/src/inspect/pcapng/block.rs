//! Parses the blocks of a file, and the numbers in them.

use crate::inspect::{damaged_at, ends_at, fill, skip};
use std::io::{self, Read};

/// The maximum size of a parsed block in bytes, as in Wireshark. A longer block is treated as
/// damage.
const MAX_BLOCK: u32 = 16 << 20;
/// The number of bytes around the body of a block: type and length before it, length after it.
const AROUND: u32 = 12;

/// The types of blocks that are parsed.
pub(super) mod kind {
    pub(in super::super) const SECTION: u32 = 0x0a0d_0d0a;
    pub(in super::super) const INTERFACE: u32 = 1;
    pub(in super::super) const PACKET: u32 = 2;
    pub(in super::super) const SIMPLE_PACKET: u32 = 3;
    pub(in super::super) const ENHANCED_PACKET: u32 = 6;
}

/// The blocks of a file.
pub(super) struct Blocks<R> {
    file: R,
    is_big_endian: bool,
    octets: u64,
    body: Vec<u8>,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(file: R) -> Self {
        Self { file, is_big_endian: false, octets: 0, body: Vec::new() }
    }

    /// Returns the number of bytes read.
    pub(super) const fn octets(&self) -> u64 {
        self.octets
    }

    /// Reads the next block, whose body is empty if its type is not parsed. Returns `None` at the
    /// end of the file.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Body<'_>)>, String> {
        let start = self.octets;
        match self.read(start) {
            Ok(kind) => Ok(kind.map(|kind| (kind, Body { octets: &self.body, is_big_endian: self.is_big_endian }))),
            Err(Failed::Read(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Err(ends_at(start)),
            Err(Failed::Read(error)) => Err(damaged_at(start, &error)),
            Err(Failed::Damaged(found)) => Err(damaged_at(start, &found)),
        }
    }

    fn read(&mut self, start: u64) -> Result<Option<u32>, Failed> {
        let mut head = [0; 8];
        match fill(&mut self.file, &mut head)? {
            0 => return Ok(None),
            8 => {}
            _ => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
        let [a, b, c, d, length @ ..] = head;
        // A section begins with the byte order. Its type is the same in both orders.
        let is_section = u32::from_le_bytes([a, b, c, d]) == kind::SECTION;
        let mut magic = [0; 4];
        if is_section {
            self.file.read_exact(&mut magic)?;
            self.is_big_endian = match magic {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                other => return Err(Failed::Damaged(format!("found the byte-order magic {other:02x?}"))),
            };
        }
        let (kind, length) = (self.number([a, b, c, d]), self.number(length));
        let read = if is_section { magic.len() as u32 } else { 0 };
        // Each block is padded to a multiple of four bytes.
        let Some(body) = length.checked_sub(AROUND).and_then(|body| body.checked_next_multiple_of(4)) else {
            return Err(Failed::Damaged(format!("found a block of {length} octets")));
        };
        let Some(body) = body.checked_sub(read) else {
            return Err(Failed::Damaged(format!("found a section header of {length} octets")));
        };
        self.body.clear();
        if matches!(kind, kind::INTERFACE | kind::PACKET | kind::SIMPLE_PACKET | kind::ENHANCED_PACKET) {
            if body > MAX_BLOCK {
                return Err(Failed::Damaged(format!("found a block of {length} octets, expected at most {MAX_BLOCK}")));
            }
            self.body.resize(body as usize, 0);
            self.file.read_exact(&mut self.body)?;
        } else {
            skip(&mut self.file, body.into())?;
        }
        let mut again = [0; 4];
        self.file.read_exact(&mut again)?;
        let again = self.number(again);
        if again != length {
            return Err(Failed::Damaged(format!("found a block of {length} octets that ends with the length {again}")));
        }
        self.octets = start + u64::from(body + read + AROUND);
        Ok(Some(kind))
    }

    fn number(&self, octets: [u8; 4]) -> u32 {
        if self.is_big_endian { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) }
    }
}

/// The reason why a block cannot be read.
enum Failed {
    Read(io::Error),
    Damaged(String),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// The remaining bytes of a block's body or of an option's value.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) octets: &'a [u8],
    pub(super) is_big_endian: bool,
}

impl<'a> Body<'a> {
    pub(super) fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.octets.split_first_chunk()?;
        self.octets = rest;
        Some(if self.is_big_endian { u32::from_be_bytes(*number) } else { u32::from_le_bytes(*number) })
    }

    pub(super) fn pair(&mut self) -> Option<u16> {
        let (number, rest) = self.octets.split_first_chunk()?;
        self.octets = rest;
        Some(if self.is_big_endian { u16::from_be_bytes(*number) } else { u16::from_le_bytes(*number) })
    }

    /// Returns the next `count` bytes, and skips their padding.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.octets.split_at_checked(count)?;
        self.octets = rest.get(count.next_multiple_of(4) - count..).unwrap_or_default();
        Some(taken)
    }

    /// Returns the next bytes, at most `count`.
    pub(super) fn up_to(&self, count: usize) -> &'a [u8] {
        &self.octets[..self.octets.len().min(count)]
    }

    /// Returns the options as code and value. Ends at a truncated option.
    pub(super) fn options(mut self) -> impl Iterator<Item = (u16, Body<'a>)> {
        const END: u16 = 0;
        std::iter::from_fn(move || {
            let (code, length) = (self.pair()?, self.pair()?);
            let octets = self.take(length.into())?;
            (code != END).then_some((code, Body { octets, ..self }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: u32, body: &[u8], is_big_endian: bool) -> Vec<u8> {
        let number = |number: u32| if is_big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
        let length = number(AROUND + body.len() as u32);
        [&number(kind)[..], &length, body, &length].concat()
    }

    fn section(is_big_endian: bool) -> Vec<u8> {
        let magic = if is_big_endian { [0x1a, 0x2b, 0x3c, 0x4d] } else { [0x4d, 0x3c, 0x2b, 0x1a] };
        block(kind::SECTION, &[&magic[..], &[0; 12]].concat(), is_big_endian)
    }

    #[test]
    fn sections_of_either_byte_order_follow_each_other() {
        let mut octets = Vec::new();
        for is_big_endian in [true, false] {
            octets.extend(section(is_big_endian));
            octets.extend(block(0x4000_0001, &[9; 400], is_big_endian));
            octets.extend(block(kind::SIMPLE_PACKET, &[1, 0, 0, 1], is_big_endian));
        }
        let mut blocks = Blocks::new(octets.as_slice());
        let mut found = Vec::new();
        while let Some((kind, body)) = blocks.next().unwrap() {
            found.push((kind, body.is_big_endian, body.octets.len()));
        }
        let of = |order| [(kind::SECTION, order, 0), (0x4000_0001, order, 0), (kind::SIMPLE_PACKET, order, 4)];
        assert_eq!(found, [of(true), of(false)].concat());
        assert_eq!(blocks.octets(), octets.len() as u64);
    }

    #[test]
    fn blocks_that_cannot_be_are_damage() {
        let next = |octets: &[u8]| match Blocks::new(octets).next() {
            Err(reason) => reason,
            Ok(_) => String::new(),
        };
        assert!(next(&[1, 0, 0, 0, 8, 0, 0, 0]).contains("a block of 8 octets"));
        assert!(next(&section(true)[..20]).contains("ends in the midst"));
        let mut other = section(false);
        other[27] = 1;
        assert!(next(&other).contains("ends with the length"));
        other[8] = 0;
        assert!(next(&other).contains("byte-order magic"));
        assert!(next(&[6, 0, 0, 0, 0, 0, 0, 2]).contains("expected at most"));
        assert_eq!(next(&[]), "");
    }

    #[test]
    fn options_end_with_the_last_that_is_whole() {
        let octets = [9, 0, 1, 0, 6, 0, 0, 0, 14, 0, 2, 0, 1, 2, 0, 0, 13, 0, 9, 0, 4];
        let body = Body { octets: &octets, is_big_endian: false };
        let found: Vec<_> = body.options().map(|(code, value)| (code, value.octets.to_vec())).collect();
        assert_eq!(found, [(9, vec![6]), (14, vec![1, 2])]);
    }
}
