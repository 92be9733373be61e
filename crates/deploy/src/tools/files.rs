//! Files of the tools. Each appears under its name only when it is complete, and survives a loss of
//! power.
//!
//! A file is written under a hidden name in the same folder, synced to the disk and renamed. The
//! folder is synced too, because fsync(2) of a file does not cover its directory entry. A process
//! that is killed at any step leaves the earlier file and at most one hidden file. The next writer
//! removes the hidden file.

use acklab_live::named_file;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The permissions of a file that only its owner can read and write.
const PRIVATE_FILE: u32 = 0o600;
/// The maximum size in bytes of a file that is read. Chosen: a file of all certificate authorities
/// has 200 kB.
const LARGEST: u64 = 1 << 26;
/// The suffix of hidden names.
const TEMPORARY: &str = ".acklab-tmp";

/// The lock on the files of a folder. One process at a time can hold it. The system releases the
/// lock if the process is killed.
#[must_use]
pub(super) struct Folder {
    path: PathBuf,
    /// The file whose descriptor holds the lock.
    file: File,
}

impl Folder {
    /// Removes files that killed processes have left in the folder.
    pub(super) fn lock(folder: &Path) -> io::Result<Self> {
        let file = File::open(folder)?;
        // Some file systems have no locks. There, if two processes write a file, the last one
        // replaces it with a complete file.
        _ = flock(&file, FlockOperation::LockExclusive);
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let is_temporary = entry.file_name().to_string_lossy().ends_with(TEMPORARY);
            if is_temporary && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Self { path: folder.to_owned(), file })
    }

    /// Returns the path of a file in the folder.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file with these bytes. Replaces an existing file.
    pub(super) fn write(&self, name: &str, octets: &[u8]) -> io::Result<()> {
        let temporary = self.join(&format!(".{name}{TEMPORARY}"));
        let written = self.put(&temporary, &self.join(name), octets);
        if written.is_err() {
            _ = fs::remove_file(&temporary);
        }
        written
    }

    fn put(&self, temporary: &Path, path: &Path, octets: &[u8]) -> io::Result<()> {
        step();
        let mut file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(temporary)?;
        step();
        file.write_all(octets)?;
        step();
        file.sync_all()?;
        step();
        fs::rename(temporary, path)?;
        step();
        match self.file.sync_all() {
            // Some file systems cannot sync folders.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
            synced => synced,
        }
    }
}

/// Returns the content of a file. Returns `None` if the file is missing or empty. Earlier versions
/// wrote empty files when the disk was full.
pub(super) fn kept(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match named_file::read(path, LARGEST) {
        Ok(octets) => Ok(Some(octets).filter(|octets| !octets.is_empty())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Marks a step between two changes of the disk, at which tests end the writer.
#[cfg(not(test))]
fn step() {}

#[cfg(test)]
pub(super) use tests::{Scratch, step, until_no_step_is_left};

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::atomic::{AtomicU32, Ordering};

    thread_local! {
        /// The number of steps until the writer ends, if a test ends it.
        static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// The payload of the panic with which a test ends a writer. No code of the writer runs
    /// afterwards, as if the process had been killed.
    struct Killed;

    pub(crate) fn step() {
        match LEFT.get() {
            Some(0) => resume_unwind(Box::new(Killed)),
            left => LEFT.set(left.map(|left| left - 1)),
        }
    }

    /// Calls `work` and ends it at its first step, then at its second, and so on, until it ends by
    /// itself. Calls `fresh` before each round and `look` after it. Returns the number of steps.
    pub(crate) fn until_no_step_is_left(
        mut fresh: impl FnMut(),
        mut work: impl FnMut(),
        mut look: impl FnMut(),
    ) -> u32 {
        for steps in 0.. {
            fresh();
            LEFT.set(Some(steps));
            let done = catch_unwind(AssertUnwindSafe(&mut work));
            LEFT.set(None);
            look();
            match done {
                Ok(()) => return steps,
                Err(killed) if killed.is::<Killed>() => {}
                Err(panic) => resume_unwind(panic),
            }
        }
        unreachable!("work ends")
    }

    /// A folder that is removed after the test.
    pub(crate) struct Scratch(PathBuf);

    impl Scratch {
        pub(crate) fn new() -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("acklab-{}-{number}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_the_old_one_or_the_new_one_wherever_its_writer_ends() {
        let folder = Scratch::new();
        let path = folder.path().join("file");
        let steps = until_no_step_is_left(
            || fs::write(&path, "old").unwrap(),
            || Folder::lock(folder.path()).unwrap().write("file", b"new").unwrap(),
            || assert!(matches!(&*fs::read(&path).unwrap(), b"old" | b"new")),
        );
        assert_eq!(steps, 5, "open, write, force to the disk, rename, force the folder to the disk");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["file"], "the next writer has removed what was left");
    }

    #[test]
    fn a_writer_waits_for_another() {
        let folder = Scratch::new();
        let first = Folder::lock(folder.path()).unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| Folder::lock(folder.path()).unwrap().write("file", b"second").unwrap());
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!second.is_finished());
            first.write("file", b"first").unwrap();
            drop(first);
        });
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"second");
    }

    #[test]
    fn a_write_that_fails_leaves_the_file_and_nothing_beside_it() {
        let folder = Scratch::new();
        let writer = Folder::lock(folder.path()).unwrap();
        // A folder blocks the rename.
        fs::create_dir(folder.path().join("file")).unwrap();
        fs::write(folder.path().join("file/in"), "in").unwrap();
        assert!(writer.write("file", b"new").is_err());
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn only_the_owner_reads_a_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Scratch::new();
        Folder::lock(folder.path()).unwrap().write("file", b"secret").unwrap();
        assert_eq!(fs::metadata(folder.path().join("file")).unwrap().permissions().mode() & 0o777, PRIVATE_FILE);
    }
}
