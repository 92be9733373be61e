//! The file of a log: JSON text sequences (RFC 7464), written during the run.

use super::Error;
use super::schema::{Kind, Schema, TraceInfo};
use acklab_base::Instant;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Octets before each record (RFC 7464, §2.2).
const RECORD_SEPARATOR: &[u8] = b"\x1e";
/// Size of the write buffer in octets.
const BUFFER: usize = 1 << 16;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    header: Value,
    /// The open file, after the first event.
    writer: Option<BufWriter<File>>,
    pub(super) schema: Schema,
    /// The first failure. Afterwards, nothing is written.
    failed: Option<Error>,
}

impl LogFile {
    /// Creates a log at `path`. The file is created or replaced with the first event.
    pub(super) fn new(path: PathBuf, schema: Schema, info: &TraceInfo<'_>) -> Self {
        Self { path, header: schema.header(info), writer: None, schema, failed: None }
    }

    /// Writes an event.
    pub(super) fn event(&mut self, at: Instant, kind: Kind, data: &Value) {
        let record = json!({ "time": ms(at.as_nanos()), "name": self.schema.event(kind), "data": data });
        if self.failed.is_none()
            && let Err(error) = self.record(&record)
        {
            self.failed = Some(error);
        }
    }

    fn record(&mut self, record: &Value) -> Result<(), Error> {
        let path = &self.path;
        let write_error = |source| Error::Write { path: path.clone(), source };
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let file = File::create(path).map_err(|source| Error::Create { path: path.clone(), source })?;
                let writer = none.insert(BufWriter::with_capacity(BUFFER, file));
                write(writer, &self.header).map_err(write_error)?;
                writer
            }
        };
        write(writer, record).map_err(write_error)
    }

    /// Returns the first failure as an error.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Writes all buffered records.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        self.check()?;
        let flushed = self.writer.as_mut().map_or(Ok(()), Write::flush);
        flushed.map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}

fn write(writer: &mut impl Write, record: &Value) -> io::Result<()> {
    writer.write_all(RECORD_SEPARATOR)?;
    serde_json::to_writer(&mut *writer, record)?;
    writer.write_all(b"\n")
}

/// Converts nanoseconds to milliseconds, the unit of times in qlog.
pub(super) fn ms(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}
