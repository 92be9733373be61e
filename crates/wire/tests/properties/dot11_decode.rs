//! Properties of the decoder, for any octets. The tests of this crate and the fuzz target
//! `dot11_decode` share them.

use acklab_wire::dot11::msdu::{self, Subframe};
use acklab_wire::dot11::{Data, Frame, decode, decode_without_fcs, encode, radiotap};

/// Checks that decoding never panics, and that a decoded value encodes to octets that decode to the
/// same value: a radiotap header, the frame behind it or in its place, and its contents.
///
/// # Panics
/// If the property is violated.
pub(crate) fn what_decodes_survives_the_round_trip(octets: &[u8]) {
    frame(octets);
    let Ok((header, rest)) = radiotap::decode(octets) else { return };
    let mut again = Vec::new();
    radiotap::append(&header, &mut again);
    assert_eq!(radiotap::decode(&again), Ok((header, &[][..])));
    frame(rest);
}

fn frame(octets: &[u8]) {
    // Random octets have no valid FCS, so the decoder is also fuzzed without it.
    let _ = decode(octets);
    let Ok(frame) = decode_without_fcs(octets) else { return };
    let mut again = Vec::new();
    encode(&frame, &mut again);
    assert_eq!(decode(&again), Ok(frame));
    if let Frame::Data(data) = frame {
        body(&data);
    }
}

fn body(data: &Data<'_>) {
    if let Ok((ether_type, packet)) = msdu::packet(data.body) {
        let mut again = Vec::new();
        msdu::append(ether_type, packet, &mut again);
        assert_eq!(again, data.body);
    }
    // The damage ends an A-MSDU.
    let whole: Vec<Subframe<'_>> = msdu::subframes(data.body).map_while(Result::ok).collect();
    assert!(msdu::subframes(data.body).count() <= whole.len() + 1);
    let mut again = Vec::new();
    whole.iter().for_each(|subframe| subframe.append(&mut again));
    let read: Vec<Subframe<'_>> = msdu::subframes(&again).collect::<Result<_, _>>().expect("these subframes are whole");
    assert_eq!(read, whole);
}
