//! Loopback interfaces of BSD, and the pseudo-headers of packet filters, before an IP packet.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened};

/// Opens `LINKTYPE_NULL` and `LINKTYPE_LOOP`: the address family in four octets, in the byte order
/// of the host or of the network. The numbers of IPv6 differ between systems, so the packet's
/// version decides.
pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    let inner = frame.skip(4, "loopback")?;
    match inner.octets.first().map(|first| first >> 4) {
        Some(4 | 6) | None => Ok((Layer::Ip, inner)),
        Some(_) => Err(Closed::protocol("loopback, other address family")),
    }
}

/// Opens `LINKTYPE_ENC`, OpenBSD's encapsulated packets: family, index and flags, of four octets
/// each.
pub(super) fn encapsulated(frame: Frame<'_>) -> Opened<'_> {
    Ok((Layer::Ip, frame.skip(12, "ENC")?))
}

/// Opens `LINKTYPE_PFLOG`: the first octet is the length of the header, which is padded to four
/// octets.
pub(super) fn packet_filter_log(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "PFLOG";
    let (&[length], _) = frame.take::<1>(NAME)?;
    Ok((Layer::Ip, frame.skip(usize::from(length).next_multiple_of(4), NAME)?))
}

/// Opens `LINKTYPE_IPNET` of Solaris: version, family, hook, length, indices and zones.
pub(super) fn ipnet(frame: Frame<'_>) -> Opened<'_> {
    Ok((Layer::Ip, frame.skip(24, "IPNET")?))
}

/// Opens `LINKTYPE_SLIP`: the direction, and room for a compressed header.
pub(super) fn slip(frame: Frame<'_>) -> Opened<'_> {
    let inner = frame.skip(16, "SLIP")?;
    match inner.octets.first().map(|first| first >> 4) {
        // RFC 1144 compresses to a first octet that is not the version of IP.
        Some(4 | 6) | None => Ok((Layer::Ip, inner)),
        Some(_) => Err(Closed::protocol("SLIP with compressed headers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(open: fn(Frame<'_>) -> Opened<'_>, header: &[u8], packet: &[u8]) -> Result<Vec<u8>, Closed> {
        let octets = [header, packet].concat();
        let (layer, inner) = open(Frame::new(&octets, octets.len()))?;
        assert_eq!(layer, Layer::Ip);
        Ok(inner.octets.to_vec())
    }

    #[test]
    fn a_packet_follows_each_pseudo_header() {
        assert_eq!(inner(open, &[2, 0, 0, 0], &[0x45]), Ok(vec![0x45]));
        assert_eq!(inner(encapsulated, &[0; 12], &[0x60]), Ok(vec![0x60]));
        let mut header = [0; 64];
        // OpenBSD's header has 61 octets.
        header[0] = 61;
        assert_eq!(inner(packet_filter_log, &header, &[0x45]), Ok(vec![0x45]));
        assert_eq!(inner(ipnet, &[0; 24], &[0x45]), Ok(vec![0x45]));
        assert_eq!(inner(slip, &[0; 16], &[0x45]), Ok(vec![0x45]));
    }

    #[test]
    fn other_families_and_short_headers_are_named() {
        let osi = Closed::protocol("loopback, other address family");
        assert_eq!(inner(open, &[7, 0, 0, 0], &[0x82]), Err(osi));
        assert_eq!(inner(slip, &[0; 16], &[0x80]), Err(Closed::protocol("SLIP with compressed headers")));
        assert_eq!(inner(packet_filter_log, &[61, 2], &[]), Err(Closed::Damaged("PFLOG")));
    }
}
