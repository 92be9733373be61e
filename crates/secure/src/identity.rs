//! The identity of a server, and the servers that a client trusts.
//!
//! A server reads its certificate from files, or creates a certificate on its first run. Clients
//! pin a created certificate by its fingerprint, as ssh clients do. A client trusts only servers
//! whose certificate was issued by a trusted authority or has a known fingerprint.

use ring::digest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, KeyLog, RootCertStore, ServerConfig, SignatureScheme,
    version,
};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The application protocol in the handshake (RFC 7301): this version of the transport.
const ALPN: &[u8] = b"acklab-tack/1";

/// A fault of a certificate, a key or a configuration.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct IdentityError(String);

impl IdentityError {
    pub(crate) fn of(source: impl fmt::Display) -> Self {
        error(source)
    }
}

fn error(source: impl fmt::Display) -> IdentityError {
    // Messages of libraries quote files. Control characters in a file could control a terminal.
    let text = source.to_string();
    IdentityError(text.chars().map(|one| if one.is_control() { char::REPLACEMENT_CHARACTER } else { one }).collect())
}

/// Returns the certificates of a file in PEM.
///
/// # Errors
/// If the file contains no certificate, or a malformed certificate.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|fault| error(format_args!("certificate: {fault}")))?;
    if found.is_empty() { Err(error("certificate: found none, expected one in PEM at least")) } else { Ok(found) }
}

fn of_key(fault: impl fmt::Display) -> IdentityError {
    error(format_args!("private key: {fault}"))
}

/// SHA-256 of a certificate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; digest::SHA256_OUTPUT_LEN]);

impl Fingerprint {
    /// Returns the fingerprint of a certificate in DER.
    #[must_use]
    pub fn of(certificate: &[u8]) -> Self {
        let mut octets = [0; digest::SHA256_OUTPUT_LEN];
        octets.copy_from_slice(digest::digest(&digest::SHA256, certificate).as_ref());
        Self(octets)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error for a text that is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected \"sha256:\" and 64 hexadecimal digits")]
pub struct NoFingerprint;

impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    fn from_str(text: &str) -> Result<Self, NoFingerprint> {
        let digits = text
            .strip_prefix("sha256:")
            .filter(|digits| digits.len() == 64 && digits.is_ascii())
            .ok_or(NoFingerprint)?;
        let mut octets = [0; digest::SHA256_OUTPUT_LEN];
        for (place, octet) in octets.iter_mut().enumerate() {
            *octet = u8::from_str_radix(&digits[2 * place..2 * place + 2], 16).map_err(|_| NoFingerprint)?;
        }
        Ok(Self(octets))
    }
}

/// A certificate with its chain, and its private key.
#[derive(Debug)]
pub struct Identity {
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self { certificates: self.certificates.clone(), key: self.key.clone_key() }
    }
}

impl Identity {
    /// Creates a key and a self-signed certificate for these names. Also returns both in PEM.
    ///
    /// # Errors
    /// If a name is invalid.
    pub fn generate(names: impl IntoIterator<Item = String>) -> Result<(Self, String, String), IdentityError> {
        let key = Self::new_key()?;
        let certificate = Self::certificate(key.as_bytes(), names)?;
        Ok((Self::from_pem(certificate.as_bytes(), key.as_bytes())?, certificate, key))
    }

    /// Creates a private key in PEM.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new_key() -> Result<String, IdentityError> {
        Ok(rcgen::KeyPair::generate().map_err(error)?.serialize_pem())
    }

    /// Creates a certificate for these names, signed with a private key in PEM. Returns the
    /// certificate in PEM.
    ///
    /// # Errors
    /// If a name is invalid, or the key is malformed.
    pub fn certificate(key: &[u8], names: impl IntoIterator<Item = String>) -> Result<String, IdentityError> {
        // Uses the same PEM reader as `from_pem`, because other readers accept different keys.
        let key = PrivateKeyDer::from_pem_slice(key).map_err(of_key)?;
        let key = rcgen::KeyPair::try_from(&key).map_err(of_key)?;
        let names: Vec<_> = names.into_iter().collect();
        Ok(rcgen::CertificateParams::new(names).and_then(|params| params.self_signed(&key)).map_err(error)?.pem())
    }

    /// Returns the identity from a file of certificates, the server's certificate first, and a file
    /// with the private key. Both files are in PEM.
    ///
    /// # Errors
    /// If a certificate or the key is missing or malformed.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let certificates = self::certificates(certificates)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(of_key)?;
        Ok(Self { certificates, key })
    }

    /// Returns the fingerprint of the certificate.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificates[0])
    }
}

