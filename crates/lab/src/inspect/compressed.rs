//! Decompresses a file. Its first bytes identify the format.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Read};

/// The first octets of gzip (RFC 1952, §2.3.1) and of zstd (RFC 8878, §3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The bytes per read.
const BUFFER: usize = 1 << 16;
/// Formats that are not decompressed, each with a program that decompresses it.
const OTHERS: [(&[u8], &str); 4] =
    [(&[0x04, 0x22, 0x4d, 0x18], "lz4"), (b"BZh", "bzip2"), (&[0xfd, b'7', b'z', b'X'], "xz"), (b"PK\x03\x04", "zip")];

/// Returns the bytes of a file that begins with `first` and continues with `rest`.
pub(super) fn open<'a>(first: &[u8], rest: impl Read + 'a) -> Box<dyn BufRead + 'a> {
    let file = BufReader::with_capacity(BUFFER, io::Cursor::new(first.to_vec()).chain(rest));
    if first.starts_with(&GZIP) {
        return Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file)));
    }
    if first.starts_with(&ZSTD) {
        return Box::new(BufReader::with_capacity(BUFFER, ZstdFrames::new(file)));
    }
    Box::new(file)
}

/// Returns the name of a format that is not decompressed.
pub(super) fn unsupported(first: &[u8]) -> Option<&'static str> {
    OTHERS.iter().find(|(magic, _)| first.starts_with(magic)).map(|(_, name)| *name)
}

/// The frames of a zstd file. They follow each other (RFC 8878, §3.1).
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    is_within_frame: bool,
    /// `true` if the file ends within a frame.
    is_cut: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), is_within_frame: false, is_cut: false }
    }

    /// Begins the next frame. Returns `false` at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    super::skip(&mut self.source, length.into())?;
                }
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(false)
    }

    /// Returns the error of a decoder. The decoder does not distinguish a truncated frame from a
    /// damaged one.
    fn failed(&mut self, error: FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => io::Error::other(error),
            Err(error) => error,
        }
    }

    /// Decodes blocks until bytes are available or the frame is finished.
    ///
    /// A decoder returns the last bytes of a frame (its window, often a megabyte) only once the
    /// frame is finished. If the file ends within the frame, an empty block finishes it.
    fn decode(&mut self) -> io::Result<()> {
        /// An empty raw last block: its header, and room for a checksum.
        const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let Err(error) = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)) else {
                continue;
            };
            let error = self.failed(error);
            if error.kind() != io::ErrorKind::UnexpectedEof {
                return Err(error);
            }
            self.is_cut = true;
            self.decoder.decode_blocks(&END[..], BlockDecodingStrategy::All).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        // Reading zero bytes would look like the end of the frame.
        while !octets.is_empty() {
            if !self.is_within_frame && !self.begin()? {
                return Ok(0);
            }
            self.is_within_frame = true;
            self.decode()?;
            match self.decoder.read(octets)? {
                0 if self.is_cut => return Err(io::ErrorKind::UnexpectedEof.into()),
                0 => self.is_within_frame = false,
                count => return Ok(count),
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a zstd frame with raw blocks of five bytes (RFC 8878, §3.1.1): a single segment
    /// without checksum.
    fn frame(octets: &[u8]) -> Vec<u8> {
        let mut frame = [&ZSTD[..], &[0x20, octets.len() as u8]].concat();
        let mut rest = octets;
        while !rest.is_empty() {
            let (block, behind) = rest.split_at(rest.len().min(5));
            frame.extend([u8::from(behind.is_empty()) | (block.len() as u8) << 3, 0, 0]);
            frame.extend_from_slice(block);
            rest = behind;
        }
        frame
    }

    fn decompressed(file: &[u8]) -> io::Result<Vec<u8>> {
        let (first, rest) = file.split_at(4);
        let mut octets = Vec::new();
        open(first, rest).read_to_end(&mut octets).map(|_| octets)
    }

    #[test]
    fn frames_of_zstd_follow_each_other_and_others_are_skipped() {
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
        let file = [&frame(b"first ")[..], &skippable, &frame(b"second")].concat();
        assert_eq!(decompressed(&file).unwrap(), b"first second");
    }

    #[test]
    fn members_of_gzip_follow_each_other() {
        // `printf first | gzip -n`, and a stored block of "second".
        let member = |octets: &[u8]| {
            use flate2::{Compression, write::GzEncoder};
            use std::io::Write;
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(octets).unwrap();
            encoder.finish().unwrap()
        };
        let file = [member(b"first "), member(b"second")].concat();
        assert_eq!(decompressed(&file).unwrap(), b"first second");
        assert_eq!(decompressed(&file[..file.len() - 9]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn an_end_within_a_frame_is_told_from_damage() {
        let file = frame(b"first second");
        let mut octets = Vec::new();
        let cut = open(&file[..4], &file[4..file.len() - 1]).read_to_end(&mut octets).unwrap_err();
        assert_eq!((cut.kind(), &octets[..]), (io::ErrorKind::UnexpectedEof, &b"first seco"[..]));
        let damaged = [&frame(b"first")[..], b"other octets"].concat();
        assert_ne!(decompressed(&damaged).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn other_files_stay_as_they_are() {
        assert_eq!(decompressed(b"plain text").unwrap(), b"plain text");
        assert_eq!(unsupported(b"BZh9"), Some("bzip2"));
        assert_eq!(unsupported(b"text"), None);
    }
}
