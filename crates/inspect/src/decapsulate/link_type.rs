//! The link type of a capture (<https://www.tcpdump.org/linktypes.html>): the first header of its
//! frames.

use super::frame::Frame;
use super::{
    Layer, Opened, arcnet, cooked, ethernet, hdlc, juniper, loopback, monitor, names, nflog, pktap, ppp, tags,
};

/// A number of the registry of link types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// An IPv4 or IPv6 packet without a header before it.
    pub const IP: Self = Self(101);
    /// Frames of 802.11.
    pub const DOT11: Self = Self(105);
    /// Frames of 802.11 behind a radiotap header.
    pub const RADIOTAP: Self = Self(127);
    /// Frames of 802.11 behind a Prism header.
    pub(super) const PRISM: Self = Self(119);
    /// Frames of 802.11 behind an AVS header.
    pub(super) const AVS: Self = Self(163);
    /// Frame relay.
    pub(super) const FRAME_RELAY: Self = Self(107);
    /// Apple's pseudo-header.
    pub(super) const PKTAP: Self = Self(258);
    /// The number of [`UNDEFINED`](Self::UNDEFINED).
    pub(super) const UNDEFINED_NUMBER: u16 = u16::MAX;
    /// The link type of an interface that a capture does not describe. The registry has no such
    /// number.
    pub const UNDEFINED: Self = Self(Self::UNDEFINED_NUMBER);

    /// Opens the header of this link type.
    pub(super) fn open(self, frame: Frame<'_>) -> Opened<'_> {
        match self.0 {
            1 => ethernet::open(frame),
            // 12 and 14 are the values of DLT_RAW on systems that write them into files.
            12 | 14 | 101 | 228 | 229 => Ok((Layer::Ip, frame)),
            0 | 108 => loopback::open(frame),
            // BSD and Linux, which has an offset after the addresses.
            7 => arcnet::open(2, frame),
            129 => arcnet::open(4, frame),
            113 => cooked::open(frame),
            276 => cooked::open_second(frame),
            105 => Ok((Layer::Dot11 { has_fcs: false, is_padded: false }, frame)),
            127 => monitor::radiotap(frame),
            119 => monitor::prism(frame),
            163 => monitor::avs(frame),
            192 => monitor::ppi(frame),
            9 | 50 => ppp::open(frame),
            51 => Ok((Layer::EtherType(super::ether_type::PPPOE_SESSION), frame)),
            166 | 204 => ppp::open_directed(frame),
            104 => hdlc::open(frame),
            107 => hdlc::frame_relay(frame),
            // The direction precedes the frame.
            205 => hdlc::open(frame.skip(1, "Cisco HDLC")?),
            206 => hdlc::frame_relay(frame.skip(1, "frame relay")?),
            8 => loopback::slip(frame),
            109 => loopback::encapsulated(frame),
            117 => loopback::packet_filter_log(frame),
            226 => loopback::ipnet(frame),
            239 => nflog::open(frame),
            258 => pktap::open(frame),
            // Token ring has access control, frame control and addresses. FDDI has frame control
            // and addresses.
            6 => token_ring(frame),
            10 => Ok((Layer::Llc, frame.skip(13, "FDDI")?)),
            // Classical IP over ATM (RFC 2684). In the second type, four octets of SunATM precede
            // it.
            11 | 100 => Ok((Layer::Llc, frame)),
            123 => Ok((Layer::Llc, frame.skip(4, "SunATM")?)),
            // IP over Fibre Channel (RFC 4338): a network header of two addresses.
            122 => Ok((Layer::Llc, frame.skip(16, "Fibre Channel")?)),
            178 => juniper::open(Self::ETHERNET, frame),
            179 => juniper::open(Self(9), frame),
            180 => juniper::open(Self::FRAME_RELAY, frame),
            181 => juniper::open(Self(104), frame),
            // Hilscher's netANALYZER: four octets, a frame with its FCS.
            240 => Ok((Layer::Ethernet, frame.skip(4, "netANALYZER")?.without_last(4))),
            // A global route header and four octets, of which the first two are an EtherType.
            242 => ipoib(frame),
            // Preamble and delimiter of eight octets, of EPON and of frame preemption.
            259 | 274 => Ok((Layer::Ethernet, frame.skip(8, "preamble")?)),
            // Tags of switches: of Broadcom after and before the addresses, of Marvell.
            281 | 284 => tags::switch(ethernet::ADDRESSES, frame),
            282 => tags::switch(0, frame),
            // The tag of Marvell with its own type.
            285 => ethernet::open(frame),
            _ => Err(names::link_type(self)),
        }
    }
}

