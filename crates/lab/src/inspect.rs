//! Reads a capture, pcap or pcapng, or a log in qlog, and analyses its packets. Files of any length
//! are read in bounded memory.
//!
//! | module | reads |
//! |---|---|
//! | `compressed` | decompresses files of gzip or zstd |
//! | `pcap` | pcap |
//! | `pcapng` | pcapng |
//! | `qlog` | the log of an endpoint |
//! | `snoop` | snoop |

mod compressed;
mod pcap;
mod pcapng;
mod qlog;
mod snoop;

use crate::error::Error;
use acklab_inspect::Report;
use acklab_live::named_file::{self, PATIENCE};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

/// The first octets of a pcapng file: the type of a Section Header Block (draft-ietf-opsawg-pcapng,
/// §4.1).
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Packets between two calls of the watcher.
const WATCH_EVERY: u64 = 1 << 14;

/// The content of a file. Also states whether the file ends within a packet, as it does when a
/// capture program is killed.
#[derive(Clone, Debug)]
pub struct Inspected {
    /// The results from the packets.
    pub report: Report,
    /// The reason why the rest of the file was not read. `None` if the whole file was read.
    pub cut: Option<String>,
}

/// Reads the capture or the log at `path`. Of a log, reads all traces, or only the trace with the
/// number `trace` (from 1). `watch` receives the share of the file that was read, and returns
/// `true` to continue.
///
/// # Errors
/// If the file cannot be read, is not a capture, or is a log without data or without this trace; or
/// if `watch` returns `false`.
pub fn inspect(path: &Path, trace: Option<usize>, mut watch: impl FnMut(f64) -> bool) -> Result<Inspected, Error> {
    let refused = |reason: String| Error::ReadCapture { path: path.to_owned(), reason };
    let source = Source { path, read: Cell::new(0), stopped: Cell::new(false), watch: RefCell::new(&mut watch) };
    let inspected = read(&source, trace);
    if source.stopped.get() {
        return Err(Error::Stopped);
    }
    inspected.map_err(|stop| match stop {
        Stop::Requested => Error::Stopped,
        Stop::Refused(reason) => refused(reason),
        Stop::Empty(reason) => Error::EmptyLog { path: path.to_owned(), reason },
    })
}

fn read<'a>(source: &'a Source<'a>, trace: Option<usize>) -> Result<Inspected, Stop> {
    let refused = |reason: String| Stop::Refused(reason);
    let cannot = |error: io::Error| refused(format!("cannot read the capture: {error}"));
    let file = source.open().map_err(cannot)?;
    let is_readable_again = !file.may_wait();
    let mut progress = Progress { source, length: file.length().map_err(cannot)? as f64, packets: 0 };
    let mut octets = opened(file, &source.read).map_err(cannot)?;
    let (first, present) = first_octets(&mut octets).map_err(cannot)?;
    let mut whole = BufReader::with_capacity(1 << 16, io::Cursor::new(first).take(present as u64).chain(octets));
    if qlog::begins_with(&first[..present]) {
        if is_readable_again {
            let again = || {
                source.read.set(0);
                opened(source.open()?, &source.read)
            };
            qlog::read(again, trace, &mut progress)
        } else {
            // A log may be read twice, but a pipe can be read only once.
            let mut text = Vec::new();
            whole.read_to_end(&mut text).map_err(cannot)?;
            qlog::read(|| Ok(text.as_slice()), trace, &mut progress)
        }
    } else if trace.is_some() {
        Err(refused("trace: found a file that is no log, expected a log in qlog".to_owned()))
    } else if first == PCAPNG {
        pcapng::read(whole, &mut progress)
    } else if let Some(format) = pcap::Format::of(first) {
        pcap::read(whole, format, &mut progress)
    } else if first == snoop::MAGIC {
        snoop::read(whole, &mut progress)
    } else {
        let found = match compressed::unsupported(&first) {
            _ if present == 0 => "an empty file".to_owned(),
            Some(program) => format!("a file that {program} compressed"),
            None => format!("a file that begins with {first:02x?}"),
        };
        Err(refused(format!("found {found}, expected a capture as pcap or pcapng, or a log in qlog")))
    }
}

