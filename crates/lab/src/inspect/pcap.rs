//! Reads a pcap file (draft-ietf-opsawg-pcap) and its relatives.
//!
//! The format is a header and records, so it is parsed here. The crate `pcap-file`, which writes
//! captures here, refuses files that other tools read. Refused files have fractions of a second
//! above 999,999 µs, records longer than the snap length, link types with FCS bits, or other magic
//! numbers.

use super::{Inspected, Progress, Stop, fill, without_fcs};
use acklab_base::Instant;
use acklab_inspect::{Inspector, LinkType, Options};
use std::io::{self, Read};

/// The maximum size of a record in bytes, as in Wireshark (`WTAP_MAX_PACKET_SIZE_STANDARD`). A
/// longer record is treated as damage.
pub(super) const MAX_RECORD: u32 = 262_144;
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// The variant of the format that a magic number identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    is_big_endian: bool,
    /// The unit of the fractions of a second, in nanoseconds.
    unit: u64,
    /// The number of bytes that follow the header of the file.
    more_of_file: usize,
    /// The number of bytes that follow the header of each record.
    more_of_record: usize,
}

impl Format {
    /// Returns the format of a file that begins with these bytes, or `None` if it is not pcap.
    pub(super) fn of(magic: [u8; 4]) -> Option<Self> {
        let plain = |is_big_endian, unit| Self { is_big_endian, unit, more_of_file: 0, more_of_record: 0 };
        let known = |is_big_endian: bool, magic: u32| match magic {
            0xa1b2_c3d4 => Some(plain(is_big_endian, 1000)),
            0xa1b2_3c4d => Some(plain(is_big_endian, 1)),
            // A patch of libpcap of 1999. Interface, protocol, kind and padding follow the lengths.
            0xa1b2_cd34 => Some(Self { more_of_record: 8, ..plain(is_big_endian, 1000) }),
            // Ixia's hardware and software. The length of the file follows its header.
            0x1c00_01ac | 0x1c00_01ab => Some(Self { more_of_file: 4, ..plain(is_big_endian, 1) }),
            _ => None,
        };
        known(false, u32::from_le_bytes(magic)).or_else(|| known(true, u32::from_be_bytes(magic)))
    }

    fn number(self, octets: [u8; 4]) -> u32 {
        if self.is_big_endian { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) }
    }

    /// Reads four numbers of 32 bits.
    fn numbers(self, octets: [u8; 16]) -> [u32; 4] {
        let (words, _) = octets.as_chunks();
        [0, 1, 2, 3].map(|place| self.number(words[place]))
    }
}

/// The content of a file's header.
struct Header {
    link_type: LinkType,
    /// The number of FCS bytes at the end of each frame.
    fcs: u32,
    /// The version. Files up to 2.2 have the length on the wire first. Files of version 2.3 have it
    /// in either place.
    version: (u16, u16),
}

impl Header {
    fn of(format: Format, octets: &[u8; FILE_HEADER]) -> Self {
        /// The bit of the link type field that announces the length of the FCS, in units of 16
        /// bits.
        const HAS_FCS: u32 = 0x0400_0000;
        let number =
            |place: usize| format.number([octets[place], octets[place + 1], octets[place + 2], octets[place + 3]]);
        let pair = |place: usize| {
            let octets = [octets[place], octets[place + 1]];
            if format.is_big_endian { u16::from_be_bytes(octets) } else { u16::from_le_bytes(octets) }
        };
        let network = number(20);
        Self {
            link_type: LinkType(network as u16),
            fcs: if network & HAS_FCS == 0 { 0 } else { (network >> 28) * 2 },
            version: (pair(4), pair(6)),
        }
    }

    /// Returns the captured length and the length on the wire.
    fn lengths(&self, [first, second]: [u32; 2]) -> (u32, u32) {
        let are_swapped = match self.version {
            (2, 0..=2) => true,
            (2, 3) => first > second,
            _ => false,
        };
        if are_swapped { (second, first) } else { (first, second) }
    }
}

