//! IP packets, and their payload.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened, gre, names, routes};
use acklab_base::{Datagram, NodeId};
use acklab_wire::IpPacket;

/// Protocol numbers of IP (IANA, "Protocol Numbers").
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;

/// The number of octets at the start of a packet that contain all headers: of IPv6 with extensions,
/// and of TCP with options.
pub(super) const HEADERS: usize = 256;
const NAME: &str = "TCP";
/// Octets of a TCP header without options (RFC 9293, §3.1).
const TCP_HEADER: usize = 20;

/// Parses the headers of the packet at the start of `frame`, into the memory of `buffer`.
pub(super) fn parse(frame: Frame<'_>, mut buffer: Vec<u8>) -> Result<IpPacket, Closed> {
    buffer.clear();
    buffer.extend_from_slice(&frame.octets[..frame.octets.len().min(HEADERS)]);
    routes::write_ends(&mut buffer);
    let is_completed = complete_length(&mut buffer, frame.length);
    let mut packet = IpPacket::parse(buffer, |_| NodeId::NOWHERE).map_err(|_| unreadable(frame))?;
    if is_completed {
        packet.lengthen(frame.length as u32);
    }
    Ok(packet)
}

#[cold]
fn unreadable(frame: Frame<'_>) -> Closed {
    let (name, minimum) = match frame.octets.first().map(|first| first >> 4) {
        Some(4) => ("IPv4", usize::from(frame.octets[0] & 0xf) * 4),
        Some(6) => ("IPv6", 40),
        Some(_) => return Closed::Damaged("IP"),
        None => return frame.ends_before(1, "IP"),
    };
    if frame.octets.len() < minimum { frame.ends_before(minimum, name) } else { Closed::Damaged(name) }
}

/// Writes the length of the packet if its header has none. Returns `true` if it wrote it. NICs that
/// split segments leave it blank (TCP segmentation offload). Beyond 65,535 octets the field is too
/// small (BIG TCP), and a jumbo option holds the length of IPv6 (RFC 2675, §2).
fn complete_length(packet: &mut [u8], length: usize) -> bool {
    const HOP_BY_HOP: u8 = 0;
    let whole = length.min(usize::from(u16::MAX)) as u16;
    match packet {
        [version, _, high, low, ..] if *version >> 4 == 4 && (*high, *low) == (0, 0) => {
            [*high, *low] = whole.to_be_bytes();
        }
        // RFC 8200, §3: the payload begins after 40 octets.
        [version, _, _, _, high, low, TCP | HOP_BY_HOP, ..] if *version >> 4 == 6 && (*high, *low) == (0, 0) => {
            [*high, *low] = whole.saturating_sub(40).to_be_bytes();
        }
        _ => return false,
    }
    true
}

