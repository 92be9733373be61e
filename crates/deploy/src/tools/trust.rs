//! Decides which servers a tool trusts: servers with a known fingerprint, or servers whose
//! certificate was issued by a trusted authority.

use super::{PATIENCE, Stop, ToolError, any_like, files, resolve};
use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::error::ConnectError;
use acklab_secure::identity::{self, Fingerprint, client_config};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, KeyLog, NoKeyLog, RootCertStore};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The servers that a client trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The server with this fingerprint. Its name is not verified.
    Fingerprint(Fingerprint),
    /// Servers whose certificate was issued by an authority in this PEM file and contains the
    /// host's name.
    Authorities(PathBuf),
}

/// The unexpected fingerprint of a server's certificate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown(Arc<Mutex<Option<Fingerprint>>>);

impl Shown {
    fn set(&self, fingerprint: Fingerprint) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fingerprint);
    }

    fn get(&self) -> Option<Fingerprint> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The TLS configuration of a client, and the reason if a server is not trusted.
#[derive(Clone, Debug)]
pub(crate) struct ServerTrust {
    pub(crate) tls: Arc<ClientConfig>,
    expected: Option<Fingerprint>,
    shown: Shown,
}

impl ServerTrust {
    pub(crate) fn new(trust: &Trust, keys: Option<&Path>) -> Result<Self, ToolError> {
        let log: Arc<dyn KeyLog> = match keys {
            Some(path) => Arc::new(KeyFile::new(path)?),
            None => Arc::new(NoKeyLog),
        };
        let shown = Shown::default();
        let (trust, expected) = match trust {
            Trust::Fingerprint(expected) => {
                let (expected, shown) = (*expected, shown.clone());
                let decide = move |_: &ServerName<'_>, found: Fingerprint| {
                    shown.set(found);
                    found == expected
                };
                (identity::Trust::Known(Arc::new(decide)), Some(expected))
            }
            Trust::Authorities(path) => (identity::Trust::Roots(Arc::new(authorities(path)?)), None),
        };
        let tls = client_config(trust, log).map_err(|error| ToolError::failed("TLS", error))?;
        Ok(Self { tls, expected, shown })
    }

    /// Returns the error of a failed connection to `place`.
    pub(crate) fn explain(&self, place: &str, error: &impl std::fmt::Display) -> ToolError {
        match (self.expected, self.shown.get()) {
            (Some(expected), Some(found)) if expected != found => ToolError::Trust(format!(
                "{place}: THE SERVER IS NOT THE ONE YOU EXPECT: found {found}, expected {expected}. Someone may be between you and it, \
                 or it has a new certificate; in that case remove its line from known_hosts, or give --fingerprint"
            )),
            _ => ToolError::failed(place, error),
        }
    }
}

fn authorities(path: &Path) -> Result<RootCertStore, ToolError> {
    let failed = |why: &dyn std::fmt::Display| ToolError::failed(path.display(), why);
    let mut roots = RootCertStore::empty();
    let octets = files::kept(path).map_err(|error| failed(&error))?;
    let octets = octets.ok_or_else(|| failed(&"no such file or an empty one, expected certificates in PEM"))?;
    for certificate in identity::certificates(&octets).map_err(|error| failed(&error))? {
        roots.add(certificate).map_err(|error| failed(&error))?;
    }
    Ok(roots)
}

/// Returns the fingerprint of a server's certificate. The server is not trusted: the handshake ends
/// after the certificate.
///
/// # Errors
/// If there is no such server, or if `stop` requests the end.
pub async fn offered(host: &str, port: u16, stop: Stop) -> Result<Fingerprint, ToolError> {
    tokio::select! {
        found = offered_by(host, port) => found,
        () = stop.begun() => Err(ToolError::Stopped),
    }
}

async fn offered_by(host: &str, port: u16) -> Result<Fingerprint, ToolError> {
    let place = format!("{host}:{port}");
    let mut failure = None;
    for remote in resolve(host, port).await? {
        let shown = Shown::default();
        let noted = shown.clone();
        let decide = move |_: &ServerName<'_>, found: Fingerprint| {
            noted.set(found);
            false
        };
        let tls = client_config(identity::Trust::Known(Arc::new(decide)), Arc::new(NoKeyLog))
            .map_err(|error| ToolError::failed("TLS", error))?;
        let endpoint = bind_client(remote, Config { client: Some(tls), ..Config::new() })?;
        let connect = tokio::time::timeout(PATIENCE, endpoint.connect(remote, name_of(host))).await;
        if let Some(found) = shown.get() {
            return Ok(found);
        }
        failure = Some(match connect {
            Ok(Ok(_)) => ToolError::failed(&place, "it shows no certificate"),
            Ok(Err(error)) => ToolError::failed(&place, error),
            Err(_) => ToolError::failed(&place, silence()),
        });
    }
    Err(failure.unwrap_or_else(|| ToolError::failed(&place, "it has no address")))
}

/// Returns the message about a server that does not answer.
pub(crate) fn silence() -> String {
    format!(
        "no answer within {} s; is `acklab serve` running there, and do firewalls let its ports pass?",
        PATIENCE.as_secs()
    )
}

/// Returns the name of a host for TLS.
pub(crate) fn name_of(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

pub(crate) fn bind_client(remote: std::net::SocketAddr, config: Config) -> Result<Endpoint, ToolError> {
    Endpoint::bind(any_like(remote), config).map_err(|error| match error {
        ConnectError::Settings(why) => ToolError::Usage(format!("tack: {why}")),
        error => ToolError::failed("UDP socket", error),
    })
}

/// Writes secrets in the format that Wireshark reads (RFC 9850, "SSLKEYLOGFILE").
#[derive(Debug)]
struct KeyFile {
    file: Mutex<std::fs::File>,
}

impl KeyFile {
    fn new(path: &Path) -> Result<Self, ToolError> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        Ok(Self { file: Mutex::new(file.map_err(|error| ToolError::failed(path.display(), error))?) })
    }
}

impl KeyLog for KeyFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hexadecimal = |octets: &[u8]| {
            octets.iter().fold(String::new(), |mut text, octet| {
                // Writing to a string does not fail.
                _ = write!(text, "{octet:02x}");
                text
            })
        };
        let line = format!("{label} {} {}\n", hexadecimal(client_random), hexadecimal(secret));
        // If a line cannot be written, the reader of the file notices its absence.
        _ = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}