pub(super) fn read(mut file: impl Read, format: Format, progress: &mut Progress<'_>) -> Result<Inspected, Stop> {
    let cannot = |error: &io::Error| Stop::Refused(format!("cannot read the capture: {error}"));
    let mut header = [0; FILE_HEADER];
    let present = fill(&mut file, &mut header).map_err(|error| cannot(&error))?;
    if present < FILE_HEADER {
        return Err(Stop::Refused(format!("found {present} octets of the header of a pcap file, expected 24")));
    }
    let header = Header::of(format, &header);
    let mut inspector = Inspector::new(Options::default());
    let mut records = Records { file, format, octets: FILE_HEADER as u64, more: format.more_of_file };
    let mut frame = Vec::new();
    let cut = loop {
        match records.next(&header, &mut frame) {
            Ok(None) => break None,
            Ok(Some((at, length))) => {
                let (octets, length) = without_fcs(&frame, length, header.fcs);
                inspector.frame(at, header.link_type, octets, length);
            }
            Err(reason) => break Some(reason),
        }
        progress.packet()?;
    };
    Ok(Inspected { report: inspector.finish(), cut })
}

/// The records of a file.
struct Records<R> {
    file: R,
    format: Format,
    /// The number of bytes read.
    octets: u64,
    /// The number of bytes between this position and the next record.
    more: usize,
}

