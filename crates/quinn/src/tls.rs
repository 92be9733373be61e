//! TLS 1.3 whose bytes are a function of the seed, and whose keys can be written to a capture.
//!
//! | random value in TLS | its source here |
//! |---|---|
//! | client and server random, order of extensions, session tickets | [`LentRandom`], by rustls' `CryptoProvider` |
//! | secrets of the key exchange | [`X25519`] |
//! | the signature | Ed25519, which needs no random number (RFC 8032, §5.1.6) |
//! | the certificate | made once: `certificate/server.der` |

use crate::entropy::{LentRandom, X25519};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, KeyLog, RootCertStore, ServerConfig, version};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The name in the certificate, of a domain reserved for tests (RFC 2606, §2).
pub(crate) const SERVER_NAME: &str = "acklab.test";
/// The self-signed certificate of all servers: Ed25519, valid until 2126.
const CERTIFICATE: &[u8] = include_bytes!("../certificate/server.der");
/// Its private key in PKCS #8, which need not be secret.
const KEY: &[u8] = include_bytes!("../certificate/key.der");
/// The calendar time at which certificates are checked, 2027-01-01, because a run has no calendar
/// time.
const CALENDAR: Duration = Duration::from_secs(1_798_761_600);
/// The application protocol: a dedicated name, so that Wireshark does not dissect the zeros of
/// streams as HTTP/3 frames.
const ALPN: &[u8] = b"acklab";

/// The error of an invalid TLS configuration.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be configured: {0}")]
pub struct Error(String);

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        // The cipher suite that Initial packets require (RFC 9001, §5.2), used for all packets.
        cipher_suites: vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![&X25519],
        secure_random: &LentRandom,
        ..ring::default_provider()
    })
}

/// Returns the configuration of a client.
pub(crate) fn client(log: &Arc<Log>) -> Result<QuicClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).map_err(error)?;
    let mut config = ClientConfig::builder_with_details(provider(), Arc::new(Calendar))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(error)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.key_log = Arc::<Log>::clone(log);
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.try_into().map_err(error)
}

/// Returns the configuration of a server.
pub(crate) fn server(log: &Arc<Log>) -> Result<QuicServerConfig, Error> {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
    let mut config = ServerConfig::builder_with_details(provider(), Arc::new(Calendar))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(error)?
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .map_err(error)?;
    config.key_log = Arc::<Log>::clone(log);
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.try_into().map_err(error)
}

fn error(source: impl std::fmt::Display) -> Error {
    Error(source.to_string())
}

/// The calendar of a run, whose time is constant.
#[derive(Debug)]
pub(crate) struct Calendar;

impl quinn_proto::TimeSource for Calendar {
    #[expect(clippy::disallowed_types, reason = "it is that of the calendar, not of the machine")]
    fn now(&self) -> std::time::SystemTime {
        std::time::UNIX_EPOCH + CALENDAR
    }
}

impl TimeProvider for Calendar {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(CALENDAR))
    }
}

/// The secrets of one end in the format of `SSLKEYLOGFILE` (RFC 9850), one per line.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Option<Arc<str>>>);

impl Log {
    /// Returns all lines so far, or `None` if there are none.
    pub(crate) fn lines(&self) -> Option<Arc<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl KeyLog for Log {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = lines.as_deref().unwrap_or_default();
        *lines = Some(format!("{before}{label} {} {}\n", hex(client_random), hex(secret)).into());
    }
}

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::with_capacity(2 * octets.len()), |mut text, octet| {
        _ = write!(text, "{octet:02x}");
        text
    })
}
