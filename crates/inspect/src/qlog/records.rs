//! JSON texts between separators.

use std::io::{self, BufRead};

/// The maximum size of a record; larger ones are skipped. Chosen: the largest events of public logs
/// have about 100 kB.
const MAX_RECORD: usize = 1 << 26;

/// A record of a log.
#[derive(Debug)]
pub(super) enum Record<'a> {
    Text(&'a [u8]),
    TooLong,
}

/// The records of a text. Empty ones are skipped.
#[derive(Debug)]
pub(super) struct Records<R> {
    source: R,
    separator: u8,
    record: Vec<u8>,
}

impl<R: BufRead> Records<R> {
    pub(super) const fn new(source: R, separator: u8) -> Self {
        Self { source, separator, record: Vec::new() }
    }

    /// Returns the next record, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        loop {
            self.record.clear();
            let mut is_end = true;
            let mut length = 0;
            loop {
                let available = self.source.fill_buf()?;
                if available.is_empty() {
                    break;
                }
                is_end = false;
                let end = available.iter().position(|octet| *octet == self.separator);
                let taken = end.map_or(available.len(), |end| end + 1);
                let kept = &available[..end.unwrap_or(taken)];
                length += kept.len();
                if length <= MAX_RECORD {
                    self.record.extend_from_slice(kept);
                }
                self.source.consume(taken);
                if end.is_some() {
                    break;
                }
            }
            if is_end {
                return Ok(None);
            }
            if length > MAX_RECORD {
                return Ok(Some(Record::TooLong));
            }
            if !self.record.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some(Record::Text(self.record.trim_ascii())))
    }
}
