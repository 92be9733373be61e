//! GTP-U (3GPP TS 29.281, 5.1): packets of users between base stations and the core.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened, plausible};

const NAME: &str = "GTP-U";
/// The first octet of version 1: GTP, not GTP', and a reserved bit.
const VERSION_1: u8 = 0x30;
/// The bits of version, protocol and reserve.
const VERSION: u8 = 0xf8;
/// The flags of the extension header, the sequence number and the N-PDU number. With any of them,
/// all three fields are present.
const OPTIONAL: u8 = 0x07;
/// The flag of an extension header.
const EXTENDED: u8 = 0x04;
/// The message type of a user's packet (G-PDU).
const PACKET: u8 = 255;

/// Opens a header of version 1, if it is one.
pub(super) fn open(frame: Frame<'_>) -> Option<Opened<'_>> {
    let (&[flags, kind, high, low, ..], rest) = frame.take::<8>(NAME).ok()?;
    if flags & VERSION != VERSION_1 {
        return None;
    }
    if kind != PACKET {
        return Some(Err(Closed::protocol("GTP-U signalling")));
    }
    // The length counts the octets after the first eight.
    Some(behind_extensions(flags, rest.at_most(u16::from_be_bytes([high, low]).into())).and_then(carried))
}

/// Skips the optional fields and the extension headers (5.2.1), such as the PDU session container
/// of 5G: length in units of four octets, content, type of the next.
fn behind_extensions(flags: u8, frame: Frame<'_>) -> Result<Frame<'_>, Closed> {
    if flags & OPTIONAL == 0 {
        return Ok(frame);
    }
    let (&[.., mut next], mut rest) = frame.take::<4>(NAME)?;
    while flags & EXTENDED != 0 && next != 0 {
        let (&[units], _) = rest.take::<1>(NAME)?;
        let length = usize::from(units) * 4;
        next = match rest.octets.get(..length) {
            Some([.., last]) => *last,
            Some([]) => return Err(Closed::Damaged(NAME)),
            None => return Err(rest.ends_before(length, NAME)),
        };
        rest = rest.skip(length, NAME)?;
    }
    Ok(rest)
}

/// Opens the payload. It is IP, Ethernet, PPP, or contents that only the ends of the session know,
/// because the session is set up elsewhere.
fn carried(frame: Frame<'_>) -> Opened<'_> {
    match frame.octets {
        _ if plausible::is_ip(frame) => Ok((Layer::Ip, frame)),
        _ if plausible::is_ethernet(frame) => Ok((Layer::Ethernet, frame)),
        [0xff, 0x03, ..] => Ok((Layer::Ppp, frame)),
        [first, ..] if matches!(first >> 4, 4 | 6) => Ok((Layer::Ip, frame)),
        _ => Err(Closed::protocol(NAME)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 header without payload, with a correct checksum.
    const V4: [u8; 20] = [0x45, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0xba, 0xeb, 0, 0, 0, 0, 0, 0, 0, 0];

    fn opened(flags: u8, kind: u8, optional: &[u8], payload: &[u8]) -> Option<Result<Layer, Closed>> {
        let length = (optional.len() + payload.len()) as u16;
        let octets = [&[flags, kind][..], &length.to_be_bytes(), &[0, 0, 0, 1], optional, payload, &[0xee]].concat();
        open(Frame::new(&octets, octets.len())).map(|opened| {
            opened.map(|(layer, inner)| {
                assert_eq!(inner.octets, payload, "the length ends the packet");
                layer
            })
        })
    }

    #[test]
    fn optional_fields_and_extensions_are_left_out() {
        assert_eq!(opened(0x30, 255, &[], &V4), Some(Ok(Layer::Ip)));
        assert_eq!(opened(0x32, 255, &[0, 1, 0, 0], &V4), Some(Ok(Layer::Ip)));
        // A PDU session container (0x85), and a second extension of eight octets.
        let extensions = [0, 0, 0, 0x85, 1, 0x10, 9, 0x20, 2, 1, 2, 3, 4, 5, 6, 0];
        assert_eq!(opened(0x34, 255, &extensions, &V4), Some(Ok(Layer::Ip)));
    }

    #[test]
    fn sessions_may_have_ethernet_or_what_is_not_known() {
        let arp = [&[2; 12][..], &[8, 6, 0, 1, 8, 0, 6, 4]].concat();
        assert_eq!(opened(0x30, 255, &[], &arp), Some(Ok(Layer::Ethernet)));
        assert_eq!(opened(0x30, 255, &[], &[1, 2, 3]), Some(Err(Closed::protocol(NAME))));
    }

    #[test]
    fn signalling_is_named_and_other_versions_are_none() {
        assert_eq!(opened(0x32, 1, &[0, 1, 0, 0], &[]), Some(Err(Closed::protocol("GTP-U signalling"))));
        assert_eq!(opened(0x48, 255, &[], &V4), None);
        assert_eq!(opened(0x34, 255, &[0, 0, 0, 0x85, 0, 0, 0, 0], &[]), Some(Err(Closed::Damaged(NAME))));
    }
}
