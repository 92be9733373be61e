//! Properties of the decoder, for any octets. The tests of this crate and the fuzz target
//! `quic_decode` share them.

use acklab_base::Ecn;
use acklab_wire::quic::decode::{decode_datagram, decode_frames};
use acklab_wire::quic::encode::{append_frame, append_header};
use acklab_wire::quic::{Frame, Frames, TAG};

/// Checks that decoding never panics. A decoded value must encode to octets of the length that it
/// reports, and they must decode to the same value. `octets` are decoded as a datagram, and as the
/// frames of a packet.
///
/// # Panics
/// If the property is violated.
pub(crate) fn what_decodes_survives_the_round_trip(octets: &[u8]) {
    if let Ok(frames) = decode_frames(octets) {
        let mut again = Vec::new();
        append(&frames, &mut again);
        assert_eq!(again.len() as u64, frames.wire_len());
        assert_eq!(decode_frames(&again), Ok(frames));
    }
    for id_length in [0, 8] {
        let Ok(datagram) = decode_datagram(octets, Ecn::NotEct, id_length) else { continue };
        let mut again = Vec::new();
        for packet in datagram.packets.iter() {
            append_header(packet, &mut again);
            append(&packet.frames, &mut again);
            again.resize(again.len() + TAG as usize, 0);
        }
        assert_eq!(again.len() as u64, datagram.udp_payload());
        assert_eq!(decode_datagram(&again, Ecn::NotEct, id_length), Ok(datagram));
    }
}

fn append(frames: &Frames, octets: &mut Vec<u8>) {
    let count = frames.len();
    for (index, frame) in frames.iter().enumerate() {
        append_frame(frame, index + 1 == count, octets);
        let zeros = match frame {
            Frame::Stream(stream) => stream.length,
            Frame::Crypto(crypto) => crypto.length,
            _ => 0,
        };
        octets.resize(octets.len() + usize::from(zeros), 0);
    }
}
