//! Ethernet (IEEE Std 802.3, 3.1.1).

use super::frame::Frame;
use super::{Layer, Opened};

const NAME: &str = "Ethernet";
/// Octets of both addresses.
pub(super) const ADDRESSES: usize = 12;
/// The largest value of the field that is a length (IEEE Std 802.3, 3.2.6).
const MAX_LENGTH: u16 = 1500;

pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    typed(frame.skip(ADDRESSES, NAME)?)
}

/// Opens the field that is an EtherType or a length.
pub(super) fn typed(frame: Frame<'_>) -> Opened<'_> {
    let (&field, frame) = frame.take::<2>(NAME)?;
    Ok(match u16::from_be_bytes(field) {
        length @ 0..=MAX_LENGTH => (Layer::Llc, frame.at_most(length.into())),
        number => (Layer::EtherType(number), frame),
    })
}

#[cfg(test)]
mod tests {
    use super::super::closed::Closed;
    use super::*;

    fn frame_with(field: [u8; 2], payload: &[u8]) -> Vec<u8> {
        [&[0; ADDRESSES][..], &field, payload].concat()
    }

    #[test]
    fn a_type_announces_what_follows() {
        let octets = frame_with([0x08, 0x00], &[0x45, 9]);
        let (layer, inner) = open(Frame::new(&octets, 60)).unwrap();
        assert_eq!((layer, inner.octets, inner.length), (Layer::EtherType(0x0800), &[0x45, 9][..], 46));
    }

    #[test]
    fn a_length_ends_the_frame_before_its_padding() {
        let octets = frame_with([0, 3], &[0x42, 0x42, 3, 0, 0, 0]);
        let (layer, inner) = open(Frame::new(&octets, 60)).unwrap();
        assert_eq!((layer, inner.octets, inner.length), (Layer::Llc, &[0x42, 0x42, 3][..], 3));
    }

    #[test]
    fn an_end_within_the_header_is_damage_or_a_cut() {
        assert_eq!(open(Frame::new(&[0; 13], 13)).unwrap_err(), Closed::Damaged(NAME));
        assert_eq!(open(Frame::new(&[0; 13], 60)).unwrap_err(), Closed::Cut(NAME));
    }
}
