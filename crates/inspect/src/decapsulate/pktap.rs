//! `LINKTYPE_PKTAP`: Apple's pseudo-header with the process, before a frame of another link type.

use super::closed::Closed;
use super::frame::Frame;
use super::link_type::LinkType;
use super::{Layer, Opened};

const NAME: &str = "PKTAP";

/// Opens a header in little-endian order: its length, the kind of record, and the link type.
pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    /// A record with a packet.
    const PACKET: u32 = 1;
    let (header, _) = frame.take::<12>(NAME)?;
    let number =
        |place: usize| u32::from_le_bytes([header[place], header[place + 1], header[place + 2], header[place + 3]]);
    let inner = frame.skip(number(0) as usize, NAME)?;
    match u16::try_from(number(8)) {
        // A nested header is damage.
        Ok(link_type) if number(4) == PACKET && LinkType(link_type) != LinkType::PKTAP => {
            Ok((Layer::Link(LinkType(link_type)), inner))
        }
        Ok(_) if number(4) != PACKET => Err(Closed::protocol("PKTAP without a packet")),
        _ => Err(Closed::Damaged(NAME)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_link_type_of_the_frame() {
        let mut octets = vec![0; 109];
        (octets[0], octets[4], octets[8], octets[108]) = (108, 1, 1, 9);
        let (layer, inner) = open(Frame::new(&octets, 109)).unwrap();
        assert_eq!((layer, inner.octets), (Layer::Link(LinkType::ETHERNET), &[9][..]));
        octets[4] = 0;
        assert!(matches!(open(Frame::new(&octets, 109)), Err(Closed::Protocol(_))));
        octets[0] = 110;
        assert_eq!(open(Frame::new(&octets, 109)).unwrap_err(), Closed::Damaged(NAME));
    }
}
