//! `LINKTYPE_NFLOG`: packets logged by netfilter, as attributes of a netlink message.

use super::closed::Closed;
use super::frame::Frame;
use super::{Layer, Opened};

const NAME: &str = "NFLOG";
/// The attribute with the packet (`NFULA_PAYLOAD`).
const PAYLOAD: u16 = 9;
/// Address families of Linux whose packets are IP: those of IPv4, of IPv6, and of bridges.
const FAMILIES: [u8; 3] = [2, 10, 7];

pub(super) fn open(frame: Frame<'_>) -> Opened<'_> {
    let (&[family, ..], mut rest) = frame.take::<4>(NAME)?;
    if !FAMILIES.contains(&family) {
        return Err(Closed::protocol("NFLOG, other address family"));
    }
    loop {
        let (&[a, b, c, d], value) = rest.take::<4>(NAME)?;
        // Length and type are in the byte order of the host; no attribute type uses all 16 bits.
        let (length, kind) = if d == 0 || c == PAYLOAD as u8 {
            (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]))
        } else {
            (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
        };
        let Some(length) = usize::from(length).checked_sub(4) else { return Err(Closed::Damaged(NAME)) };
        if kind == PAYLOAD {
            return Ok((Layer::Ip, value.at_most(length)));
        }
        // Attributes are aligned to four octets.
        rest = value.skip(length.next_multiple_of(4), NAME)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_is_found_among_attributes_in_either_byte_order() {
        for order in [[6, 0, 5, 0, 1, 2, 0, 0, 5, 0, 9, 0], [0, 6, 0, 5, 1, 2, 0, 0, 0, 5, 0, 9]] {
            let octets = [&[2, 0, 0, 1][..], &order, &[0x45, 0, 0, 0]].concat();
            let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap();
            assert_eq!((layer, inner.octets), (Layer::Ip, &[0x45][..]));
        }
    }

    #[test]
    fn attributes_that_cannot_be_are_damage() {
        let octets = [2, 0, 0, 1, 3, 0, 5, 0];
        assert_eq!(open(Frame::new(&octets, 8)).unwrap_err(), Closed::Damaged(NAME));
        let octets = [2, 0, 0, 1, 4, 0, 5, 0];
        assert_eq!(open(Frame::new(&octets, 8)).unwrap_err(), Closed::Damaged(NAME));
        assert_eq!(open(Frame::new(&octets, 80)).unwrap_err(), Closed::Cut(NAME));
    }
}
