//! The SACK option (RFC 6846, §8.2: `tcp_opt_sack`, `sack_block`, `sack_var_length_enc`).

use crate::rohc::Error;
use crate::rohc::octets::{Octets, Reader, put};
use crate::tcp::{SackBlock, SackBlocks, SeqNumber};

/// The number of blocks in an irregular item whose blocks are unchanged
/// (`sack_unchanged_irregular`).
pub(super) const UNCHANGED: u8 = 0;

/// Writes the blocks. The first block is relative to the ACK number, and each other block to the
/// end of the previous block.
pub(super) fn write(ack: u32, blocks: &SackBlocks, out: &mut Octets) {
    out.push(blocks.as_slice().len() as u8);
    let mut base = ack;
    for &SackBlock { start, end } in blocks.as_slice() {
        write_edge(start.0.wrapping_sub(base), out);
        write_edge(end.0.wrapping_sub(start.0), out);
        base = end.0;
    }
}

/// Reads the blocks. Only an irregular item, which has a reference, can be `UNCHANGED`.
pub(super) fn read(ack: u32, reference: Option<&SackBlocks>, reader: &mut Reader) -> Result<SackBlocks, Error> {
    let count = reader.u8()?;
    if count == UNCHANGED
        && let Some(reference) = reference
    {
        return Ok(*reference);
    }
    if count == 0 || usize::from(count) > SackBlocks::MAX {
        return Err(Error::Options { what: "number of SACK blocks", found: count });
    }
    let (mut blocks, mut base) = (SackBlocks::default(), ack);
    for _ in 0..count {
        let start = base.wrapping_add(read_edge(reader)?);
        let end = start.wrapping_add(read_edge(reader)?);
        blocks.push(SackBlock { start: SeqNumber(start), end: SeqNumber(end) });
        base = end;
    }
    Ok(blocks)
}

fn write_edge(offset: u32, out: &mut Octets) {
    let octets = |prefix: u32| (prefix | offset).to_be_bytes();
    match offset {
        0..0x8000 => put(out, &octets(0)[2..]),
        0x8000..0x40_0000 => put(out, &octets(0b10 << 22)[1..]),
        0x40_0000..0x2000_0000 => put(out, &octets(0b110 << 29)),
        0x2000_0000.. => {
            out.push(0xff);
            put(out, &octets(0));
        }
    }
}

fn read_edge(reader: &mut Reader) -> Result<u32, Error> {
    Ok(match reader.peek()? {
        0..0x80 => u32::from(reader.u16()?),
        0x80..0xc0 => {
            let [a, b, c] = reader.array()?;
            u32::from_be_bytes([0, a & 0x3f, b, c])
        }
        0xc0..0xe0 => reader.u32()? & 0x1fff_ffff,
        0xff => {
            reader.u8()?;
            reader.u32()?
        }
        found => return Err(Error::Options { what: "edge of a SACK block", found }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(edges: &[(u32, u32)]) -> SackBlocks {
        edges.iter().map(|&(start, end)| SackBlock { start: SeqNumber(start), end: SeqNumber(end) }).collect()
    }

    fn octets(ack: u32, edges: &[(u32, u32)]) -> Vec<u8> {
        let mut out = Octets::new();
        write(ack, &blocks(edges), &mut out);
        out.to_vec()
    }

    #[test]
    fn edges_take_two_to_five_octets() {
        assert_eq!(octets(1000, &[(2448, 3896)]), [1, 0x05, 0xa8, 0x05, 0xa8], "1448 is 0x5a8");
        assert_eq!(octets(0, &[(0x8000, 0x40_8000)]), [1, 0x80, 0x80, 0, 0xc0, 0x40, 0, 0]);
        assert_eq!(
            octets(5, &[(4, 6)]),
            [1, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 2],
            "a block below the ACK number: D-SACK"
        );
        let two = octets(0, &[(10, 20), (25, 30)]);
        assert_eq!(two, [2, 0, 10, 0, 10, 0, 5, 0, 5], "the second counts from the end of the first");
    }

    #[test]
    fn impossible_counts_and_edges_are_refused() {
        let refused = |octets: &[u8]| read(0, None, &mut Reader(octets)).unwrap_err().to_string();
        assert_eq!(refused(&[5]), "number of SACK blocks 0x05 in the list of TCP options");
        assert_eq!(refused(&[0]), "number of SACK blocks 0x00 in the list of TCP options");
        assert_eq!(refused(&[1, 0xe0]), "edge of a SACK block 0xe0 in the list of TCP options");
        assert_eq!(refused(&[1, 0, 1]), "found 0 octets, expected 1");
    }

    proptest! {
        #[test]
        fn any_blocks_survive(ack: u32, edges in proptest::collection::vec(any::<(u32, u32)>(), 1..=4)) {
            let read = read(ack, None, &mut Reader(&octets(ack, &edges)));
            prop_assert_eq!(read, Ok(blocks(&edges)));
        }
    }
}
