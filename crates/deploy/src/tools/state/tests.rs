use super::*;
use crate::tools::files::{Scratch, until_no_step_is_left};
use std::fs;

/// Creates the files of a server, in the order of its first start.
fn start(folder: &Path) -> Result<(), ToolError> {
    identity(folder)?;
    reset_key(folder)?;
    token(folder)?;
    Ok(())
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[test]
fn a_first_start_that_ends_anywhere_is_followed_by_one_that_works() {
    let folder = Scratch::new();
    let state = folder.path().join("state");
    let (key, certificate) = (state.join(KEY), state.join(CERTIFICATE));
    let mut made = 0;
    let steps = until_no_step_is_left(
        || _ = fs::remove_dir_all(&state),
        || start(&state).unwrap(),
        || {
            let before = (text(&key), text(&certificate));
            start(&state).unwrap();
            // Existing files are kept, because clients may depend on them.
            for (before, path) in [(before.0, &key), (before.1, &certificate)] {
                made += u32::from(before.is_none());
                assert!(before.is_none_or(|before| Some(before) == text(path)));
            }
            let first = identity(&state).unwrap().fingerprint();
            assert_eq!(identity(&state).unwrap().fingerprint(), first);
        },
    );
    assert_eq!(steps, 4 * 5, "four files");
    assert!(made > 5, "some starts ended before the key or the certificate was there");
}

#[test]
fn empty_files_that_a_full_disk_has_left_count_as_none() {
    let folder = Scratch::new();
    for name in [KEY, RESET_KEY, TOKEN] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    start(folder.path()).unwrap();
    assert!(text(&folder.path().join(KEY)).unwrap().contains("PRIVATE KEY"));
}

#[test]
fn a_key_that_is_malformed_is_named_and_stays() {
    let folder = Scratch::new();
    let key = folder.path().join(KEY);
    fs::write(&key, "-----BEGIN PRIV").unwrap();
    let error = identity(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: ", key.display())), "{error}");
    assert!(error.ends_with("a new key is made if there is none"), "{error}");
    assert_eq!(text(&key).unwrap(), "-----BEGIN PRIV");
}

#[test]
fn a_certificate_without_its_key_is_not_replaced() {
    let folder = Scratch::new();
    identity(folder.path()).unwrap();
    fs::remove_file(folder.path().join(KEY)).unwrap();
    let error = identity(folder.path()).unwrap_err().to_string();
    assert!(error.contains("key.pem: no such file, expected the key of certificate.pem"), "{error}");
}

#[test]
fn processes_that_start_at_once_have_the_same_key() {
    let folder = Scratch::new();
    let found: Vec<_> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| identity(folder.path()).unwrap().fingerprint())).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert!(found.iter().all(|fingerprint| *fingerprint == found[0]), "{found:?}");
}