/// Opens the tunnel that has this protocol number. Returns `None` for other protocols.
pub(super) fn tunnel(number: u8, frame: Frame<'_>) -> Option<Opened<'_>> {
    Some(match number {
        // IPv4 in IP (RFC 2003), IPv6 in IP (RFC 2473, RFC 4213).
        4 | 41 => Ok((Layer::Ip, frame)),
        47 => gre::open(frame),
        // Ethernet in IP (RFC 3378, §3): version 3, and twelve reserved bits.
        97 => frame.skip(2, "EtherIP").map(|inner| (Layer::Ethernet, inner)),
        // MPLS in IP (RFC 4023, §3).
        137 => Ok((Layer::Mpls, frame)),
        // Extension headers (RFC 8200, §4), of which the last one is incomplete.
        0 | 43 | 44 | 60 => Err(frame.ends_before(8, "IPv6 extension")),
        _ => return None,
    })
}

/// Returns the packet with a complete, readable TCP header, and whether the snap length truncated
/// its options.
///
/// Zeros replace options that were truncated or cannot be read. Zeros end the list of options (RFC
/// 9293, §3.2), so the rest of the header can be used.
pub(super) fn with_header_of_tcp(packet: IpPacket, frame: Frame<'_>) -> Result<(IpPacket, bool), Closed> {
    let start = packet.headers();
    let present = packet.octets().get(start..).unwrap_or_default();
    let carried = Frame::new(present, frame.length.saturating_sub(start));
    let (header, options) = carried.take::<TCP_HEADER>(NAME)?;
    let length = usize::from(header[12] >> 4) * 4;
    if length < TCP_HEADER || length > carried.length {
        return Err(Closed::Damaged(NAME));
    }
    if length > present.len() {
        let whole = whole_options(options.octets);
        return Ok((with_options(packet, start + TCP_HEADER + whole, start + length)?, true));
    }
    // Most segments have timestamps (RFC 7323, appendix A) as their only option.
    let is_usual = length == TCP_HEADER || length == TCP_HEADER + 12 && options.octets.starts_with(&[1, 1, 8, 10]);
    if is_usual || packet.segment().is_some() {
        return Ok((packet, false));
    }
    Ok((with_options(packet, start + TCP_HEADER, start + length)?, false))
}

/// Replaces the octets from `from` to `to` by zeros. Of the octets after them, only their number
/// matters.
#[cold]
fn with_options(mut packet: IpPacket, from: usize, to: usize) -> Result<IpPacket, Closed> {
    let length = packet.wire_len().get() as u32;
    let mut octets = packet.take_octets();
    octets.truncate(from);
    octets.resize(to, 0);
    let mut packet = IpPacket::parse(octets, |_| NodeId::NOWHERE).map_err(|_| Closed::Damaged(NAME))?;
    packet.lengthen(length);
    Ok(packet)
}

/// Returns the number of octets of complete TCP options: kinds 0 and 1 have no length.
fn whole_options(options: &[u8]) -> usize {
    let mut end = 0;
    loop {
        let length = match options[end..] {
            [0 | 1, ..] => 1,
            [_, length, ..] => usize::from(length).max(2),
            _ => return end,
        };
        if end + length > options.len() {
            return end;
        }
        end += length;
    }
}

/// Returns the reason why a packet that was found belongs to no connection.
pub(super) fn refused(packet: &IpPacket) -> Closed {
    match packet.sockets() {
        Some(sockets) if packet.is_udp() => names::udp(sockets.map(|socket| socket.port())),
        _ => packet.protocol().map_or(Closed::Damaged("IP"), names::ip_protocol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an IPv4 packet of `total` octets with a SYN of eight words, which has an MSS option.
    fn packet(total: u8) -> Vec<u8> {
        let mut octets = vec![0x45, 0, 0, total, 0, 1, 0, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        octets.extend([0, 80, 0, 81, 0, 0, 0, 9, 0, 0, 0, 0, 0x80, 0x12, 1, 0, 0, 0, 0, 0]);
        octets.extend([2, 4, 5, 0xb4, 1, 1, 1, 1, 1, 1, 1, 1]);
        octets
    }

    fn whole(octets: &[u8], length: usize) -> Result<(IpPacket, bool), Closed> {
        let frame = Frame::new(octets, length);
        let packet = parse(frame, Vec::new())?;
        let frame = frame.at_most(packet.wire_len().get() as usize);
        with_header_of_tcp(packet, frame)
    }

    #[test]
    fn a_header_may_be_cut_within_its_options_only() {
        let octets = packet(152);
        let (read, is_cut) = whole(&octets, 152).unwrap();
        assert!(!is_cut);
        assert_eq!((read.segment().unwrap().payload, read.segment().unwrap().options.mss), (100, Some(1460)));
        for present in 40..52 {
            let (read, is_cut) = whole(&octets[..present], 152).unwrap();
            let segment = read.segment().unwrap();
            assert!(is_cut);
            let mss = (present >= 44).then_some(1460);
            assert_eq!((segment.seq.0, segment.payload, segment.options.mss), (9, 100, mss), "{present}");
        }
        for present in 20..40 {
            assert_eq!(whole(&octets[..present], 152).unwrap_err(), Closed::Cut("TCP"), "{present}");
        }
        for present in 0..20 {
            assert!(matches!(whole(&octets[..present], 152).unwrap_err(), Closed::Cut("IP" | "IPv4")), "{present}");
        }
    }

    #[test]
    fn a_header_that_does_not_fit_its_packet_is_damaged() {
        assert_eq!(whole(&packet(51), 52).unwrap_err(), Closed::Damaged("TCP"));
        assert_eq!(whole(&packet(39), 52).unwrap_err(), Closed::Damaged("TCP"));
        assert_eq!(whole(&packet(19), 52).unwrap_err(), Closed::Damaged("IPv4"));
        let mut short = packet(52);
        short[32] = 0x40;
        assert_eq!(whole(&short, 52).unwrap_err(), Closed::Damaged("TCP"));
        assert_eq!(whole(&[0x15], 1).unwrap_err(), Closed::Damaged("IP"));
    }

    #[test]
    fn options_that_cannot_be_read_are_left_out() {
        let mut octets = packet(152);
        // An MSS of three octets.
        octets[41] = 3;
        let (read, is_cut) = whole(&octets, 152).unwrap();
        let segment = read.segment().unwrap();
        assert_eq!((segment.seq.0, segment.payload, segment.options.mss, is_cut), (9, 100, None, false));
    }

    #[test]
    fn a_packet_of_segmentation_offload_has_the_length_of_its_frame() {
        let mut octets = packet(0);
        octets[3] = 0;
        for length in [5000, 80_000] {
            let (packet, _) = whole(&octets, length).unwrap();
            assert_eq!(packet.segment().unwrap().payload as usize, length - 52);
        }
        let mut v6 = vec![0; 40];
        (v6[0], v6[6]) = (0x60, TCP);
        v6.extend_from_slice(&packet(0)[20..]);
        assert_eq!(whole(&v6, 80_000).unwrap().0.segment().unwrap().payload, 80_000 - 72);
        // A jumbo option of four octets.
        v6[6] = 0;
        v6.splice(40..40, [TCP, 0, 0xc2, 4, 0, 1, 0x38, 0x80]);
        assert_eq!(whole(&v6, 80_000).unwrap().0.segment().unwrap().payload, 80_000 - 80);
    }

    #[test]
    fn ip_in_ip_and_others_are_distinguished() {
        let layer = |number, octets: &'static [u8]| {
            tunnel(number, Frame::new(octets, octets.len())).map(|opened| opened.map(|(layer, _)| layer))
        };
        assert_eq!(layer(4, &[0x45]), Some(Ok(Layer::Ip)));
        assert_eq!(layer(41, &[0x60]), Some(Ok(Layer::Ip)));
        assert_eq!(layer(97, &[0x30, 0, 9]), Some(Ok(Layer::Ethernet)));
        assert_eq!(layer(137, &[0, 0, 1, 64]), Some(Ok(Layer::Mpls)));
        assert_eq!(layer(47, &[0, 0, 8, 0]), Some(Ok(Layer::EtherType(0x0800))));
        assert_eq!(layer(50, &[]), None);
        assert_eq!(layer(0, &[6]), Some(Err(Closed::Damaged("IPv6 extension"))));
    }
}
