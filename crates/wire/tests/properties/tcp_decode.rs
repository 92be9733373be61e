//! What must hold for any octets. The tests of this crate and the fuzz target `tcp_decode` share it.

use acklab_base::FlowId;
use acklab_wire::ipv4::{Checksums, Extent, TooLong};
use acklab_wire::tcp::{EncodeError, decode, encode};

/// To decode never panics, and what decodes is encoded to octets that decode to the same.
///
/// # Panics
/// If it does not hold.
pub(crate) fn what_decodes_survives_the_round_trip(octets: &[u8]) {
    let known = |_| Some(FlowId::data(0));
    let Ok((endpoints, segment)) = decode(octets, Checksums::Ignore, known) else { return };
    let mut again = Vec::new();
    match encode(&segment, endpoints, 0, Extent::Whole, &mut again) {
        Ok(()) => assert_eq!(decode(&again, Checksums::Verify, known), Ok((endpoints, segment))),
        // A packet of nearly 64 KiB may come with options packed more densely than encode lays them out.
        Err(error) => {
            assert!(matches!(error, EncodeError::TooLong(TooLong { octets: ..=65_539 })), "{error}: {segment:?}")
        }
    }
}
