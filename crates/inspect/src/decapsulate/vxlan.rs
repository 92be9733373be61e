//! VXLAN (RFC 7348, §5), and its generic protocol extension (draft-ietf-nvo3-vxlan-gpe-13, §3).

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened, nsh, plausible};

const NAME: &str = "VXLAN";
/// The network identifier is valid.
const IDENTIFIED: u8 = 0x08;
/// The extension announces the next protocol.
const ANNOUNCED: u8 = 0x04;
/// Bits of the first octet that neither format uses, nor group policies
/// (draft-smith-vxlan-group-policy-05).
const RESERVED: u8 = 0x70;

/// Opens a header of flags, a group, an identifier and a reserved octet, if it is one. Receivers
/// ignore reserved bits. So if they are not zero, the frame after the header decides.
pub(super) fn open(frame: Frame<'_>) -> Option<Opened<'_>> {
    let (&[flags, .., last], rest) = frame.take::<8>(NAME).ok()?;
    let is_plain = flags & RESERVED == 0 && last == 0;
    (flags & IDENTIFIED != 0 && (is_plain || plausible::is_ethernet(rest))).then_some(Ok((Layer::Ethernet, rest)))
}

/// Opens a header of the extension, if it is one.
pub(super) fn open_generic(frame: Frame<'_>) -> Option<Opened<'_>> {
    let (&[flags, _, _, next, _, _, _, last], rest) = frame.take::<8>(NAME).ok()?;
    if flags & IDENTIFIED == 0 || last != 0 {
        return None;
    }
    Some(match next {
        _ if flags & ANNOUNCED == 0 => Ok((Layer::Ethernet, rest)),
        1 | 2 => Ok((Layer::Ip, rest)),
        3 => Ok((Layer::Ethernet, rest)),
        4 => nsh::open(rest),
        5 => Ok((Layer::Mpls, rest)),
        _ => Err(Closed::protocol("VXLAN-GPE")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_announces_the_next_protocol() {
        let layer =
            |octets: &[u8]| open_generic(Frame::new(octets, octets.len())).map(|opened| opened.map(|(layer, _)| layer));
        assert_eq!(layer(&[0x0c, 0, 0, 1, 0, 0, 7, 0, 0x45]), Some(Ok(Layer::Ip)));
        assert_eq!(layer(&[0x0c, 0, 0, 3, 0, 0, 7, 0, 9]), Some(Ok(Layer::Ethernet)));
        assert_eq!(layer(&[0x08, 0, 0, 0, 0, 0, 7, 0, 9]), Some(Ok(Layer::Ethernet)));
        assert_eq!(layer(&[0x0c, 0, 0, 9, 0, 0, 7, 0, 9]), Some(Err(Closed::protocol("VXLAN-GPE"))));
        assert_eq!(layer(&[0x04, 0, 0, 1, 0, 0, 7, 0, 9]), None);
    }

    #[test]
    fn a_header_has_a_valid_identifier_and_reserved_zeros() {
        let is = |octets: &[u8]| open(Frame::new(octets, octets.len())).is_some();
        assert!(is(&[0x08, 0, 0, 0, 0, 0, 7, 0]));
        assert!(is(&[0x88, 0, 0, 9, 0, 0, 7, 0]), "with a group policy");
        assert!(!is(&[0x00, 0, 0, 0, 0, 0, 7, 0]));
        assert!(!is(&[0x48, 0, 0, 0, 0, 0, 7, 0]));
        assert!(!is(&[0x08, 0, 0, 0, 0, 0, 7, 1]));
        let arp = [&[0x08, 0, 0, 0, 0, 0, 7, 1][..], &[2; 12], &[8, 6, 0, 1, 8, 0]].concat();
        assert!(is(&arp), "reserved bits before a frame");
        assert!(!is(&[0x08, 0, 0, 0, 0, 0, 7]));
    }
}
