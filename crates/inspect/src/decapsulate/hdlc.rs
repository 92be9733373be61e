//! Cisco HDLC, and frame relay.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened, llc};

/// Opens Cisco HDLC: address, control, EtherType.
pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    let (&[_, _, high, low], rest) = frame.take::<4>("Cisco HDLC")?;
    Ok((Layer::EtherType(u16::from_be_bytes([high, low])), rest))
}

/// Opens frame relay (RFC 2427): an address of Q.922, then a network layer protocol, or Cisco's
/// EtherType.
pub(super) fn frame_relay(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "frame relay";
    /// The address ends with this octet (Q.922, 3.3.1).
    const LAST: u8 = 0x01;
    /// An unnumbered information frame.
    const UNNUMBERED: u8 = 0x03;
    let mut rest = frame;
    loop {
        let (&[octet], further) = rest.take::<1>(NAME)?;
        rest = further;
        if octet & LAST != 0 {
            break;
        }
    }
    let (&[control], information) = rest.take::<1>(NAME)?;
    if control != UNNUMBERED {
        let (&number, payload) = rest.take::<2>(NAME)?;
        return Ok((Layer::EtherType(u16::from_be_bytes(number)), payload));
    }
    // An octet of padding may align the next field (RFC 2427, §3).
    let is_padded = information.octets.first() == Some(&0);
    let (protocol, payload) = information.skip(is_padded.into(), NAME)?.take::<1>(NAME)?;
    // Network Layer Protocol Identifiers (RFC 2427, §4).
    match protocol[0] {
        0xcc | 0x8e => Ok((Layer::Ip, payload)),
        0x80 => llc::snap(payload),
        0xcf => Ok((Layer::Ppp, payload)),
        0x81..=0x83 => Err(Closed::protocol("OSI")),
        0x08 => Err(Closed::protocol("Q.933")),
        0xb1 | 0xb2 => Err(Closed::protocol("frame relay fragments")),
        _ => Err(Closed::protocol(NAME)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relayed(octets: &[u8]) -> Result<(Layer, &[u8]), Closed> {
        frame_relay(Frame::new(octets, octets.len())).map(|(layer, inner)| (layer, inner.octets))
    }

    #[test]
    fn frame_relay_has_addresses_of_two_to_four_octets() {
        assert_eq!(relayed(&[0x18, 0x41, 3, 0xcc, 0x45]), Ok((Layer::Ip, &[0x45][..])));
        assert_eq!(relayed(&[0x18, 0x40, 0, 0x41, 3, 0x8e, 0x60]), Ok((Layer::Ip, &[0x60][..])));
    }

    #[test]
    fn frame_relay_announces_protocols_in_several_ways() {
        let snap = [0x18, 0x41, 3, 0, 0x80, 0, 0, 0, 8, 6, 1];
        assert_eq!(relayed(&snap), Ok((Layer::EtherType(0x0806), &[1][..])));
        assert_eq!(relayed(&[0x18, 0x41, 8, 0, 0x45]), Ok((Layer::EtherType(0x0800), &[0x45][..])));
        assert_eq!(relayed(&[0x18, 0x41, 3, 0x08]), Err(Closed::protocol("Q.933")));
        assert_eq!(relayed(&[0x18, 0x40]), Err(Closed::Damaged("frame relay")));
    }

    #[test]
    fn cisco_hdlc_announces_an_ether_type() {
        let (layer, inner) = open(Frame::new(&[0x0f, 0, 8, 0, 0x45], 5)).unwrap();
        assert_eq!((layer, inner.octets), (Layer::EtherType(0x0800), &[0x45][..]));
    }
}
