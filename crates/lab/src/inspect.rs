//! Reads a capture, pcap or pcapng, and tells what its packets do. Files of any length are read in bounded memory.

mod qlog;

use crate::error::Error;
use acklab_base::Instant;
use acklab_inspect::{Inspector, LinkLayer, Options, Report};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::Block;
use pcap_file::pcapng::{PcapNgReadError, PcapNgReader};
use pcap_file::{DataLink, pcap::PcapReadError};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::time::Duration;

/// The first octets of a pcapng file: the type of a Section Header Block (draft-ietf-opsawg-pcapng, §4.1).
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The first octets of pcap files: microseconds and nanoseconds, in either order (draft-ietf-opsawg-pcap, §4).
const PCAP: [[u8; 4]; 4] =
    [[0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0xc3, 0xd4], [0x4d, 0x3c, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d]];
/// Octets read at a time. A block of pcapng must fit.
const BUFFER: usize = 1 << 23;
/// Packets between two calls of the watcher.
const WATCH_EVERY: u64 = 1 << 14;

/// What was read, and whether the file ended in the midst of a packet, as it does when a capture program is killed.
#[derive(Clone, Debug)]
pub struct Inspected {
    /// What the packets tell.
    pub report: Report,
    /// Why the rest of the file was not read, if it was not.
    pub cut: Option<String>,
}

/// Reads the capture at `path`, or a log: all of its traces, or the one with the number `trace` from 1. `watch` receives now and then the
/// share that is read, and returns whether to go on.
///
/// # Errors
/// If the file cannot be read, is no capture, has packets of no known link layer, or is a log without data or without this trace; and if
/// `watch` returns false.
pub fn inspect(path: &Path, trace: Option<usize>, mut watch: impl FnMut(f64) -> bool) -> Result<Inspected, Error> {
    let refused = |reason: String| Error::ReadCapture { path: path.to_owned(), reason };
    let cannot = |error: io::Error| refused(format!("cannot read the capture: {error}"));
    let mut file = File::open(path).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    let mut first = [0; 4];
    let present = fill(&mut file, &mut first).map_err(cannot)?;
    let mut whole = io::Cursor::new(first).take(present as u64).chain(BufReader::with_capacity(1 << 16, file));
    let mut progress = Progress { watch: &mut watch, length: metadata.len() as f64, packets: 0 };
    let read = if qlog::begins_with(&first[..present]) {
        if metadata.is_file() {
            qlog::read(|| File::open(path), trace, &mut progress)
        } else {
            // A log may be read twice, and a pipe can be read once.
            let mut text = Vec::new();
            whole.read_to_end(&mut text).map_err(cannot)?;
            qlog::read(|| Ok(text.as_slice()), trace, &mut progress)
        }
    } else if trace.is_some() {
        return Err(refused("trace: found a file that is no log, expected a log in qlog".to_owned()));
    } else if first == PCAPNG {
        read_pcapng(whole, &mut progress)
    } else if PCAP.contains(&first) {
        read_pcap(whole, &mut progress)
    } else {
        let found =
            if present == 0 { "an empty file".to_owned() } else { format!("a file that begins with {first:02x?}") };
        return Err(refused(format!("found {found}, expected a capture as pcap or pcapng, or a log in qlog")));
    };
    read.map_err(|stop| match stop {
        Stop::Asked => Error::Stopped,
        Stop::Refused(reason) => refused(reason),
        Stop::Empty(reason) => Error::EmptyLog { path: path.to_owned(), reason },
    })
}

fn fill(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    let mut present = 0;
    while present < to.len() {
        match from.read(&mut to[present..])? {
            0 => break,
            octets => present += octets,
        }
    }
    Ok(present)
}

enum Stop {
    Asked,
    Refused(String),
    /// A log without data.
    Empty(String),
}

struct Progress<'a> {
    watch: &'a mut dyn FnMut(f64) -> bool,
    length: f64,
    packets: u64,
}