/// Decides whether a client trusts a server of this name with this certificate.
pub type Decide = dyn Fn(&ServerName<'_>, Fingerprint) -> bool + Send + Sync;

/// The servers that a client trusts.
#[derive(Clone)]
pub enum Trust {
    /// Servers whose certificate was issued by one of these authorities.
    Roots(Arc<RootCertStore>),
    /// The server with this fingerprint. Its name is not verified.
    Pinned(Fingerprint),
    /// Servers for whose fingerprint this function returns `true`, as with the known hosts of ssh.
    Known(Arc<Decide>),
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Roots(roots) => write!(f, "Roots({})", roots.len()),
            Self::Pinned(fingerprint) => write!(f, "Pinned({fingerprint})"),
            Self::Known(_) => f.write_str("Known"),
        }
    }
}

/// Returns the cipher suites of TLS 1.3, in the order of their cost per packet, cheapest first.
fn suites() -> Arc<CryptoProvider> {
    let suite = provider::cipher_suite::TLS13_AES_128_GCM_SHA256;
    let others = provider::default_provider().cipher_suites.into_iter().filter(|other| other.suite() != suite.suite());
    let cipher_suites = std::iter::once(suite).chain(others).collect();
    Arc::new(CryptoProvider { cipher_suites, ..provider::default_provider() })
}

/// Returns the TLS configuration of servers with this identity. Secrets are written to `log`.
///
/// # Errors
/// If the key does not belong to the certificate.
pub fn server_config(identity: Identity, log: Arc<dyn KeyLog>) -> Result<Arc<ServerConfig>, IdentityError> {
    let mut config = ServerConfig::builder_with_provider(suites())
        .with_protocol_versions(&[&version::TLS13])
        .map_err(error)?
        .with_no_client_auth()
        .with_single_cert(identity.certificates, identity.key)
        .map_err(error)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.key_log = log;
    // Resumption is not supported, because its tickets would be sent after the handshake.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Returns the TLS configuration of clients that trust these servers. Secrets are written to `log`.
///
/// # Errors
/// If the cryptography does not support TLS 1.3.
pub fn client_config(trust: Trust, log: Arc<dyn KeyLog>) -> Result<Arc<ClientConfig>, IdentityError> {
    let suites = suites();
    let builder = ClientConfig::builder_with_provider(Arc::<CryptoProvider>::clone(&suites))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(error)?;
    let mut config = match trust {
        Trust::Roots(roots) => builder.with_root_certificates(roots).with_no_client_auth(),
        trust => {
            let verifier = Arc::new(ByFingerprint { trust, suites });
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.key_log = log;
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}

/// Trusts certificates by their fingerprints. TLS still checks that the server has the private key.
#[derive(Debug)]
struct ByFingerprint {
    trust: Trust,
    suites: Arc<CryptoProvider>,
}

impl ServerCertVerifier for ByFingerprint {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = Fingerprint::of(end_entity);
        let is_trusted = match &self.trust {
            Trust::Pinned(pinned) => *pinned == found,
            Trust::Known(decide) => decide(name, found),
            Trust::Roots(_) => false,
        };
        if is_trusted {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.suites.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.suites.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_survives_its_files() {
        let (identity, certificate, key) = Identity::generate(["host.example".to_owned()]).unwrap();
        let again = Identity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
        assert_eq!(again.fingerprint(), identity.fingerprint());
        let text = identity.fingerprint().to_string();
        assert_eq!(text.parse(), Ok(identity.fingerprint()));
        assert_eq!(text[..70].parse::<Fingerprint>(), Err(NoFingerprint));
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        let fault = Identity::from_pem(b"nothing", b"nothing").unwrap_err();
        assert_eq!(fault.to_string(), "certificate: found none, expected one in PEM at least");
    }
}
