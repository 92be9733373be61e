//! MPLS label stacks (RFC 3032), and their payload.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened, plausible};

const NAME: &str = "MPLS";

/// Opens all labels up to the bottom of the stack.
pub(super) fn open(mut frame: Frame<'_>) -> Opened<'_> {
    /// The bottom of the stack.
    const LAST: u8 = 0x01;
    loop {
        let (&[_, _, third, _], rest) = frame.take::<4>(NAME)?;
        frame = rest;
        if third & LAST != 0 {
            return carried(frame);
        }
    }
}

/// Opens the payload, which no field announces. Routers use the first four bits (RFC 4928, §3). An
/// Ethernet address without a control word may have the same bits (RFC 8469), so other fields are
/// checked too.
fn carried(frame: Frame<'_>) -> Opened<'_> {
    /// A pseudowire's associated channel (RFC 4385, §5).
    const CHANNEL: u8 = 1;
    let Some(nibble) = frame.octets.first().map(|first| first >> 4) else {
        return Err(frame.ends_before(1, NAME));
    };
    if plausible::is_ip(frame) {
        return Ok((Layer::Ip, frame));
    }
    // The control word of a pseudowire begins with four zero bits (RFC 4385, §3).
    if nibble == 0
        && let Ok(inner) = frame.skip(4, NAME)
    {
        if plausible::is_ethernet(inner) {
            return Ok((Layer::Ethernet, inner));
        }
        if plausible::is_ip(inner) {
            return Ok((Layer::Ip, inner));
        }
    }
    if plausible::is_ethernet(frame) {
        return Ok((Layer::Ethernet, frame));
    }
    match nibble {
        4 | 6 => Ok((Layer::Ip, frame)),
        CHANNEL => Err(Closed::protocol("MPLS associated channel")),
        _ => Err(Closed::protocol("MPLS pseudowire")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: [u8; 8] = [0, 1, 0, 64, 0, 2, 1, 64];
    /// An IPv4 header without payload, with a correct checksum.
    const V4: [u8; 20] = [0x45, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0xba, 0xeb, 0, 0, 0, 0, 0, 0, 0, 0];

    fn behind_labels(payload: &[u8]) -> Result<(Layer, usize), Closed> {
        let octets = [&LABELS, payload].concat();
        let (layer, inner) = open(Frame::new(&octets, octets.len()))?;
        Ok((layer, payload.len() - inner.octets.len()))
    }

    #[test]
    fn ip_follows_the_bottom_of_the_stack() {
        assert_eq!(behind_labels(&V4), Ok((Layer::Ip, 0)));
        // The parser of IP handles an incomplete header, and reports its error.
        assert_eq!(behind_labels(&[0x45, 0, 0]), Ok((Layer::Ip, 0)));
    }

    #[test]
    fn pseudowires_have_a_control_word_or_none() {
        for first in [0x00, 0x02, 0x40, 0x60] {
            let ethernet = [&[first][..], &[2; 11], &[8, 0], &V4].concat();
            assert_eq!(behind_labels(&ethernet), Ok((Layer::Ethernet, 0)), "{first:02x}");
            let with_word = [&[0, 0, 0, 7][..], &ethernet].concat();
            assert_eq!(behind_labels(&with_word), Ok((Layer::Ethernet, 4)), "{first:02x}");
        }
    }

    #[test]
    fn others_are_named() {
        assert_eq!(behind_labels(&[0x10, 0, 0, 7]), Err(Closed::protocol("MPLS associated channel")));
        assert_eq!(behind_labels(&[0, 0, 0, 7, 1, 2, 3]), Err(Closed::protocol("MPLS pseudowire")));
        assert_eq!(behind_labels(&[]), Err(Closed::Damaged(NAME)));
    }
}
