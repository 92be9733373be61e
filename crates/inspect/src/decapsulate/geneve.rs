//! Geneve (RFC 8926, §3.4).

use super::frame::Frame;
use super::{Layer, Opened};

const NAME: &str = "Geneve";

/// Opens a header of version 0, if it is one: its options, and an EtherType.
pub(super) fn open(frame: Frame<'_>) -> Option<Opened<'_>> {
    let (&[first, _, high, low, _, _, _, last], rest) = frame.take::<8>(NAME).ok()?;
    if first >> 6 != 0 || last != 0 {
        return None;
    }
    let options = usize::from(first & 0x3f) * 4;
    Some(rest.skip(options, NAME).map(|inner| (Layer::EtherType(u16::from_be_bytes([high, low])), inner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_left_out() {
        let octets = [1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4, 9];
        let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap().unwrap();
        assert_eq!((layer, inner.octets), (Layer::EtherType(0x6558), &[9][..]));
    }

    #[test]
    fn other_versions_are_none() {
        assert!(open(Frame::new(&[0x40, 0, 0x65, 0x58, 0, 0, 7, 0], 8)).is_none());
        assert!(open(Frame::new(&[0, 0, 0x65, 0x58, 0, 0, 7, 1], 8)).is_none());
    }
}
