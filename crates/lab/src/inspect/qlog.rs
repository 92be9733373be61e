//! Reads the log of an endpoint in qlog.

use super::{Inspected, Progress, Stop};
use acklab_inspect::qlog;
use std::cell::RefCell;
use std::io::{self, ErrorKind, Read};

/// The message for JSON that is not a log.
const NO_LOG: &str =
    "found a text with neither traces nor events, expected a log in qlog, or a capture as pcap or pcapng";
/// The share of the work for one of two readings of a text.
const PASS: f64 = 0.5;

/// Returns `true` if a text that begins with these bytes may be a log. A log is JSON, optionally
/// after a byte order mark or white space.
pub(super) fn begins_with(octets: &[u8]) -> bool {
    let octets = octets.strip_prefix(&qlog::BYTE_ORDER_MARK).unwrap_or(octets);
    matches!(octets.trim_ascii_start().first(), Some(&qlog::SEPARATOR | b'{' | b'['))
}

/// Reads all traces of a log, or only the trace with the number `only`. `open` returns the text
/// from its start.
pub(super) fn read<R: Read>(
    mut open: impl FnMut() -> io::Result<R>,
    only: Option<usize>,
    progress: &mut Progress<'_>,
) -> Result<Inspected, Stop> {
    let progress = RefCell::new(progress);
    let damage = RefCell::new(None);
    let mut before = 0.0;
    let open_watched = || {
        // If a log is read twice, each reading takes about the same time.
        let source = Watched { source: open()?, progress: &progress, before, damage: &damage };
        before = PASS;
        Ok(source)
    };
    let log = qlog::read(open_watched, only);
    let log = log.map_err(|error| match error {
        qlog::Error::NoTrace(0) => Stop::Refused(NO_LOG.to_owned()),
        qlog::Error::NoTrace(found) => {
            Stop::Refused(format!("trace: found {}, expected a number from 1 to {found}", only.unwrap_or_default()))
        }
        qlog::Error::Io(error) if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Stopped>) => {
            Stop::Requested
        }
        qlog::Error::Io(error) => Stop::Refused(format!("cannot read the log: {error}")),
    })?;
    if log.report.log.as_ref().is_none_or(|summary| summary.traces == 0) {
        return Err(Stop::Refused(NO_LOG.to_owned()));
    }
    if log.report.connections.iter().all(|connection| connection.directions.is_empty()) {
        return Err(Stop::Empty(contents(&log)));
    }
    let damage = damage.into_inner().map(|error| format!("the compressed log is not whole: {error}"));
    Ok(Inspected { report: log.report, cut: damage.or(log.cut) })
}

/// Describes a log without data.
fn contents(log: &qlog::Log) -> String {
    let Some(summary) = &log.report.log else { return String::new() };
    let [sent, received, _] = summary.packets;
    let version = summary.version.as_ref().map(|version| format!(" of version {version}")).unwrap_or_default();
    let mut found = format!(
        "a log{version} with {}, {}, {sent} packets sent and {received} received, none of them with data",
        counted(summary.traces as u64, "trace"),
        counted(summary.events, "event")
    );
    for further in summary.note.iter().chain(&log.cut) {
        found = format!("{found}; {further}");
    }
    format!("found {found}; expected packets with data of streams or datagrams")
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A source that reports the share that was read.
struct Watched<'p, 'w, R> {
    source: R,
    progress: &'p RefCell<&'p mut Progress<'w>>,
    /// The share of the work that was done before this reading.
    before: f64,
    /// The reason why the source ends early. `None` if the source is complete.
    damage: &'p RefCell<Option<io::Error>>,
}

/// The error if the watcher stops the reading.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct Stopped;

impl<R: Read> Read for Watched<'_, '_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = match self.source.read(to) {
            // The data that were decompressed before the damage are still read.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput
                ) =>
            {
                self.damage.replace(Some(error));
                0
            }
            read => read?,
        };
        let progress = self.progress.borrow();
        let share = self.before + PASS * progress.share();
        if progress.source.goes_on(share) { Ok(read) } else { Err(io::Error::other(Stopped)) }
    }
}
