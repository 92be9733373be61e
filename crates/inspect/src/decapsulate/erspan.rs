//! ERSPAN: frames that a switch mirrors in GRE (draft-foschiano-erspan-03, §4).

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened};

const NAME: &str = "ERSPAN";
/// The version field of type II.
const SECOND: u8 = 1;
/// The version field of type III.
const THIRD: u8 = 2;

/// Opens type I, which has no header. Unlike the others, it has no sequence number in GRE.
pub(super) fn open(has_sequence: bool, frame: Frame<'_>) -> Opened<'_> {
    if !has_sequence {
        return Ok((Layer::Ethernet, frame));
    }
    match frame.octets.first().map(|first| first >> 4) {
        Some(SECOND) => Ok((Layer::Ethernet, frame.skip(8, NAME)?)),
        Some(THIRD) => open_third(frame),
        Some(_) => Err(Closed::Damaged(NAME)),
        None => Err(frame.ends_before(1, NAME)),
    }
}

/// Opens type III, which may have a platform-specific subheader, and may contain frames that are
/// not Ethernet.
pub(super) fn open_third(frame: Frame<'_>) -> Opened<'_> {
    let (header, mut rest) = frame.take::<12>(NAME)?;
    let has_subheader = header[11] & 0x01 != 0;
    if has_subheader {
        rest = rest.skip(8, NAME)?;
    }
    match (header[10] >> 2) & 0x1f {
        0 => Ok((Layer::Ethernet, rest)),
        2 => Ok((Layer::Ip, rest)),
        _ => Err(Closed::protocol("ERSPAN, other frames")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(has_sequence: bool, header: &[u8]) -> Result<Layer, Closed> {
        let octets = [header, &[9]].concat();
        let (layer, inner) = open(has_sequence, Frame::new(&octets, octets.len()))?;
        assert_eq!(inner.octets, &[9]);
        Ok(layer)
    }

    #[test]
    fn the_three_types_have_headers_of_their_own() {
        assert_eq!(opened(false, &[]), Ok(Layer::Ethernet));
        assert_eq!(opened(true, &[0x10, 7, 0, 1, 0, 0, 0, 0]), Ok(Layer::Ethernet));
        assert_eq!(opened(true, &[0x20, 7, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), Ok(Layer::Ethernet));
        assert_eq!(opened(true, &[0x20, 7, 0, 1, 0, 0, 0, 0, 0, 0, 8, 1, 1, 2, 3, 4, 5, 6, 7, 8]), Ok(Layer::Ip));
        assert_eq!(opened(true, &[0x30]), Err(Closed::Damaged(NAME)));
        assert_eq!(
            opened(true, &[0x20, 7, 0, 1, 0, 0, 0, 0, 0, 0, 4, 0]),
            Err(Closed::protocol("ERSPAN, other frames"))
        );
    }
}
