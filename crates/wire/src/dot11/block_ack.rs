//! Block ACKs and their requests.

use super::MacAddress;

/// A compressed Block ACK (9.3.1.8.2), which answers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAck {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// Who sent what it acknowledges.
    pub receiver: MacAddress,
    /// Who acknowledges.
    pub transmitter: MacAddress,
    /// The traffic identifier, of which the low four bits count.
    pub tid: u8,
    /// The sequence number that the bitmap begins with, of which the low twelve bits count.
    pub start: u16,
    /// What has arrived.
    pub bitmap: BlockBitmap,
}

/// The compressed variant of a Block ACK request (9.3.1.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAckRequest {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// Who shall acknowledge.
    pub receiver: MacAddress,
    /// Who asks.
    pub transmitter: MacAddress,
    /// The traffic identifier, of which the low four bits count.
    pub tid: u8,
    /// The first sequence number that is asked for, of which the low twelve bits count.
    pub start: u16,
}

/// The frames of a window that have arrived: bit 0 of word 0 stands for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockBitmap {
    /// Of 64 frames.
    Of64(u64),
    /// Of 256 frames, between stations of HE.
    Of256([u64; 4]),
}

impl BlockBitmap {
    /// Its words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        match self {
            Self::Of64(word) => std::slice::from_ref(word),
            Self::Of256(words) => words,
        }
    }
}

/// The bits of the BAR Control and BA Control fields (9.3.1.7.1, 9.3.1.8.1).
pub(super) mod control {
    /// The type, bits 1 to 4.
    pub(in super::super) const TYPE: u16 = 0x001e;
    /// The type of the compressed variants (Tables 9-23 and 9-24).
    pub(in super::super) const COMPRESSED: u16 = 2 << 1;
    /// Where TID_INFO begins.
    pub(in super::super) const TID_SHIFT: u32 = 12;
}

/// The Fragment Number subfield, which tells the bitmap's size (802.11ax-2021, Table 9-30a): 8 octets.
pub(super) const FRAGMENT_OF_64: u16 = 0b0000;
/// The same: 32 octets.
pub(super) const FRAGMENT_OF_256: u16 = 0b0100;
