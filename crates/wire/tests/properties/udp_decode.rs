//! Properties of the decoder, for any octets. The tests of this crate and the fuzz target
//! `udp_decode` share them.

use acklab_wire::Pdu;
use acklab_wire::ipv4::{Checksums, Extent, Ipv4Fields};
use acklab_wire::udp::decode;

/// Checks that decoding never panics, and that a decoded value encodes to octets that decode to the
/// same value.
///
/// # Panics
/// If the property is violated.
pub(crate) fn what_decodes_survives_the_round_trip(octets: &[u8]) {
    let Ok((endpoints, datagram)) = decode(octets, Checksums::Ignore) else { return };
    let mut again = Vec::new();
    let written = datagram.encode(endpoints, Ipv4Fields::default(), Extent::Whole, &mut again);
    written.expect("what came in a packet fits one");
    assert_eq!(decode(&again, Checksums::Verify), Ok((endpoints, datagram)));
}
