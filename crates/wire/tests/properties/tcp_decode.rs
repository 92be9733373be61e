//! Properties of the decoder, for any octets. The tests of this crate and the fuzz target
//! `tcp_decode` share them.

use acklab_wire::Pdu;
use acklab_wire::ipv4::{Checksums, Extent, Ipv4Fields, TooLong};
use acklab_wire::pdu::EncodeError;
use acklab_wire::tcp::{self, decode};

/// Checks that decoding never panics, and that a decoded value encodes to octets that decode to the
/// same value.
///
/// # Panics
/// If the property is violated.
pub(crate) fn what_decodes_survives_the_round_trip(octets: &[u8]) {
    let Ok((endpoints, segment)) = decode(octets, Checksums::Ignore) else { return };
    let mut again = Vec::new();
    match segment.encode(endpoints, Ipv4Fields::default(), Extent::Whole, &mut again) {
        Ok(()) => assert_eq!(decode(&again, Checksums::Verify), Ok((endpoints, segment))),
        // A packet of nearly 64 KiB may have options with less padding than the encoder would use.
        Err(error) => {
            let is_little = matches!(error, EncodeError::Tcp(tcp::EncodeError::TooLong(TooLong { octets: ..=65_539 })));
            assert!(is_little, "{error}: {segment:?}");
        }
    }
}
