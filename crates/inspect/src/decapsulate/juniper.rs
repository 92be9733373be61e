//! Pseudo-headers of Juniper routers (tcpdump.org, "LINKTYPE_JUNIPER_…"): a magic number, flags,
//! and perhaps extensions, before the frame.

use super::closed::Closed;
use super::frame::Frame;
use super::link_type::LinkType;
use super::{Layer, Opened};

const NAME: &str = "Juniper";
/// "MGC".
const MAGIC: [u8; 3] = [0x4d, 0x47, 0x43];
/// The link-layer header was removed, so four octets with the protocol precede IP.
const NO_LINK_LAYER: u8 = 0x02;
/// The length of extensions and the extensions follow.
const EXTENDED: u8 = 0x80;

/// Opens the pseudo-header before a frame that begins with `layer`.
pub(super) fn open(layer: LinkType, frame: Frame<'_>) -> Opened<'_> {
    let (&[a, b, c, flags], mut rest) = frame.take::<4>(NAME)?;
    if [a, b, c] != MAGIC {
        return Err(Closed::Damaged(NAME));
    }
    if flags & EXTENDED != 0 {
        let (&length, extensions) = rest.take::<2>(NAME)?;
        rest = extensions.skip(u16::from_be_bytes(length).into(), NAME)?;
    }
    if flags & NO_LINK_LAYER != 0 {
        return Ok((Layer::Ip, rest.skip(4, NAME)?));
    }
    Ok((Layer::Link(layer), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_and_removed_headers_are_left_out() {
        let open = |octets| open(LinkType::ETHERNET, Frame::new(octets, octets.len()));
        let (layer, inner) = open(&[0x4d, 0x47, 0x43, 0x80, 0, 2, 9, 9, 7]).unwrap();
        assert_eq!((layer, inner.octets), (Layer::Link(LinkType::ETHERNET), &[7][..]));
        let (layer, inner) = open(&[0x4d, 0x47, 0x43, 0x02, 2, 0, 0, 0, 0x45]).unwrap();
        assert_eq!((layer, inner.octets), (Layer::Ip, &[0x45][..]));
        assert_eq!(open(&[0; 9]).unwrap_err(), Closed::Damaged(NAME));
    }
}
