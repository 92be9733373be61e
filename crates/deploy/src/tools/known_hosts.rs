//! Fingerprints of servers that were believed before, as ssh keeps them: a line of `HOST:PORT sha256:…` for each.

use super::{ToolError, state};
use acklab_secure::identity::Fingerprint;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The file of known hosts in the [folder of the tools](state::folder).
///
/// # Errors
/// If there is no such folder.
pub fn file() -> Result<PathBuf, ToolError> {
    Ok(state::folder()?.join("known_hosts"))
}

fn entry(host: &str, port: u16) -> String {
    format!("{}:{port}", host.to_ascii_lowercase())
}

/// The fingerprint by which this server is known, if it is.
///
/// # Errors
/// If the file cannot be read or a line of it is malformed.
pub fn lookup(file: &Path, host: &str, port: u16) -> Result<Option<Fingerprint>, ToolError> {
    match std::fs::read_to_string(file) {
        Ok(text) => find(&text, file, host, port),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ToolError::failed(file.display(), error)),
    }
}

/// The fingerprint by which `text`, which stands in `file`, knows this server.
///
/// # Errors
/// If a line is malformed.
pub fn find(text: &str, file: &Path, host: &str, port: u16) -> Result<Option<Fingerprint>, ToolError> {
    let wanted = entry(host, port);
    let mut known = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = format!("{}:{}", file.display(), number + 1);
        let malformed = || ToolError::usage(&place, format_args!("{line:?}"), "HOST:PORT sha256:…");
        let (name, fingerprint) = line.split_once(char::is_whitespace).ok_or_else(malformed)?;
        let fingerprint = fingerprint.trim().parse().map_err(|_| malformed())?;
        // As with ssh, the first one counts.
        if name == wanted {
            known.get_or_insert(fingerprint);
        }
    }
    Ok(known)
}

/// Believes this server from now on.
///
/// # Errors
/// If the file cannot be written.
pub fn add(file: &Path, host: &str, port: u16, fingerprint: Fingerprint) -> Result<(), ToolError> {
    if let Some(folder) = file.parent() {
        state::make(folder)?;
    }
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(file);
    let written = opened.and_then(|mut file| writeln!(file, "{} {fingerprint}", entry(host, port)));
    written.map_err(|error| ToolError::failed(file.display(), error))
}
