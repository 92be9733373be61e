//! Properties of the decoder, for any octets. The tests of this crate and the fuzz target
//! `tack_decode` share them.

use acklab_base::Ecn;
use acklab_wire::tack::decode::{decode_datagram, decode_frames};
use acklab_wire::tack::encode::{append_frame, append_header};
use acklab_wire::tack::{Frame, TAG, version};

/// Checks that decoding never panics, and that a decoded value encodes to the same octets, except
/// for reserved bits. `octets` are decoded as a datagram, and as frames without header and tag.
///
/// # Panics
/// If the property is violated.
pub(crate) fn what_decodes_survives_the_round_trip(octets: &[u8]) {
    let mut streams = Vec::new();
    if let Ok(frames) = decode_frames(octets, |_, data| streams.push(data.to_vec())) {
        let mut again = Vec::new();
        append(frames.iter(), &streams, &mut again);
        assert_eq!(again, octets);
        assert_eq!(frames.wire_len(), octets.len() as u64);
    }
    let mut streams = Vec::new();
    if let Ok(packet) = decode_datagram(octets, Ecn::NotEct, |_, data| streams.push(data.to_vec())) {
        let mut again = Vec::new();
        append_header(&packet, &mut again);
        append(packet.frames.iter(), &streams, &mut again);
        again.resize(again.len() + TAG as usize, 0);
        assert_eq!(version::of(again[0]), version::of(octets[0]));
        assert_eq!(again[1..], octets[1..]);
    }
}

fn append<'a>(frames: impl Iterator<Item = &'a Frame>, streams: &[Vec<u8>], octets: &mut Vec<u8>) {
    let mut streams = streams.iter();
    for frame in frames {
        append_frame(frame, octets);
        if let Frame::Stream(_) | Frame::Crypto(_) = frame {
            octets.extend_from_slice(streams.next().expect("each of these frames has its octets"));
        }
    }
}
