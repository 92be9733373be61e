//! Linux cooked captures: instead of the link-layer header, they have a packet socket's description
//! of the frame (packet(7)).

use super::closed::Closed;
use super::frame::Frame;
use super::link_type::LinkType;
use super::{Layer, Opened, gre};

/// Kinds of devices (`<linux/if_arp.h>`) whose protocol field has another meaning.
mod device {
    pub(super) const IP_GRE: u16 = 778;
    pub(super) const DOT11: u16 = 801;
    pub(super) const PRISM: u16 = 802;
    pub(super) const RADIOTAP: u16 = 803;
    pub(super) const FRAME_RELAY: u16 = 770;
    pub(super) const NETLINK: u16 = 824;
    pub(super) const CAN: u16 = 280;
}

/// Opens `LINKTYPE_LINUX_SLL`: kind of packet, kind of device, address in ten octets, protocol.
pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    let (header, rest) = frame.take::<16>("SLL")?;
    let number = |place: usize| u16::from_be_bytes([header[place], header[place + 1]]);
    behind(number(2), number(14), rest)
}

/// Opens `LINKTYPE_LINUX_SLL2`: protocol, two octets, index, kind of device, kind of packet,
/// address.
pub(super) fn open_second(frame: Frame<'_>) -> Opened<'_> {
    let (header, rest) = frame.take::<20>("SLL2")?;
    let number = |place: usize| u16::from_be_bytes([header[place], header[place + 1]]);
    behind(number(8), number(0), rest)
}

fn behind(device: u16, protocol: u16, frame: Frame<'_>) -> Opened<'_> {
    match device {
        device::IP_GRE => return gre::carried(protocol, false, frame),
        device::DOT11 => return Ok((Layer::Link(LinkType::DOT11), frame)),
        device::PRISM => return Ok((Layer::Link(LinkType::PRISM), frame)),
        device::RADIOTAP => return Ok((Layer::Link(LinkType::RADIOTAP), frame)),
        device::FRAME_RELAY => return Ok((Layer::Link(LinkType::FRAME_RELAY), frame)),
        device::NETLINK => return Err(Closed::protocol("netlink")),
        device::CAN => return Err(Closed::protocol("CAN")),
        _ => {}
    }
    // Values below those of EtherTypes are defined by Linux (`<linux/if_ether.h>`).
    match protocol {
        0x0001 => Err(Closed::protocol("IPX")),
        0x0004 => Ok((Layer::Llc, frame)),
        0x000c | 0x000d => Err(Closed::protocol("CAN")),
        _ => Ok((Layer::EtherType(protocol), frame)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(device: u16, protocol: u16) -> Vec<u8> {
        let mut octets = vec![0; 17];
        octets[2..4].copy_from_slice(&device.to_be_bytes());
        octets[14..16].copy_from_slice(&protocol.to_be_bytes());
        octets[16] = 0x45;
        octets
    }

    #[test]
    fn both_versions_announce_an_ether_type() {
        let octets = first(1, 0x0800);
        let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap();
        assert_eq!((layer, inner.octets), (Layer::EtherType(0x0800), &[0x45][..]));
        let mut octets = vec![0; 21];
        (octets[0], octets[1], octets[9], octets[20]) = (0x86, 0xdd, 1, 0x60);
        let (layer, inner) = open_second(Frame::new(&octets, octets.len())).unwrap();
        assert_eq!((layer, inner.octets), (Layer::EtherType(0x86dd), &[0x60][..]));
    }

    #[test]
    fn the_device_may_change_what_the_protocol_means() {
        let layer = |device, protocol| {
            let octets = first(device, protocol);
            open(Frame::new(&octets, octets.len())).map(|(layer, _)| layer)
        };
        assert_eq!(layer(1, 4), Ok(Layer::Llc));
        assert_eq!(layer(803, 4), Ok(Layer::Link(LinkType::RADIOTAP)));
        assert_eq!(layer(778, 0x6558), Ok(Layer::EtherType(0x6558)));
        assert_eq!(layer(824, 0), Err(Closed::protocol("netlink")));
    }
}
