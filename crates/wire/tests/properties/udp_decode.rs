//! What must hold for any octets. The tests of this crate and the fuzz target `udp_decode` share it.

use acklab_base::FlowId;
use acklab_wire::ipv4::{Checksums, Extent};
use acklab_wire::udp::{decode, encode};

/// To decode never panics, and what decodes is encoded to octets that decode to the same.
///
/// # Panics
/// If it does not hold.
pub(crate) fn what_decodes_survives_the_round_trip(octets: &[u8]) {
    let known = |_| Some(FlowId::data(0));
    let Ok((endpoints, datagram)) = decode(octets, Checksums::Ignore, known) else { return };
    let mut again = Vec::new();
    encode(&datagram, endpoints, 0, Extent::Whole, &mut again).expect("what came in a packet fits one");
    assert_eq!(decode(&again, Checksums::Verify, known), Ok((endpoints, datagram)));
}
