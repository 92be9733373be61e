//! GRE (RFC 1701, RFC 2784, RFC 2890), and its version for PPTP (RFC 2637, §4.1).

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened, erspan};

const NAME: &str = "GRE";

/// Flags of the first octet: fields that follow, in this order.
mod flag {
    pub(super) const CHECKSUM: u8 = 0x80;
    pub(super) const ROUTING: u8 = 0x40;
    pub(super) const KEY: u8 = 0x20;
    pub(super) const SEQUENCE: u8 = 0x10;
    /// A flag of the second octet, in the version for PPTP.
    pub(super) const ACKNOWLEDGMENT: u8 = 0x80;
}

/// Protocol types of GRE that are not EtherTypes of Ethernet.
mod protocol {
    pub(super) const ERSPAN: u16 = 0x88be;
    pub(super) const ERSPAN_3: u16 = 0x22eb;
    /// Packets that a router redirects to a cache (draft-param-wccp-00, §4.12).
    pub(super) const WCCP: u16 = 0x883e;
    /// Frames of 802.11 between Aruba's access points and controllers, in steps of 16.
    pub(super) const ARUBA: std::ops::RangeInclusive<u16> = 0x8200..=0x8370;
}

pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    let (&[flags, second, high, low], mut rest) = frame.take::<4>(NAME)?;
    let version = second & 7;
    if version > 1 {
        return Err(Closed::Damaged(NAME));
    }
    // The offset of the routing field follows the checksum. Both are present if either flag is set
    // (RFC 1701).
    let words = u32::from(flags & (flag::CHECKSUM | flag::ROUTING) != 0)
        + (flags & (flag::KEY | flag::SEQUENCE)).count_ones()
        + u32::from(version == 1 && second & flag::ACKNOWLEDGMENT != 0);
    rest = rest.skip(words as usize * 4, NAME)?;
    if flags & flag::ROUTING != 0 {
        rest = behind_routing(rest)?;
    }
    if version == 1 && rest.length == 0 {
        return Err(Closed::protocol("PPTP acknowledgments"));
    }
    carried(u16::from_be_bytes([high, low]), flags & flag::SEQUENCE != 0, rest)
}

/// Skips the source routes: family, offset, length, addresses. The last has no family.
fn behind_routing(mut frame: Frame<'_>) -> Result<Frame<'_>, Closed> {
    loop {
        let (&[high, low, _, length], rest) = frame.take::<4>(NAME)?;
        frame = rest.skip(length.into(), NAME)?;
        if [high, low, length] == [0; 3] {
            return Ok(frame);
        }
    }
}

/// Opens the payload of a packet with this protocol type.
pub(super) fn carried(number: u16, has_sequence: bool, frame: Frame<'_>) -> Opened<'_> {
    match number {
        protocol::ERSPAN => erspan::open(has_sequence, frame),
        protocol::ERSPAN_3 => erspan::open_third(frame),
        // Version 2 of WCCP has its own header before the packet.
        protocol::WCCP if frame.octets.first().is_some_and(|first| first >> 4 != 4) => {
            Ok((Layer::Ip, frame.skip(4, "WCCP")?))
        }
        protocol::WCCP => Ok((Layer::Ip, frame)),
        0 => Err(Closed::protocol("GRE keepalives")),
        _ if protocol::ARUBA.contains(&number) && number.is_multiple_of(16) => {
            Ok((Layer::Dot11 { has_fcs: false, is_padded: false }, frame))
        }
        _ => Ok((Layer::EtherType(number), frame)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(octets: &[u8]) -> Result<(Layer, &[u8]), Closed> {
        open(Frame::new(octets, octets.len())).map(|(layer, inner)| (layer, inner.octets))
    }

    const IP: Result<(Layer, &[u8]), Closed> = Ok((Layer::EtherType(0x0800), &[0x45]));

    #[test]
    fn each_flag_adds_a_field() {
        for (flags, fields) in [(0, 0), (0x80, 4), (0x20, 4), (0x10, 4), (0xa0, 8), (0xb0, 12)] {
            let octets = [&[flags, 0, 8, 0][..], &vec![9; fields], &[0x45]].concat();
            assert_eq!(opened(&octets), IP, "{flags:02x}");
        }
    }

    #[test]
    fn source_routes_are_left_out() {
        let octets = [0x40, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0, 2, 9, 9, 0, 0, 0, 0, 0x45];
        assert_eq!(opened(&octets), IP);
    }

    #[test]
    fn pptp_has_ppp_with_a_sequence_and_an_acknowledgment() {
        let octets = [0x30, 0x81, 0x88, 0x0b, 0, 1, 0, 7, 0, 0, 0, 1, 0, 0, 0, 1, 0xff];
        assert_eq!(opened(&octets), Ok((Layer::EtherType(0x880b), &[0xff][..])));
        let octets = [0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 7, 0, 0, 0, 1];
        assert_eq!(opened(&octets), Err(Closed::protocol("PPTP acknowledgments")));
    }

    #[test]
    fn other_versions_and_keepalives_are_named() {
        assert_eq!(opened(&[0, 2, 8, 0, 0x45]), Err(Closed::Damaged(NAME)));
        assert_eq!(opened(&[0, 0, 0, 0]), Err(Closed::protocol("GRE keepalives")));
        assert_eq!(opened(&[0x40, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0, 2]), Err(Closed::Damaged(NAME)));
    }

    #[test]
    fn access_points_send_frames_of_their_radio() {
        let dot11 = Layer::Dot11 { has_fcs: false, is_padded: false };
        assert_eq!(opened(&[0, 0, 0x82, 0x40, 0x88]), Ok((dot11, &[0x88][..])));
    }

    #[test]
    fn wccp_may_have_a_header() {
        assert_eq!(opened(&[0, 0, 0x88, 0x3e, 0, 1, 0, 0, 0x45]), Ok((Layer::Ip, &[0x45][..])));
        assert_eq!(opened(&[0, 0, 0x88, 0x3e, 0x45]), Ok((Layer::Ip, &[0x45][..])));
    }
}
