//! Stamps the extension with the revision of the checkout from which it is built.

use std::path::Path;
use std::process::Command;

/// Returns the trimmed output of `git` with `arguments`. Returns `None` outside of a checkout or
/// without git.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    // A change in any crate can make the checkout dirty, and a commit makes it clean.
    println!("cargo:rerun-if-changed=..");
    println!("cargo:rerun-if-changed=../../Cargo.lock");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo:rerun-if-changed={log}");
    }
    let revision = git(&["describe", "--always", "--abbrev=12", "--exclude=*"]).map_or_else(
        || "unknown".to_owned(),
        |commit| {
            // Only changes of the extension's sources are relevant. For example, an edited README
            // does not change results.
            let changes = git(&["status", "--porcelain", "--", "..", "../../Cargo.toml", "../../Cargo.lock"]);
            if changes.is_none_or(|text| text.is_empty()) { commit } else { format!("{commit}-dirty") }
        },
    );
    println!("cargo:rustc-env=ACKLAB_REVISION={revision}");
}
