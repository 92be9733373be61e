//! ARCNET (ANSI/ATA 878.1), with the headers of RFC 1051 and of RFC 1201.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened};

const NAME: &str = "ARCNET";

/// Opens a frame whose protocol number follows `before` octets: the addresses, and in Linux an
/// offset.
pub(super) fn open(before: usize, frame: Frame<'_>) -> Opened<'_> {
    /// Protocol numbers: IP by RFC 1051, without a header, and by RFC 1201, with one.
    const OLD_IP: u8 = 240;
    const IP: u8 = 212;
    let (&[protocol], rest) = frame.skip(before, NAME)?.take::<1>(NAME)?;
    match protocol {
        OLD_IP => Ok((Layer::Ip, rest)),
        IP => {
            let (&[split, ..], packet) = rest.take::<3>(NAME)?;
            // An odd flag marks the first part, which has the headers. Zero marks a whole packet.
            let is_first = split == 0 || split % 2 == 1;
            if is_first { Ok((Layer::Ip, packet)) } else { Err(Closed::protocol("ARCNET fragments")) }
        }
        213 | 241 => Err(Closed::protocol("ARP")),
        _ => Err(Closed::protocol(NAME)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_a_header_by_the_newer_rfc_only() {
        let opened = |octets: &'static [u8]| open(2, Frame::new(octets, octets.len())).map(|(_, inner)| inner.octets);
        assert_eq!(opened(&[1, 2, 240, 0x45]), Ok(&[0x45][..]));
        assert_eq!(opened(&[1, 2, 212, 0, 0, 7, 0x45]), Ok(&[0x45][..]));
        assert_eq!(opened(&[1, 2, 212, 1, 0, 7, 0x45]), Ok(&[0x45][..]));
        assert_eq!(opened(&[1, 2, 212, 2, 0, 7, 9]), Err(Closed::protocol("ARCNET fragments")));
        assert_eq!(opened(&[1, 2, 213]), Err(Closed::protocol("ARP")));
    }
}
