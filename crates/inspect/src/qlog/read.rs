//! Recognises the form of a text, and reads its parts in order.

use super::contained::{self, Sink};
use super::header::Header;
use super::log::Reader;
use super::records::{Record, Records};
use crate::report::Report;
use serde::de::DeserializeSeed;
use serde_json::value::RawValue;
use std::io::{self, BufRead, BufReader, Read};

/// The separator of JSON-SEQ (RFC 7464, §2.2).
pub const SEPARATOR: u8 = 0x1e;
/// The mark with which some editors begin a text in UTF-8 (RFC 8259, §8.1, permits ignoring it).
pub const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
/// Octets that are read at a time.
const BUFFER: usize = 1 << 16;
/// The name under which records that are not JSON are counted.
const MALFORMED: &str = "(no JSON)";
/// The name under which events without a name are counted.
const NAMELESS: &str = "(no name)";

/// A log that was read.
#[derive(Debug)]
pub struct Log {
    /// The report of the log.
    pub report: Report,
    /// The reason why the rest of the text was not read, if any.
    pub cut: Option<String>,
}

/// The reasons why a log cannot be read.
#[derive(Debug)]
pub enum Error {
    /// The text cannot be read.
    Io(io::Error),
    /// The requested trace does not exist. The log has this number of traces.
    NoTrace(usize),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a log of any form: all of its traces, or the trace with the number `only` from 1. `open`
/// returns the text from its start.
///
/// A contained log is read twice, because the fields that describe its events may follow them.
///
/// # Errors
/// If the text cannot be read, or has no such trace.
pub fn read<R: Read>(mut open: impl FnMut() -> io::Result<R>, only: Option<usize>) -> Result<Log, Error> {
    let mut start = || {
        let mut text = BufReader::with_capacity(BUFFER, open()?);
        io::Result::Ok((first_octet(&mut text)?, text))
    };
    let mut reader = Reader::new(only);
    let (first, text) = start()?;
    let cut = if first == Some(SEPARATOR) {
        by_record(text, SEPARATOR, &mut reader)?
    } else {
        let mut outline = Outline::default();
        // A text that ends early has the headers of the part that is present.
        of_json(outline.read(&mut serde_json::Deserializer::from_reader(text)))?;
        let (_, text) = start()?;
        if outline.is_contained {
            let mut events = AllEvents { headers: outline.headers().into_iter(), reader: &mut reader };
            of_json(events.read(&mut serde_json::Deserializer::from_reader(text)))?
        } else {
            by_record(text, b'\n', &mut reader)?
        }
    };
    let found = reader.traces();
    if only.is_some_and(|only| !(1..=found).contains(&only)) {
        return Err(Error::NoTrace(found));
    }
    Ok(Log { report: reader.finish(), cut })
}

/// Separates errors of the source from those of the text. Returns the description of the latter.
fn of_json(read: serde_json::Result<()>) -> io::Result<Option<String>> {
    match read {
        Ok(()) => Ok(None),
        Err(error) if error.is_io() => Err(error.into()),
        Err(error) => Ok(Some(described(&error))),
    }
}

/// Skips white space and a byte order mark, and returns the octet after them without consuming it.
fn first_octet(text: &mut impl BufRead) -> io::Result<Option<u8>> {
    if text.fill_buf()?.starts_with(&BYTE_ORDER_MARK) {
        text.consume(BYTE_ORDER_MARK.len());
    }
    loop {
        let available = text.fill_buf()?;
        let Some(first) = available.first() else { return Ok(None) };
        match available.iter().position(|octet| !octet.is_ascii_whitespace()) {
            Some(0) => return Ok(Some(*first)),
            Some(place) => text.consume(place),
            None => {
                let length = available.len();
                text.consume(length);
            }
        }
    }
}

/// Describes the end of an incomplete contained log.
fn described(error: &serde_json::Error) -> String {
    if error.is_eof() {
        format!("the log ends in the midst of an event, at line {}, column {}", error.line(), error.column())
    } else {
        format!("the log is damaged ({error}), and what follows is not read")
    }
}

/// The headers of the traces of contained logs.
#[derive(Debug, Default)]
struct Outline {
    file: Header,
    /// The traces of the current file.
    traces: Vec<Header>,
    /// The traces of previous files.
    before: Vec<Header>,
    is_contained: bool,
    /// `true` if a field is one of a file.
    is_file: bool,
}

impl Outline {
    /// Reads the first value of a text. Also reads the values after it if it is a contained log,
    /// because files may have been joined.
    fn read<'de>(
        &mut self,
        parser: &mut serde_json::Deserializer<impl serde_json::de::Read<'de>>,
    ) -> serde_json::Result<()> {
        loop {
            contained::Log(self).deserialize(&mut *parser)?;
            if !self.is_contained || parser.end().is_ok() {
                return Ok(());
            }
            self.before = std::mem::take(self).headers();
            self.is_contained = true;
        }
    }

