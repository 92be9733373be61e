//! LLC (IEEE Std 802.2) and SNAP (IEEE Std 802-2014, 9.4).

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened, plausible};

const NAME: &str = "LLC";
/// The service access point of SNAP, and that of IP (RFC 1042; IEEE, "LLC addresses").
const SNAP: u8 = 0xaa;
const IP: u8 = 0x06;
/// Organisations: of EtherTypes, of bridge tunnels with EtherTypes (IEEE Std 802.1H), of bridged
/// frames (RFC 2684, §5.2), of Cisco.
const ETHER_TYPES: [u8; 3] = [0, 0, 0];
const BRIDGE_TUNNEL: [u8; 3] = [0, 0, 0xf8];
const BRIDGED: [u8; 3] = [0, 0x80, 0xc2];
const CISCO: [u8; 3] = [0, 0, 0x0c];

pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    let (&access_points, rest) = frame.take::<2>(NAME)?;
    match access_points {
        [SNAP, SNAP] => snap(rest.skip(1, NAME)?),
        [IP, IP] => Ok((Layer::Ip, rest.skip(1, NAME)?)),
        other => Err(Closed::protocol(name(other))),
    }
}

/// Opens the identifier of an organisation, and that of its protocol.
pub(super) fn snap(frame: Frame<'_>) -> Opened<'_> {
    let (&[a, b, c, high, low], rest) = frame.take::<5>("SNAP")?;
    let protocol = u16::from_be_bytes([high, low]);
    match ([a, b, c], protocol) {
        (ETHER_TYPES | BRIDGE_TUNNEL, _) => Ok((Layer::EtherType(protocol), rest)),
        // Ethernet with and without its FCS. ATM pads it by two octets, frame relay does not.
        (BRIDGED, 1 | 7) => {
            let padded = rest.skip(2, "bridged Ethernet").ok().filter(|inner| plausible::is_ethernet(*inner));
            Ok((Layer::Ethernet, padded.unwrap_or(rest)))
        }
        (BRIDGED, 0xe) => Err(Closed::protocol("STP")),
        (CISCO, 0x2000) => Err(Closed::protocol("CDP")),
        (CISCO, 0x2003) => Err(Closed::protocol("VTP")),
        (CISCO, 0x010b) => Err(Closed::protocol("STP")),
        _ => Err(Closed::protocol("SNAP")),
    }
}

/// Returns `true` if the octets begin with two equal service access points that are in use.
pub(super) fn is_known(octets: &[u8]) -> bool {
    octets.first_chunk().is_some_and(|&[one, other]| {
        one == other && ([one, other] == [SNAP, SNAP] || [one, other] == [IP, IP] || name([one, other]) != NAME)
    })
}

fn name(access_points: [u8; 2]) -> &'static str {
    match access_points {
        [0x42, 0x42] => "STP",
        [0xfe, 0xfe] => "OSI",
        [0xe0, 0xe0] | [0xff, 0xff] => "IPX",
        [0xf0, _] => "NetBIOS",
        _ => NAME,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(octets: &[u8]) -> Result<(Layer, &[u8]), Closed> {
        open(Frame::new(octets, octets.len())).map(|(layer, inner)| (layer, inner.octets))
    }

    #[test]
    fn snap_announces_an_ether_type() {
        let octets = [0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd, 0x60];
        assert_eq!(opened(&octets), Ok((Layer::EtherType(0x86dd), &[0x60][..])));
        let octets = [0xaa, 0xaa, 3, 0, 0, 0xf8, 8, 6, 0];
        assert_eq!(opened(&octets), Ok((Layer::EtherType(0x0806), &[0][..])));
    }

    #[test]
    fn ip_may_have_an_access_point_of_its_own() {
        assert_eq!(opened(&[6, 6, 3, 0x45]), Ok((Layer::Ip, &[0x45][..])));
    }

    #[test]
    fn bridged_ethernet_may_be_padded() {
        let arp = [&[2; 12][..], &[8, 6, 0, 1, 8, 0, 6, 4]].concat();
        let plain = [&[0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 7][..], &arp].concat();
        let padded = [&[0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 7, 0, 0][..], &arp].concat();
        assert_eq!(opened(&plain), Ok((Layer::Ethernet, &arp[..])));
        assert_eq!(opened(&padded), Ok((Layer::Ethernet, &arp[..])));
    }

    #[test]
    fn others_are_named() {
        assert_eq!(opened(&[0x42, 0x42, 3]), Err(Closed::protocol("STP")));
        assert_eq!(opened(&[0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0]), Err(Closed::protocol("CDP")));
        assert_eq!(opened(&[0xaa, 0xaa, 3, 0, 0]), Err(Closed::Damaged("SNAP")));
    }
}