/// A file, and the callback that watches the reading.
struct Source<'a> {
    path: &'a Path,
    /// The number of bytes read from the file.
    read: Cell<u64>,
    /// `true` if the watcher has stopped the reading.
    stopped: Cell<bool>,
    watch: RefCell<&'a mut dyn FnMut(f64) -> bool>,
}

impl Source<'_> {
    /// Opens the file. The first bytes of a FIFO must arrive within [`PATIENCE`]. Afterwards, there
    /// is no timeout: a capturing program may be silent until the watcher stops the reading.
    fn open(&self) -> io::Result<named_file::Reader<impl FnMut(Duration) -> io::Result<()>>> {
        named_file::Reader::open(self.path, |waited| {
            if self.read.get() == 0 && waited >= PATIENCE {
                Err(io::ErrorKind::TimedOut.into())
            } else if self.goes_on(0.0) {
                Ok(())
            } else {
                Err(io::Error::other("stopped"))
            }
        })
    }

    /// Reports the share that was read to the watcher. Returns `true` if the reading continues.
    fn goes_on(&self, share: f64) -> bool {
        let goes_on = (self.watch.borrow_mut())(share);
        self.stopped.set(self.stopped.get() || !goes_on);
        goes_on
    }
}

/// A file, and the number of bytes read from it.
struct Counted<'a, R> {
    file: R,
    read: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(octets)?;
        self.read.set(self.read.get() + count as u64);
        Ok(count)
    }
}

/// Returns the bytes of a file, decompressed.
fn opened<'a>(file: impl Read + 'a, read: &'a Cell<u64>) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut file = Counted { file, read };
    let (first, present) = first_octets(&mut file)?;
    Ok(compressed::open(&first[..present], file))
}

/// Returns the first bytes of a file, and their number.
fn first_octets(from: &mut impl Read) -> io::Result<([u8; 4], usize)> {
    let mut first = [0; 4];
    let present = fill(from, &mut first)?;
    Ok((first, present))
}

/// Reads bytes until `to` is full or the file ends, and returns their number.
fn fill(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    let mut present = 0;
    while present < to.len() {
        match from.read(&mut to[present..]) {
            Ok(0) => break,
            Ok(octets) => present += octets,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(present)
}

/// Skips `count` bytes.
fn skip(from: &mut impl Read, count: u64) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let skipped = io::copy(&mut from.take(count), &mut io::sink())?;
    if skipped < count { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// Removes the FCS from a frame of `length` bytes, of which `octets` may be only the first. Returns
/// the remaining bytes and length.
fn without_fcs(octets: &[u8], length: u32, fcs: u32) -> (&[u8], u32) {
    let length = length.max(octets.len() as u32).saturating_sub(fcs);
    (&octets[..octets.len().min(length as usize)], length)
}

enum Stop {
    Requested,
    Refused(String),
    /// A log without data.
    Empty(String),
}

struct Progress<'a> {
    source: &'a Source<'a>,
    /// The length of the file in bytes.
    length: f64,
    packets: u64,
}

impl Progress<'_> {
    /// Counts a packet or a block.
    #[inline]
    fn packet(&mut self) -> Result<(), Stop> {
        self.packets += 1;
        if self.packets.is_multiple_of(WATCH_EVERY) {
            let share = self.share();
            return if self.source.goes_on(share) { Ok(()) } else { Err(Stop::Requested) };
        }
        Ok(())
    }

    /// Returns the share of the file that was read.
    fn share(&self) -> f64 {
        (self.source.read.get() as f64 / self.length).min(1.0)
    }
}

fn ends_at(octets: u64) -> String {
    format!("the file ends in the midst of a packet, at octet {octets}")
}

fn damaged_at(octets: u64, reason: &dyn fmt::Display) -> String {
    format!("the file is damaged at octet {octets} ({reason}), and what follows is not read")
}
