//! The folder in which tools keep what outlives them: `$XDG_STATE_HOME/acklab`, or `~/.local/state/acklab` (XDG Base Directory Specification 0.8).

use super::ToolError;
use super::proxy::Token;
use acklab_secure::identity::Identity;
use acklab_secure::reset::ResetKey;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Only the owner reads and writes.
const PRIVATE_FILE: u32 = 0o600;
/// Only the owner enters.
const PRIVATE_FOLDER: u32 = 0o700;
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";
const RESET_KEY: &str = "reset_key";
const TOKEN: &str = "proxy_token";

/// The folder, whether it exists or not.
///
/// # Errors
/// If the environment names neither that folder nor a home.
pub fn folder() -> Result<PathBuf, ToolError> {
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named("XDG_STATE_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".local/state")))
        .map(|folder| folder.join("acklab"))
        .ok_or_else(|| {
            ToolError::usage("environment", "neither XDG_STATE_HOME nor HOME", "an absolute path in one of them")
        })
}

pub(super) fn make(folder: &Path) -> Result<(), ToolError> {
    let made = DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder);
    made.map_err(|error| ToolError::failed(folder.display(), error))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, ToolError> {
    match std::fs::read(path) {
        Ok(octets) => Ok(Some(octets)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ToolError::failed(path.display(), error)),
    }
}

fn write_new(path: &Path, octets: &[u8]) -> Result<(), ToolError> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(PRIVATE_FILE).open(path);
    let written = file.and_then(|mut file| file.write_all(octets));
    written.map_err(|error| ToolError::failed(path.display(), error))
}

/// A certificate with its private key from two files in PEM.
///
/// # Errors
/// If they cannot be read, or are malformed.
pub fn identity_of(certificate: &Path, key: &Path) -> Result<Identity, ToolError> {
    let [certificates, private] = [certificate, key]
        .map(|path| read(path)?.ok_or_else(|| ToolError::failed(path.display(), "no such file, expected one in PEM")));
    Identity::from_pem(&certificates?, &private?)
        .map_err(|error| ToolError::failed(format_args!("{}, {}", certificate.display(), key.display()), error))
}

/// The certificate and the key that are kept in `folder`; they are made on the first run.
///
/// # Errors
/// If they cannot be read or written, or are malformed.
pub fn identity(folder: &Path) -> Result<Identity, ToolError> {
    make(folder)?;
    let (certificate, key) = (folder.join(CERTIFICATE), folder.join(KEY));
    if read(&certificate)?.is_none() {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let names = if host.is_empty() { vec!["localhost".to_owned()] } else { vec![host, "localhost".to_owned()] };
        // A name that is none for a certificate: clients go by the fingerprint.
        let made = Identity::generate(names).or_else(|_| Identity::generate(["localhost".to_owned()]));
        let (_, public, private) = made.map_err(|error| ToolError::failed("new certificate", error))?;
        write_new(&key, private.as_bytes())?;
        write_new(&certificate, public.as_bytes())?;
    }
    identity_of(&certificate, &key)
}

/// The key of stateless resets that is kept in `folder`; it is made on the first run.
///
/// # Errors
/// If it cannot be read or written, or is malformed.
pub fn reset_key(folder: &Path) -> Result<ResetKey, ToolError> {
    make(folder)?;
    let path = folder.join(RESET_KEY);
    let octets = match read(&path)? {
        Some(octets) => octets,
        None => {
            let mut octets = [0; 32];
            SystemRandom::new()
                .fill(&mut octets)
                .map_err(|_| ToolError::failed("stateless resets", "the system gives no random numbers"))?;
            write_new(&path, &octets)?;
            octets.to_vec()
        }
    };
    let key: [u8; 32] = octets
        .as_slice()
        .try_into()
        .map_err(|_| ToolError::failed(path.display(), format_args!("found {} octets, expected 32", octets.len())))?;
    Ok(ResetKey::new(&key))
}

/// The token of a proxy that is kept in `folder`; it is made on the first run.
///
/// # Errors
/// If it cannot be read or written, or is malformed.
pub fn token(folder: &Path) -> Result<Token, ToolError> {
    make(folder)?;
    let path = folder.join(TOKEN);
    if let Some(octets) = read(&path)? {
        let parsed = String::from_utf8_lossy(&octets).parse();
        return parsed.map_err(|error: ToolError| ToolError::failed(path.display(), error));
    }
    let token = Token::generate()?;
    write_new(&path, format!("{token}\n").as_bytes())?;
    Ok(token)
}
