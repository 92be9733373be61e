//! PPP over Ethernet (RFC 2516, §4).

use super::frame::Frame;
use super::{Opened, ppp};

/// Opens a session packet: version and type, code, session, length.
pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    let (&[_, _, _, _, high, low], rest) = frame.take::<6>("PPPoE")?;
    ppp::open_protocol(rest.at_most(u16::from_be_bytes([high, low]).into()))
}

#[cfg(test)]
mod tests {
    use super::super::Layer;
    use super::*;

    #[test]
    fn the_length_ends_the_packet_before_the_padding() {
        let octets = [0x11, 0, 0, 7, 0, 3, 0, 0x21, 0x45, 0, 0];
        let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap();
        assert_eq!((layer, inner.octets), (Layer::Ip, &[0x45][..]));
    }
}
