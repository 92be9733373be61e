//! The IP packet in a captured frame.

/// The first header of a captured frame, by the link type of its interface (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    /// `LINKTYPE_ETHERNET` (1), with or without tags of 802.1Q and 802.1ad.
    Ethernet,
    /// An IP packet without a header before it: `LINKTYPE_RAW` (101), `LINKTYPE_IPV4` (228), `LINKTYPE_IPV6` (229).
    Ip,
    /// `LINKTYPE_NULL` (0) and `LINKTYPE_LOOP` (108): four octets with the address family.
    Loopback,
    /// `LINKTYPE_LINUX_SLL` (113).
    Cooked,
    /// `LINKTYPE_LINUX_SLL2` (276).
    Cooked2,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Tags: 802.1Q, 802.1ad, and the old type of tags within tags.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

impl LinkLayer {
    /// The link layer with this number in the registry. Returns `None` for one whose packets cannot be read.
    #[must_use]
    pub const fn of_link_type(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Ethernet),
            // 12 and 14 are the values of DLT_RAW on systems that write them into files.
            12 | 14 | 101 | 228 | 229 => Some(Self::Ip),
            0 | 108 => Some(Self::Loopback),
            113 => Some(Self::Cooked),
            276 => Some(Self::Cooked2),
            _ => None,
        }
    }

    /// The IP packet in `frame`. Returns `None` if it carries something else, or is cut off before it.
    #[must_use]
    pub fn ip_packet(self, frame: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Ip => Some(frame),
            Self::Loopback => frame.get(4..),
            Self::Ethernet => behind_tags(frame, 12),
            Self::Cooked => behind_tags(frame, 14),
            Self::Cooked2 => is_ip(word(frame, 0)?).then(|| frame.get(20..))?,
        }
        .filter(|packet| packet.first().is_some_and(|octet| matches!(octet >> 4, 4 | 6)))
    }
}

/// The packet behind the type field at `place`, and behind tags.
fn behind_tags(frame: &[u8], mut place: usize) -> Option<&[u8]> {
    while TAGS.contains(&word(frame, place)?) {
        place += 4;
    }
    is_ip(word(frame, place)?).then(|| frame.get(place + 2..))?
}

const fn is_ip(kind: u16) -> bool {
    matches!(kind, IPV4 | IPV6)
}

fn word(frame: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*frame.get(place)?, *frame.get(place + 1)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_behind_each_header() {
        let packet = [0x45, 1, 2, 3];
        let framed = |header: &[u8]| [header, &packet].concat();
        let mut ethernet = vec![0; 12];
        ethernet.extend([0x08, 0x00]);
        assert_eq!(LinkLayer::Ethernet.ip_packet(&framed(&ethernet)), Some(&packet[..]));
        let mut tagged = vec![0; 12];
        tagged.extend([0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x08, 0x00]);
        assert_eq!(LinkLayer::Ethernet.ip_packet(&framed(&tagged)), Some(&packet[..]));
        let mut cooked = vec![0; 14];
        cooked.extend([0x08, 0x00]);
        assert_eq!(LinkLayer::Cooked.ip_packet(&framed(&cooked)), Some(&packet[..]));
        let mut cooked = vec![0x08, 0x00];
        cooked.extend([0; 18]);
        assert_eq!(LinkLayer::Cooked2.ip_packet(&framed(&cooked)), Some(&packet[..]));
        assert_eq!(LinkLayer::Loopback.ip_packet(&framed(&[2, 0, 0, 0])), Some(&packet[..]));
        assert_eq!(LinkLayer::Ip.ip_packet(&packet), Some(&packet[..]));
    }

    #[test]
    fn other_protocols_and_short_frames_hold_no_packet() {
        let mut arp = vec![0; 12];
        arp.extend([0x08, 0x06, 0x45]);
        assert_eq!(LinkLayer::Ethernet.ip_packet(&arp), None);
        assert_eq!(LinkLayer::Ethernet.ip_packet(&[0; 5]), None);
        assert_eq!(LinkLayer::Ip.ip_packet(&[0x15]), None);
    }
}