    /// Returns the headers of all traces, at least one header.
    fn headers(self) -> Vec<Header> {
        let mut headers = self.before;
        if self.traces.is_empty() && headers.is_empty() {
            headers.push(self.file);
        } else {
            headers.extend(self.traces.into_iter().map(|trace| trace.within(&self.file)));
        }
        headers
    }
}

impl Sink for Outline {
    const READS_EVENTS: bool = false;

    fn traces(&mut self) {
        self.is_contained = true;
    }

    fn trace(&mut self) {
        self.is_file = true;
        self.traces.push(Header::default());
    }

    fn events(&mut self) {
        self.is_contained = true;
    }

    fn field(&mut self, is_of_trace: bool, name: &str, value: &RawValue) {
        self.is_file |= ["qlog_version", "qlog_format", "file_schema", "serialization_format"].contains(&name);
        let trace = self.traces.last_mut().filter(|_| is_of_trace);
        trace.unwrap_or(&mut self.file).set(name, value);
    }

    fn event(&mut self, _: &str) {}
}

/// The events of contained logs, whose traces have these headers.
struct AllEvents<'r> {
    headers: std::vec::IntoIter<Header>,
    reader: &'r mut Reader,
}

impl AllEvents<'_> {
    fn read<'de>(
        &mut self,
        parser: &mut serde_json::Deserializer<impl serde_json::de::Read<'de>>,
    ) -> serde_json::Result<()> {
        loop {
            contained::Log(self).deserialize(&mut *parser)?;
            if parser.end().is_ok() {
                return Ok(());
            }
        }
    }
}

impl Sink for AllEvents<'_> {
    const READS_EVENTS: bool = true;

    fn trace(&mut self) {
        self.reader.begin(self.headers.next().unwrap_or_default());
    }

    fn field(&mut self, _: bool, _: &str, _: &RawValue) {}

    fn event(&mut self, text: &str) {
        match self.reader.event(text) {
            Ok(true) => {}
            Ok(false) => self.reader.not_understood(NAMELESS),
            Err(_) => self.reader.not_understood(MALFORMED),
        }
    }
}

/// Reads a log record by record. Returns the reason why the last record was not read, if any.
fn by_record(text: impl BufRead, separator: u8, reader: &mut Reader) -> io::Result<Option<String>> {
    let mut records = Records::new(text, separator);
    let mut damage = None;
    let mut count = 0_u64;
    while let Some(record) = records.next()? {
        count += 1;
        if damage.take().is_some() {
            // Another record follows, so the log was not cut off here.
            reader.not_understood(MALFORMED);
        }
        match record {
            Record::TooLong => reader.not_understood(MALFORMED),
            Record::Text(text) => damage = self::record(text, reader).err(),
        }
    }
    Ok(damage.map(|error| {
        if error.is_eof() {
            format!("the log ends in the midst of its record {count}")
        } else {
            format!("the last record of the log, number {count}, is damaged ({error})")
        }
    }))
}

/// Reads an event, the header of a trace, or a contained log.
fn record(text: &[u8], reader: &mut Reader) -> serde_json::Result<()> {
    let text = std::str::from_utf8(text).map_err(serde::de::Error::custom)?;
    if reader.event(text)? {
        return Ok(());
    }
    if !text.starts_with('{') {
        reader.not_understood(NAMELESS);
        return Ok(());
    }
    let mut outline = Outline::default();
    outline.read(&mut serde_json::Deserializer::from_str(text))?;
    if outline.is_contained {
        let mut events = AllEvents { headers: outline.headers().into_iter(), reader };
        return events.read(&mut serde_json::Deserializer::from_str(text));
    }
    if outline.is_file {
        outline.headers().into_iter().for_each(|header| reader.begin(header));
    } else {
        reader.not_understood(NAMELESS);
    }
    Ok(())
}
