//! TZSP: frames that an access point or a router sends to an analyser in UDP.

use super::closed::Closed;
use super::frame::Frame;
use super::link_type::LinkType;
use super::{Layer, Opened};

const NAME: &str = "TZSP";

/// Opens a header of version 1 with a frame, if it is one: kind, link layer, fields.
pub(super) fn open(frame: Frame<'_>) -> Option<Opened<'_>> {
    let (&[version, kind, high, low], rest) = frame.take::<4>(NAME).ok()?;
    // A received frame, or a frame to be sent.
    if version != 1 || kind > 1 {
        return None;
    }
    let layer = match u16::from_be_bytes([high, low]) {
        1 => Layer::Ethernet,
        18 => Layer::Link(LinkType::DOT11),
        119 => Layer::Link(LinkType::PRISM),
        127 => Layer::Link(LinkType::AVS),
        _ => return Some(Err(Closed::protocol("TZSP, other frames"))),
    };
    Some(behind_fields(rest).map(|inner| (layer, inner)))
}

/// Skips the fields: kind, length, value. Padding and the end field have one octet each.
fn behind_fields(mut frame: Frame<'_>) -> Result<Frame<'_>, Closed> {
    const PADDING: u8 = 0;
    const END: u8 = 1;
    loop {
        let (&[kind], rest) = frame.take::<1>(NAME)?;
        frame = match kind {
            END => return Ok(rest),
            PADDING => rest,
            _ => {
                let (&[length], value) = rest.take::<1>(NAME)?;
                value.skip(length.into(), NAME)?
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_before_the_frame() {
        let octets = [1, 0, 0, 1, 10, 2, 7, 7, 0, 1, 9];
        let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap().unwrap();
        assert_eq!((layer, inner.octets), (Layer::Ethernet, &[9][..]));
        let octets = [1, 0, 0, 18, 1, 8];
        assert_eq!(open(Frame::new(&octets, 6)).unwrap().unwrap().0, Layer::Link(LinkType::DOT11));
        assert!(open(Frame::new(&[2, 0, 0, 1, 1], 5)).is_none());
        assert_eq!(open(Frame::new(&[1, 0, 0, 1, 10], 5)).unwrap().unwrap_err(), Closed::Damaged(NAME));
    }
}
