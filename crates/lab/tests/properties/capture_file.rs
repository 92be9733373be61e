//! Properties of the reader of captures and logs, which hold for any octets. The tests of this
//! crate and the fuzz target `capture_file` share them.

use acklab_lab::inspect::inspect;
use std::thread;

/// Checks that any file is reported, or is refused in one line that names it.
///
/// # Panics
/// If it does not hold, or if the file cannot be written.
pub(crate) fn any_file_is_reported_or_refused(octets: &[u8]) {
    let name = format!("acklab-capture-{}-{:?}", std::process::id(), thread::current().id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, octets).expect("room for a file");
    let inspected = inspect(&path, None, |share| {
        assert!((0.0..=1.0).contains(&share), "{share}");
        true
    });
    std::fs::remove_file(&path).expect("it was written");
    match inspected {
        Ok(inspected) => {
            serde_json::to_string(&inspected.report).expect("a report is JSON");
            let cut = inspected.cut.unwrap_or_default();
            assert!(!cut.contains(char::is_control), "{cut:?}");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with(&path.display().to_string()), "{message:?}");
            assert!(!message.contains(char::is_control), "{message:?}");
        }
    }
}
