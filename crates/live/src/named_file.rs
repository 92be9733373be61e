//! Reads files that users name. A read ends, whatever kind of file it is.
//!
//! A FIFO, a terminal or another device may make a reader wait for ever, and opening a FIFO waits
//! for a writer. Neither wait handles signals.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// Time that the writer of a FIFO has for its next octets. Chosen: longer than a command behind
/// `<(…)` takes to start.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two calls of the closure that limits a wait. Chosen: a user notices no delay of
/// Ctrl-C.
const SLICE: Duration = Duration::from_millis(100);

/// Returns at most `most` octets of a file and one more, so that the caller recognises a longer
/// file, and an endless one is not read for ever.
///
/// # Errors
/// If the file cannot be read, or if it is not a regular file and yields nothing for five seconds.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_patiently(path, most, PATIENCE)
}

/// Like [`read`], but refuses all but regular files: others may yield something else when they are
/// read again.
///
/// # Errors
/// If it cannot be read, or is not a regular file.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let reader = Reader::open(path, |_| Ok(()))?;
    if reader.may_wait() {
        return Err(io::Error::other(format!("found {}, expected a regular file", reader.kind())));
    }
    octets_of(reader, most)
}

fn read_patiently(path: &Path, most: u64, patience: Duration) -> io::Result<Vec<u8>> {
    let limit = |waited| if waited < patience { Ok(()) } else { Err(ErrorKind::TimedOut.into()) };
    octets_of(Reader::open(path, limit)?, most)
}

/// A file that is open for reading. A closure limits the waits for octets of a FIFO or a device.
///
/// While no octets come, the reader calls the closure every 100 ms with the time waited so far. An
/// error of the closure ends the read. [`ErrorKind::TimedOut`] becomes an error that names the kind
/// of file.
pub struct Reader<F> {
    file: File,
    kind: FileType,
    limit: F,
}

impl<F> Reader<F> {
    /// Opens a file without waiting for the writer of a FIFO.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path, limit: F) -> io::Result<Self> {
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).map_err(io::Error::other)?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let kind = file.metadata()?.file_type();
        Ok(Self { file, kind, limit })
    }

    /// Returns `true` for all kinds of files whose octets may come later: all except regular files
    /// and folders.
    pub fn may_wait(&self) -> bool {
        !self.kind.is_file() && !self.kind.is_dir()
    }

    /// Returns the length of a regular file in octets.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn kind(&self) -> &'static str {
        if self.kind.is_fifo() {
            "a FIFO"
        } else if self.kind.is_char_device() {
            "a character device"
        } else if self.kind.is_block_device() {
            "a block device"
        } else {
            "a special file"
        }
    }
}

impl<F: FnMut(Duration) -> io::Result<()>> Reader<F> {
    /// Waits for octets or the end of the file.
    fn wait(&mut self) -> io::Result<()> {
        let timeout = Timespec::try_from(SLICE).map_err(io::Error::other)?;
        let mut waited = Duration::ZERO;
        while poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&timeout))? == 0 {
            waited += SLICE;
            (self.limit)(waited).map_err(|error| match error.kind() {
                ErrorKind::TimedOut => {
                    let silence = format!("found {} from which nothing comes, expected a file", self.kind());
                    io::Error::new(ErrorKind::TimedOut, silence)
                }
                _ => error,
            })?;
        }
        Ok(())
    }
}

impl<F: FnMut(Duration) -> io::Result<()>> Read for Reader<F> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        if !self.may_wait() {
            return self.file.read(octets);
        }
        loop {
            // A FIFO without a writer reads as if it were at its end, so call poll(2) first.
            self.wait()?;
            match self.file.read(octets) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }
}

/// Returns the octets up to one beyond the limit. For a folder, returns the system's error.
fn octets_of(file: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut octets)?;
    Ok(octets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::io::Write;
    use std::path::PathBuf;
    use std::time::Instant;

    const SOON: Duration = Duration::from_millis(200);

    struct Fifo(PathBuf);

    impl Fifo {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("acklab-{name}-{}", std::process::id()));
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            Self(path)
        }
    }

    impl Drop for Fifo {
        fn drop(&mut self) {
            _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_fifo_without_a_writer_is_given_up() {
        let fifo = Fifo::new("silent");
        let began = Instant::now();
        let error = read_patiently(&fifo.0, 100, SOON).unwrap_err();
        assert_eq!(error.to_string(), "found a FIFO from which nothing comes, expected a file");
        assert!(began.elapsed() < PATIENCE);
    }

    #[test]
    fn a_fifo_with_a_writer_is_read_to_its_end() {
        let fifo = Fifo::new("spoken");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut file = OpenOptions::new().write(true).open(&fifo.0).unwrap();
                for _ in 0..3 {
                    file.write_all(b"octets").unwrap();
                    std::thread::sleep(SOON / 10);
                }
            });
            assert_eq!(read(&fifo.0, 100).unwrap(), b"octets".repeat(3));
        });
    }

    #[test]
    fn the_error_of_the_closure_ends_a_wait() {
        let fifo = Fifo::new("stopped");
        let mut calls = 0;
        let limit = |waited| {
            calls += 1;
            if waited < 2 * SLICE { Ok(()) } else { Err(io::Error::other("stopped")) }
        };
        let error = Reader::open(&fifo.0, limit).unwrap().read(&mut [0]).unwrap_err();
        assert_eq!((error.to_string().as_str(), calls), ("stopped", 2));
    }

    #[test]
    fn only_a_regular_file_is_read_again() {
        let fifo = Fifo::new("again");
        for (path, what) in [(&*fifo.0, "a FIFO"), (Path::new("/dev/zero"), "a character device")] {
            let error = read_regular(path, 100).unwrap_err();
            assert_eq!(error.to_string(), format!("found {what}, expected a regular file"));
        }
        assert_eq!(read_regular(Path::new("/"), 100).unwrap_err().kind(), ErrorKind::IsADirectory);
    }

    #[test]
    fn an_endless_file_is_read_up_to_the_limit() {
        let octets = read(Path::new("/dev/zero"), 100).unwrap();
        assert!(octets.len() > 100, "one octet more than the limit shows that there are more");
        assert_eq!(read(Path::new("/dev/null"), 100).unwrap(), b"");
        assert_eq!(read(Path::new("/none"), 100).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
