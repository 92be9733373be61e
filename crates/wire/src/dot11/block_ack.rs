//! Block ACK and Block ACK request frames.

use super::MacAddress;

/// A compressed Block ACK (9.3.1.8.2), sent as an immediate response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAck {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// Receiver address: the station whose frames are acknowledged.
    pub receiver: MacAddress,
    /// Transmitter address: the station that acknowledges.
    pub transmitter: MacAddress,
    /// The traffic identifier. Only the low four bits are used.
    pub tid: u8,
    /// The sequence number of the first bit of the bitmap. Only the low twelve bits are used.
    pub start: u16,
    /// The frames that have arrived.
    pub bitmap: BlockBitmap,
}

/// The compressed variant of a Block ACK request (9.3.1.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAckRequest {
    /// The Duration/ID field (9.2.5).
    pub duration: u16,
    /// Receiver address: the station that must acknowledge.
    pub receiver: MacAddress,
    /// Transmitter address: the station that requests the Block ACK.
    pub transmitter: MacAddress,
    /// The traffic identifier. Only the low four bits are used.
    pub tid: u8,
    /// The first sequence number of the requested bitmap. Only the low twelve bits are used.
    pub start: u16,
}

/// The frames of a window that have arrived. Bit 0 of word 0 represents the first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockBitmap {
    /// 64 frames.
    Of64(u64),
    /// 256 frames, between HE stations.
    Of256([u64; 4]),
    /// 512 frames, between EHT stations.
    Of512([u64; 8]),
    /// 1024 frames, between EHT stations.
    Of1024([u64; 16]),
}

impl BlockBitmap {
    /// Returns the words of the bitmap.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        match self {
            Self::Of64(word) => std::slice::from_ref(word),
            Self::Of256(words) => words,
            Self::Of512(words) => words,
            Self::Of1024(words) => words,
        }
    }

    /// Returns the smallest bitmap that can contain these words. Omits words after the sixteenth.
    #[must_use]
    pub fn holding(words: &[u64]) -> Self {
        match words {
            [] => Self::Of64(0),
            [word] => Self::Of64(*word),
            _ if words.len() <= 4 => Self::Of256(padded(words)),
            _ if words.len() <= 8 => Self::Of512(padded(words)),
            _ => Self::Of1024(padded(words)),
        }
    }
}

/// Returns the first `N` words, padded with zeros.
fn padded<const N: usize>(words: &[u64]) -> [u64; N] {
    std::array::from_fn(|place| words.get(place).copied().unwrap_or(0))
}

/// The bits of the BAR Control and BA Control fields (9.3.1.7.1, 9.3.1.8.1).
pub(super) mod control {
    /// The type, bits 1 to 4.
    pub(in super::super) const TYPE: u16 = 0x001e;
    /// The type of the compressed variants (Tables 9-23 and 9-24).
    pub(in super::super) const COMPRESSED: u16 = 2 << 1;
    /// The position of TID_INFO.
    pub(in super::super) const TID_SHIFT: u32 = 12;
}

/// The Fragment Number subfield, which encodes the size of the bitmap (802.11ax-2021, Table 9-30a):
/// 8 octets.
pub(super) const FRAGMENT_OF_64: u16 = 0b0000;
/// A bitmap of 32 octets.
pub(super) const FRAGMENT_OF_256: u16 = 0b0100;
/// A bitmap of 64 octets (802.11be-2024, 9.3.1.8.2).
pub(super) const FRAGMENT_OF_512: u16 = 0b1000;
/// A bitmap of 128 octets (802.11be-2024, 9.3.1.8.2).
pub(super) const FRAGMENT_OF_1024: u16 = 0b1010;
