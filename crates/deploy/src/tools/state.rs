//! The folder of the tools' persistent files: `$XDG_STATE_HOME/acklab`, or `~/.local/state/acklab`
//! (XDG Base Directory Specification 0.8).

use super::ToolError;
use super::files::{self, Folder};
use super::proxy::Token;
use acklab_secure::identity::Identity;
use acklab_secure::reset::ResetKey;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The permissions of a folder to which only its owner has access.
const PRIVATE_FOLDER: u32 = 0o700;
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";
const RESET_KEY: &str = "reset_key";
const TOKEN: &str = "proxy_token";

/// Returns the folder, whether or not it exists.
///
/// # Errors
/// If the environment defines neither this folder nor a home folder.
pub fn folder() -> Result<PathBuf, ToolError> {
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named("XDG_STATE_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".local/state")))
        .map(|folder| folder.join("acklab"))
        .ok_or_else(|| {
            ToolError::usage("environment", "neither XDG_STATE_HOME nor HOME", "an absolute path in one of them")
        })
}

fn make(folder: &Path) -> Result<(), ToolError> {
    let made = DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder);
    made.map_err(|error| ToolError::failed(folder.display(), error))
}

fn kept(path: &Path) -> Result<Option<Vec<u8>>, ToolError> {
    files::kept(path).map_err(|error| ToolError::failed(path.display(), error))
}

/// Locks the folder for writing. Creates the folder if it is missing.
pub(super) fn lock(folder: &Path) -> Result<Folder, ToolError> {
    make(folder)?;
    Folder::lock(folder).map_err(|error| ToolError::failed(folder.display(), error))
}

fn write(folder: &Folder, name: &str, octets: &[u8]) -> Result<(), ToolError> {
    folder.write(name, octets).map_err(|error| ToolError::failed(folder.join(name).display(), error))
}

/// Returns a certificate with its private key from two files in PEM.
///
/// # Errors
/// If the files cannot be read, or are malformed.
pub fn identity_of(certificate: &Path, key: &Path) -> Result<Identity, ToolError> {
    let [certificates, private] = [certificate, key]
        .map(|path| kept(path)?.ok_or_else(|| ToolError::failed(path.display(), "no such file, expected one in PEM")));
    Identity::from_pem(&certificates?, &private?)
        .map_err(|error| ToolError::failed(format_args!("{}, {}", certificate.display(), key.display()), error))
}

/// Returns the certificate and key in `folder`. Creates them on the first run.
///
/// If a first run was interrupted, the folder may contain a key without a certificate. The
/// certificate is then created.
///
/// # Errors
/// If the files cannot be read or written, or are malformed, or if only the key is missing.
pub fn identity(folder: &Path) -> Result<Identity, ToolError> {
    let writer = lock(folder)?;
    let (certificate, key) = (writer.join(CERTIFICATE), writer.join(KEY));
    match (kept(&certificate)?.is_some(), kept(&key)?) {
        (true, Some(_)) => {}
        (true, None) => {
            let mend = format!(
                "no such file, expected the key of {CERTIFICATE}: without both, new ones are made, with another fingerprint"
            );
            return Err(ToolError::failed(key.display(), mend));
        }
        (false, Some(private)) => write(&writer, CERTIFICATE, certificate_of(&private, &key)?.as_bytes())?,
        (false, None) => {
            let made = Identity::new_key().map_err(|error| ToolError::failed("new key", error))?;
            write(&writer, KEY, made.as_bytes())?;
            write(&writer, CERTIFICATE, certificate_of(made.as_bytes(), &key)?.as_bytes())?;
        }
    }
    identity_of(&certificate, &key)
}

/// Returns a certificate for the names of this host, in PEM. `place` is the path of the key's file.
fn certificate_of(key: &[u8], place: &Path) -> Result<String, ToolError> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let names = if host.is_empty() { vec!["localhost".to_owned()] } else { vec![host, "localhost".to_owned()] };
    // If a host name is invalid in certificates, the certificate omits it. Clients compare the
    // fingerprint instead.
    let made = Identity::certificate(key, names).or_else(|_| Identity::certificate(key, ["localhost".to_owned()]));
    made.map_err(|error| {
        ToolError::failed(place.display(), format_args!("{error}; a new key is made if there is none"))
    })
}

/// Returns the key of stateless resets in `folder`. Creates the key on the first run.
///
/// # Errors
/// If the file cannot be read or written, or is malformed.
pub fn reset_key(folder: &Path) -> Result<ResetKey, ToolError> {
    let writer = lock(folder)?;
    let path = writer.join(RESET_KEY);
    let octets = match kept(&path)? {
        Some(octets) => octets,
        None => {
            let mut octets = [0; 32];
            SystemRandom::new()
                .fill(&mut octets)
                .map_err(|_| ToolError::failed("stateless resets", "the system gives no random numbers"))?;
            write(&writer, RESET_KEY, &octets)?;
            octets.to_vec()
        }
    };
    let key: [u8; 32] = octets
        .as_slice()
        .try_into()
        .map_err(|_| ToolError::failed(path.display(), format_args!("found {} octets, expected 32", octets.len())))?;
    Ok(ResetKey::new(&key))
}

/// Returns the token of a proxy in `folder`. Creates the token on the first run.
///
/// # Errors
/// If the file cannot be read or written, or is malformed.
pub fn token(folder: &Path) -> Result<Token, ToolError> {
    let writer = lock(folder)?;
    let path = writer.join(TOKEN);
    if let Some(octets) = kept(&path)? {
        let parsed = String::from_utf8_lossy(&octets).parse();
        return parsed.map_err(|error: ToolError| ToolError::failed(path.display(), error));
    }
    let token = Token::generate()?;
    write(&writer, TOKEN, format!("{token}\n").as_bytes())?;
    Ok(token)
}

#[cfg(test)]
mod tests;
