//! Fingerprints of servers that the user trusted before, as in ssh. The file has one line
//! `HOST:PORT sha256:…` per server.

use super::{ToolError, files, state};
use acklab_secure::identity::Fingerprint;
use std::path::{Path, PathBuf};

/// Returns the file of known hosts in the [folder of the tools](state::folder).
///
/// # Errors
/// If there is no such folder.
pub fn file() -> Result<PathBuf, ToolError> {
    Ok(state::folder()?.join("known_hosts"))
}

fn entry(host: &str, port: u16) -> String {
    format!("{}:{port}", host.to_ascii_lowercase())
}

/// Returns the known fingerprint of this server, if the file contains one.
///
/// # Errors
/// If the file cannot be read or one of its lines is malformed.
pub fn lookup(file: &Path, host: &str, port: u16) -> Result<Option<Fingerprint>, ToolError> {
    let octets = files::kept(file).map_err(|error| ToolError::failed(file.display(), error))?;
    let text = String::from_utf8(octets.unwrap_or_default())
        .map_err(|_| ToolError::usage(file.display(), "octets that are not UTF-8", "lines of HOST:PORT sha256:…"))?;
    find(&text, file, host, port)
}

/// Returns the fingerprint of this server in `text`, the content of `file`.
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
        // As with ssh, the first matching line is used.
        if name == wanted {
            known.get_or_insert(fingerprint);
        }
    }
    Ok(known)
}

/// Adds this server to the known hosts.
///
/// # Errors
/// If the file cannot be read or written.
pub fn add(file: &Path, host: &str, port: u16, fingerprint: Fingerprint) -> Result<(), ToolError> {
    let failed = |error: std::io::Error| ToolError::failed(file.display(), error);
    // A symbolic link is kept: the file to which it points is replaced.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| ToolError::usage("known hosts", file.display(), "the path of a file"))?;
    let writer = state::lock(file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new(".")))?;
    let mut text = files::kept(&file).map_err(failed)?.unwrap_or_default();
    if text.last().is_some_and(|last| *last != b'\n') {
        text.push(b'\n');
    }
    text.extend_from_slice(format!("{} {fingerprint}\n", entry(host, port)).as_bytes());
    writer.write(name, &text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::files::{Scratch, until_no_step_is_left};

    fn fingerprint(digit: char) -> Fingerprint {
        format!("sha256:{}", digit.to_string().repeat(64)).parse().unwrap()
    }

    #[test]
    fn the_hosts_that_were_known_stay_known_wherever_the_writer_ends() {
        let folder = Scratch::new();
        let file = folder.path().join("known_hosts");
        let known = |host| lookup(&file, host, 1).unwrap();
        until_no_step_is_left(
            || std::fs::write(&file, format!("# mine\nold:1 {}", fingerprint('a'))).unwrap(),
            || add(&file, "new", 1, fingerprint('b')).unwrap(),
            || {
                assert_eq!(known("old"), Some(fingerprint('a')));
                assert!(known("new").is_none_or(|found| found == fingerprint('b')));
            },
        );
        assert_eq!(known("new"), Some(fingerprint('b')));
        assert!(std::fs::read_to_string(&file).unwrap().starts_with("# mine\n"));
    }

    #[test]
    fn a_link_to_the_file_stays_a_link() {
        let folder = Scratch::new();
        let (file, link) = (folder.path().join("file"), folder.path().join("known_hosts"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        add(&link, "host", 1, fingerprint('a')).unwrap();
        assert!(link.is_symlink());
        assert_eq!(lookup(&file, "host", 1).unwrap(), Some(fingerprint('a')));
    }
}
