//! Files that people name: reading them ends, whatever they are.
//!
//! A FIFO, a terminal or another device may keep a reader waiting for ever, and opening a FIFO waits for a writer. Neither looks for signals.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// Time that the writer of a FIFO has for its next octets. Chosen: longer than a command behind `<(…)` takes to start.
const PATIENCE: Duration = Duration::from_secs(5);

/// The octets of a file, `most` of them plus one at most: a longer file is seen, and an endless one is not read for ever.
///
/// # Errors
/// If it cannot be read, or is no regular file and nothing comes from it for five seconds.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_patiently(path, most, PATIENCE)
}

/// Like [`read`], but refuses all but regular files: others may yield something else when they are read again.
///
/// # Errors
/// If it cannot be read, or is no regular file.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, kind) = open(path)?;
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other(format!("found {}, expected a regular file", named(kind))));
    }
    octets_of(file, most)
}

fn read_patiently(path: &Path, most: u64, patience: Duration) -> io::Result<Vec<u8>> {
    let (mut file, kind) = open(path)?;
    if kind.is_file() || kind.is_dir() {
        return octets_of(file, most);
    }
    let (mut octets, mut part) = (Vec::new(), vec![0; 1 << 16]);
    let timeout = Timespec::try_from(patience).map_err(io::Error::other)?;
    while octets.len() as u64 <= most {
        if poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&timeout))? == 0 {
            let silence = format!("found {} from which nothing comes, expected a file", named(kind));
            return Err(io::Error::new(ErrorKind::TimedOut, silence));
        }
        match file.read(&mut part) {
            Ok(0) => break,
            Ok(length) => octets.extend_from_slice(&part[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(octets)
}

fn open(path: &Path) -> io::Result<(File, FileType)> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    Ok((file, kind))
}

/// A folder is an error here, in the words of the system.
fn octets_of(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut octets)?;
    Ok(octets)
}

fn named(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_char_device() {
        "a character device"
    } else if kind.is_block_device() {
        "a block device"
    } else {
        "a special file"
    }
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
