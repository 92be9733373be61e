//! PPP (RFC 1661), with and without the framing of HDLC (RFC 1662).

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened, hdlc, names};

const NAME: &str = "PPP";

/// Protocol numbers (IANA, "PPP DLL Protocol Numbers").
mod protocol {
    pub(super) const IPV4: u16 = 0x0021;
    pub(super) const IPV6: u16 = 0x0057;
    pub(super) const BRIDGED: u16 = 0x0031;
    pub(super) const MULTILINK: u16 = 0x003d;
    pub(super) const MPLS: u16 = 0x0281;
    pub(super) const MPLS_MULTICAST: u16 = 0x0283;
}

/// Opens a frame whose address and control field (RFC 1662, §3.1) may be omitted.
pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    match frame.octets {
        [0xff, 0x03, ..] => open_protocol(frame.skip(2, NAME)?),
        // `LINKTYPE_PPP` has frames of Cisco HDLC as well: unicast and multicast.
        [0x0f | 0x8f, 0x00, ..] => hdlc::open(frame),
        _ => open_protocol(frame),
    }
}

/// Opens a frame after its direction, which may have replaced the address field.
pub(super) fn open_directed(frame: Frame<'_>) -> Opened<'_> {
    let inner = frame.skip(1, NAME)?;
    match inner.octets {
        [0x03, ..] => open_protocol(inner.skip(1, NAME)?),
        _ => open(inner),
    }
}

/// Opens the protocol field, which has one octet if this octet is odd (RFC 1661, §2 and §6.5).
pub(super) fn open_protocol(frame: Frame<'_>) -> Opened<'_> {
    let (&[first], rest) = frame.take::<1>(NAME)?;
    let (number, rest) = if first & 1 == 1 {
        (first.into(), rest)
    } else {
        let (&[second], rest) = rest.take::<1>(NAME)?;
        (u16::from_be_bytes([first, second]), rest)
    };
    match number {
        protocol::IPV4 | protocol::IPV6 => Ok((Layer::Ip, rest)),
        protocol::MPLS | protocol::MPLS_MULTICAST => Ok((Layer::Mpls, rest)),
        protocol::BRIDGED => bridged(rest),
        protocol::MULTILINK => multilink(rest),
        _ => Err(Closed::protocol(names::ppp(number))),
    }
}

/// Opens a bridged frame (RFC 3518, §4.2): flags, the kind of MAC, and perhaps an identifier of the
/// LAN.
fn bridged(frame: Frame<'_>) -> Opened<'_> {
    /// The frame ends with its FCS.
    const FCS: u8 = 0x80;
    const LAN: u8 = 0x40;
    const ETHERNET: u8 = 1;
    let (&[flags, mac], mut rest) = frame.take::<2>("bridged PPP")?;
    if flags & LAN != 0 {
        rest = rest.skip(4, "bridged PPP")?;
    }
    if flags & FCS != 0 {
        rest = rest.without_last(4);
    }
    match mac {
        ETHERNET => Ok((Layer::Ethernet, rest)),
        _ => Err(Closed::protocol("bridged PPP")),
    }
}

/// Opens a fragment of multilink PPP with long sequence numbers (RFC 1990, §3), if it is the whole
/// packet.
fn multilink(frame: Frame<'_>) -> Opened<'_> {
    /// The beginning and the end of the packet.
    const WHOLE: u8 = 0xc0;
    let (&[flags, ..], rest) = frame.take::<4>("PPP multilink")?;
    if flags & WHOLE == WHOLE { open_protocol(rest) } else { Err(Closed::protocol("PPP multilink fragments")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(open: fn(Frame<'_>) -> Opened<'_>, octets: &[u8]) -> Result<(Layer, &[u8]), Closed> {
        open(Frame::new(octets, octets.len())).map(|(layer, inner)| (layer, inner.octets))
    }

    #[test]
    fn address_control_and_protocol_may_be_compressed() {
        let ip = Ok((Layer::Ip, &[0x45][..]));
        for octets in
            [&[0xff, 3, 0, 0x21, 0x45][..], &[0, 0x21, 0x45], &[0x21, 0x45], &[0xff, 3, 0x21, 0x45], &[0x57, 0x45]]
        {
            assert_eq!(opened(open, octets), ip, "{octets:02x?}");
        }
    }

    #[test]
    fn a_direction_may_take_the_place_of_the_address() {
        let ip = Ok((Layer::Ip, &[0x45][..]));
        for octets in [&[1, 3, 0, 0x21, 0x45][..], &[0, 0xff, 3, 0, 0x21, 0x45], &[1, 0, 0x21, 0x45]] {
            assert_eq!(opened(open_directed, octets), ip, "{octets:02x?}");
        }
    }

    #[test]
    fn other_framings_are_opened() {
        assert_eq!(opened(open, &[0x0f, 0, 8, 0, 0x45]), Ok((Layer::EtherType(0x0800), &[0x45][..])));
        assert_eq!(opened(open, &[0, 0x31, 0, 1, 9]), Ok((Layer::Ethernet, &[9][..])));
        assert_eq!(opened(open, &[0, 0x31, 0xc0, 1, 0, 0, 0, 7, 9, 1, 2, 3, 4]), Ok((Layer::Ethernet, &[9][..])));
        assert_eq!(opened(open, &[0x3d, 0xc0, 0, 0, 7, 0x21, 0x45]), Ok((Layer::Ip, &[0x45][..])));
        assert_eq!(opened(open, &[2, 0x81, 9]), Ok((Layer::Mpls, &[9][..])));
    }

    #[test]
    fn protocols_that_stay_closed_are_named() {
        assert_eq!(opened(open, &[0xc0, 0x21, 1]), Err(Closed::protocol("PPP control")));
        assert_eq!(opened(open, &[0x2d, 1]), Err(Closed::protocol("PPP with compressed TCP headers")));
        assert_eq!(opened(open, &[0x3d, 0x80, 0, 0, 7, 1]), Err(Closed::protocol("PPP multilink fragments")));
        assert_eq!(opened(open, &[0xff, 3]), Err(Closed::Damaged(NAME)));
    }
}
