//! CAPWAP data (RFC 5415, §4.3): frames between access points and their controller, in UDP.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened};

const NAME: &str = "CAPWAP";

/// Opens a header of version 0, if it is one.
pub(super) fn open(frame: Frame<'_>) -> Option<Opened<'_>> {
    let (&[preamble, a, b, c], _) = frame.take::<4>(NAME).ok()?;
    match preamble {
        0 => Some(data(u32::from_be_bytes([0, a, b, c]), frame)),
        // DTLS follows.
        1 => Some(Err(Closed::protocol("CAPWAP, encrypted"))),
        _ => None,
    }
}

/// Opens the contents after a header with these 24 bits: length in words, radio, binding, flags.
fn data(header: u32, frame: Frame<'_>) -> Opened<'_> {
    const KEEP_ALIVE: u32 = 1 << 3;
    const FRAGMENT: u32 = 1 << 7;
    /// The frame belongs to the radio's link layer, not to 802.3.
    const NATIVE: u32 = 1 << 8;
    const DOT11: u32 = 1;
    let inner = frame.skip((header >> 19) as usize * 4, NAME)?;
    match header >> 9 & 0x1f {
        _ if header & FRAGMENT != 0 => Err(Closed::protocol("CAPWAP fragments")),
        _ if header & KEEP_ALIVE != 0 => Err(Closed::protocol(NAME)),
        _ if header & NATIVE == 0 => Ok((Layer::Ethernet, inner)),
        DOT11 => Ok((Layer::Dot11 { has_fcs: false, is_padded: false }, inner)),
        _ => Err(Closed::protocol(NAME)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(octets: &[u8]) -> Option<Result<Layer, Closed>> {
        open(Frame::new(octets, octets.len())).map(|opened| opened.map(|(layer, _)| layer))
    }

    #[test]
    fn the_header_announces_the_frame() {
        let dot11 = Layer::Dot11 { has_fcs: false, is_padded: false };
        assert_eq!(opened(&[0, 0x10, 3, 0, 0, 0, 0, 0, 8]), Some(Ok(dot11)));
        assert_eq!(opened(&[0, 0x10, 2, 0, 0, 0, 0, 0, 8]), Some(Ok(Layer::Ethernet)));
        assert_eq!(opened(&[0, 0x10, 2, 0x08, 0, 0, 0, 0]), Some(Err(Closed::protocol(NAME))));
        assert_eq!(opened(&[0, 0x10, 3, 0x80, 0, 0, 0, 0]), Some(Err(Closed::protocol("CAPWAP fragments"))));
        assert_eq!(opened(&[1, 0, 0, 0]), Some(Err(Closed::protocol("CAPWAP, encrypted"))));
        assert_eq!(opened(&[0x45, 0, 0, 0]), None);
    }
}
