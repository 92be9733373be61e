//! The bytes of the handshake at one level (RFC 9001, §4.1.3).

use acklab_wire::tack::{Crypto, Frame};
use std::collections::BTreeMap;

/// The maximum number of bytes stored after the first gap. TLS messages have at most 64 KiB (RFC
/// 9000, §7.5, requires at least 4096).
const MOST: u64 = 1 << 16;

/// The memory that a piece needs in addition to its bytes: an entry of the map and of the heap.
const PIECE: usize = 64;

/// The sent bytes, which are all stored until the handshake ends, and the arrived bytes.
#[derive(Debug, Default)]
pub(crate) struct CryptoStream {
    pub(crate) outgoing: Vec<u8>,
    /// The number of bytes that have arrived in order.
    read: u64,
    /// Bytes that have arrived after a gap, by their offset.
    early: BTreeMap<u64, Vec<u8>>,
}

impl CryptoStream {
    /// Accepts arrived bytes. Returns the bytes that are next in order. Returns `None` if the
    /// arrived bytes are too far ahead.
    pub(crate) fn arrive(&mut self, offset: u64, octets: &[u8]) -> Option<Vec<u8>> {
        let end = offset + octets.len() as u64;
        if end > self.read + MOST {
            return None;
        }
        if end > self.read {
            let longest = self.early.get(&offset).map_or(0, Vec::len);
            if octets.len() > longest {
                self.early.insert(offset, octets.to_vec());
            }
        }
        let mut ready = Vec::new();
        while let Some(entry) = self.early.first_entry().filter(|entry| *entry.key() <= self.read) {
            let (start, octets) = entry.remove_entry();
            let new = octets.get((self.read - start) as usize..).unwrap_or_default();
            self.read += new.len() as u64;
            ready.extend_from_slice(new);
        }
        // The limit of the memory also holds for overlapping pieces and for small pieces.
        let kept: usize = self.early.values().map(|octets| octets.len() + PIECE).sum();
        (kept as u64 <= 2 * MOST).then_some(ready)
    }
}

/// Returns a Crypto frame with bytes of the handshake.
pub(crate) const fn crypto_frame(offset: usize, octets: &[u8]) -> Frame {
    Frame::Crypto(Crypto { offset: offset as u32, length: octets.len() as u16 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_come_out_once_and_in_order() {
        let mut stream = CryptoStream::default();
        assert_eq!(stream.arrive(3, b"wled").as_deref(), Some(&b""[..]));
        assert_eq!(stream.arrive(0, b"ack").as_deref(), Some(&b"ackwled"[..]));
        assert_eq!(stream.arrive(2, b"kwledge").as_deref(), Some(&b"ge"[..]));
        assert_eq!(stream.arrive(0, b"ackwledge").as_deref(), Some(&b""[..]));
        assert_eq!(stream.arrive(MOST + 9, b"x"), None, "too far ahead");
    }

    #[test]
    fn single_octets_take_no_more_memory_than_others() {
        let mut stream = CryptoStream::default();
        let taken = (1..MOST).step_by(2).take_while(|offset| stream.arrive(*offset, b"x").is_some()).count();
        assert_eq!(taken, 2 * MOST as usize / (PIECE + 1));
    }
}
