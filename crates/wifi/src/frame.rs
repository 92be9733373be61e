//! Octets of 802.11 frames with their FCS (9.3).

use acklab_base::Bytes;

/// ACK (9.3.1.4) and CTS (9.3.1.3).
pub(crate) const ACK: Bytes = Bytes(14);
/// RTS (9.3.1.2).
pub(crate) const RTS: Bytes = Bytes(20);
/// Compressed Block ACK request (9.3.1.7).
pub(crate) const BLOCK_ACK_REQUEST: Bytes = Bytes(24);
/// MAC header of a data frame with three addresses (9.3.2.1).
const DATA_HEADER: u64 = 24;
/// QoS control field (9.2.4.5).
const QOS_CONTROL: u64 = 2;
/// Frame check sequence (9.2.4.8).
const FCS: u64 = 4;
/// MAC header and FCS of a data frame in ns-2, which has no LLC.
const NS2_DATA: u64 = 34;
/// LLC and SNAP headers before an IP packet (IEEE 802.2; RFC 1042).
pub(crate) const LLC: u64 = 8;
/// MPDU delimiter of an A-MPDU (9.7.1).
const DELIMITER: u64 = 4;
/// Addresses and length before each MSDU of an A-MSDU (9.3.2.2.2).
const SUBFRAME_HEADER: u64 = 14;

/// Returns a compressed Block ACK for a window of `window` frames (9.3.1.8.2): 32 octets for 64, 56
/// for 256, 152 for 1024.
pub(crate) const fn block_ack(window: u16) -> Bytes {
    Bytes(24 + bitmap_octets(window) as u64)
}

/// Returns the number of octets of the bitmap of a Block ACK for a window of `window` frames: the
/// smallest sufficient size that the Fragment Number subfield can announce (9.3.1.8.2; 64 and 128
/// octets since 802.11be-2024).
pub(crate) const fn bitmap_octets(window: u16) -> usize {
    match window {
        0..=64 => 8,
        65..=256 => 32,
        257..=512 => 64,
        _ => 128,
    }
}

/// Returns the size of an MPDU that carries one packet.
pub(crate) const fn mpdu(packet: Bytes, has_qos: bool) -> Bytes {
    let qos = if has_qos { QOS_CONTROL } else { 0 };
    Bytes(DATA_HEADER + qos + LLC + packet.0 + FCS)
}

/// Returns the size of an MPDU that carries one packet in ns-2.
pub(crate) const fn ns2_mpdu(packet: Bytes) -> Bytes {
    Bytes(NS2_DATA + packet.0)
}

/// Returns the size of a subframe of an A-MSDU with this packet. All subframes except the last are
/// padded to a multiple of four (9.3.2.2.2).
pub(crate) const fn a_msdu_subframe(packet: Bytes) -> Bytes {
    Bytes(SUBFRAME_HEADER + LLC + packet.0)
}

/// Returns the size of an MPDU that carries an A-MSDU of this size.
pub(crate) const fn a_msdu(subframes: Bytes) -> Bytes {
    Bytes(DATA_HEADER + QOS_CONTROL + subframes.0 + FCS)
}

/// Returns the size of an MPDU within an A-MPDU, without padding.
pub(crate) const fn a_mpdu_subframe(mpdu: Bytes) -> Bytes {
    Bytes(DELIMITER + mpdu.0)
}

/// Returns the number of octets of an A-MPDU or A-MSDU so far, padded for another subframe (9.7.1,
/// 9.3.2.2.2).
pub(crate) const fn padded(octets: Bytes) -> Bytes {
    Bytes(octets.0.next_multiple_of(4))
}