/// Addresses, and a route if the first bit of the source is set (IEEE Std 802.5, 3.2.4 and 3.3).
fn token_ring(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "token ring";
    let (header, rest) = frame.take::<14>(NAME)?;
    let has_route = header[8] & 0x80 != 0;
    let route = match rest.octets.first() {
        Some(control) if has_route => usize::from(control & 0x1f),
        _ => 0,
    };
    Ok((Layer::Llc, rest.skip(route, NAME)?))
}

fn ipoib(frame: Frame<'_>) -> Opened<'_> {
    let (&[high, low, ..], rest) = frame.skip(40, "IPoIB")?.take::<4>("IPoIB")?;
    Ok((Layer::EtherType(u16::from_be_bytes([high, low])), rest))
}

#[cfg(test)]
mod tests {
    use super::super::closed::Closed;
    use super::*;

    fn layer(number: u16, octets: &[u8]) -> Result<Layer, Closed> {
        LinkType(number).open(Frame::new(octets, octets.len())).map(|(layer, _)| layer)
    }

    #[test]
    fn each_of_these_has_a_fixed_header() {
        let octets = |header: usize, kind: &[u8]| [&vec![0; header][..], kind, &[0x45]].concat();
        let ip = Ok(Layer::EtherType(0x0800));
        for (number, header) in [(1, 12), (113, 14), (285, 12), (281, 16), (284, 16), (104, 2), (205, 3)] {
            assert_eq!(layer(number, &octets(header, &[8, 0])), ip, "{number}");
        }
        assert_eq!(layer(242, &octets(40, &[8, 0, 0, 0])), ip);
        for (number, header) in
            [(12, 0), (14, 0), (101, 0), (228, 0), (229, 0), (0, 4), (108, 4), (8, 16), (109, 12), (226, 24)]
        {
            assert_eq!(layer(number, &octets(header, &[])), Ok(Layer::Ip), "{number}");
        }
        for (number, header) in [(10, 13), (100, 0), (11, 0), (123, 4), (122, 16)] {
            assert_eq!(layer(number, &octets(header, &[0xaa])), Ok(Layer::Llc), "{number}");
        }
        for (number, header) in [(259, 8), (274, 8), (282, 4), (240, 4)] {
            assert_eq!(layer(number, &octets(header, &[2])), Ok(Layer::Ethernet), "{number}");
        }
    }

    #[test]
    fn token_ring_may_have_a_route() {
        let mut octets = [0; 20];
        assert_eq!(LinkType(6).open(Frame::new(&octets, 20)).unwrap().1.octets.len(), 6);
        (octets[8], octets[14]) = (0x80, 0xc4);
        assert_eq!(LinkType(6).open(Frame::new(&octets, 20)).unwrap().1.octets.len(), 2);
    }

    #[test]
    fn link_types_that_stay_closed_are_named() {
        assert_eq!(layer(220, &[]), Err(Closed::protocol("USB")));
        assert_eq!(layer(65_535, &[]), Err(Closed::protocol("packets of an undefined interface")));
        assert_eq!(layer(999, &[]), Err(Closed::Protocol("link type 999".into())));
    }
}
