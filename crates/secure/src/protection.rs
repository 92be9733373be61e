//! The protection of one packet (RFC 9001, §5.3, §5.4).

use acklab_wire::tack::encode::append_frame;
use acklab_wire::tack::protected::{LENGTH, Level, MASKED, SAMPLE, first_octet};
use acklab_wire::tack::{ConnectionId, Frames, PktSeq, TAG, Timestamp};
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{DirectionalKeys, HeaderProtectionKey, Keys, PacketKey, Version};

/// The size of PKT.SEQ in octets.
const NUMBER: usize = 4;

/// The end of a connection.
pub(crate) type Side = rustls::Side;

/// Returns the initial keys, which are derived from `seed` (RFC 9001, §5.2). Returns `None` if the
/// cipher suite has no such keys.
pub(crate) fn initial_keys(seed: &[u8], side: Side) -> Option<Keys> {
    let suite = TLS13_AES_128_GCM_SHA256.tls13()?.quic_suite()?;
    Some(suite.keys(seed, side, Version::V1))
}

/// Returns the mask for the first octet and PKT.SEQ. `payload` begins after PKT.SEQ.
fn mask(key: &dyn HeaderProtectionKey, payload: &[u8]) -> Option<(u8, [u8; NUMBER])> {
    // The pattern of a long header with a packet number of four octets. Four bits of the first
    // octet are masked.
    const LONG: u8 = 0x83;
    let (mut first, mut number) = (LONG, [0; NUMBER]);
    key.encrypt_in_place(payload.get(..SAMPLE)?, &mut first, &mut number).ok()?;
    Some(((first ^ LONG) & MASKED, number))
}

fn apply(packet: &mut [u8], number_at: usize, (first, number): (u8, [u8; NUMBER])) {
    packet[0] ^= first;
    for (octet, mask) in packet[number_at..].iter_mut().zip(number) {
        *octet ^= mask;
    }
}

/// Encrypts a packet that begins at `start`, except its first `header` bytes, and appends the tag.
/// Returns `false` if the packet is too long.
#[must_use]
pub(crate) fn encipher(octets: &mut Vec<u8>, start: usize, header: usize, number: u64, key: &dyn PacketKey) -> bool {
    let (header, payload) = octets[start..].split_at_mut(header);
    let Ok(tag) = key.encrypt_in_place(number, header, payload) else { return false };
    octets.extend_from_slice(tag.as_ref());
    true
}

/// Seals the packet that begins at `start`. Its PKT.SEQ is at the offset `number_at`. Returns
/// `false` if the packet is too long.
#[must_use]
pub(crate) fn seal(
    octets: &mut Vec<u8>,
    start: usize,
    number_at: usize,
    number: u64,
    header: &dyn HeaderProtectionKey,
    key: &dyn PacketKey,
) -> bool {
    let payload_at = number_at + NUMBER;
    if !encipher(octets, start, payload_at, number, key) {
        return false;
    }
    let packet = &mut octets[start..];
    let Some(mask) = mask(header, &packet[payload_at..]) else { return false };
    apply(packet, number_at, mask);
    true
}

/// Removes the mask of a packet. Returns its first octet and PKT.SEQ. Returns `None` if the packet
/// is too short.
pub(crate) fn unmask(packet: &mut [u8], number_at: usize, header: &dyn HeaderProtectionKey) -> Option<(u8, PktSeq)> {
    let mask = mask(header, packet.get(number_at + NUMBER..)?)?;
    apply(packet, number_at, mask);
    let number = packet[number_at..].first_chunk().map(|octets| u32::from_be_bytes(*octets))?;
    Some((packet[0], PktSeq(number)))
}

/// Decrypts a packet whose mask is removed. Returns the bytes after PKT.SEQ, without the tag.
pub(crate) fn decipher<'a>(
    packet: &'a mut [u8],
    number_at: usize,
    number: u64,
    key: &dyn PacketKey,
) -> Option<&'a [u8]> {
    let (header, payload) = packet.split_at_mut(number_at + NUMBER);
    key.decrypt_in_place(number, header, payload).ok()
}

/// Appends a packet of the handshake to a datagram. `crypto` are the bytes of the packet's last
/// frame. If the packet is too long, appends nothing and returns `false`.
#[expect(clippy::too_many_arguments, reason = "they are the fields of a packet")]
pub(crate) fn append_level(
    octets: &mut Vec<u8>,
    level: Level,
    to: ConnectionId,
    number: u64,
    departed: Timestamp,
    frames: &Frames,
    crypto: &[u8],
    keys: &DirectionalKeys,
) -> bool {
    let start = octets.len();
    octets.push(first_octet(level, false, number as u32));
    octets.extend_from_slice(&to.0.to_be_bytes());
    let length = 8 + frames.wire_len() + TAG;
    let Ok(length) = u16::try_from(length) else {
        octets.truncate(start);
        return false;
    };
    octets.extend_from_slice(&length.to_be_bytes());
    octets.extend_from_slice(&(number as u32).to_be_bytes());
    octets.extend_from_slice(&departed.0.to_be_bytes());
    frames.iter().for_each(|frame| append_frame(frame, octets));
    octets.extend_from_slice(crypto);
    let sealed = seal(octets, start, 9 + LENGTH, number, &*keys.header, &*keys.packet);
    if !sealed {
        octets.truncate(start);
    }
    sealed
}
