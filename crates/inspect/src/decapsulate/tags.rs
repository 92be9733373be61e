//! Tags between the addresses of Ethernet and its type, and Ethernet in Ethernet.

use super::closed::Closed;
use super::ethernet::typed;
use super::frame::Frame;
use super::{Layer, Opened};

/// VLAN tags: 802.1Q, 802.1ad, and three earlier types of nested tags.
const VLAN: [u16; 5] = [0x8100, 0x88a8, 0x9100, 0x9200, 0x9300];
/// The I-TAG of provider backbone bridges (IEEE Std 802.1Q, 9.7), before a customer's frame.
const BACKBONE: u16 = 0x88e7;
/// The E-TAG of bridge port extension (IEEE Std 802.1BR, 7.5).
const E_TAG: u16 = 0x893f;
/// The tag of Cisco's virtual interfaces, which became the E-TAG.
const VN_TAG: u16 = 0x8926;
/// Cisco metadata: version, length, an option with the security group.
const CISCO_METADATA: u16 = 0x8909;
/// Cisco FabricPath: a tag between outer addresses and a whole frame.
const FABRIC_PATH: u16 = 0x8903;
/// TRILL (RFC 6325, §3).
const TRILL: u16 = 0x22f3;
/// MACsec (IEEE Std 802.1AE, 9.4).
const MACSEC: u16 = 0x88e5;
/// Marvell's switch tag with a type: two reserved octets and the tag.
const TYPED_SWITCH_TAG: u16 = 0xdada;

/// Opens the tag with this type. Returns `None` if it is not the type of a tag.
pub(super) fn open(number: u16, frame: Frame<'_>) -> Option<Opened<'_>> {
    Some(match number {
        _ if VLAN.contains(&number) => behind(2, "VLAN", frame),
        BACKBONE => frame.skip(4, "I-TAG").map(|inner| (Layer::Ethernet, inner)),
        E_TAG => behind(6, "E-TAG", frame),
        VN_TAG => behind(4, "VN-TAG", frame),
        CISCO_METADATA => behind(6, "Cisco metadata", frame),
        FABRIC_PATH => frame.skip(2, "FabricPath").map(|inner| (Layer::Ethernet, inner)),
        TYPED_SWITCH_TAG => behind(6, "EDSA", frame),
        TRILL => trill(frame),
        MACSEC => macsec(frame),
        _ => return None,
    })
}

/// Skips a tag of `count` octets after its type, and opens the next type.
fn behind<'a>(count: usize, name: &'static str, frame: Frame<'a>) -> Opened<'a> {
    typed(frame.skip(count, name)?)
}

/// Opens Ethernet with a switch tag of four octets without a type: after the addresses, or before
/// them.
pub(super) fn switch(place: usize, frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "DSA";
    if place == 0 {
        return Ok((Layer::Ethernet, frame.skip(4, NAME)?));
    }
    typed(frame.skip(place + 4, NAME)?)
}

fn trill(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "TRILL";
    let (&[high, low, ..], rest) = frame.take::<6>(NAME)?;
    // The length of the options, in units of four octets.
    let options = usize::from((u16::from_be_bytes([high, low]) >> 6) & 0x1f) * 4;
    Ok((Layer::Ethernet, rest.skip(options, NAME)?))
}

/// Opens MACsec, whose user data are readable if they are only authenticated.
fn macsec(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "MACsec";
    /// The Secure Channel Identifier is present.
    const IDENTIFIER: u8 = 0x20;
    /// The flags of encrypted and of changed text.
    const ENCRYPTED: u8 = 0x0c;
    /// Octets of the integrity check value.
    const CHECK: usize = 16;
    let (&[control, ..], rest) = frame.take::<6>(NAME)?;
    if control & ENCRYPTED != 0 {
        return Err(Closed::protocol("MACsec, encrypted"));
    }
    let identifier = if control & IDENTIFIER == 0 { 0 } else { 8 };
    typed(rest.skip(identifier, NAME)?.without_last(CHECK))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the layer behind a tag with this type and these octets, and its first octet.
    fn behind_tag(number: u16, octets: &[u8]) -> (Layer, u8) {
        let (layer, inner) = open(number, Frame::new(octets, octets.len())).unwrap().unwrap();
        (layer, inner.octets[0])
    }

    const IP: Layer = Layer::EtherType(0x0800);

    #[test]
    fn tags_are_followed_by_a_type() {
        for number in VLAN {
            assert_eq!(behind_tag(number, &[0, 7, 8, 0, 0x45]), (IP, 0x45));
        }
        assert_eq!(behind_tag(E_TAG, &[0, 0, 0, 0, 0, 0, 8, 0, 0x45]), (IP, 0x45));
        assert_eq!(behind_tag(VN_TAG, &[0, 0, 0, 0, 8, 0, 0x45]), (IP, 0x45));
        assert_eq!(behind_tag(CISCO_METADATA, &[1, 1, 0, 1, 0, 9, 8, 0, 0x45]), (IP, 0x45));
        assert_eq!(behind_tag(TYPED_SWITCH_TAG, &[0, 0, 0, 0, 0, 0, 8, 0, 0x45]), (IP, 0x45));
    }

    #[test]
    fn a_tag_may_be_followed_by_a_length() {
        assert_eq!(behind_tag(VLAN[0], &[0, 7, 0, 1, 0x42]), (Layer::Llc, 0x42));
    }

    #[test]
    fn others_are_followed_by_a_whole_frame() {
        assert_eq!(behind_tag(BACKBONE, &[0, 0, 0, 9, 2]), (Layer::Ethernet, 2));
        assert_eq!(behind_tag(FABRIC_PATH, &[0, 9, 2]), (Layer::Ethernet, 2));
        // One word of options: the length begins at bit 6.
        assert_eq!(behind_tag(TRILL, &[0, 0x41, 0, 0, 0, 0, 9, 9, 9, 9, 2]), (Layer::Ethernet, 2));
    }

    #[test]
    fn macsec_is_opened_unless_it_is_encrypted() {
        let mut octets = vec![0x20, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9, 8, 0, 0x45];
        octets.extend([0xee; 16]);
        let (layer, inner) = open(MACSEC, Frame::new(&octets, octets.len())).unwrap().unwrap();
        assert_eq!((layer, inner.octets), (IP, &[0x45][..]));
        octets[0] |= 0x0c;
        let encrypted = open(MACSEC, Frame::new(&octets, octets.len())).unwrap();
        assert_eq!(encrypted.unwrap_err(), Closed::protocol("MACsec, encrypted"));
    }

    #[test]
    fn switch_tags_stand_before_the_addresses_or_behind_them() {
        let octets = [9, 9, 9, 9, 0x45];
        let (layer, inner) = switch(0, Frame::new(&octets, 5)).unwrap();
        assert_eq!((layer, inner.octets), (Layer::Ethernet, &[0x45][..]));
        let octets = [&[0; 12][..], &[9, 9, 9, 9, 8, 0, 0x45]].concat();
        let (layer, inner) = switch(12, Frame::new(&octets, octets.len())).unwrap();
        assert_eq!((layer, inner.octets), (IP, &[0x45][..]));
    }
}
