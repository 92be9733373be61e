//! Reads a file of Solaris' snoop (RFC 1761).

use super::pcap::MAX_RECORD;
use super::{Inspected, Progress, Stop, damaged_at, ends_at, fill, skip};
use acklab_base::Instant;
use acklab_inspect::{Inspector, LinkType, Options};
use std::io::{self, Read};

/// The first bytes of a file.
pub(super) const MAGIC: [u8; 4] = *b"snoo";
const FILE_HEADER: usize = 16;
const RECORD_HEADER: usize = 24;

pub(super) fn read(mut file: impl Read, progress: &mut Progress<'_>) -> Result<Inspected, Stop> {
    let mut header = [0; FILE_HEADER];
    let present =
        fill(&mut file, &mut header).map_err(|error| Stop::Refused(format!("cannot read the capture: {error}")))?;
    if present < FILE_HEADER {
        return Err(Stop::Refused(format!("found {present} octets of the header of a snoop file, expected 16")));
    }
    let [.., datalink] = numbers::<FILE_HEADER, 4>(&header);
    let link_type = link_type(datalink);
    let mut inspector = Inspector::new(Options::default());
    let (mut octets, mut frame) = (FILE_HEADER as u64, Vec::new());
    let cut = loop {
        match record(&mut file, octets, &mut frame) {
            Ok(None) => break None,
            Ok(Some((at, length, read))) => {
                octets += read;
                inspector.frame(at, link_type, &frame, length);
            }
            Err(reason) => break Some(reason),
        }
        progress.packet()?;
    };
    Ok(Inspected { report: inspector.finish(), cut })
}

/// Reads the record at `start` into `frame`. Returns its time, the length on the wire, and the
/// bytes of the record; `None` at the end of the file.
fn record(file: &mut impl Read, start: u64, frame: &mut Vec<u8>) -> Result<Option<(Instant, u32, u64)>, String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ends_at(start),
        _ => damaged_at(start, &error),
    };
    let mut header = [0; RECORD_HEADER];
    match fill(file, &mut header).map_err(failed)? {
        0 => return Ok(None),
        RECORD_HEADER => {}
        _ => return Err(ends_at(start)),
    }
    let [length, captured, record, _, seconds, micros] = numbers(&header);
    let padding = record.checked_sub(RECORD_HEADER as u32).and_then(|rest| rest.checked_sub(captured));
    let (Some(padding), ..=MAX_RECORD) = (padding, captured) else {
        let found =
            format!("found a packet of {captured} octets in a record of {record}, expected at most {MAX_RECORD}");
        return Err(damaged_at(start, &found));
    };
    frame.resize(captured as usize, 0);
    file.read_exact(frame).map_err(failed)?;
    skip(file, padding.into()).map_err(failed)?;
    let at = u64::from(seconds) * 1_000_000_000 + u64::from(micros) * 1000;
    Ok(Some((Instant::from_nanos(at), length, record.into())))
}

/// Returns the link type of a datalink type: IEEE 802.3, token ring, Ethernet or FDDI.
fn link_type(datalink: u32) -> LinkType {
    match datalink {
        0 | 4 => LinkType::ETHERNET,
        2 => LinkType(6),
        8 => LinkType(10),
        _ => LinkType::UNDEFINED,
    }
}

fn numbers<const OCTETS: usize, const NUMBERS: usize>(octets: &[u8; OCTETS]) -> [u32; NUMBERS] {
    const { assert!(OCTETS == 4 * NUMBERS) };
    let (words, _) = octets.as_chunks();
    std::array::from_fn(|place| u32::from_be_bytes(words[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets(numbers: [u32; 6], frame: &[u8]) -> Vec<u8> {
        [&numbers.map(u32::to_be_bytes).concat()[..], frame].concat()
    }

    #[test]
    fn a_record_is_padded_to_its_length() {
        let file = octets([60, 3, 28, 0, 7, 8], &[1, 2, 3, 0]);
        let mut frame = Vec::new();
        let read = record(&mut file.as_slice(), 16, &mut frame).unwrap();
        assert_eq!(read, Some((Instant::from_nanos(7_000_008_000), 60, 28)));
        assert_eq!(frame, [1, 2, 3]);
        assert_eq!(record(&mut &[][..], 16, &mut frame), Ok(None));
    }

    #[test]
    fn an_end_within_a_record_and_lengths_that_cannot_be_are_stated() {
        let next = |octets: &[u8]| record(&mut &*octets, 16, &mut Vec::new()).unwrap_err();
        assert!(next(&octets([60, 3, 28, 0, 7, 8], &[1, 2])).contains("in the midst"));
        assert!(next(&octets([60, 3, 26, 0, 7, 8], &[1, 2, 3])).contains("damaged at octet 16"));
        assert!(next(&octets([60, MAX_RECORD + 1, u32::MAX, 0, 7, 8], &[])).contains("damaged at octet 16"));
    }
}
