//! The committed inputs of a fuzz target. The tests run them again.

use std::path::Path;

/// Calls `body` with each input in `fuzz/seeds/TARGET`. Former findings have names there. The other
/// inputs are named by their digest.
///
/// # Panics
/// If there are none.
#[allow(clippy::disallowed_methods, reason = "the seeds are files, which only pure crates may not read")]
pub(crate) fn replay(target: &str, body: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder that can be read").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        println!("{}", file.display());
        body(&std::fs::read(&file).expect("a file that can be read"));
    }
}
