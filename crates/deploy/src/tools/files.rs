//! Files that the tools keep: each appears under its name when it is whole, and is there after a
//! loss of power.
//!
//! A file is written under a hidden name beside its place, forced to the disk and renamed. The
//! folder, which holds the name, is forced to the disk too: fsync(2) of a file does not cover the
//! entry in its folder. A process that is killed at any step leaves the earlier file, and at most a
//! hidden one, which the next writer removes.

use acklab_live::named_file;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Only the owner reads and writes.
const PRIVATE_FILE: u32 = 0o600;
/// The largest file that is read, in octets. Chosen: certificates of all authorities have 200 kB.
const LARGEST: u64 = 1 << 26;
/// The end of hidden names.
const TEMPORARY: &str = ".acklab-tmp";

/// The right to write to the files of a folder, which one process has at a time. The system frees
/// it if the process is killed.
#[must_use]
pub(super) struct Folder {
    path: PathBuf,
    /// The lock is that of its descriptor.
    file: File,
}

impl Folder {
    /// Waits until no other process writes to `folder`. Removes what killed processes have left
    /// there.
    pub(super) fn lock(folder: &Path) -> io::Result<Self> {
        let file = File::open(folder)?;
        // A file system without locks has none: then the last of two writers wins, with a whole
        // file.
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

    /// Puts a file with these octets in the place of the one that is there, if any.
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
            // Some file systems have no such operation for folders.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
            synced => synced,
        }
    }
}

/// Returns the content of a file; `None` if there is none, or an empty one: versions without this
/// module left that when the disk was full.
pub(super) fn kept(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match named_file::read(path, LARGEST) {
        Ok(octets) => Ok(Some(octets).filter(|octets| !octets.is_empty())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Marks a place between two changes of the disk, at which tests end the writer.
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
        /// The number of steps until the writer ends, if it is to end.
        static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// The payload with which a writer unwinds: none of its code runs any more, as if the process
    /// had been killed.
    struct Killed;

    pub(crate) fn step() {
        match LEFT.get() {
            Some(0) => resume_unwind(Box::new(Killed)),
            left => LEFT.set(left.map(|left| left - 1)),
        }
    }

    /// Calls `work` and ends it at its first step, at its second, and so on, until it ends by
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

    /// A folder that goes with the test.
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
        // A folder is in the way of the renaming.
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
