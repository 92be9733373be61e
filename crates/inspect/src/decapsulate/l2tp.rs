//! L2TP (RFC 2661, §3.1): PPP in UDP.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened};

const NAME: &str = "L2TP";

/// Flags of the first octet.
mod flag {
    pub(super) const CONTROL: u8 = 0x80;
    pub(super) const LENGTH: u8 = 0x40;
    pub(super) const SEQUENCE: u8 = 0x08;
    pub(super) const OFFSET: u8 = 0x02;
}

/// Opens a message of version 2, if it is one.
pub(super) fn open(frame: Frame<'_>) -> Option<Opened<'_>> {
    let (&[flags, version], rest) = frame.take::<2>(NAME).ok()?;
    match version & 0xf {
        2 if flags & flag::CONTROL != 0 => Some(Err(Closed::protocol("L2TP control"))),
        2 => Some(data(flags, rest)),
        // Control messages define the contents of version 3 (RFC 3931).
        3 => Some(Err(Closed::protocol("L2TPv3"))),
        _ => None,
    }
}

/// Opens a data message: length, tunnel and session, sequence numbers, offset.
fn data(flags: u8, frame: Frame<'_>) -> Opened<'_> {
    let has = |flag: u8| usize::from(flags & flag != 0);
    let mut rest = frame.skip(2 * has(flag::LENGTH) + 4 + 4 * has(flag::SEQUENCE), NAME)?;
    if has(flag::OFFSET) != 0 {
        let (&offset, behind) = rest.take::<2>(NAME)?;
        rest = behind.skip(u16::from_be_bytes(offset).into(), NAME)?;
    }
    Ok((Layer::Ppp, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_add_fields() {
        for (flags, fields) in [
            (0, &[][..]),
            (0x40, &[0, 13]),
            (0x08, &[0, 1, 0, 2]),
            (0x02, &[0, 1, 9]),
            (0x4a, &[0, 9, 0, 1, 0, 2, 0, 1, 9]),
        ] {
            // The length precedes tunnel and session, the others follow them.
            let before = if flags & 0x40 != 0 { 2 } else { 0 };
            let octets = [&[flags, 2][..], &fields[..before], &[0, 1, 0, 2], &fields[before..], &[0xff]].concat();
            let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap().unwrap();
            assert_eq!((layer, inner.octets), (Layer::Ppp, &[0xff][..]), "{flags:02x}");
        }
    }

    #[test]
    fn control_messages_and_the_third_version_are_named() {
        let closed = |octets: &[u8]| open(Frame::new(octets, octets.len())).map(Result::unwrap_err);
        assert_eq!(closed(&[0xc8, 2, 0, 12]), Some(Closed::protocol("L2TP control")));
        assert_eq!(closed(&[0, 3, 0, 0]), Some(Closed::protocol("L2TPv3")));
        assert!(open(Frame::new(&[0, 7], 2)).is_none());
    }
}
