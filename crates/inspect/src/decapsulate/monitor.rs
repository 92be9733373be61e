//! Pseudo-headers before frames of 802.11, which describe their reception.

use super::closed::Closed;
use super::frame::Frame;
use super::link_type::LinkType;
use super::{Layer, Opened};
use acklab_wire::dot11::radiotap as header;

/// Opens a radiotap header (radiotap.org), which states whether the FCS follows the frame and is
/// right.
pub(super) fn radiotap(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "radiotap";
    let (read, octets) = match header::decode(frame.octets) {
        Ok(read) => read,
        Err(header::DecodeError::Cut { missing }) => {
            return Err(frame.ends_before(frame.octets.len() + missing, NAME));
        }
        Err(header::DecodeError::Version(_)) => return Err(Closed::Damaged(NAME)),
    };
    if read.is_damaged {
        return Err(Closed::Damaged("802.11 frame check sequence"));
    }
    let inner = frame.skip(frame.octets.len() - octets.len(), NAME)?;
    Ok((Layer::Dot11 { has_fcs: read.has_fcs, is_padded: read.is_padded }, inner))
}

/// Opens the header of Prism cards: a message code and the length, in the byte order of the host.
/// Linux drivers wrote AVS headers with this link type as well.
pub(super) fn prism(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "Prism";
    let (&[a, b, c, d, lengths @ ..], _) = frame.take::<8>(NAME)?;
    if is_avs([a, b, c, d]) {
        return avs(frame);
    }
    // The code is 0x44 or 0x41.
    let length = if a == 0 { u32::from_be_bytes(lengths) } else { u32::from_le_bytes(lengths) };
    Ok((plain(), frame.skip(length as usize, NAME)?))
}

/// Opens the AVS header: version and length in network byte order.
pub(super) fn avs(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "AVS";
    let (&[a, b, c, d, length @ ..], _) = frame.take::<8>(NAME)?;
    if !is_avs([a, b, c, d]) {
        return Err(Closed::Damaged(NAME));
    }
    Ok((plain(), frame.skip(u32::from_be_bytes(length) as usize, NAME)?))
}

/// Returns `true` for the magic number of AVS and its version.
const fn is_avs(version: [u8; 4]) -> bool {
    matches!(version, [0x80, 0x21, 0x10, _])
}

/// Opens CACE's per-packet information: version, flags, length, and the link type of the frame.
pub(super) fn ppi(frame: Frame<'_>) -> Opened<'_> {
    const NAME: &str = "PPI";
    /// The link type of this header.
    const OWN: u16 = 192;
    /// The field with common data of 802.11, and the flag of an FCS in it.
    const COMMON: [u8; 2] = [2, 0];
    const FCS: u8 = 0x01;
    let (&[_, _, low, high, link_type @ ..], fields) = frame.take::<8>(NAME)?;
    let inner = frame.skip(u16::from_le_bytes([low, high]).into(), NAME)?;
    let has_fcs = match *fields.octets {
        // Type and length, a timestamp of eight octets, flags.
        [kind, zero, _, _, _, _, _, _, _, _, _, _, flags, ..] => [kind, zero] == COMMON && flags & FCS != 0,
        _ => false,
    };
    match u16::try_from(u32::from_le_bytes(link_type)) {
        Ok(105) => Ok((Layer::Dot11 { has_fcs, is_padded: false }, inner)),
        Ok(OWN) | Err(_) => Err(Closed::Damaged(NAME)),
        Ok(other) => Ok((Layer::Link(LinkType(other)), inner)),
    }
}

const fn plain() -> Layer {
    Layer::Dot11 { has_fcs: false, is_padded: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radiotap_states_what_follows_the_frame() {
        let mut octets = Vec::new();
        header::append(&header::Header { has_fcs: true, is_padded: true, ..header::Header::default() }, &mut octets);
        octets.push(0x08);
        let (layer, inner) = radiotap(Frame::new(&octets, octets.len())).unwrap();
        assert_eq!((layer, inner.octets), (Layer::Dot11 { has_fcs: true, is_padded: true }, &[0x08][..]));
    }

    #[test]
    fn a_frame_whose_fcs_is_wrong_is_damaged() {
        let mut octets = Vec::new();
        header::append(&header::Header { is_damaged: true, ..header::Header::default() }, &mut octets);
        let closed = radiotap(Frame::new(&octets, octets.len())).unwrap_err();
        assert_eq!(closed, Closed::Damaged("802.11 frame check sequence"));
        assert_eq!(radiotap(Frame::new(&[0, 0, 9], 9)).unwrap_err(), Closed::Cut("radiotap"));
        assert_eq!(radiotap(Frame::new(&[1, 0, 8, 0], 9)).unwrap_err(), Closed::Damaged("radiotap"));
    }

    #[test]
    fn older_headers_have_their_length() {
        let is_opened = |open: fn(Frame<'_>) -> Opened<'_>, header: &[u8]| {
            let octets = [header, &[0x08]].concat();
            let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap();
            assert_eq!((layer, inner.octets), (plain(), &[0x08][..]));
        };
        is_opened(prism, &[0x44, 0, 0, 0, 12, 0, 0, 0, 9, 9, 9, 9]);
        is_opened(prism, &[0, 0, 0, 0x44, 0, 0, 0, 12, 9, 9, 9, 9]);
        is_opened(prism, &[0x80, 0x21, 0x10, 1, 0, 0, 0, 12, 9, 9, 9, 9]);
        is_opened(avs, &[0x80, 0x21, 0x10, 1, 0, 0, 0, 12, 9, 9, 9, 9]);
        is_opened(ppi, &[0, 0, 8, 0, 105, 0, 0, 0]);
    }

    #[test]
    fn ppi_states_the_link_type_and_an_fcs() {
        let mut octets = vec![0, 0, 32, 0, 105, 0, 0, 0, 2, 0, 20, 0];
        octets.resize(32, 0);
        octets[20] = 1;
        let (layer, _) = ppi(Frame::new(&octets, 32)).unwrap();
        assert_eq!(layer, Layer::Dot11 { has_fcs: true, is_padded: false });
        octets[4] = 1;
        assert_eq!(ppi(Frame::new(&octets, 32)).unwrap().0, Layer::Link(LinkType::ETHERNET));
        octets[4] = 192;
        assert_eq!(ppi(Frame::new(&octets, 32)).unwrap_err(), Closed::Damaged("PPI"));
    }
}
