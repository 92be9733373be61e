//! The network service header (RFC 8300, §2).

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened};

const NAME: &str = "NSH";

/// Opens a header and those after it.
pub(super) fn open(mut frame: Frame<'_>) -> Opened<'_> {
    loop {
        let (&[_, length, _, next], _) = frame.take::<4>(NAME)?;
        // The length of the whole header, in units of four octets.
        let length = usize::from(length & 0x3f) * 4;
        frame = frame.skip(length, NAME)?;
        return match next {
            1 | 2 => Ok((Layer::Ip, frame)),
            3 => Ok((Layer::Ethernet, frame)),
            5 => Ok((Layer::Mpls, frame)),
            // A header of length zero would contain itself.
            4 if length > 0 => continue,
            _ => Err(Closed::protocol(NAME)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_its_length_and_what_follows() {
        let opened = |octets: &'static [u8]| open(Frame::new(octets, octets.len()));
        let (layer, inner) = opened(&[0, 2, 1, 3, 0, 0, 1, 255, 9]).unwrap();
        assert_eq!((layer, inner.octets), (Layer::Ethernet, &[9][..]));
        let (layer, inner) = opened(&[0, 1, 1, 4, 0, 1, 1, 1, 0x45]).unwrap();
        assert_eq!((layer, inner.octets), (Layer::Ip, &[0x45][..]));
        assert_eq!(opened(&[0, 0, 1, 4]).unwrap_err(), Closed::protocol(NAME));
        assert_eq!(opened(&[0, 9, 1, 1]).unwrap_err(), Closed::Damaged(NAME));
    }
}