impl Progress<'_> {
    #[inline]
    fn packet(&mut self, read: u64) -> Result<(), Stop> {
        self.packets += 1;
        if self.packets.is_multiple_of(WATCH_EVERY) && !(self.watch)((read as f64 / self.length).min(1.0)) {
            return Err(Stop::Asked);
        }
        Ok(())
    }
}

/// The instant of a packet. Clocks of captures count from 1970, and 64 bits of nanoseconds last to 2554.
fn instant(since: Duration) -> Instant {
    Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

fn layer_of(link_type: DataLink) -> Result<LinkLayer, Stop> {
    let number = u32::from(link_type);
    LinkLayer::of_link_type(number).ok_or_else(|| {
        Stop::Refused(format!(
            "found packets of link type {number} ({link_type:?}), expected Ethernet, IP, Linux cooked (1, 101, 113, 228, 229, 276) or loopback (0, 108)"
        ))
    })
}

fn read_pcap(file: impl Read, progress: &mut Progress<'_>) -> Result<Inspected, Stop> {
    let mut reader = PcapReader::with_capacity(file, BUFFER)
        .map_err(|error| Stop::Refused(format!("found no header of a pcap file: {error}, expected one")))?;
    let layer = layer_of(reader.header().datalink)?;
    let mut inspector = Inspector::new(Options::default());
    let mut octets = 24;
    let mut cut = None;
    while let Some(packet) = reader.next_packet() {
        match packet {
            Ok(packet) => {
                octets += 16 + u64::from(packet.len());
                inspector.frame(instant(packet.timestamp()), layer, packet.data(), packet.orig_len());
            }
            Err(error) => {
                let is_end = matches!(&error, PcapReadError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof);
                cut = Some(described(is_end, octets, &error));
                break;
            }
        }
        progress.packet(octets)?;
    }
    Ok(Inspected { report: inspector.finish(), cut })
}

fn read_pcapng(file: impl Read, progress: &mut Progress<'_>) -> Result<Inspected, Stop> {
    let mut reader = PcapNgReader::with_capacity(file, BUFFER)
        .map_err(|error| Stop::Refused(format!("found no section header of a pcapng file: {error}, expected one")))?;
    let mut inspector = Inspector::new(Options::default());
    let mut layers: Vec<Option<LinkLayer>> = Vec::new();
    let mut last = Instant::ZERO;
    let mut cut = None;
    loop {
        let octets = reader.bytes_parsed();
        let (block, _) = match reader.next_block() {
            None => break,
            Some(Ok(read)) => read,
            Some(Err(error)) => {
                let is_end =
                    matches!(&error, PcapNgReadError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof);
                cut = Some(described(is_end, octets, &error));
                break;
            }
        };
        match block {
            Block::SectionHeader(_) => layers.clear(),
            Block::InterfaceDescription(interface) => layers.push(layer_of(interface.linktype).ok()),
            Block::EnhancedPacket(packet) => {
                last = instant(packet.timestamp);
                if let Some(layer) = layers.get(packet.interface_id as usize).copied().flatten() {
                    inspector.frame(last, layer, &packet.data, packet.original_len);
                }
            }
            // A simple packet has no time of its own.
            Block::SimplePacket(packet) => {
                if let Some(layer) = layers.first().copied().flatten() {
                    inspector.frame(last, layer, &packet.data, packet.original_len);
                }
            }
            _ => {}
        }
        progress.packet(octets)?;
    }
    if let Some(link_type) = reader.interfaces().first().map(|interface| interface.linktype)
        && layers.iter().all(Option::is_none)
    {
        layer_of(link_type)?;
    }
    Ok(Inspected { report: inspector.finish(), cut })
}

fn described(is_end: bool, octets: u64, error: &dyn std::error::Error) -> String {
    if is_end {
        return format!("the file ends in the midst of a packet, at octet {octets}");
    }
    let mut reason = error.to_string();
    let mut inner = error.source();
    while let Some(cause) = inner {
        reason = format!("{reason}: {cause}");
        inner = cause.source();
    }
    format!("the file is damaged at octet {octets} ({reason}), and what follows is not read")
}
