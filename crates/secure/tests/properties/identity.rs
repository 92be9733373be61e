//! Tests properties that hold for any bytes as certificates and keys. The tests of this crate and
//! the fuzz target `identity` share them.

use acklab_secure::identity::{Identity, server_config};
use rustls::NoKeyLog;
use std::sync::Arc;

/// The separator between the certificates and the key. A file that holds both is read as both.
const BOUNDARY: &[u8] = b"====";

/// Checks that any bytes are an identity, which a server accepts or refuses, or are refused in one
/// line.
///
/// # Panics
/// If the property fails.
pub(crate) fn identities_are_read_or_refused(octets: &[u8]) {
    let place = octets.windows(BOUNDARY.len()).position(|window| window == BOUNDARY);
    let (certificates, key) =
        place.map_or((octets, octets), |place| (&octets[..place], &octets[place + BOUNDARY.len()..]));
    let outcomes = [
        Identity::from_pem(certificates, key).and_then(|identity| {
            let fingerprint = identity.fingerprint();
            assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
            server_config(identity, Arc::new(NoKeyLog)).map(drop)
        }),
        Identity::certificate(key, ["host".to_owned()]).map(|certificate| {
            // A certificate signed by a key can be read together with it.
            Identity::from_pem(certificate.as_bytes(), key).expect("a key that signs");
        }),
    ];
    for message in outcomes.into_iter().filter_map(Result::err).map(|error| error.to_string()) {
        assert!(!message.contains(char::is_control), "{message:?}");
    }
}