impl<R: Read> Records<R> {
    /// Reads the next record into `frame`. Returns its time and the length on the wire, or `None`
    /// at the end of the file.
    fn next(&mut self, header: &Header, frame: &mut Vec<u8>) -> Result<Option<(Instant, u32)>, String> {
        let start = self.octets;
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => super::ends_at(start),
            _ => super::damaged_at(start, &error),
        };
        let before = std::mem::take(&mut self.more);
        self.skip(before).map_err(failed)?;
        let mut record = [0; RECORD_HEADER];
        match fill(&mut self.file, &mut record).map_err(failed)? {
            0 => return Ok(None),
            RECORD_HEADER => {}
            _ => return Err(super::ends_at(start)),
        }
        self.skip(self.format.more_of_record).map_err(failed)?;
        let [seconds, fraction, first, second] = self.format.numbers(record);
        let (captured, length) = header.lengths([first, second]);
        if captured > MAX_RECORD {
            let found = format!("found a packet of {captured} octets, expected at most {MAX_RECORD}");
            return Err(super::damaged_at(start, &found));
        }
        frame.resize(captured as usize, 0);
        self.file.read_exact(frame).map_err(failed)?;
        self.octets += RECORD_HEADER as u64 + u64::from(captured);
        // The fraction may be a second or more.
        let at = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.format.unit;
        Ok(Some((Instant::from_nanos(at), length)))
    }

    fn skip(&mut self, count: usize) -> io::Result<()> {
        self.octets += count as u64;
        super::skip(&mut self.file, count as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file whose numbers are little-endian, with one record of four bytes.
    fn file(magic: u32, version: (u16, u16), network: u32, record: [u32; 4], more: [&[u8]; 2]) -> Vec<u8> {
        let mut octets = magic.to_le_bytes().to_vec();
        octets.extend(version.0.to_le_bytes());
        octets.extend(version.1.to_le_bytes());
        octets.extend([0; 8]);
        octets.extend(2_u32.to_le_bytes());
        octets.extend(network.to_le_bytes());
        octets.extend(more[0]);
        record.iter().for_each(|number| octets.extend(number.to_le_bytes()));
        octets.extend(more[1]);
        octets.extend([1, 2, 3, 4]);
        octets
    }

    /// Returns the first record: nanoseconds, bytes, length.
    fn record(octets: &[u8]) -> (u64, Vec<u8>, u32) {
        let format = Format::of(*octets.first_chunk().unwrap()).unwrap();
        let header = Header::of(format, octets.first_chunk().unwrap());
        let mut records = Records { file: &octets[FILE_HEADER..], format, octets: 24, more: format.more_of_file };
        let mut frame = Vec::new();
        let (at, length) = records.next(&header, &mut frame).unwrap().unwrap();
        assert_eq!(records.next(&header, &mut Vec::new()), Ok(None));
        assert_eq!(records.octets, octets.len() as u64);
        (at.as_nanos(), frame, length)
    }

    const FRAME: [u8; 4] = [1, 2, 3, 4];

    #[test]
    fn a_record_longer_than_the_snap_length_and_a_fraction_above_a_second_are_read() {
        let octets = file(0xa1b2_c3d4, (2, 4), 1, [7, 1_000_000, 4, 9], [&[]; 2]);
        assert_eq!(record(&octets), (8_000_000_000, FRAME.to_vec(), 9));
        let octets = file(0xa1b2_3c4d, (2, 4), 1, [7, 1_500_000_000, 4, 9], [&[]; 2]);
        assert_eq!(record(&octets), (8_500_000_000, FRAME.to_vec(), 9));
    }

    #[test]
    fn relatives_have_more_octets_in_their_headers() {
        let octets = file(0xa1b2_cd34, (2, 4), 1, [7, 1, 4, 9], [&[], &[9; 8]]);
        assert_eq!(record(&octets), (7_000_001_000, FRAME.to_vec(), 9));
        let octets = file(0x1c00_01ac, (2, 4), 1, [7, 1, 4, 9], [&[9; 4], &[]]);
        assert_eq!(record(&octets), (7_000_000_001, FRAME.to_vec(), 9));
    }

    #[test]
    fn older_versions_swap_the_lengths() {
        for (minor, lengths) in [(1, [9, 4]), (3, [9, 4]), (3, [4, 9]), (4, [4, 9])] {
            let octets = file(0xa1b2_c3d4, (2, minor), 1, [7, 1, lengths[0], lengths[1]], [&[]; 2]);
            assert_eq!(record(&octets).1, FRAME, "2.{minor}");
            assert_eq!(record(&octets).2, 9, "2.{minor}");
        }
    }

    #[test]
    fn the_link_type_field_may_have_the_length_of_the_fcs() {
        let header = |network: u32| {
            let octets = file(0xa1b2_c3d4, (2, 4), network, [0; 4], [&[]; 2]);
            let header = Header::of(Format::of([0xd4, 0xc3, 0xb2, 0xa1]).unwrap(), octets.first_chunk().unwrap());
            (header.link_type.0, header.fcs)
        };
        assert_eq!(header(0x2400_0001), (1, 4));
        assert_eq!(header(0x3000_0001), (1, 0), "no bit announces the length");
        assert_eq!(header(127), (127, 0));
    }

    #[test]
    fn the_byte_order_is_that_of_the_magic_number() {
        assert_eq!(
            Format::of([0xa1, 0xb2, 0x3c, 0x4d]).map(|format| (format.is_big_endian, format.unit)),
            Some((true, 1))
        );
        assert_eq!(Format::of([0xd4, 0xc3, 0xb2, 0xa1]).map(|format| format.unit), Some(1000));
        assert_eq!(Format::of(*b"text"), None);
    }

    #[test]
    fn an_end_within_a_record_and_a_length_that_cannot_be_are_stated() {
        let octets = file(0xa1b2_c3d4, (2, 4), 1, [7, 1, 5, 9], [&[]; 2]);
        let format = Format::of(*octets.first_chunk().unwrap()).unwrap();
        let header = Header::of(format, octets.first_chunk().unwrap());
        let next = |octets: &[u8]| {
            Records { file: octets, format, octets: 24, more: 0 }.next(&header, &mut Vec::new()).unwrap_err()
        };
        assert_eq!(next(&octets[24..]), "the file ends in the midst of a packet, at octet 24");
        assert_eq!(next(&octets[24..30]), "the file ends in the midst of a packet, at octet 24");
        let octets = file(0xa1b2_c3d4, (2, 4), 1, [7, 1, MAX_RECORD + 1, 9], [&[]; 2]);
        assert_eq!(
            next(&octets[24..]),
            "the file is damaged at octet 24 (found a packet of 262145 octets, expected at most 262144), and what follows is not read"
        );
    }
}
